"""Compaction removes old steps only: readers are warned, letters are recognised, later steps can be replayed."""

import asyncio
import re
import sqlite3

import pytest

from antiphon import assign, create_machine
from antiphon.runtime.errors import JournalCompacted, StoreCorrupt
from antiphon.runtime.records import Receipt
from antiphon.runtime.runtime import Runtime
from antiphon.stores import maintenance
from antiphon.stores.archive import export, restore
from antiphon.stores.checks import check
from antiphon.stores.compaction import Policy, compact, plan
from antiphon.stores.sqlite import SqliteStore
from antiphon.testing.contracts.store_facts import read_contents
from antiphon.testing.contracts.store_samples import first_commit, letter, step, steps
from antiphon.testing.contracts.store_steps import NOTHING_OPEN
from tests.stores.open_store import use

EVERY_AGE = 2**62
COUNTER = create_machine(
    {
        "id": "counter",
        "context": {"n": 0},
        "on": {"ADD": {"actions": "add"}, "WAIT": {"actions": "wait"}, "RING": {"actions": "add"}},
    },
    actions={"add": assign({"n": lambda context, event: context["n"] + 1}), "wait": lambda context, event: None},
)


def ignore(*_):
    """Discard reports."""


def refuse(problem):
    raise AssertionError(problem)


def run(path, work, **options):
    """Run a coroutine with a runtime that stores a snapshot every ten steps."""

    async def main():
        async with Runtime(SqliteStore(path), [COUNTER], snapshot_every=10, **options) as runtime:
            return await work(runtime)

    return asyncio.run(main())


async def count_to_100(runtime):
    await runtime.create("counter", root="a")
    for number in range(100):
        await runtime.send("a", {"type": "ADD"}, id=f"l{number}")


@pytest.fixture
def path(tmp_path):
    """A store with a tree that has counted to 100."""
    path = tmp_path / "store.db"
    run(path, count_to_100)
    return path


@pytest.fixture
def compacted(path):
    """The same store, of whose tree old steps were removed."""
    assert [item.root for item in compact(path, Policy(20, EVERY_AGE), refuse)] == ["a"]
    return path


def first_of(path):
    return use(SqliteStore(path), lambda store: store.load("a")).first


def change(path, statement):
    connection = sqlite3.connect(path)
    with connection:
        assert connection.execute(statement).rowcount > 0
    connection.close()


def test_steps_up_to_a_snapshot_are_removed_and_the_latest_are_kept(path):
    (planned,) = plan(path, Policy(20, EVERY_AGE), refuse)
    (item,) = compact(path, Policy(20, EVERY_AGE), refuse)

    assert item == planned
    assert (item.root, item.first, item.latest) == ("a", 1, 101)
    assert 60 < item.last <= 81
    assert item.bytes > 60 * 30
    assert first_of(path) == item.last + 1
    assert list(compact(path, Policy(20, EVERY_AGE), refuse)) == []


def test_steps_since_a_time_are_kept(path):
    async def at_40(store):
        return (await store.entries("a", 39, 1))[0].at

    # Steps of one millisecond are told apart by their numbers.
    change(path, "update entry set at = seq")
    assert use(SqliteStore(path), at_40) == 40
    (item,) = compact(path, Policy(20, 40), refuse)

    assert item.last < 40
    assert plan(path, Policy(20, 0), refuse) == []


def test_a_tree_goes_on_where_it_was(compacted):
    async def add(runtime):
        await runtime.send("a", {"type": "ADD"})
        return (await runtime.snapshot("a"))["context"]["n"]

    assert run(compacted, add) == 101
    assert run(compacted, add) == 102


def test_the_snapshot_that_a_journal_begins_with_stays_however_long_it_grows(path):
    list(compact(path, Policy(80, EVERY_AGE), refuse))
    first = first_of(path)
    assert 1 < first <= 22

    async def add_400(runtime):
        for _ in range(400):
            await runtime.send("a", {"type": "ADD"})
        return (await runtime.snapshot("a", first))["context"]["n"]

    assert run(path, add_400) == first - 1
    assert check(path, ignore) == []


