"""Integrity checks of the file of a store: as a database, and as journals."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from antiphon.runtime.errors import StoreCorrupt, Undecodable
from antiphon.stores import files, rows
from antiphon.stores.access import open_reader
from antiphon.stores.queries import load_queries

Progress = Callable[[int, int], None]
STEP = 5000  # rows between two progress reports


@dataclass(frozen=True, slots=True)
class StoreProblem:
    """Problem found by a check."""

    what: str  # description; a key of the output of `antiphon db check --json`
    root: str | None = None  # the tree it concerns, if it concerns one


def check(path: str | Path, progress: Progress) -> list[StoreProblem]:
    """Find all problems of a store, also while it is in use."""
    path = Path(path)
    sql = load_queries("sqlite", "maintenance")
    problems: list[StoreProblem] = []
    checks: tuple[Check, ...] = (
        _check_database,
        _check_boots,
        _check_journals,
        _check_snapshots,
        _check_inboxes,
        partial(_check_bodies, progress),
    )
    try:
        with open_reader(path) as connection:
            if files.lacks_log(connection, path):
                problems.append(StoreProblem(files.missing_log(path)))
            for run in checks:
                problems += _collect(run, connection, sql)
    except StoreCorrupt as error:
        return [StoreProblem(str(error))]
    return problems


Sql = dict[str, str]
Check = Callable[[sqlite3.Connection, Sql], Iterator[StoreProblem]]


def _collect(run: Check, connection: sqlite3.Connection, sql: Sql) -> list[StoreProblem]:
    """Return the problems that a check finds before the file becomes unreadable."""
    problems: list[StoreProblem] = []
    try:
        problems.extend(run(connection, sql))
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        problems.append(StoreProblem(f"the file cannot be read: {error}"))
    return problems


def _check_database(connection: sqlite3.Connection, sql: Sql) -> Iterator[StoreProblem]:
    for (message,) in connection.execute("pragma integrity_check(100)"):
        if message != "ok":
            yield StoreProblem(message.replace("\n", "; "))
    for table, _, parent, _ in connection.execute("pragma foreign_key_check"):
        yield StoreProblem(f"a row of {table!r} belongs to no row of {parent!r}")
    (strays,) = connection.execute(sql["stray_entries"]).fetchone()
    yield from [StoreProblem("a row of 'entry' belongs to no row of 'actor'")] * strays


def _check_boots(connection: sqlite3.Connection, sql: Sql) -> Iterator[StoreProblem]:
    row = connection.execute(load_queries("sqlite")["current_boot"]).fetchone()
    if row is None or not isinstance(row[0], int):
        yield StoreProblem("the number of its last boot is missing")


def _check_journals(connection: sqlite3.Connection, sql: Sql) -> Iterator[StoreProblem]:
    for root, seq, count, last in connection.execute(sql["broken_journals"]):
        yield StoreProblem(f"it is at step {seq}, its journal has {count} and ends at {last}", root)


def _check_snapshots(connection: sqlite3.Connection, sql: Sql) -> Iterator[StoreProblem]:
    for root, seq, snapshot_seq in connection.execute(sql["odd_snapshots"]):
        yield StoreProblem(f"it is at step {seq}, its snapshot at {snapshot_seq}", root)


def _check_inboxes(connection: sqlite3.Connection, sql: Sql) -> Iterator[StoreProblem]:
    for root, letter in connection.execute(sql["applied_letters"]):
        yield StoreProblem(f"letter {letter!r} waits although it was applied", root)


def _check_bodies(progress: Progress, connection: sqlite3.Connection, sql: Sql) -> Iterator[StoreProblem]:
    """Find texts that are not JSON."""
    (total,) = connection.execute(sql["row_count"]).fetchone()
    done = 0
    for n, root, *actor in connection.execute(sql["all_actors"]):
        for read, row in _rows_of(connection, sql, n, root, actor):
            done += 1
            if done % STEP == 0:
                progress(done, total)
            try:
                read(root, row)
            except Undecodable:
                continue  # it is JSON; its codec is in the program that wrote it
            except StoreCorrupt as error:
                yield StoreProblem(str(error), root)
    progress(total, total)


Read = Callable[[str, rows.Row], object]


def _rows_of(
    connection: sqlite3.Connection, sql: Sql, n: int, root: str, actor: list[Any]
) -> Iterator[tuple[Read, rows.Row]]:
    yield rows.origin_from, tuple(actor[:7])
    if actor[-1] is not None:
        yield _snapshot_from, (actor[-1],)
    readers: tuple[tuple[str, Read], ...] = (
        ("all_entries_of", rows.entry_from),
        ("all_letters_of", rows.letter_from),
        ("all_tasks_of", rows.task_from),
        ("all_dead_letters_of", rows.dead_from),
        ("all_rejections_of", lambda root, row: rows.rejection_from(row)),
    )
    for name, read in readers:
        with closing(connection.execute(sql[name], (n,))) as cursor:
            for row in cursor:
                yield read, row


def _snapshot_from(root: str, row: rows.Row) -> object:
    (stored,) = row
    return rows.decode(stored, f"the snapshot of {root!r}")
