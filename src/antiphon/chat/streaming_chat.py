"""A conversation with a model, on the streaming machine."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from random import random
from types import EllipsisType
from typing import Any, Literal, Self, cast
from uuid import uuid4

from antiphon.actors.clock import REAL_CLOCK, Clock
from antiphon.actors.loop import require_loop
from antiphon.actors.observers import Subscription
from antiphon.actors.waiting import wait_for
from antiphon.chat.event_buffer import EventBuffer
from antiphon.chat.streaming_actor import StreamingSnapshot, streaming_actor
from antiphon.messages import Message
from antiphon.providers.base import Provider
from antiphon.providers.prices import Prices
from antiphon.threads.errors import Busy, NothingToRetry, NotOpen, OverBudget, Refused
from antiphon.threads.machine.streaming import problem_with_stream_event
from antiphon.threads.machine.streaming_types import State, StreamingContext

OnBusy = Literal["reject", "queue", "interrupt"]


class StreamingChat:
    """A conversation in memory with one model: history, state and context of the current reply.

    Open it with `async with`; leaving cancels the reply in flight and removes all listeners.
    """

    def __init__(
        self,
        provider: Provider,
        *,
        messages: Sequence[Message] = (),
        session_id: str | None = None,
        settings: Mapping[str, Any] | None = None,
        on_busy: OnBusy = "reject",
        prices: Prices | None = None,
        clock: Clock = REAL_CLOCK,
        new_id: Callable[[], str] = lambda: uuid4().hex,
        jitter: Callable[[], float] = random,
    ) -> None:
        self._clock = clock
        self._new_id = new_id
        self._on_busy = on_busy
        self._early = EventBuffer()
        self._turn = asyncio.Lock()
        self._is_open = False
        self._actor = streaming_actor(
            provider,
            messages=messages,
            session_id=session_id,
            settings=settings or {},
            prices=prices,
            clock=clock,
            jitter=jitter,
        )

    async def __aenter__(self) -> Self:
        require_loop("a StreamingChat needs a running asyncio event loop; open it inside asyncio.run")
        self._actor.start()
        self._is_open = True
        return self

    async def __aexit__(self, *exception: object) -> None:
        self.cancel()
        self._is_open = False
        self._actor.stop()

    @property
    def snapshot(self) -> StreamingSnapshot:
        """The current snapshot of the machine."""
        return cast(StreamingSnapshot, self._actor.get_snapshot())

    @property
    def state(self) -> State:
        """The current state."""
        return cast(State, self.snapshot.value)

    @property
    def context(self) -> StreamingContext:
        """The context of the machine."""
        return self.snapshot.context

    @property
    def is_loading(self) -> bool:
        """True while a reply is awaited or arriving."""
        return self.state in ("sending", "streaming")

    @property
    def is_error(self) -> bool:
        """True if the last reply failed."""
        return self.state == "error"

    @property
    def is_complete(self) -> bool:
        """True if the last reply is complete."""
        return self.state == "complete"

    @property
    def is_busy(self) -> bool:
        """True while a reply is in flight or waits for an automatic retry."""
        return not _is_idle(self.snapshot)

    async def send(
        self,
        prompt: str,
        session_id: str | EllipsisType | None = ...,
        *,
        on_busy: OnBusy | None = None,
        request_id: str | None = None,
    ) -> StreamingContext:
        """Send a prompt, wait until its reply has ended, well or not, and return the context.

        Without `session_id` the current session stays; None ends it. A new request id is made unless one is given.
        """
        request = request_id or self._new_id()
        match on_busy or self._on_busy:
            case "queue":
                async with self._turn:
                    while self.is_busy:
                        await self._until_idle()
                    return await self._ask(prompt, session_id, request)
            case "interrupt":
                self.cancel()
            case "reject" if self.is_busy:
                raise Busy(f"a reply is still {self.state}; cancel it, or send with on_busy='queue' or 'interrupt'")
        return await self._ask(prompt, session_id, request)

    async def retry(self) -> StreamingContext:
        """Retry a reply that failed, and wait until it has ended."""
        self._require_open()
        if not self.snapshot.can({"type": "RETRY"}):
            raise NothingToRetry(f"there is no failed reply to retry: the state is {self.state!r}")
        self._actor.send({"type": "RETRY"})
        return await self._reply(self.context["requestId"])

    def cancel(self) -> None:
        """Stop the reply in flight, or the wait for a retry; text that has arrived is kept."""
        if self._is_open:
            self._actor.send({"type": "CANCEL"})

    def reset(self) -> None:
        """Start a new conversation; while a reply is in flight this does nothing."""
        self._require_open()
        self._actor.send({"type": "RESET"})

    def receive(self, event: Mapping[str, Any]) -> None:
        """Take a stream event from outside, such as the end of a tool; hold it if its request has not begun.

        Raise `Refused` if it is no stream event, or not as the machine declares it.
        """
        self._require_open()
        problem = problem_with_stream_event(event)
        if problem is not None:
            raise Refused(problem)
        request = event.get("requestId")
        context = self.snapshot.context
        is_current = request in (None, context["requestId"])
        if is_current or any(message.get("requestId") == request for message in context["messages"]):
            self._actor.send(event)
        else:
            self._early.hold(event["requestId"], event)

    def subscribe(self, listener: Callable[[StreamingSnapshot], Any]) -> Subscription:
        """Call a function with every snapshot."""
        return self._actor.subscribe(listener)

    def on(self, type: str, listener: Callable[[Any], Any]) -> Subscription:
        """Call a function with the events of a type that the machine emits, such as `BUDGET_WARNING`."""
        return self._actor.on(type, listener)

    async def _ask(self, prompt: str, session_id: str | EllipsisType | None, request: str) -> StreamingContext:
        self._require_open()
        event: dict[str, Any] = {"type": "SEND", "prompt": prompt, "requestId": request, "at": round(self._clock.now())}
        if not isinstance(session_id, EllipsisType):
            event["sessionId"] = session_id
        if not self.snapshot.can(cast(Any, event)):
            spent_usd = self.context["spentUsd"]
            raise OverBudget(f"{spent_usd} USD are spent of a budget of {self.context['settings']['budgetUsd']} USD")
        self._actor.send(event)
        for early in self._early.take(request):
            self._actor.send(early)
        return await self._reply(request)

    async def _reply(self, request: str | None) -> StreamingContext:
        try:
            return await self._until_idle()
        except asyncio.CancelledError:
            # A caller that stops waiting wants no reply, and no other caller can cancel it.
            self._actor.send({"type": "CANCEL", "requestId": request})
            raise

    async def _until_idle(self) -> StreamingContext:
        snapshot: StreamingSnapshot = await wait_for(self._actor, _is_idle)
        return snapshot.context

    def _require_open(self) -> None:
        if not self._is_open:
            raise NotOpen("a conversation is used inside `async with`")


def _is_idle(snapshot: StreamingSnapshot) -> bool:
    return not snapshot.has_tag("loading") and snapshot.context["retryDelayMs"] is None
