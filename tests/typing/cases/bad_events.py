"""Mistakes with events: each marked line is an error, no other is."""

from antiphon import (
    Machine,
    Snapshot,
    create_actor,
    get_microsteps,
    initial_transition,
    transition,
)
from tests.typing.cases.chat import ChatContext, ChatEvent, Chunk, Send, chat, machine

actor = create_actor(machine)
actor.send({"type": "TYPO"})  # error
actor.send({"type": "TEXT_CHUNK"})  # error
actor.send({"type": "TEXT_CHUNK", "contents": "Hi"})  # error
actor.send({"type": "TEXT_CHUNK", "content": 1})  # error
actor.send({"type": "COMPLETE", "content": "Hi"})  # error
actor.send("COMPLETE")  # error

snapshot, _ = initial_transition(machine)
transition(machine, snapshot, {"type": "TYPO"})  # error
transition(machine, snapshot, {"type": "SEND"})  # error
transition(machine, snapshot, {"type": "SEND", "prompt": None})  # error
get_microsteps(machine, snapshot, {"type": "TYPO"})  # error
snapshot.can({"type": "TYPO"})  # error
snapshot.can({"type": "TEXT_CHUNK"})  # error

chat.raise_({"type": "TYPO"})  # error
chat.raise_({"type": "TEXT_CHUNK"}, delay=10)  # error
chat.raise_(lambda context, event: {"type": "TYPO"})  # error
chat.raise_(lambda context, event: {"type": "SEND", "prompt": context["txet"]})  # error


def send(event: ChatEvent, chunk: Chunk, other: ChatContext) -> None:
    actor.send(chunk)
    actor.send(event)
    actor.send(other)  # error
    transition(machine, snapshot, chunk)
    transition(machine, snapshot, other)  # error
    print(event["content"])  # error
    if event["type"] == "TYPO":  # error: mypy
        print(event)
    if event["type"] == "TEXT_CHUNK":
        print(event["content"], event["contents"])  # error


def mix(one: Machine[ChatContext, Send], two: Snapshot[Chunk]) -> None:
    transition(one, snapshot, {"type": "COMPLETE"})  # error
    transition(one, two, {"type": "SEND", "prompt": "Hi"})  # error
