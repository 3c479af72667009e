"""Facts about trees and the commits that change them."""

import asyncio
from math import inf
from typing import Any

from antiphon.runtime.errors import Conflict, RootExists, Superseded, UnknownRoot, Unstorable
from antiphon.runtime.records import Commit, Incident, TreeFailure, TreeSummary
from antiphon.runtime.store import Store
from antiphon.testing.contracts.store_facts import assert_refused, on_a_store, read_contents
from antiphon.testing.contracts.store_samples import first_commit, letter, make_origin, step, steps, task


def replace_event(commit: Commit, event: dict[str, Any]) -> Commit:
    """Return a commit whose entries have another event."""
    return commit._replace(entries=tuple(entry._replace(event=event) for entry in commit.entries))


class TreeFacts:
    """Trees are created once, advance by commits, and are loaded again."""

    @on_a_store
    async def test_a_tree_is_created_once(self, store: Store) -> None:
        """A second tree of the same id is refused and changes nothing."""
        await store.commit([first_commit("a")])
        before = await read_contents(store)

        await assert_refused(store.commit([first_commit("a", origin=make_origin(machine="other"))]), RootExists)
        await assert_refused(store.commit([first_commit("b"), first_commit("b")]), RootExists)
        assert await read_contents(store) == before

    @on_a_store
    async def test_a_tree_is_loaded_as_it_was_stored(self, store: Store) -> None:
        """The origin, letters and tasks come back."""
        created = make_origin(version=[1, "x"], input={"topic": "tea"}, forked_from="z", forked_seq=7)
        commit = first_commit("a", origin=created, letters=(letter("a", "l1"),), tasks=(task("a", "t1"),))
        await store.commit([commit])

        saved = await store.load("a")
        assert saved is not None
        assert (saved.root, saved.origin, saved.status, saved.seq) == ("a", created, "active", 1)
        assert (saved.snapshot, saved.snapshot_seq, saved.entries) == (None, 0, commit.entries)
        assert (saved.letters, saved.tasks) == (commit.letters, commit.tasks)

    @on_a_store
    async def test_an_unknown_tree_is_said_to_be_unknown(self, store: Store) -> None:
        """Loading it gives None, and every other operation is refused."""
        assert await store.load("nobody") is None
        await assert_refused(store.post([letter("nobody", "l1")]), UnknownRoot)
        await assert_refused(store.commit([steps("nobody", 0)]), UnknownRoot)
        await assert_refused(store.entries("nobody"), UnknownRoot)
        await assert_refused(store.outcome("nobody", "l1"), UnknownRoot)

    @on_a_store
    async def test_trees_are_listed_by_id_a_page_at_a_time(self, store: Store) -> None:
        """In the order of code points, whatever the case or script."""
        names = ["Zoë", "a", "b/1", "é", "日", "🦜"]
        await store.commit([first_commit(name) for name in reversed(names)])
        await store.commit([steps("a", 1, status="done")])

        assert [tree.root for tree in await store.roots()] == names
        assert await store.roots("Zoë", 1) == [TreeSummary("a", "toggle", "done", 2, 21)]
        assert [tree.root for tree in await store.roots("b", 2)] == ["b/1", "é"]
        assert await store.roots("🦜") == await store.roots("", 0) == await store.roots("", -1) == []

    @on_a_store
    async def test_a_tree_goes_on_with_another_version_of_its_machine(self, store: Store) -> None:
        """Its version and hash change, its beginning does not."""
        await store.commit([first_commit("a", origin=make_origin(input=5))])
        await store.commit([steps("a", 1, migrated=make_origin(version="2", hash="h2", input=6, history="i9"))])

        saved = await store.load("a")
        assert saved is not None
        assert saved.origin == make_origin(version="2", hash="h2", input=5)

    @on_a_store
    async def test_a_commit_from_an_old_state_is_refused(self, store: Store) -> None:
        """The expected sequence number must match, for new trees too."""
        await store.commit([first_commit("a")])
        await store.commit([steps("a", 1)])
        before = await read_contents(store)

        await assert_refused(store.commit([steps("a", 1)]), Conflict)
        await assert_refused(store.commit([steps("a", 3)]), Conflict)
        await assert_refused(store.commit([Commit("a", 1, 30, "done")]), Conflict)
        await assert_refused(store.commit([steps("b", 3, origin=make_origin())]), Conflict)
        assert await read_contents(store) == before

    @on_a_store
    async def test_a_conflict_in_one_tree_undoes_the_commits_of_all(self, store: Store) -> None:
        """New trees, steps, letters, tasks and snapshots alike; without the conflict they are stored."""
        await store.commit([first_commit("a", letters=(letter("a", "old"),)), first_commit("b")])
        before = await read_contents(store)
        full = steps("a", 1, taken=("old",), letters=(letter("b", "x"),), tasks=(task("a", "t"),), snapshot={"n": 1})

        await assert_refused(store.commit([full, first_commit("c"), steps("b", 7)]), Conflict)
        assert await read_contents(store) == before
        await store.commit([full, first_commit("c"), steps("b", 1)])
        await store.post([letter("c", "hello")])
        assert await store.due_times() == [("b", 100), ("c", 100)]

    @on_a_store
    async def test_a_commit_that_would_lead_where_a_tree_is_already_is_refused_beside_others(
        self, store: Store
    ) -> None:
        """The sequence that a commit expects counts, not the one it leads to."""
        unmoved = Commit("a", 0, 20, "active", origin=make_origin())
        await store.commit([unmoved, first_commit("b")])
        before = await read_contents(store)

        await assert_refused(store.commit([steps("b", 1), steps("a", -1)]), Conflict)
        assert await read_contents(store) == before

    @on_a_store
    async def test_commits_of_one_tree_in_one_call_follow_each_other(self, store: Store) -> None:
        """Each expects what the one before led to."""
        await store.commit([first_commit("a"), steps("a", 1, 2), steps("a", 3, status="done")])

        assert [entry.seq for entry in await store.entries("a")] == [1, 2, 3, 4]
        assert (await store.roots())[0].status == "done"

    @on_a_store
    async def test_entries_that_do_not_follow_on_are_refused(self, store: Store) -> None:
        """A journal has no gaps, and no entries of other trees."""
        await store.commit([first_commit("a"), first_commit("b")])
        for entries in ((step("a", 3),), (step("a", 2), step("a", 2)), (step("b", 2),)):
            await assert_refused(store.commit([Commit("a", 1, 30, "active", entries=entries)]), Conflict)

        assert len(await store.entries("a")) == 1

    @on_a_store
    async def test_a_commit_is_refused_for_its_place_before_its_values(self, store: Store) -> None:
        """An owner that was replaced learns of it; without the conflict the values are refused."""
        await store.commit([first_commit("a", tenure=2), first_commit("b")])
        before = await read_contents(store)
        unstorable = replace_event(steps("a", 1), {"type": "X", "data": inf})
        posted = (letter("nobody", "x", event={"type": "X", "data": inf}),)

        await assert_refused(store.commit([unstorable._replace(tenure=1)]), Superseded)
        await assert_refused(store.commit([replace_event(steps("a", 7), {"type": "X", "data": inf})]), Conflict)
        await assert_refused(store.commit([unstorable, steps("b", 7)]), Conflict)
        await assert_refused(store.commit([unstorable]), Unstorable)
        await assert_refused(store.commit([steps("a", 1, letters=posted)]), Unstorable)
        assert await read_contents(store) == before

    @on_a_store
    async def test_of_two_commits_at_once_one_is_stored(self, store: Store) -> None:
        """The other commits raise `Conflict`."""
        await store.commit([first_commit("a")])
        results = await asyncio.gather(*(store.commit([steps("a", 1)]) for _ in range(5)), return_exceptions=True)

        assert sorted(type(result).__name__ for result in results) == ["Conflict"] * 4 + ["NoneType"]

    @on_a_store
    async def test_the_latest_commit_of_a_tree_is_known_by_its_mark(self, store: Store) -> None:
        """A commit that was refused leaves none."""
        await store.commit([first_commit("a", mark=7)])
        assert (await store.mark("a"), await store.mark("nobody")) == (7, None)

        await store.commit([steps("a", 1, mark=9)])
        await assert_refused(store.commit([steps("a", 1, mark=11)]), Conflict)
        assert await store.mark("a") == 9

    @on_a_store
    async def test_the_history_of_a_tree_is_known_with_its_last_step(self, store: Store) -> None:
        """It is that of its origin."""
        await store.commit([first_commit("a")])
        await store.commit([steps("a", 1, 2)])
        saved = await store.load("a")
        assert saved is not None
        assert await store.history("a") == (saved.origin.history, 3)
        await assert_refused(store.history("nobody"), UnknownRoot)

    @on_a_store
    async def test_the_summary_of_a_tree_is_its_row_in_the_list(self, store: Store) -> None:
        """There is none of an unknown tree."""
        await store.commit([first_commit("a"), first_commit("b")])
        await store.commit([steps("b", 1)._replace(status="done", at=77)])
        rows = await store.roots()
        assert [await store.summary("a"), await store.summary("b")] == rows
        assert rows[1].status == "done"
        assert await store.summary("nobody") is None

    @on_a_store
    async def test_a_commit_of_an_earlier_tenure_is_refused(self, store: Store) -> None:
        """Unless it does not name its tenure."""
        await store.commit([first_commit("a", tenure=3)])
        await store.commit([steps("a", 1, tenure=5)])

        await assert_refused(store.commit([steps("a", 2, tenure=4)]), Superseded)
        await assert_refused(store.commit([steps("a", 1, tenure=4)]), Superseded)
        await assert_refused(store.commit([steps("a", 1, tenure=5)]), Conflict)
        await store.commit([steps("a", 2)])
        await store.commit([steps("a", 3, tenure=5)])

    @on_a_store
    async def test_a_post_of_an_earlier_tenure_is_refused(self, store: Store) -> None:
        """Together with the letters to other trees, unless it does not name its tenure."""
        await store.commit([first_commit("a", tenure=3), first_commit("b", tenure=1)])

        await assert_refused(store.post([letter("b", "l1"), letter("a", "l1")], 2), Superseded)
        assert (await store.outcome("a", "l1"), await store.outcome("b", "l1")) == (None, None)
        await assert_refused(store.post([letter("nobody", "l1")], 2), UnknownRoot)
        assert await store.post([letter("a", "l1")], 3) == ["accepted"]
        assert await store.post([letter("a", "l2")]) == ["accepted"]

    @on_a_store
    async def test_a_tree_keeps_the_reason_of_its_quarantine(self, store: Store) -> None:
        """Until they are set to zero."""
        await store.commit([first_commit("a")])
        await store.commit([Commit("a", 1, 30, "quarantined", failure=TreeFailure(2, "ValueError: no"))])
        saved = await store.load("a")
        assert saved is not None
        assert (saved.status, saved.failure) == ("quarantined", TreeFailure(2, "ValueError: no"))

        await store.commit([Commit("a", 1, 31, "active", failure=TreeFailure(0, ""))])
        saved = await store.load("a")
        assert saved is not None
        assert (saved.status, saved.failure) == ("active", None)

    @on_a_store
    async def test_incidents_are_kept_in_order(self, store: Store) -> None:
        """By tree; those of an unknown tree are dropped."""
        await store.commit([first_commit("a"), first_commit("b")])
        incidents = [Incident("a", 1, 30, "action", "ValueError"), Incident("a", 1, 20, "replay", "x")]
        await store.record([*incidents, Incident("nobody", 1, 1, "action", "x")])

        assert await store.incidents("a") == incidents
        assert await store.incidents("b") == []

    @on_a_store
    async def test_starts_that_follow_no_close_are_counted(self, store: Store) -> None:
        """A boot that follows a close is a clean one."""
        await store.close()
        await store.open()

        assert store.unclean_starts == 0

    @on_a_store
    async def test_nothing_to_do_is_done(self, store: Store) -> None:
        """No letters and no commits are not an error."""
        assert await store.post([]) == []
        await store.commit([])

    @on_a_store
    async def test_everything_is_there_after_a_new_boot_with_a_higher_number(self, store: Store) -> None:
        """Also after the next."""
        full = first_commit("a", letters=(letter("a", "l"),), tasks=(task("a", "t"),), snapshot={"value": "off"})
        await store.commit([full, first_commit("b", dead=((letter("b", "d"), "why"),))])
        before = await read_contents(store)
        boots = [1]
        for _ in range(2):
            await store.close()
            boots.append(await store.open())

        assert await read_contents(store) == before
        assert boots == sorted(set(boots))
