"""Conversations for tests, made of plain events."""

import json

from hypothesis import HealthCheck, settings

from antiphon import create_actor, initial_transition, transition
from antiphon.chart.effects import Emit, SendTo, SpawnChild, StopChild
from antiphon.machines.conversation.content import text_of
from antiphon.machines.conversation.tree import head_of, path
from antiphon.machines.flow import flow_machine

# A busy computer is slow, not wrong.
law = settings(
    max_examples=100,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


class Talk:
    """A chat moved by events, and the effects of the last one."""

    def __init__(self, input=None, *, start=True, **config):
        self.snapshot, self.effects = initial_transition(flow_machine, {**(input or {}), "config": config})
        if start:
            self.do("start")

    def do(self, type, /, **payload):
        self.snapshot, self.effects = transition(flow_machine, self.snapshot, {"type": type, **payload})
        return self

    def can(self, type, /, **payload):
        return self.snapshot.can({"type": type, **payload})

    def says(self, *texts):
        for text in texts:
            self.do("message", text=text)
        return self

    def reply(self, text="", *, calls=(), **facts):
        """The child completes the reply in flight."""
        parts = [{"type": "text", "text": text}] if text else []
        parts += [{"type": "toolCall", "id": id, "name": name, "arguments": "{}"} for id, name in calls]
        message = {"role": "assistant", "parts": parts, "source": "scripted"}
        return self.do("REPLY.COMPLETED", requestId=self.context["reply"]["requestId"], message=message, **facts)

    def restored(self):
        """Another chat, where this one stands after a journey through JSON."""
        saved = json.loads(json.dumps(create_actor(flow_machine, snapshot=self.snapshot).get_persisted_snapshot()))
        other = object.__new__(Talk)
        other.snapshot, other.effects = create_actor(flow_machine, snapshot=saved).get_snapshot(), ()
        return other

    @property
    def value(self):
        return self.snapshot.value

    @property
    def context(self):
        return self.snapshot.context

    @property
    def head(self):
        return head_of(self.context)

    @property
    def texts(self):
        return texts(self.context, self.context["branch"])

    @property
    def emitted(self):
        return [effect.event for effect in self.effects if isinstance(effect, Emit)]

    @property
    def spawned(self):
        return {effect.ref.src: effect.ref.input for effect in self.effects if isinstance(effect, SpawnChild)}

    @property
    def stopped(self):
        return [effect.params["id"] for effect in self.effects if isinstance(effect, StopChild)]

    @property
    def sent(self):
        return [effect.event for effect in self.effects if isinstance(effect, SendTo)]


def texts(context, branch):
    """The words of a branch, oldest first."""
    return [text_of(message["parts"]) for message in path(context["messages"], head_of(context, branch))]
