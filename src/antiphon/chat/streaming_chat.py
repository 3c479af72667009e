"""A conversation with a model, on the streaming machine."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from random import random
from types import EllipsisType
from typing import Any, Literal, Self, cast
from uuid import uuid4

from antiphon.actors.clock import REAL_CLOCK, Clock
from antiphon.actors.observers import Subscription
from antiphon.actors.waiting import wait_for
from antiphon.chat.event_buffer import EventBuffer
from antiphon.chat.streaming_actor import StreamingSnapshot, streaming_actor
from antiphon.messages import Message
from antiphon.providers.base import Provider
from antiphon.providers.prices import Prices
from antiphon.threads.errors import Busy, NothingToRetry, NotOpen, OverBudget
from antiphon.threads.machine.streaming_types import State, StreamingContext

OnBusy = Literal["reject", "queue", "interrupt"]


class StreamingChat:
    """Asks one model again and again, remembers what was said, and tells where the reply stands.

    It is opened with `async with`; leaving cancels the reply under way and forgets all listeners.
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
        self._clock, self._new_id, self._on_busy = clock, new_id, on_busy
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
        self._actor.start()
        self._is_open = True
        return self

    async def __aexit__(self, *exception: object) -> None:
        self.cancel()
        self._is_open = False
        self._actor.stop()

    @property
    def snapshot(self) -> StreamingSnapshot:
        """Where the machine stands."""
        return cast(StreamingSnapshot, self._actor.get_snapshot())

    @property
    def state(self) -> State:
        """The name of the state."""
        return cast(State, self.snapshot.value)

    @property
    def context(self) -> StreamingContext:
        """What the machine knows, its texts as plain strings."""
        return _spelled_out(self.snapshot.context)

    @property
    def is_loading(self) -> bool:
        """Whether a reply is awaited or arriving."""
        return self.state in ("sending", "streaming")

    @property
    def is_error(self) -> bool:
        """Whether the last reply failed."""
        return self.state == "error"

    @property
    def is_complete(self) -> bool:
        """Whether the last reply is whole."""
        return self.state == "complete"

    @property
    def is_busy(self) -> bool:
        """Whether a reply is under way, or will be asked for again by itself."""
        return not _is_at_rest(self.snapshot)

    async def send(
        self,
        prompt: str,
        session_id: str | EllipsisType | None = ...,
        *,
        on_busy: OnBusy | None = None,
        request_id: str | None = None,
    ) -> StreamingContext:
        """Send a prompt and wait until its reply has ended, well or not; gives the context then.

        Without a session the current one stays; `None` leaves it. A request is named here unless it has a name.
        """
        request = request_id or self._new_id()
        match on_busy or self._on_busy:
            case "queue":
                async with self._turn:
                    while self.is_busy:
                        await self._rest()
                    return await self._ask(prompt, session_id, request)
            case "interrupt":
                self.cancel()
            case "reject" if self.is_busy:
                raise Busy(f"a reply is still {self.state}; cancel it, or send with on_busy='queue' or 'interrupt'")
        return await self._ask(prompt, session_id, request)

    async def retry(self) -> StreamingContext:
        """Ask again for a reply that failed, and wait until it has ended."""
        self._require_open()
        if not self.snapshot.can({"type": "RETRY"}):
            raise NothingToRetry(f"there is no failed reply to ask for again: the state is {self.state!r}")
        self._actor.send({"type": "RETRY"})
        return await self._reply(self.context["requestId"])

    def cancel(self) -> None:
        """Stop the reply under way, and the wait for another attempt; what has arrived is kept."""
        if self._is_open:
            self._actor.send({"type": "CANCEL"})

    def reset(self) -> None:
        """Forget the conversation; while a reply is under way this does nothing."""
        self._require_open()
        self._actor.send({"type": "RESET"})

    def receive(self, event: Mapping[str, Any]) -> None:
        """Take a stream event from elsewhere, such as a tool's end; that of a request yet to begin is held."""
        self._require_open()
        request, context = event.get("requestId"), self.snapshot.context
        is_current = request in (None, context["requestId"])
        if is_current or any(message.get("requestId") == request for message in context["messages"]):
            self._actor.send(event)
        else:
            self._early.hold(event["requestId"], event)

    def subscribe(self, listener: Callable[[StreamingSnapshot], Any]) -> Subscription:
        """Have a function called with every snapshot."""
        return self._actor.subscribe(listener)

    def on(self, type: str, listener: Callable[[Any], Any]) -> Subscription:
        """Have a function called with what the machine emits, such as `BUDGET_WARNING`."""
        return self._actor.on(type, listener)

    async def _ask(self, prompt: str, session_id: str | EllipsisType | None, request: str) -> StreamingContext:
        self._require_open()
        event: dict[str, Any] = {"type": "SEND", "prompt": prompt, "requestId": request, "at": round(self._clock.now())}
        if not isinstance(session_id, EllipsisType):
            event["sessionId"] = session_id
        if not self.snapshot.can(cast(Any, event)):
            spent = self.context["spentUsd"]
            raise OverBudget(f"{spent} USD are spent of a budget of {self.context['settings']['budgetUsd']} USD")
        self._actor.send(event)
        for early in self._early.take(request):
            self._actor.send(early)
        return await self._reply(request)

    async def _reply(self, request: str | None) -> StreamingContext:
        try:
            return await self._rest()
        except asyncio.CancelledError:
            # Who gives up waiting wants no reply, and nobody else could stop paying for it.
            self._actor.send({"type": "CANCEL", "requestId": request})
            raise

    async def _rest(self) -> StreamingContext:
        return _spelled_out((await wait_for(self._actor, _is_at_rest)).context)

    def _require_open(self) -> None:
        if not self._is_open:
            raise NotOpen("a conversation is used inside `async with`")


def _is_at_rest(snapshot: StreamingSnapshot) -> bool:
    return not snapshot.has_tag("loading") and snapshot.context["retryDelayMs"] is None


def _spelled_out(context: StreamingContext) -> StreamingContext:
    return {**context, "text": str(context["text"]), "thinking": str(context["thinking"])}
