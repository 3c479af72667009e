"""Mistakes with the streaming machine: each marked line is an error, no other is."""

from antiphon import create_actor
from antiphon.threads.machine.streaming import streaming_machine

actor = create_actor(streaming_machine)
actor.send({"type": "SEND", "prompt": "Hello"})
actor.send({"type": "TEXT_CHUNK", "content": "Hi", "requestId": "r1"})
actor.send({"type": "CANCEL"})
actor.send({"type": "TEXT_CHNK", "content": "Hi"})  # error
actor.send({"type": "SEND"})  # error
actor.send({"type": "TOOL_START", "toolId": "t"})  # error

snapshot = actor.get_snapshot()
snapshot.matches("streaming")
snapshot.matches("done")  # error
snapshot.context["txet"]  # error
