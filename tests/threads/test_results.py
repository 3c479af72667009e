"""Threads whose journals were compacted are read from the first step that is left."""

import asyncio

import pytest

from antiphon.app import App
from antiphon.runtime.records import Entry
from antiphon.stores.compaction import Policy, compact
from antiphon.stores.sqlite import SqliteStore
from antiphon.testing.contracts.store_samples import first_commit, make_origin, steps
from antiphon.testing.contracts.store_steps import NOTHING_OPEN
from antiphon.threads.results import final_result
from tests.stores.open_store import use

EVERY_AGE = 2**62


def emitting(seq, **event):
    """Return an entry in which the content of a thread emits an event."""
    return Entry("a", seq, 10, "", {"type": "X"}, emitted=({"from": "run", "event": event},))


@pytest.fixture
def path(tmp_path):
    """A store with a compacted tree that emits events at its steps 150 and 350, of 601."""
    path = tmp_path / "store.db"

    async def fill(store):
        await store.commit([first_commit("a", origin=make_origin(machine="thread", input={"kind": "run"}))])
        for start in range(1, 601, 100):
            commit = steps("a", start, 100, snapshot={"n": start}, open=NOTHING_OPEN)
            entries = tuple(
                emitting(entry.seq, type="ended" if entry.seq == 350 else "early", at=entry.seq)
                if entry.seq in (150, 350)
                else entry
                for entry in commit.entries
            )
            await store.commit([commit._replace(entries=entries)])

    use(SqliteStore(path), fill)
    assert [item.last for item in compact(path, Policy(300, EVERY_AGE), print)] == [301]
    return path


def test_a_result_is_found_in_the_steps_that_are_left(path):
    async def read(store):
        return [await final_result(store, "a", "run", type) for type in ("ended", "early", "never")]

    assert use(SqliteStore(path), read) == [{"at": 350}, None, None]


def test_the_history_of_a_thread_begins_with_the_first_step_that_is_left(path):
    async def read():
        async with App(path) as app:
            past, cursor = await app.threads.history("a")
            return [(activity.seq, activity.kind) for activity in past], cursor.rpartition(":")[2]

    assert asyncio.run(read()) == ([(350, "ended")], "601")
