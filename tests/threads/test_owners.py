"""Limits of owners: what all their threads may spend in a day, before and after a restart."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from antiphon import App
from antiphon.messages import Usage
from antiphon.providers.base import Delta, Done, Model, Request, TextDelta, UsageDelta
from antiphon.providers.prices import Price, Prices
from antiphon.providers.rate_limits import SHARER, RateLimits
from antiphon.providers.registry import Models
from antiphon.runtime.errors import JournalCompacted, StoreError
from antiphon.runtime.records import Entry, Origin, TreeSummary
from antiphon.threads.day_costs import DAY_MS, DeletedCosts, sum_costs
from antiphon.threads.owners import OwnerLimits, Owners

MODEL = "paid:one"


class Paid:
    """A model whose replies cost a dollar each."""

    model = Model(MODEL, "paid", "one")

    def __init__(self) -> None:
        self.asked = 0
        self.at_once = 0
        self.most_at_once = 0

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        self.asked += 1
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            yield TextDelta("Yes.")
            await asyncio.sleep(0)
            yield UsageDelta(Usage(1_000_000, 0), "one")
            yield Done("end")
        finally:
            self.at_once -= 1


def app(folder: Path, model: Paid, limits: OwnerLimits) -> App:
    prices = Prices({MODEL: Price(Decimal(1), Decimal(1))})
    return App(folder / "a.db", models=Models(openers={"paid": lambda _: model}), prices=prices, limits=limits)


async def say(app: App, thread: str) -> Any:
    await app.chats.say(thread, "Hello")
    await app.chats.until_idle(thread)
    return (await app.chats.read(thread)).view


def test_an_owner_who_has_spent_the_money_of_the_day_gets_an_error_in_every_thread(tmp_path: Path) -> None:
    model = Paid()

    async def main() -> list[Any]:
        async with app(tmp_path, model, OwnerLimits(usd_per_day=2)) as opened:
            threads = [await opened.chats.create(model=MODEL) for _ in range(3)]
            return [await say(opened, thread) for thread in threads]

    *answered, refused = asyncio.run(main())
    assert [view.status for view in answered] == ["completed", "completed"]
    assert (refused.status, model.asked) == ("failed", 2)
    assert refused.error == ("threads without an owner reached the limit of $2.00 for today; it ends at midnight UTC")


def test_the_spending_of_the_day_survives_a_restart(tmp_path: Path) -> None:
    model = Paid()

    async def main() -> str:
        async with app(tmp_path, model, OwnerLimits(usd_per_day=1)) as opened:
            await say(opened, await opened.chats.create(model=MODEL))
        async with app(tmp_path, model, OwnerLimits(usd_per_day=1)) as opened:
            return str((await say(opened, await opened.chats.create(model=MODEL))).status)

    assert (asyncio.run(main()), model.asked) == ("failed", 1)


def test_the_costs_of_a_deleted_thread_survive_a_restart(tmp_path: Path) -> None:
    model = Paid()

    async def main() -> str:
        async with app(tmp_path, model, OwnerLimits(usd_per_day=1)) as opened:
            thread = await opened.chats.create(model=MODEL)
            await say(opened, thread)
            await opened.threads.delete(thread)
        async with app(tmp_path, model, OwnerLimits(usd_per_day=1)) as opened:
            return str((await say(opened, await opened.chats.create(model=MODEL))).status)

    assert (asyncio.run(main()), model.asked) == ("failed", 1)
    assert (tmp_path / "a.db-costs").stat().st_mode & 0o777 == 0o600


def test_a_thread_whose_deletion_failed_counts_once(tmp_path: Path) -> None:
    async def main() -> float:
        async with app(tmp_path, Paid(), OwnerLimits(usd_per_day=9)) as opened:
            thread = await opened.chats.create(model=MODEL)
            await say(opened, thread)
            costs = DeletedCosts(tmp_path / "costs")
            owners = Owners(lambda: opened.runtime, OwnerLimits(usd_per_day=9), None, costs)
            await owners.keep(thread)
            await owners.keep(thread)
            assert len(await costs.read(int(opened.runtime.now() // DAY_MS))) == 1
            return await owners.spent_usd("")

    assert asyncio.run(main()) == 1.0


def test_costs_of_other_days_are_dropped(tmp_path: Path) -> None:
    async def main() -> list[list[str]]:
        costs = DeletedCosts(tmp_path / "costs")
        await costs.add(1, "anna", "a", "h1", 0.5)
        await costs.add(2, "anna", "b", "h2", 0.5)
        return [[cost.root for cost in await costs.read(day)] for day in (1, 2)]

    assert asyncio.run(main()) == [[], ["b"]]


def test_a_damaged_file_of_costs_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "costs").write_text("[{]")

    with pytest.raises(StoreError, match="costs: it is damaged; delete it to count without deleted threads"):
        asyncio.run(DeletedCosts(tmp_path / "costs").read(1))


def test_owners_are_counted_on_their_own_and_yesterday_does_not_count(tmp_path: Path) -> None:
    async def main() -> list[float]:
        async with app(tmp_path, Paid(), OwnerLimits()) as opened:
            threads = [await opened.chats.create(model=MODEL) for _ in range(3)]
            for thread in threads:
                await say(opened, thread)
            names = {thread: "anna" if number else "ben" for number, thread in enumerate(threads)}
            owners = Owners(lambda: Owned(opened.runtime, names), OwnerLimits(usd_per_day=9), None)
            tomorrow = Owners(lambda: Owned(opened.runtime, names, DAY_MS), OwnerLimits(usd_per_day=9), None)
            return [await owners.spent_usd("anna"), await owners.spent_usd("ben"), await tomorrow.spent_usd("anna")]

    assert asyncio.run(main()) == [2.0, 1.0, 0.0]


class Owned:
    """A runtime whose threads have owners, maybe at a later time."""

    def __init__(self, runtime: Any, names: dict[str, str], later_ms: int = 0) -> None:
        self._runtime = runtime
        self._names = names
        self._later_ms = later_ms
        self.store = runtime.store

    def now(self) -> int:
        return int(self._runtime.now() + self._later_ms)

    async def origin(self, root: str) -> Any:
        return replace(await self._runtime.origin(root), input={"owner": self._names[root]})


def test_requests_that_are_no_replies_count_too(tmp_path: Path) -> None:
    """A crystal is made by a model."""
    model = Paid()

    async def main() -> Any:
        async with app(tmp_path, model, OwnerLimits(usd_per_day=1)) as opened:
            thread = await opened.chats.create(model=MODEL)
            await say(opened, thread)
            await opened.chats.perform(thread, "stop")
            await opened.chats.perform(thread, "crystallize")
            async for activity in opened.chats.follow(thread):
                if activity.kind == "crystallize_failed":
                    return activity.facts["error"]["message"]
        return None

    assert "reached the limit of $1.00 for today" in asyncio.run(main())
    assert model.asked == 1


def test_the_requests_of_an_owner_take_turns(tmp_path: Path) -> None:
    model = Paid()

    async def main() -> None:
        async with app(tmp_path, model, OwnerLimits(rate=RateLimits(concurrent=1))) as opened:
            threads = [await opened.chats.create(model=MODEL) for _ in range(3)]
            await asyncio.gather(*(say(opened, thread) for thread in threads))

    asyncio.run(main())
    assert (model.asked, model.most_at_once) == (3, 1)


def test_each_thread_waits_in_a_queue_of_its_own(tmp_path: Path) -> None:
    sharers: list[str] = []

    class Noting(Paid):
        def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
            sharers.append(SHARER.get())
            return super().stream(request)

    async def main() -> list[str]:
        async with app(tmp_path, Noting(), OwnerLimits()) as opened:
            threads = [await opened.chats.create(model=MODEL) for _ in range(2)]
            for thread in threads:
                await say(opened, thread)
            return threads

    assert asyncio.run(main()) == sharers


def test_money_that_is_limited_needs_a_price(tmp_path: Path) -> None:
    model = Paid()

    async def main() -> Any:
        models = Models(openers={"paid": lambda _: model})
        async with App(tmp_path / "a.db", models=models, limits=OwnerLimits(usd_per_day=2)) as opened:
            return await say(opened, await opened.chats.create(model=MODEL))

    view = asyncio.run(main())
    assert (view.status, model.asked) == ("failed", 0)
    assert "no price is known for 'paid:one'" in view.error


class Journal:
    """A store with one thread, whose steps cost a dollar each, and some of which were removed."""

    def __init__(self, times: list[int], first: int) -> None:
        self._entries = [Entry("t", seq, at, "chat/reply", COMPLETE) for seq, at in enumerate(times, 1)]
        self._first = first

    async def roots(self, after: str, limit: int) -> list[TreeSummary]:
        last = self._entries[-1]
        return [] if after else [TreeSummary("t", "thread", "active", last.seq, last.at)]

    async def entries(self, root: str, after: int, limit: int) -> list[Entry]:
        if after + 1 < self._first:
            raise JournalCompacted(root, self._first)
        return self._entries[after : after + limit]


COMPLETE = {"type": "COMPLETE", "costUsd": 1.0}


class Running:
    """A runtime on the second day."""

    def __init__(self, store: Journal) -> None:
        self.store = store

    def now(self) -> int:
        return DAY_MS + 10

    async def origin(self, root: str) -> Origin:
        return Origin("h", "thread", 2, "")


@pytest.mark.parametrize("today", range(1, 9))
@pytest.mark.parametrize("first", [1, 4, 8])
def test_the_steps_of_the_day_are_found_in_a_longer_journal(today: int, first: int) -> None:
    times = [DAY_MS - 1] * (8 - today) + [DAY_MS] * today
    owners = Owners(lambda: Running(Journal(times, first)), OwnerLimits(usd_per_day=1), None)  # type: ignore[arg-type,return-value]

    assert asyncio.run(owners.spent_usd("")) == min(today, 9 - first)


def entry(type: str, to: str = "chat/reply", **facts: Any) -> Entry:
    return Entry("t", 1, 1, to, {"type": type, **facts})


@pytest.mark.parametrize(
    ("entries", "usd"),
    [
        ([entry("USAGE", costUsd=0.5), entry("USAGE", costUsd=0.75), entry("COMPLETE", costUsd=1.0)], 1.0),
        ([entry("USAGE", costUsd=0.5), entry("REQUEST_STARTED"), entry("COMPLETE", costUsd=1.0)], 1.5),
        ([entry("USAGE", costUsd=0.5), entry("ERROR")], 0.5),
        ([entry("COMPLETE", costUsd=None), entry("USAGE", "debate/reply-p1", costUsd=0.25)], 0.25),
        ([entry("xstate.promise.resolve", "debate/judge", data={"costUsd": 2.0})], 2.0),
        ([entry("xstate.promise.resolve", "chat/tools/call-0", data="text")], 0.0),
    ],
)
def test_costs_are_read_from_the_steps_of_replies_and_of_other_requests(entries: list[Entry], usd: float) -> None:
    assert sum_costs(entries) == usd


@pytest.mark.parametrize("usd", [0, -1, True, "5"])
def test_a_limit_is_an_amount_above_zero(usd: Any) -> None:
    with pytest.raises(ValueError, match="usd_per_day"):
        OwnerLimits(usd_per_day=usd)