def test_a_letter_whose_step_was_removed_is_still_recognised(compacted):
    async def send_again(runtime):
        sent = await runtime.send("a", {"type": "ADD"}, id="l5")
        posted = await runtime.post("a", {"type": "ADD"}, id="l6")
        return sent, posted.status, await runtime.store.outcome("a", "l7")

    sent, posted, outcome = run(compacted, send_again)
    assert (sent.status, sent.seq, posted) == ("duplicate", 7, "duplicate")
    assert outcome == Receipt("accepted", "l7", 9)


def test_a_reader_of_removed_steps_is_told_which_one_is_the_first(compacted):
    first = first_of(compacted)

    async def read(runtime):
        with pytest.raises(JournalCompacted, match=f"the journal of 'a' begins at step {first}") as caught:
            await runtime.store.entries("a", first - 2)
        assert caught.value.first == first
        with pytest.raises(JournalCompacted, match=f"read it after step {first - 1}"):
            await anext(runtime.feed("a"))
        following = await anext(runtime.feed("a", first - 1))
        return following.seq, [entry.seq for entry in await runtime.store.entries("a", first - 1)]

    assert run(compacted, read) == (first, list(range(first, 102)))


def test_damage_is_not_taken_for_compaction(compacted):
    first = first_of(compacted)
    change(compacted, f"delete from entry where seq = {first}")

    with pytest.raises(StoreCorrupt, match=f"step {first} of 'a' is missing"):
        use(SqliteStore(compacted), lambda store: store.entries("a", first - 1))


def test_states_from_the_first_snapshot_on_can_be_seen_and_forked(compacted):
    first = first_of(compacted)

    async def travel(runtime):
        counts = [(await runtime.snapshot("a", seq))["context"]["n"] for seq in range(first - 1, 102)]
        fork = await runtime.fork("a", first - 1)
        with pytest.raises(ValueError, match=rf"'a' has steps {first - 1} to 101, not 5; .* `antiphon db compact`"):
            await runtime.snapshot("a", 5)
        whole = await runtime.time_travel.rebuild("a")
        return counts, (await runtime.snapshot(fork))["context"]["n"], whole.actor.snapshot.context["n"]

    assert run(compacted, travel) == (list(range(first - 2, 101)), first - 2, 100)


def test_a_fork_survives_the_compaction_of_the_tree_it_came_from(path):
    async def fork(runtime):
        await runtime.fork("a", 5, new="b")
        for _ in range(30):
            await runtime.send("b", {"type": "ADD"})

    run(path, fork)
    list(compact(path, Policy(20, EVERY_AGE, "a"), refuse))

    async def look(runtime):
        return [(await runtime.snapshot("b", seq))["context"]["n"] for seq in (1, 2, 31)]

    assert run(path, look) == [4, 5, 34]


def test_a_fork_that_needs_removed_steps_says_so(path):
    run(path, lambda runtime: runtime.fork("a", 5, new="b"))
    change(path, "delete from snapshot where actor = (select n from actor where id = 'b')")
    list(compact(path, Policy(20, EVERY_AGE, "a"), refuse))

    with pytest.raises(ValueError, match="the first snapshot of 'b' is gone, and it cannot be forked again: 'a' has"):
        run(path, lambda runtime: runtime.snapshot("b", 1))


def test_nothing_is_wrong_with_a_compacted_store(compacted):
    stats = maintenance.stats(compacted)

    assert check(compacted, ignore) == []
    assert (stats.steps, stats.removed) == (101, first_of(compacted) - 1)


def test_a_missing_first_snapshot_is_found_by_a_check_and_said_when_it_is_needed(compacted):
    first = first_of(compacted)
    change(compacted, f"delete from snapshot where seq = {first - 1}")

    (problem,) = check(compacted, ignore)
    assert problem.what == f"its journal begins at step {first}, and the snapshot of the step before is missing"
    change(compacted, "delete from snapshot")
    with pytest.raises(StoreCorrupt, match="the snapshot that the compacted journal of 'a' begins with is missing"):
        use(SqliteStore(compacted), lambda store: store.load("a"))


def test_a_damaged_latest_snapshot_is_replaced_by_an_older_one(compacted):
    intact = use(SqliteStore(compacted), lambda store: store.load("a"))
    change(compacted, f"update snapshot set body = '{{' where seq = {intact.snapshot_seq}")
    saved = use(SqliteStore(compacted), lambda store: store.load("a"))

    assert intact.first - 1 <= saved.snapshot_seq < intact.snapshot_seq
    assert [entry.seq for entry in saved.entries] == list(range(saved.snapshot_seq + 1, 102))


