"""Facts about the index: rows by which trees are listed, and texts in which they are found."""

from typing import Any

from antiphon.runtime.errors import Conflict
from antiphon.runtime.index.rows import IndexChange, IndexRow, IndexText, RowCursor, RowFilter
from antiphon.runtime.records import Commit
from antiphon.runtime.store import Store
from antiphon.testing.contracts.store_facts import assert_refused, on_a_store
from antiphon.testing.contracts.store_samples import first_commit, make_origin, steps

ALL = RowFilter()


def listed(root: str, at: int, *texts: str, **labels: Any) -> Commit:
    """Return the commit that creates a tree with a row, and texts of consecutive times."""
    row = IndexRow(**{"kind": "chat", "status": "on", "facts": {"title": root}, "summary": {"turns": 1}, **labels})
    found = tuple(IndexText(str(n), at + n, text) for n, text in enumerate(texts))
    return first_commit(root, index_change=IndexChange(at, row, found), projection=1)


async def ids(store: Store, filter: RowFilter = ALL, after: RowCursor | None = None, limit: int = 20) -> list[str]:
    """Return the ids of a page of the list."""
    return [tree.root for tree in await store.index.page(filter, after, limit)]


async def found(store: Store, words: str) -> list[str]:
    """Return the ids of the trees that a search finds."""
    return [match.root for match in await store.index.search(words, None, 20)]


