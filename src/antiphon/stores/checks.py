"""Whether a store's file is sound: as a database, and as journals."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from antiphon.runtime.errors import StoreCorrupt
from antiphon.stores import rows
from antiphon.stores.access import reading
from antiphon.stores.queries import queries

Progress = Callable[[int, int], None]
STEP = 5000  # rows between two reports of progress


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is not as it must be."""

    what: str
    root: str | None = None  # the tree it is about, if it is about one


def check(path: str | Path, progress: Progress) -> list[Problem]:
    """Everything that is wrong with a store, also while it is in use."""
    path = Path(path)
    sql, found = queries("sqlite", "maintenance"), []
    looks: tuple[Look, ...] = (_database, _boots, _fences, _snapshots, _inboxes, partial(_bodies, progress))
    try:
        with reading(path) as connection:
            for look in looks:
                found += _surviving(look, connection, sql)
    except StoreCorrupt as error:
        return [Problem(str(error))]
    return found


Sql = dict[str, str]
Look = Callable[[sqlite3.Connection, Sql], Iterator[Problem]]


def _surviving(look: Look, connection: sqlite3.Connection, sql: Sql) -> list[Problem]:
    """What a look finds, up to the place where nothing can be read any more."""
    found: list[Problem] = []
    try:
        found.extend(look(connection, sql))
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        found.append(Problem(f"the file cannot be read: {error}"))
    return found


def _database(connection: sqlite3.Connection, sql: Sql) -> Iterator[Problem]:
    for (said,) in connection.execute("pragma integrity_check(100)"):
        if said != "ok":
            yield Problem(said.replace("\n", "; "))
    for table, _, parent, _ in connection.execute("pragma foreign_key_check"):
        yield Problem(f"a row of {table!r} belongs to no row of {parent!r}")
    (strays,) = connection.execute(sql["stray_entries"]).fetchone()
    yield from [Problem("a row of 'entry' belongs to no row of 'actor'")] * strays


def _boots(connection: sqlite3.Connection, sql: Sql) -> Iterator[Problem]:
    row = connection.execute(queries("sqlite")["current_boot"]).fetchone()
    if row is None or not isinstance(row[0], int):
        yield Problem("the number of its last boot is gone")


def _fences(connection: sqlite3.Connection, sql: Sql) -> Iterator[Problem]:
    for root, seq, count, last in connection.execute(sql["broken_journals"]):
        yield Problem(f"it is at step {seq}, its journal has {count} and ends at {last}", root)


def _snapshots(connection: sqlite3.Connection, sql: Sql) -> Iterator[Problem]:
    for root, seq, snapshot_seq in connection.execute(sql["odd_snapshots"]):
        yield Problem(f"it is at step {seq}, its snapshot at {snapshot_seq}", root)


def _inboxes(connection: sqlite3.Connection, sql: Sql) -> Iterator[Problem]:
    for root, letter in connection.execute(sql["applied_letters"]):
        yield Problem(f"letter {letter!r} waits although it was applied", root)


def _bodies(progress: Progress, connection: sqlite3.Connection, sql: Sql) -> Iterator[Problem]:
    """Texts that are no JSON any more."""
    (total,) = connection.execute(sql["row_count"]).fetchone()
    done = 0
    for n, root, *actor in connection.execute(sql["all_actors"]):
        for read, row in _rows_of(connection, sql, n, root, actor):
            done += 1
            if done % STEP == 0:
                progress(done, total)
            try:
                read(root, row)
            except StoreCorrupt as error:
                yield Problem(str(error), root)
    progress(total, total)


Read = Callable[[str, rows.Row], object]


def _rows_of(
    connection: sqlite3.Connection, sql: Sql, n: int, root: str, actor: list[Any]
) -> Iterator[tuple[Read, rows.Row]]:
    yield rows.birth_from, tuple(actor[:7])
    if actor[-1] is not None:
        yield _snapshot_from, (actor[-1],)
    readers: tuple[tuple[str, Read], ...] = (
        ("all_entries_of", rows.entry_from),
        ("all_letters_of", rows.letter_from),
        ("all_tasks_of", rows.task_from),
        ("all_dead_letters_of", rows.dead_from),
    )
    for name, read in readers:
        with closing(connection.execute(sql[name], (n,))) as cursor:
            for row in cursor:
                yield read, row


def _snapshot_from(root: str, row: rows.Row) -> object:
    (stored,) = row
    return rows.decoded(stored, f"the snapshot of {root!r}")
