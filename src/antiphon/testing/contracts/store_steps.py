"""Facts about trees at earlier steps, and about the snapshots that are kept for them."""

from typing import Any

from antiphon.runtime.open_work import open_work_to_json
from antiphon.runtime.records import Commit, Entry, Saved
from antiphon.runtime.replay.time_travel import FORKED
from antiphon.runtime.store import Store
from antiphon.runtime.tree import MIGRATED
from antiphon.testing.contracts.store_facts import on_a_store
from antiphon.testing.contracts.store_samples import first_commit, letter, make_origin, steps, task

NOTHING_OPEN = open_work_to_json(0, (), ())


async def load_at(store: Store, seq: int) -> Saved:
    """Load the tree `a` at a step, and check that the entries lead from the snapshot to that step."""
    saved = await store.load("a", seq)
    assert saved is not None
    assert saved.seq == seq
    assert [entry.seq for entry in saved.entries] == list(range(saved.snapshot_seq + 1, seq + 1))
    return saved


async def refusal_of(store: Store, seq: int) -> str:
    """Load the tree `a` at a step that it does not have; return the error."""
    try:
        await store.load("a", seq)
    except ValueError as error:
        return str(error)
    raise AssertionError(f"step {seq} was loaded")


def snapshot_after(count: int, expected: int, **fields: Any) -> Commit:
    """Return a commit of some steps that stores a snapshot with its own number."""
    return steps("a", expected, count, **{"snapshot": {"n": expected + count}, "open": NOTHING_OPEN, **fields})


class StepFacts:
    """A tree can be loaded as it was at each of its steps."""

    @on_a_store
    async def test_a_tree_is_loaded_at_a_step_from_the_snapshot_before_it(self, store: Store) -> None:
        """With the entries in between, and the timers and tasks that were open at the snapshot."""
        timer = letter("a", "t", timer="ring", to="x")
        running = task("a", "w", attempt=2)
        work = open_work_to_json(70, [timer], [running])
        await store.commit([first_commit("a"), snapshot_after(2, 1, open=work), snapshot_after(3, 3), steps("a", 6)])

        saved = await load_at(store, 5)
        assert (saved.snapshot, saved.snapshot_seq, saved.at) == ({"n": 3}, 3, 70)
        assert (saved.letters, saved.tasks) == ((timer,), (running._replace(input=None),))
        assert [(await load_at(store, seq)).snapshot_seq for seq in range(1, 8)] == [0, 0, 3, 3, 3, 6, 6]

    @on_a_store
    async def test_a_step_that_a_tree_does_not_have_is_refused(self, store: Store) -> None:
        """The error has the steps that there are."""
        await store.commit([first_commit("a"), steps("a", 1, 2)])
        for seq in (0, 4, -1):
            assert await refusal_of(store, seq) == f"'a' has steps 1 to 3, not {seq}"
        assert await store.load("nobody", 1) is None

    @on_a_store
    async def test_a_snapshot_without_its_open_work_is_used_for_the_latest_step_only(self, store: Store) -> None:
        """A fork from there would lose timers."""
        await store.commit([first_commit("a"), steps("a", 1, 2, snapshot={"n": 3}), steps("a", 3)])

        assert (await load_at(store, 4)).snapshot_seq == 0
        latest = await store.load("a")
        assert latest is not None
        assert latest.snapshot_seq == 3

    @on_a_store
    async def test_a_tree_at_a_step_has_the_version_of_that_step(self, store: Store) -> None:
        """Without the hash of its chart, if it was another than now."""
        event = {"type": MIGRATED, "from": "1", "to": "2", "snapshot": {"n": "new"}, "open": NOTHING_OPEN}
        migrated = make_origin(history="i-a", version="2", hash="h2")
        move = Commit("a", 4, 30, "active", migrated=migrated, entries=(Entry("a", 5, 30, "", event),))
        await store.commit([first_commit("a"), snapshot_after(2, 1), steps("a", 3)])
        await store.commit([move, snapshot_after(2, 5)])

        loaded = [await load_at(store, seq) for seq in (1, 3, 4, 5, 6, 7)]
        assert [saved.origin.version for saved in loaded] == ["1", "1", "1", "2", "2", "2"]
        assert [saved.origin.hash for saved in loaded] == ["", "", "", "h2", "h2", "h2"]
        assert [saved.snapshot_seq for saved in loaded] == [0, 3, 3, 5, 5, 7]
        assert loaded[3].snapshot == {"n": "new"}

    @on_a_store
    async def test_a_step_before_all_snapshots_has_the_version_before_the_next_migration(self, store: Store) -> None:
        """Of several migrations, the first one after the step counts."""
        moves = [
            Entry("a", seq, 30, "", {"type": MIGRATED, "from": old, "to": new, "snapshot": {"n": new}})
            for seq, old, new in ((3, "0", "1"), (5, "1", "2"))
        ]
        first = first_commit("a", origin=make_origin(version="0"))
        one = Commit("a", 2, 30, "active", migrated=make_origin(version="1"), entries=(moves[0],))
        two = Commit("a", 4, 30, "active", migrated=make_origin(version="2"), entries=(moves[1],))
        await store.commit([first, steps("a", 1), one, steps("a", 3), two])

        loaded = [await load_at(store, seq) for seq in range(1, 6)]
        assert [saved.origin.version for saved in loaded] == ["0", "0", "1", "1", "2"]
        assert [saved.snapshot_seq for saved in loaded] == [0, 0, 3, 3, 5]

    @on_a_store
    async def test_of_many_snapshots_few_are_kept_and_each_step_is_near_one(self, store: Store) -> None:
        """At most an eighth of the way back to it, or the distance in which they were stored."""
        await store.commit([first_commit("a")])
        for number in range(200):
            await store.commit([snapshot_after(5, 1 + 5 * number)])

        bases = [(await load_at(store, seq)).snapshot_seq for seq in range(1, 1002)]
        assert all(seq - base <= max(5, (1001 - seq) / 8) for seq, base in enumerate(bases, 1))
        assert len(set(bases)) < 60

    @on_a_store
    async def test_the_snapshot_that_a_fork_begins_with_is_kept(self, store: Store) -> None:
        """Its journal cannot replace it."""
        forked = Entry("a", 1, 10, "", {"type": FORKED, "from": "z", "seq": 7})
        origin = make_origin(forked_from="z", forked_seq=7)
        large = {"text": "x" * 10_000}
        await store.commit([first_commit("a", origin=origin, entries=(forked,), snapshot=large, open=NOTHING_OPEN)])
        for number in range(30):
            await store.commit([snapshot_after(5, 1 + 5 * number)])

        saved = await load_at(store, 3)
        assert (saved.snapshot, saved.snapshot_seq) == (large, 1)

    @on_a_store
    async def test_large_snapshots_are_kept_only_if_the_journal_between_them_is_large(self, store: Store) -> None:
        """Else a store would be many times as large as its journals."""
        await store.commit([first_commit("a")])
        for number in range(20):
            await store.commit([snapshot_after(5, 1 + 5 * number, snapshot={"text": "x" * 10_000})])

        bases = {(await load_at(store, seq)).snapshot_seq for seq in range(1, 102)}
        assert bases == {0, 101}