class IndexFacts:
    """The index is written with the commits, and answers lists and searches."""

    @on_a_store
    async def test_trees_are_listed_the_latest_changed_first(self, store: Store) -> None:
        """Of those changed at the same time, the last id comes first; trees without a row are not listed."""
        await store.commit([listed("a", 30), listed("b", 50), listed("c", 30), first_commit("d")])

        assert await ids(store) == ["b", "c", "a"]
        assert await ids(store, limit=2) == ["b", "c"]
        assert await ids(store, after=RowCursor(30, "c")) == ["a"]

    @on_a_store
    async def test_a_row_is_listed_as_it_was_stored(self, store: Store) -> None:
        """With the facts of its tree that tell whether it can be run."""
        row = IndexRow("run", "held", "ann \ud800", True, {"title": "é \ud800"}, {"cost": 0.1, "model": None})
        commit = first_commit("a", origin=make_origin(version=[2, "x"]), index_change=IndexChange(7, row))
        await store.commit([commit])

        (tree,) = await store.index.page(ALL, None, 20)
        assert tree.row == row._replace(owner="ann ?")
        assert (tree.root, tree.updated, tree.status) == ("a", 7, "active")
        assert (tree.machine, tree.version, tree.hash) == ("toggle", [2, "x"], "h1")
        assert await store.index.get(["a", "b"]) == {"a": tree}

    @on_a_store
    async def test_a_list_is_filtered_by_labels(self, store: Store) -> None:
        """All filters hold together; a quarantined tree has no other status."""
        await store.commit(
            [
                listed("a", 1, kind="run", owner="ann"),
                listed("b", 2, status="off", owner="ann"),
                listed("c", 3, archived=True),
                listed("d", 4, status="off"),
            ]
        )
        await store.commit([Commit("d", 1, 30, "quarantined")])

        assert await ids(store, RowFilter(kind="chat")) == ["d", "c", "b"]
        assert await ids(store, RowFilter(statuses=("off",))) == ["b"]
        assert await ids(store, RowFilter(statuses=("off", "on"))) == ["c", "b", "a"]
        assert await ids(store, RowFilter(statuses=("quarantined",))) == ["d"]
        assert await ids(store, RowFilter(statuses=())) == []
        assert await ids(store, RowFilter(archived=False)) == ["d", "b", "a"]
        assert await ids(store, RowFilter(since=3)) == ["d", "c"]
        assert await ids(store, RowFilter(kind="run", owner="ann", archived=False)) == ["a"]

    @on_a_store
    async def test_a_later_row_replaces_the_one_before_and_may_keep_its_summary(self, store: Store) -> None:
        """A change of texts alone changes the time."""
        await store.commit([listed("a", 1)])
        row = IndexRow("chat", "over", facts={"title": "new"})
        await store.commit([steps("a", 1, index_change=IndexChange(5, row))])
        (tree,) = await store.index.page(ALL, None, 20)
        assert (tree.updated, tree.row) == (5, row._replace(summary={"turns": 1}))

        await store.commit([steps("a", 2, index_change=IndexChange(9, None, (IndexText("x", 9, "tea"),)))])
        (tree,) = await store.index.page(ALL, None, 20)
        assert (tree.updated, tree.row.status) == (9, "over")

    @on_a_store
    async def test_a_search_finds_texts_with_all_words_the_newest_first(self, store: Store) -> None:
        """Each tree once, by its newest match, with the line that matches."""
        await store.commit(
            [
                listed("a", 10, "Green tea\nand coffee", "tea"),
                listed("b", 30, "A teapot, green"),
                listed("c", 50, "coffee"),
            ]
        )

        assert await found(store, "tea") == ["b", "a"]
        assert await found(store, "coffee GREEN") == ["a"]
        assert await found(store, "green tea coffee cup") == []
        (match,) = await store.index.search("coffee tea", None, 20)
        assert match.line == "Green tea" or match.line == "and coffee"
        assert [match.line for match in await store.index.search("green", None, 20)] == ["A teapot, green", "Green tea"]

    @on_a_store
    async def test_a_search_knows_no_syntax(self, store: Store) -> None:
        """Operators and quotes are words or nothing; without a word there is nothing to find."""
        await store.commit([listed("a", 1, 'near or not: "quoted" * column')])

        assert await found(store, 'NEAR("quoted") OR -column*') == ["a"]
        assert await found(store, "quoted NOT gone") == []
        assert await found(store, '" * ( ^') == []
        assert await found(store, "") == []

    @on_a_store
    async def test_chinese_is_found_by_any_characters_in_a_row(self, store: Store) -> None:
        """And Japanese and Korean; accents and case make no difference elsewhere."""
        await store.commit([listed("a", 1, "今天天气很好, 한국어", "CRÈME Brûlée")])

        assert await found(store, "天气") == ["a"]
        assert await found(store, "气天") == []
        assert await found(store, "국어") == ["a"]
        assert await found(store, "creme brulee") == ["a"]
        assert await found(store, "crè") == ["a"]

    @on_a_store
    async def test_a_search_continues_after_its_last_match(self, store: Store) -> None:
        """No tree comes twice, though it has older matches too."""
        await store.commit([listed(root, 10 * n, "tea", "tea") for n, root in enumerate("abcdef", 1)])
        await store.commit([steps("b", 1, index_change=IndexChange(99, None, (IndexText("x", 99, "tea"),)))])
        pages = []
        after: int | None = None
        while page := await store.index.search("tea", after, 2):
            pages.append([match.root for match in page])
            after = page[-1].place

        assert pages == [["b", "f"], ["e", "d"], ["c", "a"]]

    @on_a_store
    async def test_a_long_beginning_of_a_word_finds_it_among_many(self, store: Store) -> None:
        """Also if many newer texts have words that begin nearly alike."""
        await store.commit([listed("a", 1, "international"), listed("b", 2, *["intended"] * 600)])

        assert await found(store, "internat") == ["a"]
        assert await found(store, "inte") == ["b", "a"]

    @on_a_store
    async def test_a_text_replaces_the_one_of_the_same_key(self, store: Store) -> None:
        """The words of the one before are no longer found."""
        await store.commit([listed("a", 1, "tea")])
        await store.commit([steps("a", 1, index_change=IndexChange(2, None, (IndexText("0", 2, "coffee"),)))])

        assert await found(store, "tea") == []
        assert await found(store, "coffee") == ["a"]

    @on_a_store
    async def test_a_commit_that_is_refused_changes_nothing_in_the_index(self, store: Store) -> None:
        """Nor do the commits together with it."""
        await store.commit([listed("a", 1, "tea")])
        late = steps("a", 5, index_change=IndexChange(9, None, (IndexText("x", 9, "coffee"),)))

        await assert_refused(store.commit([listed("b", 2, "coffee"), late]), Conflict)
        assert await ids(store) == ["a"]
        assert await found(store, "coffee") == []

    @on_a_store
    async def test_ids_are_found_by_a_prefix(self, store: Store) -> None:
        """Exactly as it is written, and only those of trees with rows."""
        await store.commit([listed("ab", 1), listed("aB", 1, kind="run"), listed("b%", 1), first_commit("abc")])

        assert await store.index.ids("a") == ["aB", "ab"]
        assert await store.index.ids("a", "run") == ["aB"]
        assert await store.index.ids("a", owner="nobody") == []
        assert await store.index.ids("a", "run", "") == ["aB"]
        assert await store.index.ids("%") == []

    @on_a_store
    async def test_trees_that_no_projection_has_indexed_are_outdated(self, store: Store) -> None:
        """So are those that took a step without it, and those of another version."""
        await store.commit([listed("a", 1), listed("b", 1), first_commit("c"), listed("d", 1)])
        await store.commit([steps("b", 1, projection=0), Commit("d", 1, 30, "active")])

        assert await store.index.find_outdated(1) == ["b", "c"]
        assert await store.index.find_outdated(2) == ["a", "b", "c", "d"]
        assert await store.index.find_outdated(0, 1) == []

    @on_a_store
    async def test_the_rows_of_a_tree_are_replaced_as_a_whole(self, store: Store) -> None:
        """And all are deleted, to be written again."""
        await store.commit([listed("a", 1, "tea", "more tea"), listed("b", 2, "tea")])
        row = IndexRow("chat", "off", facts={})
        await store.index.replace("a", IndexChange(8, row, (IndexText("x", 8, "coffee"),)), 3)

        (tree,) = (await store.index.get(["a"])).values()
        assert (tree.updated, tree.row) == (8, row)
        assert (await found(store, "tea"), await found(store, "coffee")) == (["b"], ["a"])
        assert await store.index.find_outdated(3) == ["b"]
        await store.index.clear()
        assert (await ids(store), await found(store, "tea"), await store.index.find_outdated(3)) == ([], [], ["a", "b"])
