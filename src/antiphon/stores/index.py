"""The index of an SQLite store: rows and texts, written in the commits of their trees."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Protocol, TypeVar
from zlib import crc32

from antiphon.runtime.encoding import encode
from antiphon.runtime.index.rows import (
    MOST_IDS,
    IndexChange,
    IndexRow,
    IndexText,
    ListedTree,
    RowCursor,
    RowFilter,
    TextMatch,
)
from antiphon.stores.queries import load_queries
from antiphon.stores.rows import Row, decode_values
from antiphon.stores.words import Search, matching_line, parse_search, storable, words_of

T = TypeVar("T")
PLACE_BITS = 20  # of the number of a text, below the time
LATEST = 2**63 - 1
EARLIEST = -LATEST
LAST = RowCursor(LATEST, "")
QUARANTINED = "quarantined"
CANDIDATES = 500  # texts that are looked at for a beginning of a word that is longer than the indexed ones


class Connected(Protocol):
    """A store whose connection is used by one thread at a time."""

    async def query(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run queries on one state of the file."""
        ...

    async def change(self, work: Callable[[sqlite3.Connection], None]) -> None:
        """Change the file in one transaction."""
        ...


def place_of(root: str, text: IndexText) -> int:
    """Return the number of a text: newer texts have greater ones, and a text has the same in every store."""
    at = min(max(text.at, 0), (LATEST >> PLACE_BITS) - 1)
    return (at << PLACE_BITS) + (crc32(f"{root}/{text.key}".encode("utf-8", "replace")) & ((1 << PLACE_BITS) - 1))


def row_columns(root: str, change: IndexChange, row: IndexRow) -> Row:
    """Return a row as columns."""
    labels = (storable(row.kind), storable(row.status), storable(row.owner), int(row.archived))
    return (root, change.at, *labels, encode(row.facts), None if row.summary is None else encode(row.summary))


def listed_from(columns: Row) -> ListedTree:
    """Return the tree in the columns of a row and of its actor."""
    root, updated, kind, status, owner, archived, facts, summary, tree_status, machine, version, hash = columns
    name = f"the row of {root!r}"
    details = None if summary is None else decode_values(summary, name)
    row = IndexRow(kind, status, owner, bool(archived), decode_values(facts, name), details)
    return ListedTree(root, updated, row, tree_status, machine, decode_values(version, name), hash)


def write_change(connection: sqlite3.Connection, actor: int, root: str, change: IndexChange) -> None:
    """Store the changes of an actor in the transaction of its commit."""
    sql = load_queries("sqlite", "index")
    if change.row is not None:
        connection.execute(sql["save_row"], (actor, *row_columns(root, change, change.row)))
    else:
        connection.execute(sql["touch_row"], (change.at, actor))
    for text in change.texts:
        key = storable(text.key)
        for n, body in connection.execute(sql["text_of"], (actor, key)).fetchall():
            _delete_text(connection, sql, n, body)
        body = storable(text.text)
        n = place_of(root, text)
        while connection.execute(sql["add_text"], (n, actor, key, body)).rowcount == 0:
            n += 1
        connection.execute(sql["add_words"], (n, words_of(body)))


def delete_rows(connection: sqlite3.Connection, actor: int) -> None:
    """Delete the row and the texts of an actor."""
    sql = load_queries("sqlite", "index")
    for n, body in connection.execute(sql["texts_of"], (actor,)).fetchall():
        _delete_text(connection, sql, n, body)
    connection.execute(sql["drop_row"], (actor,))


def _delete_text(connection: sqlite3.Connection, sql: dict[str, str], n: int, body: str) -> None:
    connection.execute(sql["drop_words"], (n, words_of(body)))
    connection.execute(sql["drop_text"], (n,))


