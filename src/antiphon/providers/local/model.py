"""Local models as providers: text, structured output and tool calls from a child process."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from uuid import uuid4

from antiphon.messages import Usage
from antiphon.providers.base import (
    DEFAULT_TIMEOUTS,
    Delta,
    Done,
    Model,
    Request,
    TextDelta,
    Timeouts,
    ToolArgs,
    ToolStart,
    UsageDelta,
)
from antiphon.providers.clock import LOOP_CLOCK, ProviderClock
from antiphon.providers.keys import Secret
from antiphon.providers.local.engine import Child, Engine
from antiphon.providers.local.tool_calls import arguments_request, choice_request, parse_choice
from antiphon.providers.local.wire import NAME, LocalWire
from antiphon.providers.remote import RemoteModel
from antiphon.providers.wire import Transport


class LocalModel:
    """`Provider` that runs on this machine, in a child process."""

    __slots__ = ("_clock", "_engine", "_timeouts", "_transport", "_wire", "model")

    def __init__(
        self,
        engine: Engine,
        transport: Transport,
        *,
        timeouts: Timeouts = DEFAULT_TIMEOUTS,
        clock: ProviderClock = LOOP_CLOCK,
    ) -> None:
        source = engine.source
        self.model = Model(source.reference, NAME, source.name, note=source.note)
        self._wire = LocalWire(source.metadata)
        self._engine = engine
        self._transport = transport
        self._timeouts = timeouts
        self._clock = clock

    def __repr__(self) -> str:
        return f"LocalModel({self.model.reference!r})"

    async def check(self) -> None:
        """Raise `ProviderError` if the library or the weights are not installed."""
        await self._engine.check()

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """Send a request and yield the deltas of the reply."""
        async with self._engine.slot() as child:
            remote = self._remote(child)
            tools = self._wire.constrained_tools(request)
            spent = Usage()
            tool = tools[0] if tools else None
            if tools and (question := choice_request(request, tools)) is not None:
                text = ""
                async with aclosing(remote.stream(question)) as stream:
                    async for delta in stream:
                        if isinstance(delta, TextDelta):
                            text += delta.text
                        elif isinstance(delta, UsageDelta):
                            spent = delta.usage
                            yield delta
                tool = parse_choice(tools, text)
            if tool is None:
                reply = _stream_text(remote, request, spent)
            else:
                reply = _stream_call(remote, arguments_request(request, tool), spent)
            async with aclosing(reply) as deltas:
                async for delta in deltas:
                    yield delta

    def _remote(self, child: Child) -> RemoteModel:
        return RemoteModel(
            self.model,
            self._wire,
            self._transport,
            base_url=child.base_url,
            keys=_SingleKey(child.key),
            key_name=NAME,
            timeouts=self._timeouts,
            clock=self._clock,
        )


class _SingleKey:
    """Key source with the key of one child process."""

    __slots__ = ("_key",)

    def __init__(self, key: Secret) -> None:
        self._key = key

    def find(self, name: str) -> Secret:
        """Return the key."""
        return self._key

    def advice(self, name: str) -> str:
        """Return a text that is never shown, because the key is always there."""
        return "the child process has a key of its own"


async def _stream_text(remote: RemoteModel, request: Request, spent: Usage) -> AsyncGenerator[Delta, None]:
    """Stream a text reply, with the usage of earlier requests added."""
    async with aclosing(remote.stream(request)) as stream:
        async for delta in stream:
            yield _add_usage(delta, spent)


async def _stream_call(remote: RemoteModel, request: Request, spent: Usage) -> AsyncGenerator[Delta, None]:
    """Stream a reply as a tool call: the text of the model is its arguments."""
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
                    yield _add_usage(delta, spent)


def _add_usage(delta: Delta, spent: Usage) -> Delta:
    if isinstance(delta, UsageDelta):
        return UsageDelta(spent + delta.usage, delta.model, delta.tier)
    return delta