def test_a_compacted_store_is_exported_and_imported_as_it_is(compacted, tmp_path):
    lines = list(export(compacted, ignore))
    copy = tmp_path / "copy.db"
    restore(copy, lines, ignore)

    again = [re.sub(r"@\d+\.[0-9a-f]{16}", "", line) for line in export(copy, ignore)]  # its histories are new
    assert again[1:] == lines[1:]
    assert check(copy, ignore) == []
    assert first_of(copy) == first_of(compacted)

    async def look(runtime):
        duplicate = await runtime.send("a", {"type": "ADD"}, id="l5")
        return duplicate.status, (await runtime.snapshot("a", first_of_copy - 1))["context"]["n"]

    first_of_copy = first_of(copy)
    assert run(copy, look) == ("duplicate", first_of_copy - 2)


def test_an_export_of_a_compacted_store_without_its_first_snapshot_is_refused(compacted, tmp_path):
    lines = [line for line in export(compacted, ignore) if not line.startswith('{"snapshot"')]
    lines[-1] = lines[-1].replace(lines[-1][lines[-1].index('"snapshot":') :].split(",")[0], '"snapshot":0')

    with pytest.raises(Exception, match="the journal of 'a' does not match"):
        restore(tmp_path / "copy.db", lines, ignore)


def test_snapshots_without_their_open_work_are_not_compacted_to(path):
    change(path, "update snapshot set open = null")

    assert plan(path, Policy(20, EVERY_AGE), refuse) == []


def test_a_damaged_tree_is_left_as_it_is_and_reported(path):
    change(path, "delete from entry where seq = 90")
    before = use(SqliteStore(path), lambda store: store.entries("a", 0, 50))
    problems = []

    assert list(compact(path, Policy(20, EVERY_AGE), problems.append)) == []
    assert [problem.split(":")[0] for problem in problems] == ["'a' is left as it is"]
    assert use(SqliteStore(path), lambda store: store.entries("a", 0, 50)) == before


def test_a_quarantined_tree_is_left_as_it_is(path):
    change(path, "update actor set status = 'quarantined'")

    assert plan(path, Policy(20, EVERY_AGE), refuse) == []


def test_trees_are_compacted_one_by_one_each_as_a_whole(tmp_path):
    path = tmp_path / "store.db"

    async def fill(store):
        for root in ("a", "b", "c"):
            await store.commit([first_commit(root)])
            for number in range(10):
                snapshot = {"snapshot": {"n": number}, "open": NOTHING_OPEN}
                await store.commit([steps(root, 1 + 10 * number, 10, **snapshot)])

    use(SqliteStore(path), fill)
    work = compact(path, Policy(20, EVERY_AGE), refuse)
    assert next(work).root == "a"
    work.close()  # as an interruption does

    async def firsts(store):
        return [(await store.load(root)).first > 1 for root in ("a", "b", "c")]

    assert use(SqliteStore(path), firsts) == [True, False, False]
    assert check(path, ignore) == []
    assert [item.root for item in compact(path, Policy(20, EVERY_AGE), refuse)] == ["b", "c"]


def test_only_bodies_of_removed_letters_are_removed_everything_else_stays(tmp_path):
    path = tmp_path / "store.db"

    async def fill(store):
        entries = tuple(step("a", seq, f"l{seq}" if seq % 2 else None) for seq in range(2, 41))
        commit = steps("a", 1, 0)._replace(entries=entries, snapshot={"n": 1}, open=NOTHING_OPEN)
        waiting = (letter("a", "waiting"),)
        await store.commit([first_commit("a", letters=waiting), commit, steps("a", 40, 30)])
        return (await read_contents(store))[:3]

    before = use(SqliteStore(path), fill)
    list(compact(path, Policy(20, EVERY_AGE), refuse))
    connection = sqlite3.connect(path)
    left = connection.execute("select seq, letter, body from entry where seq <= 40").fetchall()
    connection.close()

    assert left == [(seq, f"l{seq}", "null") for seq in range(3, 41, 2)]

    async def contents(store):
        return [await store.due_times(), await store.running_tasks(), await store.roots()]

    assert use(SqliteStore(path), contents) == before
