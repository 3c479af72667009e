"""Facts about trees that are deleted."""

from antiphon.runtime.errors import Conflict, Superseded, UnknownRoot
from antiphon.runtime.records import Commit, Incident, Rejection
from antiphon.runtime.store import Store
from antiphon.testing.contracts.store_facts import assert_refused, on_a_store, read_contents
from antiphon.testing.contracts.store_samples import first_commit, letter, make_origin, steps, task


def full_commit(root: str) -> Commit:
    """Return the commit that creates a tree with rows of every kind."""
    return first_commit(
        root,
        letters=(letter(root, "l1"),),
        tasks=(task(root, "t1"),),
        snapshot={"value": "off"},
        dead=((letter(root, "l2"), "no"),),
        rejected=(Rejection("l3", 1, ("GO",)),),
    )


class DeletionFacts:
    """A deleted tree leaves nothing, and other trees as they were."""

    @on_a_store
    async def test_a_deleted_tree_leaves_nothing(self, store: Store) -> None:
        """Neither rows of its own nor an outcome of its letters."""
        await store.commit([full_commit("b")])
        before = await read_contents(store)
        await store.commit([full_commit("a")])
        await store.record([Incident("a", 1, 10, "action raised", "why")])

        await store.delete("a")
        assert await read_contents(store) == before
        assert (await store.load("a"), await store.mark("a"), await store.summary("a")) == (None, None, None)
        await assert_refused(store.outcome("a", "l3"), UnknownRoot)
        await assert_refused(store.entries("a"), UnknownRoot)
        await assert_refused(store.history("a"), UnknownRoot)

    @on_a_store
    async def test_a_deleted_tree_takes_nothing_any_more(self, store: Store) -> None:
        """No letter, no step and no second deletion."""
        await store.commit([full_commit("a")])
        await store.delete("a")

        await assert_refused(store.post([letter("a", "l9")]), UnknownRoot)
        await assert_refused(store.commit([steps("a", 1)]), UnknownRoot)
        await assert_refused(store.delete("a"), UnknownRoot)
        assert await store.roots() == []

    @on_a_store
    async def test_the_id_of_a_deleted_tree_is_free(self, store: Store) -> None:
        """The new tree has its own history, and its letters are new ones."""
        await store.commit([first_commit("a"), first_commit("b")])
        await store.commit([Commit("a", 1, 20, "active", entries=steps("a", 1).entries)])
        await store.delete("a")
        await store.commit([first_commit("a", origin=make_origin(history="other"))])

        assert await store.history("a") == ("other", 1)
        assert [entry.seq for entry in await store.entries("a")] == [1]
        await assert_refused(store.commit([steps("a", 2)]), Conflict)
        assert await store.post([letter("a", "l1")]) == ["accepted"]

    @on_a_store
    async def test_a_deletion_by_an_earlier_owner_is_refused(self, store: Store) -> None:
        """And changes nothing."""
        await store.commit([first_commit("a", tenure=5)])
        before = await read_contents(store)

        await assert_refused(store.delete("a", 4), Superseded)
        assert await read_contents(store) == before
        await store.delete("a", 5)
        assert await store.roots() == []
