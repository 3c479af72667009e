"""A model's reply as the events of the streaming machine: deltas in, events out.

The end is told once the provider's stream is closed: whoever hears it stops listening, and a connection that
was read to its end can serve the next request.
"""

import json
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import aclosing
from random import random
from typing import Any

from antiphon.actors.clock import REAL_CLOCK, Clock
from antiphon.actors.logic import LogicScope
from antiphon.actors.tasks import AsyncLogic, from_task
from antiphon.errors import Code
from antiphon.messages import message_from_json, message_to_json, usage_to_json
from antiphon.providers.base import (
    Delta,
    Model,
    Provider,
    Request,
    TextDelta,
    ThinkingDelta,
    Tool,
    ToolArgs,
    ToolStart,
    UsageDelta,
)
from antiphon.providers.errors import ProviderError
from antiphon.providers.prices import Prices
from antiphon.providers.reply import Reply

Event = dict[str, Any]
# How often the usage of a growing reply is estimated, in milliseconds.
USAGE_EVERY_MS = 1_000


async def reply_events(
    provider: Provider,
    request: Request,
    *,
    request_id: str,
    prices: Prices | None = None,
    clock: Clock = REAL_CLOCK,
    jitter: Callable[[], float] = random,
) -> AsyncGenerator[Event, None]:
    """Ask a model, and tell of its reply; the last event is `COMPLETE` or `ERROR`."""
    telling = _Telling(provider.model, request, request_id, prices or Prices(), clock)
    yield telling.begin()
    try:
        telling.prices.require(provider.model)
        async with aclosing(provider.stream(request)) as deltas:
            async for delta in deltas:
                for event in telling.take(delta):
                    yield event
        ending = telling.end()
    except ProviderError as error:
        ending = [telling.fail(error, jitter())]
    for event in ending:
        yield event


def stream_reply(
    open_model: Callable[[str], Provider],
    *,
    prices: Prices | None = None,
    clock: Clock = REAL_CLOCK,
    jitter: Callable[[], float] = random,
) -> AsyncLogic:
    """The logic to provide as `streamReply`: asks the model that the input names, and tells the machine."""
    known = prices or Prices()

    async def run(input: Mapping[str, Any], scope: LogicScope) -> None:
        request_id = input["requestId"]
        try:
            if input["model"] is None:
                raise ProviderError(Code.BAD_REQUEST, "no model is set")
            provider, request = open_model(input["model"]), request_of(input)
        except ProviderError as error:
            scope.send_back(failure(error, request_id, jitter()))
            return
        events = reply_events(provider, request, request_id=request_id, prices=known, clock=clock, jitter=jitter)
        async with aclosing(events):
            async for event in events:
                scope.send_back(event)

    return from_task(run)


def request_of(input: Mapping[str, Any]) -> Request:
    """The request that the machine's messages and options ask for."""
    options = input.get("options") or {}
    return Request(
        messages=tuple(message_from_json(message) for message in input["messages"]),
        tools=tuple(Tool(tool["name"], tool["description"], tool["parameters"]) for tool in options.get("tools", ())),
        tool_choice=options.get("toolChoice", "auto"),
        temperature=options.get("temperature"),
        max_tokens=options.get("maxTokens"),
        stop=tuple(options.get("stop", ())),
        thinking=options.get("thinking"),
        cache_key=input.get("sessionId"),
    )


def failure(error: ProviderError, request_id: str, jitter: float) -> Event:
    """An error of a provider as an event."""
    event = {
        "type": "ERROR",
        "requestId": request_id,
        "code": error.code.value,
        "message": error.message,
        "recoverable": error.recoverable,
        "jitter": jitter,
    }
    return event if error.retry_after_ms is None else {**event, "retryAfterMs": error.retry_after_ms}


class _Telling:
    """What was told of a reply so far, and what is to be told next."""

    __slots__ = ("_calls", "_clock", "_id", "_priced_at", "_reply", "_showed", "_started", "_told_calls", "prices")

    def __init__(self, model: Model, request: Request, request_id: str, prices: Prices, clock: Clock) -> None:
        self.prices = prices
        self._reply = Reply(model, request)
        self._id = request_id
        self._clock = clock
        self._started = self._priced_at = round(clock.now())
        self._showed = False
        # The arguments of tool calls that were not told of yet.
        self._calls: dict[str, tuple[str, list[str]]] = {}
        self._told_calls = 0

    def begin(self) -> Event:
        """The model is being asked."""
        return self._event("REQUEST_STARTED", at=self._started)

    def take(self, delta: Delta) -> Iterator[Event]:
        """What a delta says."""
        self._reply.add(delta)
        match delta:
            case UsageDelta():
                yield self._usage()
            case TextDelta(text):
                yield from self._shown()
                yield self._event("TEXT_CHUNK", content=text)
            case ThinkingDelta(text):
                yield from self._shown()
                yield self._event("THINKING_CHUNK", content=text)
            case ToolStart(id, name):
                yield from self._shown()
                self._calls[id] = (name, [])
            case ToolArgs(id, text) if id in self._calls:
                self._calls[id][1].append(text)
        if self._showed and self._clock.now() - self._priced_at >= USAGE_EVERY_MS:
            yield self._usage()

    def end(self) -> list[Event]:
        """The stream is over."""
        done = self._reply.done
        if done is None:
            raise ProviderError(Code.TRUNCATED, "the stream ended without saying that the reply is complete")
        usage, now = self._reply.usage, round(self._clock.now())
        complete = self._event(
            "COMPLETE",
            costUsd=self._cost(),
            durationMs=now - self._started,
            totalTokens=usage.input + usage.output,
            usage=usage_to_json(usage),
            message=message_to_json(self._reply.message()),
            stop=done.stop,
            at=now,
        )
        return [*self._ended_calls(all=True), complete]

    def fail(self, error: ProviderError, jitter: float) -> Event:
        """The reply failed; what had arrived until then is paid for."""
        event = failure(error, self._id, jitter)
        if error.code == Code.UNPRICED or not self._showed:
            return event
        return {**event, "usage": usage_to_json(self._reply.usage), "costUsd": self._cost()}

    def _shown(self) -> Iterator[Event]:
        if not self._showed:
            self._showed = True
            yield self._event("FIRST_EVENT", at=round(self._clock.now()))
        yield from self._ended_calls()

    def _ended_calls(self, *, all: bool = False) -> Iterator[Event]:
        # A call has no end of its own: it is over when its arguments are whole and something else begins.
        # One that has none yet may still get some, as calls may begin together.
        for id, (name, pieces) in list(self._calls.items()):
            known = _input("".join(pieces)) if pieces or all else {}
            if known or all:
                del self._calls[id]
                # The number tells apart what is alike but for its id; a host might join that as growing text.
                self._told_calls += 1
                yield self._event("TOOL_START", toolId=id, toolName=name, index=self._told_calls, **known)

    def _usage(self) -> Event:
        self._priced_at = round(self._clock.now())
        return self._event("USAGE", usage=usage_to_json(self._reply.usage), costUsd=self._cost())

    def _cost(self) -> float | None:
        reply = self._reply
        cost = self.prices.cost(reply.model, reply.usage, answered_by=reply.answered_by, tier=reply.tier)
        return None if cost is None else float(cost.amount)

    def _event(self, type: str, **facts: Any) -> Event:
        return {"type": type, "requestId": self._id, **facts}


def _input(arguments: str) -> dict[str, Any]:
    try:
        return {"input": json.loads(arguments or "{}")}
    except ValueError:
        return {}
