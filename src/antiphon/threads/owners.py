"""Limits of owners: what all threads of an owner may spend in a day, and how fast they may ask models.

1. The owner of a thread is a plain text; threads without one share the empty owner.
2. A limit is checked before each request to a model, whoever asks it: a reply, a judge, an arbiter or a summariser.
3. The spending of the day is read from the journals when the first request is made, and counted in memory from then on.
   A day begins at midnight UTC. Requests in progress are counted when they end, so the limit may be exceeded by them.
   The costs of threads that are deleted are kept until the day ends.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass

from antiphon.errors import Code
from antiphon.money import format_usd
from antiphon.providers.base import Delta, Provider, Request
from antiphon.providers.errors import ProviderError
from antiphon.providers.prices import Prices
from antiphon.providers.rate_limits import SHARER, KeyLimiter, RateLimits
from antiphon.providers.reply import Reply
from antiphon.runtime.doors import Doors
from antiphon.runtime.tasks import CURRENT
from antiphon.threads.day_costs import DAY_MS, DeletedCosts, costs_since

PAGE = 1000
MOST_KNOWN = 10_000  # threads whose owners are kept in memory


@dataclass(frozen=True, slots=True)
class OwnerLimits:
    """Limits of each owner; None is no limit."""

    usd_per_day: float | None = None
    rate: RateLimits | None = None

    def __post_init__(self) -> None:
        usd = self.usd_per_day
        if usd is not None and (isinstance(usd, bool) or not isinstance(usd, int | float) or not usd > 0):
            raise ValueError(f"usd_per_day is {usd!r}; it must be a number above 0, or None")


class Owners:
    """Spending and rates of the owners of a runtime's threads."""

    def __init__(
        self,
        runtime: Callable[[], Doors],
        limits: OwnerLimits | None,
        prices: Prices | None,
        deleted: DeletedCosts | None = None,
    ) -> None:
        self._runtime = runtime
        self._limits = limits or OwnerLimits()
        self._prices = prices or Prices()
        self._deleted = deleted  # None if nothing outlives this process
        self._owners: dict[str, str] = {}
        self._spent_usd: defaultdict[tuple[str, int], float] = defaultdict(float)  # by owner and day
        self._limiters: dict[str, KeyLimiter] = {}
        self._is_loaded = False
        self._loading = asyncio.Lock()

    @property
    def has_limits(self) -> bool:
        """True if anything is limited."""
        return self._limits != OwnerLimits()

    def open(self, provider: Provider) -> Provider:
        """Return a provider that asks for the owner of the thread whose task uses it."""
        return OwnedProvider(provider, self)

    async def owner_of(self, root: str) -> str:
        """Return the owner of a thread."""
        if root not in self._owners:
            if len(self._owners) >= MOST_KNOWN:
                self._owners.clear()
            # By its input: a thread that is quarantined has no snapshot, and its costs count.
            input = (await self._runtime().origin(root)).input
            self._owners[root] = str((input or {}).get("owner") or "")
        return self._owners[root]

    def forget(self, root: str) -> None:
        """Forget the owner of a thread; what was spent today still counts."""
        self._owners.pop(root, None)

    async def keep(self, root: str) -> None:
        """Keep what a thread has cost today; it is about to be deleted."""
        store = self._runtime().store
        summary = await store.summary(root)
        today = self._today()
        if self._deleted is None or self._limits.usd_per_day is None or summary is None or summary.machine != "thread":
            return
        cost_usd = await costs_since(store, root, summary.seq, today * DAY_MS)
        if cost_usd:
            history, _ = await store.history(root)
            await self._deleted.add(today, await self.owner_of(root), root, history, cost_usd)

    @property
    def known(self) -> int:
        """Number of threads whose owners are kept in memory."""
        return len(self._owners)

    async def spent_usd(self, owner: str) -> float:
        """Return what an owner has spent today."""
        async with self._loading:
            if not self._is_loaded:
                await self._load()
                self._is_loaded = True
        return self._spent_usd[owner, self._today()]

    async def enter(self, root: str, provider: Provider, request: Request, stack: AsyncExitStack) -> Reply | None:
        """Check the limits of a thread's owner and wait for its turn; return the reply to count, if costs are limited.

        Raise `ProviderError` if the owner may spend nothing more today, or if the price of the model is unknown.
        """
        rate = self._limits.rate
        limit_usd = self._limits.usd_per_day
        owner = await self.owner_of(root)
        if rate is not None:
            limiter = self._limiters.setdefault(owner, KeyLimiter(rate))
            await stack.enter_async_context(limiter.turn(limiter.estimate(request)))
        if limit_usd is None:
            return None
        self._prices.require(provider.model, limited=True)
        if await self.spent_usd(owner) >= limit_usd:
            name = f"the owner {owner!r}" if owner else "threads without an owner"
            message = f"{name} reached the limit of {format_usd(limit_usd)} for today; it ends at midnight UTC"
            raise ProviderError(Code.OWNER_LIMIT, message)
        reply = Reply(provider.model, request)
        stack.callback(self._count, owner, reply)
        return reply

    def _count(self, owner: str, reply: Reply) -> None:
        if reply.has_begun:
            cost = self._prices.cost(reply.model, reply.usage, answered_by=reply.answered_by, tier=reply.tier)
            today = self._today()
            for key in [key for key in self._spent_usd if key[1] != today]:
                del self._spent_usd[key]  # of another day, which limits nothing any more
            self._spent_usd[owner, today] += float(cost.amount) if cost is not None else 0.0

    def _today(self) -> int:
        return int(self._runtime().now() // DAY_MS)

    async def _load(self) -> None:
        """Read the spending of the day from the journals of the threads that were used today."""
        store = self._runtime().store
        today = self._today()
        after = ""
        spent_usd: defaultdict[str, float] = defaultdict(float)
        while page := await store.roots(after, PAGE):
            after = page[-1].root
            for tree in page:
                if tree.machine == "thread" and tree.updated >= today * DAY_MS:
                    costs_usd = await costs_since(store, tree.root, tree.seq, today * DAY_MS)
                    spent_usd[await self.owner_of(tree.root)] += costs_usd
        for cost in await self._deleted.read(today) if self._deleted is not None else ():
            # A thread whose deletion failed was counted above.
            if await store.summary(cost.root) is None or (await store.history(cost.root))[0] != cost.history:
                spent_usd[cost.owner] += cost.usd
        for owner, amount_usd in spent_usd.items():
            self._spent_usd[owner, today] += amount_usd


class OwnedProvider:
    """Provider whose requests count for the owner of the thread that makes them."""

    __slots__ = ("_owners", "_provider", "model")

    def __init__(self, provider: Provider, owners: Owners) -> None:
        self._provider = provider
        self._owners = owners
        self.model = provider.model

    def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """Check the limits of the owner, send the request and yield the deltas of the reply."""
        task = CURRENT.get()
        if task is None:
            return self._provider.stream(request)
        SHARER.set(task.root)
        # Without limits, deltas are not passed through another generator.
        return self._stream(task.root, request) if self._owners.has_limits else self._provider.stream(request)

    async def _stream(self, root: str, request: Request) -> AsyncGenerator[Delta, None]:
        async with AsyncExitStack() as stack:
            reply = await self._owners.enter(root, self._provider, request, stack)
            deltas = await stack.enter_async_context(aclosing(self._provider.stream(request)))
            async for delta in deltas:
                if reply is not None:
                    reply.add(delta)
                yield delta
