"""Asking an embedded model: words, data and tool calls, over the endpoint of its child process."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from uuid import uuid4

from antiphon.messages import Usage
from antiphon.providers.base import Delta, Done, Model, Request, TextDelta, Timeouts, ToolArgs, ToolStart, UsageDelta
from antiphon.providers.clock import LOOP_CLOCK, Clock
from antiphon.providers.keys import Secret
from antiphon.providers.local.engine import Child, Engine
from antiphon.providers.local.tool_calls import arguments, choice, chosen, tools_left
from antiphon.providers.local.wire import NAME, LocalWire
from antiphon.providers.remote import DEFAULT_TIMEOUTS, RemoteModel
from antiphon.providers.wire import Carrier

WIRE = LocalWire()


class LocalModel:
    """A `Provider` that runs on this machine, in a child process."""

    __slots__ = ("_carrier", "_clock", "_engine", "_timeouts", "model")

    def __init__(
        self,
        engine: Engine,
        carrier: Carrier,
        *,
        timeouts: Timeouts = DEFAULT_TIMEOUTS,
        clock: Clock = LOOP_CLOCK,
    ) -> None:
        weights = engine.weights
        self.model = Model(weights.reference, NAME, weights.name, note=weights.note)
        self._engine = engine
        self._carrier = carrier
        self._timeouts = timeouts
        self._clock = clock

    def __repr__(self) -> str:
        return f"LocalModel({self.model.reference!r})"

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """Ask, and read the reply piece by piece."""
        async with self._engine.slot() as child:
            remote = self._remote(child)
            tools = tools_left(request)
            spent = Usage()
            tool = tools[0] if tools else None
            if tools and (question := choice(request, tools)) is not None:
                text = ""
                async with aclosing(remote.stream(question)) as stream:
                    async for delta in stream:
                        if isinstance(delta, TextDelta):
                            text += delta.text
                        elif isinstance(delta, UsageDelta):
                            spent = delta.usage
                            yield delta
                tool = chosen(tools, text)
            replies = _words(remote, request, spent) if tool is None else _call(remote, arguments(request, tool), spent)
            async with aclosing(replies) as deltas:
                async for delta in deltas:
                    yield delta

    def _remote(self, child: Child) -> RemoteModel:
        return RemoteModel(
            self.model,
            WIRE,
            self._carrier,
            base_url=child.base_url,
            keys=_OneKey(child.key),
            key_name=NAME,
            timeouts=self._timeouts,
            clock=self._clock,
        )


class _OneKey:
    """The key of one child."""

    __slots__ = ("_key",)

    def __init__(self, key: Secret) -> None:
        self._key = key

    def find(self, name: str) -> Secret:
        """The key, whatever it is called."""
        return self._key

    def advice(self, name: str) -> str:
        """Nobody needs it."""
        return "the child process has a key of its own"


async def _words(remote: RemoteModel, request: Request, spent: Usage) -> AsyncGenerator[Delta, None]:
    """A reply in words, whose tokens come on top of what was spent before."""
    async with aclosing(remote.stream(request)) as stream:
        async for delta in stream:
            yield _added(delta, spent)


async def _call(remote: RemoteModel, request: Request, spent: Usage) -> AsyncGenerator[Delta, None]:
    """A reply that is a tool call: the words of the model are its arguments."""
    assert request.output is not None
    id = f"call_{uuid4().hex}"
    yield ToolStart(id, request.output.name)
    async with aclosing(remote.stream(request)) as stream:
        async for delta in stream:
            match delta:
                case TextDelta(text):
                    yield ToolArgs(id, text)
                case Done("end", request_id):
                    yield Done("tool_calls", request_id)
                case _:
                    yield _added(delta, spent)


def _added(delta: Delta, spent: Usage) -> Delta:
    if isinstance(delta, UsageDelta):
        return UsageDelta(spent + delta.usage, delta.model, delta.tier)
    return delta
