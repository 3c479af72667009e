"""Replies of models as events of the streaming machine: deltas in, events out.

The last event follows the end of the provider's stream: its receiver stops reading, and only a connection that was
read to its end can serve the next request.
"""

import json
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import aclosing
from random import random
from typing import Any

from antiphon.actors.clock import REAL_CLOCK, Clock
from antiphon.actors.logic import TaskScope
from antiphon.actors.tasks import AsyncLogic, from_task
from antiphon.errors import Code
from antiphon.json_schema import Checker
from antiphon.messages import ToolCall, message_from_json, message_to_json, usage_to_json
from antiphon.providers.base import (
    Delta,
    Model,
    OutputSchema,
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
from antiphon.providers.remote import READ_PAUSE_MS
from antiphon.providers.reply import Reply
from antiphon.providers.structured import checker_of, demand_output, read_value

Event = dict[str, Any]
# How often the usage of a growing reply is estimated, in milliseconds.
USAGE_EVERY_MS = 1_000
CHUNKS = ("TEXT_CHUNK", "THINKING_CHUNK")  # events whose content is a piece of a text


async def reply_events(
    provider: Provider,
    request: Request,
    *,
    request_id: str,
    prices: Prices | None = None,
    limited: bool = False,
    clock: Clock = REAL_CLOCK,
    jitter: Callable[[], float] = random,
    checker: Checker | None = None,
) -> AsyncGenerator[Event, None]:
    """Ask a model and iterate over the events of its reply; the last one is `COMPLETE` or `ERROR`.

    With a checker, a complete answer that does not match its schema has `problems`. If the cost is `limited`, a model
    without a price is not asked.
    """
    reporter = _ReplyReporter(provider.model, request, request_id, prices or Prices(), clock, checker)
    yield reporter.begin()
    try:
        reporter.prices.require(provider.model, limited=limited)
        async with aclosing(provider.stream(request)) as deltas:
            async for delta in deltas:
                for event in reporter.take(delta):
                    yield event
        ending = reporter.end()
    except ProviderError as error:
        ending = [reporter.fail(error, jitter())]
    for event in ending:
        yield event


def stream_reply(
    open_model: Callable[[str], Provider],
    *,
    prices: Prices | None = None,
    clock: Clock = REAL_CLOCK,
    jitter: Callable[[], float] = random,
    open_session: Callable[[str, str], Provider] | None = None,
    pause_ms: Callable[[], float] = float,
) -> AsyncLogic:
    """Return the logic for `streamReply`: it asks the model that the input names, and sends events to the machine.

    With `open_session`, a reply whose input names a session asks the model of that session. `pause_ms` returns for how
    long events would be held back now, so that the model's stream need not be read meanwhile.
    """
    price_list = prices or Prices()

    async def run(input: Mapping[str, Any], scope: TaskScope) -> None:
        request_id = input["requestId"]
        READ_PAUSE_MS.set(pause_ms)
        try:
            if input["model"] is None:
                raise ProviderError(Code.BAD_REQUEST, "no model is set")
            session_id = input.get("sessionId")
            if open_session is not None and session_id is not None:
                provider = open_session(session_id, input["model"])
            else:
                provider = open_model(input["model"])
            request = _with_output(provider, request_of(input), input)
            checker = _answer_checker(input)
        except ProviderError as error:
            scope.send_back(failure(error, request_id, jitter()))
            return
        events = reply_events(
            provider,
            request,
            request_id=request_id,
            prices=price_list,
            limited=bool(input.get("limited")),
            clock=clock,
            jitter=jitter,
            checker=checker,
        )
        async with aclosing(events):
            async for event in events:
                scope.send_back(event, "content" if event["type"] in CHUNKS else None)

    return from_task(run)


def request_of(input: Mapping[str, Any]) -> Request:
    """Return the request for the messages and options of the machine."""
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


def _with_output(provider: Provider, request: Request, input: Mapping[str, Any]) -> Request:
    """Return the request for a value of the schema that the option `output` has, if there is one."""
    output = (input.get("options") or {}).get("output")
    return request if output is None else demand_output(provider, request, OutputSchema(**output))


def _answer_checker(input: Mapping[str, Any]) -> Checker | None:
    """Return the checker of the schema that the answer must match, if the options have one."""
    schema = (input.get("options") or {}).get("responseSchema")
    return None if schema is None else checker_of(OutputSchema(schema))


def failure(error: ProviderError, request_id: str, jitter: float) -> Event:
    """Return an error of a provider as an event."""
    event = {
        "type": "ERROR",
        "requestId": request_id,
        "code": error.code.value,
        "message": error.message,
        "recoverable": error.recoverable,
        "jitter": jitter,
    }
    return event if error.retry_after_ms is None else {**event, "retryAfterMs": error.retry_after_ms}


class _ReplyReporter:
    """Converts the deltas of one reply to events."""

    __slots__ = (
        "_calls",
        "_checker",
        "_clock",
        "_id",
        "_priced_at",
        "_reply",
        "_reported_calls",
        "_showed",
        "_started",
        "prices",
    )

    def __init__(
        self, model: Model, request: Request, request_id: str, prices: Prices, clock: Clock, checker: Checker | None
    ) -> None:
        self.prices = prices
        self._checker = checker
        self._reply = Reply(model, request)
        self._id = request_id
        self._clock = clock
        self._started = self._priced_at = round(clock.now())
        self._showed = False
        # Names and arguments of the tool calls that were not reported yet.
        self._calls: dict[str, tuple[str, list[str]]] = {}
        self._reported_calls = 0

    def begin(self) -> Event:
        """Return the event for the start of the request."""
        return self._event("REQUEST_STARTED", at=self._started)

    def take(self, delta: Delta) -> Iterator[Event]:
        """Iterate over the events of a delta."""
        self._reply.add(delta)
        match delta:
            case UsageDelta():
                yield self._usage()
            case TextDelta(text):
                yield from self._first_event()
                yield self._event("TEXT_CHUNK", content=text)
            case ThinkingDelta(text):
                yield from self._first_event()
                yield self._event("THINKING_CHUNK", content=text)
            case ToolStart(id, name):
                yield from self._first_event()
                self._calls[id] = (name, [])
            case ToolArgs(id, text) if id in self._calls:
                self._calls[id][1].append(text)
        if self._showed and self._clock.now() - self._priced_at >= USAGE_EVERY_MS:
            yield self._usage()

    def end(self) -> list[Event]:
        """Return the events for the end of the stream."""
        done = self._reply.done
        if done is None:
            raise ProviderError(Code.TRUNCATED, "the stream ended before the reply was complete")
        usage = self._reply.usage
        now = round(self._clock.now())
        complete = self._event(
            "COMPLETE",
            costUsd=self._cost(),
            durationMs=now - self._started,
            totalTokens=usage.input + usage.output,
            usage=usage_to_json(usage),
            message=message_to_json(self._reply.message()),
            **self._problems(),
            stop=done.stop,
            at=now,
        )
        return [*self._finished_calls(all=True), complete]

    def _problems(self) -> Event:
        """Return the problems of an answer; a reply that calls tools is none yet."""
        if self._checker is None or any(isinstance(part, ToolCall) for part in self._reply.message().parts):
            return {}
        return {"problems": read_value(self._reply, self._checker)[1]}

    def fail(self, error: ProviderError, jitter: float) -> Event:
        """Return the event for a failure, with the cost of what had arrived until then."""
        event = failure(error, self._id, jitter)
        if error.code == Code.UNPRICED or not self._showed:
            return event
        return {**event, "usage": usage_to_json(self._reply.usage), "costUsd": self._cost()}

    def _first_event(self) -> Iterator[Event]:
        if not self._showed:
            self._showed = True
            yield self._event("FIRST_EVENT", at=round(self._clock.now()))
        yield from self._finished_calls()

    def _finished_calls(self, *, all: bool = False) -> Iterator[Event]:
        # Streams do not mark the end of a call: it is over when its arguments parse and another part begins.
        # A call without arguments may still get some, as calls may begin together.
        for id, (name, pieces) in list(self._calls.items()):
            input = _parse_input("".join(pieces)) if pieces or all else {}
            if input or all:
                del self._calls[id]
                # The index keeps events apart that differ only in their id; a host might join them as growing text.
                self._reported_calls += 1
                yield self._event("TOOL_START", toolId=id, toolName=name, index=self._reported_calls, **input)

    def _usage(self) -> Event:
        self._priced_at = round(self._clock.now())
        return self._event("USAGE", usage=usage_to_json(self._reply.usage), costUsd=self._cost())

    def _cost(self) -> float | None:
        reply = self._reply
        cost = self.prices.cost(reply.model, reply.usage, answered_by=reply.answered_by, tier=reply.tier)
        return None if cost is None else float(cost.amount)

    def _event(self, type: str, **fields: Any) -> Event:
        return {"type": type, "requestId": self._id, **fields}


def _parse_input(arguments: str) -> dict[str, Any]:
    try:
        return {"input": json.loads(arguments or "{}")}
    except (ValueError, RecursionError):
        return {}
