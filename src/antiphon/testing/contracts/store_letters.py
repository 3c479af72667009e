"""Facts about letters, journals, tasks and snapshots."""

from antiphon.chart.checks.problems import EventProblem
from antiphon.runtime.errors import Conflict, UnknownRoot
from antiphon.runtime.records import Commit, Entry, Letter, Receipt, Rejection
from antiphon.runtime.store import Store
from antiphon.testing.contracts.store_facts import assert_refused, on_a_store, read_contents
from antiphon.testing.contracts.store_samples import first_commit, letter, step, steps, task


class LetterFacts:
    """Letters are posted and applied once, journals and tasks are kept."""

    @on_a_store
    async def test_a_letter_is_posted_once(self, store: Store) -> None:
        """A second one of the same id changes nothing, in the same call or later, whatever its event."""
        await store.commit([first_commit("a"), first_commit("b")])
        first = letter("a", "l1")

        assert await store.post([first, letter("a", "l1", 5), letter("b", "l1")]) == [
            "accepted",
            "duplicate",
            "accepted",
        ]
        assert await store.post([letter("a", "l1", 7, event={"type": "OTHER"})]) == ["duplicate"]
        saved = await store.load("a")
        assert saved is not None
        assert saved.letters == (first,)

    @on_a_store
    async def test_a_letter_that_was_applied_is_not_posted_again(self, store: Store) -> None:
        """Neither by a call nor by a commit; in another tree its id means nothing."""
        await store.commit([first_commit("a"), first_commit("b")])
        await store.post([letter("a", "l1")])
        await store.commit([Commit("a", 1, 30, "active", entries=(step("a", 2, "l1"),), taken=("l1",))])
        await store.commit([steps("b", 1, letters=(letter("a", "l1"),))])

        assert await store.post([letter("a", "l1"), letter("b", "l1")]) == ["duplicate", "accepted"]
        assert await store.due_times() == [("b", 100)]

    @on_a_store
    async def test_a_letter_is_applied_once(self, store: Store) -> None:
        """A commit that would do it again is refused, with everything that came with it."""
        await store.commit([first_commit("a"), first_commit("b")])
        await store.commit([Commit("a", 1, 30, "active", entries=(step("a", 2, "l1"),))])
        before = await read_contents(store)
        again = Commit("a", 2, 31, "active", entries=(step("a", 3, "l1"),))
        twice = Commit("a", 2, 31, "active", entries=(step("a", 3, "l2"), step("a", 4, "l2")))

        await assert_refused(store.commit([steps("b", 1), again]), Conflict)
        await assert_refused(store.commit([twice]), Conflict)
        assert await read_contents(store) == before

    @on_a_store
    async def test_where_a_letter_was_applied_is_known(self, store: Store) -> None:
        """By tree, also long afterwards; a letter that waits is known too."""
        await store.commit([first_commit("a"), first_commit("b")])
        await store.post([letter("a", "waits")])
        await store.commit([Commit("a", 1, 30, "active", entries=(step("a", 2, "l1"), step("a", 3)))])
        await store.commit([steps("a", 3, 40, snapshot={"n": 43})])

        assert await store.outcome("a", "l1") == Receipt("accepted", "l1", 2)
        assert await store.outcome("a", "waits") == Receipt("waiting", "waits")
        assert await store.outcome("b", "l1") is await store.outcome("a", "") is None

    @on_a_store
    async def test_letters_to_an_unknown_tree_are_refused_with_their_company(self, store: Store) -> None:
        """All letters of a call are posted, or none."""
        await store.commit([first_commit("a")])

        await assert_refused(store.post([letter("a", "l1"), letter("nobody", "l2")]), UnknownRoot)
        assert await store.due_times() == []

    @on_a_store
    async def test_an_inbox_is_in_order_of_due_then_at_then_arrival_then_id(self, store: Store) -> None:
        """However the letters came."""
        await store.commit([first_commit("a")])
        ordered = [
            letter("a", "z", 1),
            letter("a", "y", 2, at=5),
            letter("a", "b", 2, at=6),
            letter("a", "c", 2, at=6),
            letter("a", "0", 2, at=6, arrival=7),
            letter("a", "a", 10),
        ]
        await store.post(ordered[::-1])

        saved = await store.load("a")
        assert saved is not None
        assert saved.letters == tuple(ordered)

    @on_a_store
    async def test_a_letter_comes_back_as_it_was(self, store: Store) -> None:
        """With everything it can say, a timer without a name included."""
        await store.commit([first_commit("a")])
        full = Letter("l1", "a", {"type": "X"}, 1, 2, "child/grandchild", "child", "tick", "t1", 3, 0, 2)
        bare = Letter("l2", "a", {"type": "X"}, 1, 2)
        nameless = Letter("l3", "a", {"type": "X"}, 1, 2, timer="")
        await store.post([full, bare, nameless])

        saved = await store.load("a")
        assert saved is not None
        assert saved.letters == (full, bare, nameless)

    @on_a_store
    async def test_a_commit_takes_letters_and_leaves_others(self, store: Store) -> None:
        """Unknown ids are ignored, and the same id in another tree is another letter."""
        await store.commit([first_commit("a"), first_commit("b")])
        await store.post([letter("a", "l1"), letter("a", "l2", 70), letter("b", "l1")])
        await store.commit([steps("a", 1, taken=("l1", "never"))])

        assert await store.due_times() == [("a", 70), ("b", 100)]

    @on_a_store
    async def test_letters_of_a_commit_go_to_any_tree_there_is(self, store: Store) -> None:
        """Also to a tree that is created in the same call; letters to an unknown tree are dropped."""
        await store.commit([first_commit("a")])
        letters = tuple(letter(root, "l1", due) for root, due in (("a", 3), ("b", 2), ("nobody", 1)))
        await store.commit([steps("a", 1, letters=letters), first_commit("b")])

        assert await store.due_times() == [("b", 2), ("a", 3)]
        assert await store.load("nobody") is None

    @on_a_store
    async def test_trees_with_letters_are_listed_by_the_first_that_is_due(self, store: Store) -> None:
        """Trees without letters are left out; trees due at the same time are in order of ids."""
        await store.commit([first_commit(root) for root in "abcd"])
        await store.post([letter("c", "1", 9), letter("c", "2", 5), letter("b", "1", 5), letter("a", "1", 6)])

        assert await store.due_times() == [("b", 5), ("c", 5), ("a", 6)]

    @on_a_store
    async def test_letters_from_after_now_are_moved_back_with_all_others(self, store: Store) -> None:
        """By as much as the latest of them is ahead, once, so that delays and their order stay."""
        await store.commit([first_commit("a"), first_commit("b")])
        assert await store.correct_times(0) == 0
        await store.post([letter("a", "1", 900, at=500), letter("a", "2", 300, at=200), letter("b", "1", 800, at=700)])

        assert await store.correct_times(700) == 0
        assert await store.due_times() == [("a", 300), ("b", 800)]
        assert (await store.correct_times(650), await store.correct_times(650)) == (50, 0)
        saved = await store.load("a")
        assert saved is not None
        assert [(item.id, item.at, item.due) for item in saved.letters] == [("2", 150, 250), ("1", 450, 850)]
        assert await store.due_times() == [("a", 250), ("b", 750)]

    @on_a_store
    async def test_dead_letters_are_kept_with_the_reason(self, store: Store) -> None:
        """They no longer wait; the first reason is kept."""
        await store.commit([first_commit("a"), first_commit("b")])
        culprit = letter("a", "l1", 7, sender="child", event={"type": "BAD", "x": "\ud800"})
        await store.post([culprit])
        await store.commit([Commit("a", 1, 30, "quarantined", taken=("l1",), dead=((culprit, "no: \ud800"),))])
        await store.commit([Commit("a", 1, 31, "quarantined", dead=((culprit, "again"), (letter("a", "l0"), "too")))])

        assert await store.dead_letters("a") == [(culprit, "no: \\ud800"), (letter("a", "l0"), "too")]
        assert await store.dead_letters("b") == []
        assert await store.due_times() == []
        assert [(tree.root, tree.status, tree.seq) for tree in await store.roots("", 1)] == [("a", "quarantined", 1)]

    @on_a_store
    async def test_a_dead_letter_failed_until_it_is_revived(self, store: Store) -> None:
        """Posting its id again changes nothing; once it is revived, it can be posted."""
        await store.commit([first_commit("a")])
        culprit = letter("a", "l1")
        await store.commit([Commit("a", 1, 30, "active", dead=((culprit, "no"),))])

        assert await store.outcome("a", "l1") == Receipt("failed", "l1", error="no")
        assert await store.post([culprit]) == ["failed"]
        await store.commit([Commit("a", 1, 31, "active", revived=("l1", "never"), letters=(culprit,))])
        assert await store.outcome("a", "l1") == Receipt("waiting", "l1")
        assert await store.dead_letters("a") == []

    @on_a_store
    async def test_a_stored_letter_that_was_rejected_has_an_outcome(self, store: Store) -> None:
        """Until it is posted again."""
        await store.commit([first_commit("a")])
        await store.post([letter("a", "l1")])
        rejection = Rejection("l1", 1, ("GO", "STOP"))
        await store.commit([Commit("a", 1, 30, "active", taken=("l1",), rejected=(rejection,))])

        assert await store.outcome("a", "l1") == Receipt("rejected", "l1", 1, ("GO", "STOP"))
        assert await store.post([letter("a", "l1")]) == ["accepted"]
        assert await store.outcome("a", "l1") == Receipt("waiting", "l1")

    @on_a_store
    async def test_a_rejected_letter_keeps_the_problem_of_its_event(self, store: Store) -> None:
        """As it was, and as the error of the outcome."""
        await store.commit([first_commit("a")])
        problem = EventProblem("ADD", "by[0]", '"\udcff"', "a number", "ADD: by[0] is wrong")
        await store.commit([Commit("a", 1, 30, "active", taken=("l1",), rejected=(Rejection("l1", 1, (), problem),))])

        expected = Receipt("rejected", "l1", 1, error="ADD: by[0] is wrong", problem=problem)
        assert await store.outcome("a", "l1") == expected

    @on_a_store
    async def test_a_journal_is_read_a_page_at_a_time(self, store: Store) -> None:
        """After any sequence, oldest first, of one tree only."""
        await store.commit([first_commit("a"), first_commit("b"), steps("a", 1, 6)])

        assert [entry.seq for entry in await store.entries("a", 0, 3)] == [1, 2, 3]
        assert [entry.seq for entry in await store.entries("a", 3, 3)] == [4, 5, 6]
        assert [entry.seq for entry in await store.entries("a", 6)] == [7]
        assert [entry.seq for entry in await store.entries("a", -5, 1)] == [1]
        for after, limit in ((7, 10), (99, 10), (0, 0), (0, -1)):
            assert await store.entries("a", after, limit) == []

    @on_a_store
    async def test_an_entry_comes_back_as_it_was(self, store: Store) -> None:
        """With everything it can say."""
        emitted = ({"from": "x", "event": {"type": "E"}}, {"from": "", "event": {"type": "F"}})
        full = Entry("a", 2, 5, "x/y", {"type": "X", "value": None}, "l1", {"p": "q"}, "done", emitted, timer="")
        await store.commit([first_commit("a"), Commit("a", 1, 30, "active", entries=(full, step("a", 3)))])

        assert await store.entries("a", 1) == [full, step("a", 3)]

    @on_a_store
    async def test_a_tree_is_loaded_from_its_latest_snapshot(self, store: Store) -> None:
        """With the entries after it; its whole journal can still be read."""
        await store.commit([first_commit("a", snapshot={"n": 1})])
        await store.commit([steps("a", 1, 2, snapshot={"n": 3})])
        await store.commit([steps("a", 3, 2)])

        saved = await store.load("a")
        assert saved is not None
        assert (saved.seq, saved.snapshot, saved.snapshot_seq) == (5, {"n": 3}, 3)
        assert [entry.seq for entry in saved.entries] == [4, 5]
        assert len(await store.entries("a")) == 5

    @on_a_store
    async def test_a_task_runs_until_it_is_said_to_have_ended(self, store: Store) -> None:
        """The other tasks go on."""
        tasks = tuple(task("a", f"t{n}", to=f"r{n}") for n in range(3))
        await store.commit([first_commit("a", tasks=tasks), first_commit("b", tasks=(task("b", "s"),))])
        await store.commit([steps("a", 1, ended=("t0", "t2"))])

        saved = await store.load("a")
        assert saved is not None
        assert saved.tasks == tasks[1:2]
        assert await store.running_tasks() == [task("b", "s"), tasks[1]]

    @on_a_store
    async def test_a_task_may_be_begun_and_ended_in_one_commit(self, store: Store) -> None:
        """Then it does not run."""
        await store.commit([first_commit("a", tasks=(task("a", "t"),), ended=("t", "never"))])

        assert await store.running_tasks() == []

    @on_a_store
    async def test_a_task_is_attempted_again_under_its_id(self, store: Store) -> None:
        """The later attempt takes the place of the earlier."""
        await store.commit([first_commit("a", tasks=(task("a", "t"),))])
        again = task("a", "t", attempt=2, boot=5, starts=1)
        await store.commit([Commit("a", 1, 30, "active", tasks=(again,))])

        assert await store.running_tasks() == [again]

    @on_a_store
    async def test_a_task_is_its_own_trees(self, store: Store) -> None:
        """Another can neither end it nor take its place, even under the same id."""
        await store.commit([first_commit("b", tasks=(task("b", "t"),)), first_commit("a")])
        await store.commit([steps("a", 1, ended=("t",))])
        assert await store.running_tasks() == [task("b", "t")]

        await store.commit([steps("a", 2, tasks=(task("a", "t", attempt=2),))])
        assert await store.running_tasks() == [task("a", "t", attempt=2), task("b", "t")]

    @on_a_store
    async def test_a_task_that_ended_may_be_begun_again(self, store: Store) -> None:
        """It is a new one then."""
        await store.commit([first_commit("a", tasks=(task("a", "t"),))])
        await store.commit([steps("a", 1, ended=("t",))])
        await store.commit([steps("a", 2, tasks=(task("a", "t", boot=7),))])

        assert await store.running_tasks() == [task("a", "t", boot=7)]