class FileIndex:
    """Index in the SQLite file of a store."""

    def __init__(self, store: Connected) -> None:
        self._store = store
        self._sql = load_queries("sqlite", "index")

    async def page(self, filter: RowFilter, after: RowCursor | None, limit: int) -> list[ListedTree]:
        """List trees, the latest changed first, after a cursor."""
        if filter.statuses == ():
            return []
        query, values = _page_query(filter)
        cursor = after or LAST
        since = EARLIEST if filter.since is None else filter.since
        arguments = (cursor.updated, cursor.root, *values, since, max(0, limit))
        rows = await self._store.query(lambda connection: connection.execute(self._sql[query], arguments).fetchall())
        return [listed_from(row) for row in rows]

    async def get(self, roots: Iterable[str]) -> dict[str, ListedTree]:
        """Return the trees of some ids that have rows."""
        query = self._sql["row_of"]

        def read(connection: sqlite3.Connection) -> list[Any]:
            return [row for root in roots if (row := connection.execute(query, (root,)).fetchone()) is not None]

        return {row[0]: listed_from(row) for row in await self._store.query(read)}

    async def search(self, words: str, after: int | None, limit: int) -> list[TextMatch]:
        """Find trees by the words of their texts, the newest match first, each tree once."""
        search = parse_search(words)
        if search.is_empty or limit <= 0:
            return []
        return await self._store.query(lambda connection: _Finder(connection, search, after).find(limit))

    async def ids(self, prefix: str, kind: str | None = None, owner: str | None = None) -> list[str]:
        """List the ids of trees with rows that start with a prefix."""
        arguments = (storable(prefix), kind, MOST_IDS, owner)
        query = self._sql["ids_from"]
        rows = await self._store.query(lambda connection: connection.execute(query, arguments).fetchall())
        return [id for (id,) in rows]

    async def find_outdated(self, *versions: int) -> list[str]:
        """List the trees whose rows were written by none of these versions of a projection."""
        query = self._sql["outdated"]
        arguments = (versions[0], versions[-1])
        rows = await self._store.query(lambda connection: connection.execute(query, arguments).fetchall())
        return [id for (id,) in rows]

    async def clear(self) -> None:
        """Delete all rows and texts."""

        def clear(connection: sqlite3.Connection) -> None:
            for name in ("clear_words", "clear_texts", "clear_rows", "clear_projections"):
                connection.execute(self._sql[name])

        await self._store.change(clear)

    async def replace(self, root: str, change: IndexChange, version: int) -> None:
        """Replace the row and the texts of a tree."""

        def write(connection: sqlite3.Connection) -> None:
            actor = connection.execute(load_queries("sqlite")["find_actor"], (root,)).fetchone()
            if actor is not None:
                delete_rows(connection, actor[0])
                write_change(connection, actor[0], root, change)
                connection.execute(self._sql["set_projection"], (version, actor[0]))

        await self._store.change(write)


def _page_query(filter: RowFilter) -> tuple[str, Row]:
    """Return the statement that reads the fewest rows for a filter, and its values."""
    archived = None if filter.archived is None else int(filter.archived)
    statuses = filter.statuses or (None,)
    if QUARANTINED in statuses:
        return "rows_of_quarantined", (archived, filter.kind, None, None, filter.owner)
    values = (archived, filter.kind, statuses[0], statuses[-1], filter.owner)
    if filter.owner is not None:
        return "rows_of_owner", values
    if filter.statuses is not None:
        return "rows_of_status", values
    return "rows_of_kind" if filter.kind is not None else "rows", values


class _Finder:
    """A search in progress."""

    def __init__(self, connection: sqlite3.Connection, search: Search, after: int | None) -> None:
        self._connection = connection
        self._sql = load_queries("sqlite", "index")
        self._search = search
        self._after = after

    def find(self, limit: int) -> list[TextMatch]:
        """Return the newest matches, each tree once."""
        # For a beginning that is not indexed as such, FTS5 would collect all texts before it returns the first. Common
        # ones are among the newest texts that a shorter one finds, and there are few texts with the others.
        short = self._search.shorten()
        if short is not None:
            candidates = list(islice(self._numbers(short), CANDIDATES))
            matches = self._collect((pair for pair in candidates if self._is_match(pair[0])), limit)
            if len(matches) == limit or len(candidates) < CANDIDATES:
                return matches
        return self._collect(self._numbers(self._search), limit)

    def _collect(self, numbers: Iterator[tuple[int, int]], limit: int) -> list[TextMatch]:
        matches: list[TextMatch] = []
        actors: set[int] = set()
        for n, actor in numbers:
            if actor not in actors:
                actors.add(actor)
                if not self._is_on_earlier_page(actor):
                    root, body = self._text(n)
                    matches.append(TextMatch(root, matching_line(self._search, body), n))
                    if len(matches) == limit:
                        break
        return matches

    def _numbers(self, search: Search) -> Iterator[tuple[int, int]]:
        """Iterate over the numbers of texts and their actors, the newest first."""
        before = LATEST if self._after is None else self._after
        cursor = self._connection.execute(self._sql["matches"], (search.to_fts5(), before))
        try:
            yield from cursor
        finally:
            cursor.close()

    def _is_match(self, n: int) -> bool:
        return self._search.matches(words_of(self._text(n)[1]))

    def _is_on_earlier_page(self, actor: int) -> bool:
        """Return whether an actor has a newer match, by which it was found before."""
        if self._after is None:
            return False
        texts = self._connection.execute(self._sql["texts_from"], (actor, self._after))
        return any(self._search.matches(words_of(body)) for (body,) in texts)

    def _text(self, n: int) -> tuple[str, str]:
        root, body = self._connection.execute(self._sql["text"], (n,)).fetchone()
        return root, body
