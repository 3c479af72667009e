"""Rate limits of keys: requests wait for their turn, shared by everything in this process that uses the same key.

1. Requests with one key wait in a queue for each sharer; the queues take turns, so that one sharer cannot delay all.
2. A minute is the last 60 seconds at any moment, not one of the clock.
3. The tokens of a request are estimated before it and corrected after it. A request that is larger than the limit of
   tokens is made alone.
4. A provider that answers that its rate limit is reached, and when to try again, pauses its key for all sharers.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields
from typing import Any

from antiphon.errors import Code
from antiphon.providers.base import Delta, Provider, Request, UsageDelta
from antiphon.providers.clock import LOOP_CLOCK, ProviderClock
from antiphon.providers.errors import ProviderError
from antiphon.providers.usage import tokens_of_request

MINUTE_MS = 60_000
PAUSING = (Code.RATE_LIMITED, Code.CONCURRENCY)
LONGEST_PAUSE_MS = 60_000
SHARER: ContextVar[str] = ContextVar("antiphon_sharer", default="")
"""The sharer for which the current task asks, such as a thread."""


@dataclass(frozen=True, slots=True)
class RateLimits:
    """Limits of the requests with one key; None is no limit."""

    concurrent: int | None = None
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None and (type(value) is not int or value < 1):
                raise ValueError(f"{field.name} is {value!r}; it must be a whole number from 1, or None")


@dataclass(slots=True)
class GrantedTurn:
    """A request that has its turn, and the tokens it counts for."""

    at_ms: float
    tokens: int


class KeyLimiter:
    """Gives requests with one key their turns."""

    def __init__(self, limits: RateLimits | None = None, clock: ProviderClock = LOOP_CLOCK) -> None:
        self._limits = limits or RateLimits()
        self._clock = clock
        self._queues: OrderedDict[str, deque[tuple[int, asyncio.Future[GrantedTurn]]]] = OrderedDict()
        self._running = 0
        self._recent: deque[GrantedTurn] = deque()  # of the last minute, oldest first
        self._paused_until_ms = 0.0
        self._timer: Any = None

    @asynccontextmanager
    async def turn(self, tokens: int = 0) -> AsyncIterator[GrantedTurn]:
        """Wait for a turn, and keep it while the request runs."""
        future: asyncio.Future[GrantedTurn] = asyncio.get_running_loop().create_future()
        self._queues.setdefault(SHARER.get(), deque()).append((tokens, future))
        self._give_turns()
        try:
            turn = await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled():
                self._end()  # it had its turn, but never began
            raise
        try:
            yield turn
        finally:
            self._end()

    def estimate(self, request: Request) -> int:
        """Estimate the tokens of a request, if they are limited."""
        return 0 if self._limits.tokens_per_minute is None else tokens_of_request(request)

    def pause(self, delay_ms: float) -> None:
        """Give no turns for a while, at most `LONGEST_PAUSE_MS`: the server answers the next request then."""
        pause_ms = min(delay_ms, LONGEST_PAUSE_MS)
        self._paused_until_ms = max(self._paused_until_ms, self._clock.now() + pause_ms)

    def _end(self) -> None:
        self._running -= 1
        self._give_turns()

    def _give_turns(self) -> None:
        """Give turns to as many requests as the limits allow, and set a timer for the others."""
        if self._timer is not None:
            self._clock.clear_timeout(self._timer)
            self._timer = None
        while (tokens := self._next_tokens()) is not None:
            delay_ms = self._delay_ms(tokens)
            if delay_ms is None:
                return  # a request that ends gives the next turn
            if delay_ms > 0:
                self._timer = self._clock.set_timeout(self._wake, delay_ms)
                return
            self._give_turn()

    def _wake(self) -> None:
        self._timer = None
        self._give_turns()

    def _next_tokens(self) -> int | None:
        """Return the tokens of the next request, or None if none waits; drop those that were cancelled."""
        while self._queues:
            sharer, queue = next(iter(self._queues.items()))
            while queue and queue[0][1].done():
                queue.popleft()
            if queue:
                return queue[0][0]
            del self._queues[sharer]
        return None

    def _give_turn(self) -> None:
        sharer, queue = next(iter(self._queues.items()))
        tokens, future = queue.popleft()
        if queue:
            self._queues.move_to_end(sharer)
        else:
            del self._queues[sharer]
        turn = GrantedTurn(self._clock.now(), tokens)
        self._running += 1
        if self._limits.requests_per_minute or self._limits.tokens_per_minute:
            self._recent.append(turn)
        future.set_result(turn)

    def _delay_ms(self, tokens: int) -> float | None:
        """Return how long the next request must wait, or None if it waits for the end of another."""
        now_ms = self._clock.now()
        while self._recent and self._recent[0].at_ms <= now_ms - MINUTE_MS:
            self._recent.popleft()
        limits = self._limits
        if limits.concurrent is not None and self._running >= limits.concurrent:
            return None
        delays_ms = [self._paused_until_ms - now_ms]
        if limits.requests_per_minute is not None and len(self._recent) >= limits.requests_per_minute:
            oldest = self._recent[len(self._recent) - limits.requests_per_minute]
            delays_ms.append(oldest.at_ms + MINUTE_MS - now_ms)
        if limits.tokens_per_minute is not None:
            delays_ms.append(self._token_delay_ms(tokens, limits.tokens_per_minute, now_ms))
        return max(0.0, *delays_ms)

    def _token_delay_ms(self, tokens: int, most: int, now_ms: float) -> float:
        used = sum(turn.tokens for turn in self._recent)
        for turn in self._recent:
            if used + tokens <= most:
                break
            used -= turn.tokens
            if used + tokens <= most or turn is self._recent[-1]:
                return turn.at_ms + MINUTE_MS - now_ms
        return 0.0


class RateLimitedProvider:
    """Provider whose requests wait for their turn."""

    __slots__ = ("_limiter", "_provider", "model")

    def __init__(self, provider: Provider, limiter: KeyLimiter) -> None:
        self._provider = provider
        self._limiter = limiter
        self.model = provider.model

    def __repr__(self) -> str:
        return repr(self._provider)

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """Wait for a turn, send the request and yield the deltas of the reply."""
        async with self._limiter.turn(self._limiter.estimate(request)) as turn:
            try:
                async with aclosing(self._provider.stream(request)) as deltas:
                    async for delta in deltas:
                        if isinstance(delta, UsageDelta):
                            turn.tokens = delta.usage.input + delta.usage.output
                        yield delta
            except ProviderError as error:
                if error.code in PAUSING and error.retry_after_ms is not None:
                    self._limiter.pause(error.retry_after_ms)
                raise
