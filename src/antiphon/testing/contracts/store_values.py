"""Facts about what can be stored: any JSON, exactly, and nothing else."""

import copy
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

from antiphon.chart.codecs import TAG
from antiphon.runtime.errors import StoreError, UnknownRoot
from antiphon.runtime.records import Commit, Saved
from antiphon.runtime.store import Store
from antiphon.testing.contracts.store_facts import assert_refused, on_a_store, read_contents
from antiphon.testing.contracts.store_samples import VALUES, first_commit, letter, make_origin, step, steps, task


def commits_with(value: Any) -> tuple[Commit, Commit]:
    """Return commits of a tree that has a value in every place that holds JSON."""
    event = {"type": "X", "value": value}
    created = first_commit("a", origin=make_origin(input=value, version=value), tasks=(task("a", "t", input=value),))
    emitted = ({"from": "", "event": event},)
    entries = (step("a", 2, event=event, value=value, emitted=emitted),)
    letters = (letter("a", "l", event=event),)
    dead = ((letter("a", "d", event=event), "why"),)
    first = Commit("a", 1, 30, "active", entries=entries, letters=letters, dead=dead)
    return created, first


async def load_everything(store: Store) -> tuple[Saved, Any]:
    """Load the tree `a` with its dead letters."""
    saved = await store.load("a")
    assert saved is not None
    return saved, await store.dead_letters("a")


class ValueFacts:
    """Stored values come back as equal copies; values that cannot be stored are refused."""

    @on_a_store
    async def test_json_comes_back_as_it_was(self, store: Store) -> None:
        """Unicode, nested and empty values, floats and integers of any size, everywhere they can be."""
        created, first = commits_with(VALUES)
        await store.commit([created])
        await store.commit([first])
        await store.commit(
            [Commit("b", 0, 10, "active", origin=make_origin(), entries=(step("b", 1),), snapshot=VALUES)]
        )

        saved, dead = await load_everything(store)
        assert saved.origin == created.origin
        assert (saved.tasks, saved.letters, tuple(dead)) == (created.tasks, first.letters, first.dead)
        assert saved.entries == created.entries + first.entries
        second = await store.load("b")
        assert second is not None
        assert repr(second.snapshot) == repr(VALUES)

    @on_a_store
    async def test_values_with_codecs_come_back_as_they_were(self, store: Store) -> None:
        """So does a dict that looks like the stored form of one."""
        coded = [Decimal("1.50"), UUID(int=7), date(2026, 1, 2), {TAG: "date", "value": "2026-01-02"}]
        created, first = commits_with(coded)
        await store.commit([created, first])

        saved, dead = await load_everything(store)
        assert (saved.origin, saved.tasks, saved.letters) == (created.origin, created.tasks, first.letters)
        assert (saved.entries[1:], tuple(dead)) == (first.entries, first.dead)

    @on_a_store
    async def test_a_snapshot_comes_back_in_its_stored_form(self, store: Store) -> None:
        """The machine that it belongs to decodes it."""
        stored = {"context": {"on": {TAG: "date", "value": "2026-01-02"}}}
        await store.commit([first_commit("a"), steps("a", 1, snapshot=stored)])

        saved, _ = await load_everything(store)
        assert saved.snapshot == stored

    @on_a_store
    async def test_lone_surrogates_in_json_are_kept(self, store: Store) -> None:
        """Half an emoji at the end of a chunk of text is the usual one."""
        created, first = commits_with(["\ud83d", "\ude00 é", {"\udfff": "日"}])
        await store.commit([created, first])

        saved, dead = await load_everything(store)
        assert (saved.origin, saved.tasks, saved.letters) == (created.origin, created.tasks, first.letters)
        assert (saved.entries[1:], tuple(dead)) == (first.entries, first.dead)

    @on_a_store
    async def test_lone_surrogates_in_ids_are_refused(self, store: Store) -> None:
        """The store is unchanged, and no tree or letter has such an id."""
        await store.commit([first_commit("a"), first_commit("b")])
        before = await read_contents(store)
        for commit in (
            first_commit("\ud800"),
            steps("a", 1, status="\ud800"),
            steps("a", 1, letters=(letter("a", "\ud800"),)),
            steps("a", 1, tasks=(task("a", "\ud800"),)),
            steps("a", 1, taken=("\ud800",)),
            Commit("a", 1, 30, "active", entries=(step("a", 2, "\ud800"),)),
        ):
            await assert_refused(store.commit([steps("b", 1), commit]), StoreError)

        await assert_refused(store.post([letter("a", "l"), letter("a", "\ud800")]), StoreError)
        assert await read_contents(store) == before
        assert await store.load("\ud800") is None
        assert await store.outcome("a", "\ud800") is None
        await assert_refused(store.post([letter("\ud800", "l")]), UnknownRoot)

    @on_a_store
    async def test_what_is_not_json_is_refused(self, store: Store) -> None:
        """The whole call is refused, and the store is unchanged."""
        circle: list[Any] = []
        circle.append(circle)
        deep: list[Any] = []
        for _ in range(100_000):
            deep = [deep]
        await store.commit([first_commit("a"), first_commit("b")])
        before = await read_contents(store)
        for value in (object(), {1, 2}, b"bytes", circle, deep, {("a", "b"): 1}, {1: 2}, float("nan"), 10**5000):
            _, first = commits_with(value)
            await assert_refused(store.commit([steps("b", 1), first]), StoreError)
            await assert_refused(store.commit([steps("b", 1), steps("a", 1, snapshot=value)]), StoreError)
            await assert_refused(store.post([letter("b", "l"), letter("a", "l", event=value)]), StoreError)

        assert await read_contents(store) == before

    @on_a_store
    async def test_numbers_of_more_than_64_bits_are_refused_as_times(self, store: Store) -> None:
        """The largest that fits is stored."""
        await store.commit([first_commit("a")])
        await store.post([letter("a", "l", 2**63 - 1)])

        await assert_refused(store.post([letter("a", "m", 2**63)]), StoreError)
        await assert_refused(store.commit([Commit("a", 1, 2**63, "active")]), StoreError)
        assert await store.due_times() == [("a", 2**63 - 1)]

    @on_a_store
    async def test_what_was_given_may_be_changed_afterwards(self, store: Store) -> None:
        """The store has its own copy."""
        value: dict[str, Any] = {"list": [1]}
        created, first = commits_with(value)
        await store.commit([created])
        await store.commit([first])
        await store.commit([steps("a", 2, snapshot=value)])
        value["list"].append(2)

        saved, dead = await load_everything(store)
        assert "[1, 2]" not in repr((saved, dead, await store.entries("a"), await store.running_tasks()))

    @on_a_store
    async def test_what_is_read_may_be_changed_afterwards(self, store: Store) -> None:
        """The next read returns what was stored."""
        created, first = commits_with({"list": [1]})
        await store.commit([created, first, steps("a", 2, snapshot={"list": [1]})])
        before = copy.deepcopy(await read_contents(store))
        saved, dead = await load_everything(store)
        for value in (
            saved.snapshot,
            saved.origin.input,
            saved.letters[0].event["value"],
            saved.tasks[0].input,
            dead[0][0].event["value"],
            (await store.entries("a", 1))[0].event["value"],
            (await store.running_tasks())[0].input,
        ):
            value["list"].append(2)

        assert await read_contents(store) == before
