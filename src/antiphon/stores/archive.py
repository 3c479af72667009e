"""Whole stores as text: one JSON object a line, for other programs, other stores and other times.

The first line says what this is, the last one how much there was, so that a torn file is noticed. In between
stands each tree, followed by its steps, letters, tasks and dead letters:

    {"antiphon": "export", "format": 1, "boots": 3}
    {"tree": {"id": "a", "machine": "chat", "seq": 2, ...}}
    {"step": {"seq": 1, "at": 1700000000000, "to": "", "letter": null, "body": {"event": {"type": "xstate.init"}}}}
    ...
    {"end": {"tree": 1, "step": 2, "letter": 0, "task": 0, "dead": 0}}
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from antiphon.runtime.encoding import encoded
from antiphon.runtime.errors import RootExists, StoreCorrupt, StoreError
from antiphon.runtime.records import Entry
from antiphon.stores import files, rows
from antiphon.stores.access import owning, reading
from antiphon.stores.queries import queries
from antiphon.stores.snapshots import base

Progress = Callable[[int, int], None]
FORMAT = 1
# The columns of each kind of line, in the order of its statements; those that hold JSON are written as such.
TREE = (
    "id", "incarnation", "machine", "version", "hash", "input", "forked_from", "forked_seq", "status", "created",
    "updated", "seq", "snapshot_seq", "snapshot",
)  # fmt: skip
PARTS: dict[str, tuple[str, ...]] = {
    "step": ("seq", "at", "to", "letter", "body"),
    "letter": ("id", "at", "due", "body"),
    "task": ("id", "to", "src", "input", "safety", "attempt", "epoch"),
    "dead": ("id", "at", "body", "error"),
}
READ = {"step": "all_entries_of", "letter": "all_letters_of", "task": "all_tasks_of", "dead": "all_dead_letters_of"}
WRITE = {"step": "insert_entry", "letter": "insert_letter", "task": "insert_task", "dead": "insert_dead_letter"}
# The states of tasks in exports of files before schema 5, which kept tasks that were over.
RUNNING, OVER = "running", ("done", "cancelled", "interrupted", "unknown")
JSON = {"version", "input", "snapshot", "body"}
KINDS = ("tree", *PARTS)
# Characters that some programs take for the end of a line.
BREAKS = {0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"}
# What a line that no export has written can raise.
WRONG = (
    ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError,
    sqlite3.IntegrityError, sqlite3.InterfaceError, sqlite3.ProgrammingError,
)  # fmt: skip


# -- out -----------------------------------------------------------------------------------------------------------


def export(path: str | Path, progress: Progress, damaged: Callable[[str], None] | None = None) -> Iterator[str]:
    """The lines of a store as it is at one moment, also while it is in use.

    A tree that is damaged ends the export; if `damaged` is given, it is told instead, and the tree left out.
    """
    path = Path(path)
    sql = queries("sqlite", "maintenance")
    with reading(path) as connection:
        boots = connection.execute(queries("sqlite")["current_boot"]).fetchone()
        yield _line({"antiphon": "export", "format": FORMAT, "boots": 0 if boots is None else boots[0]})
        (total,) = connection.execute(sql["tree_count"]).fetchone()
        counts = Counter(dict.fromkeys(KINDS, 0))
        for done, (n, *columns) in enumerate(connection.execute(sql["all_actors"])):
            progress(done, total)
            try:
                with files.explained(path):
                    lines = list(_tree(connection, sql, n, columns))
            except StoreCorrupt as error:
                if damaged is None:
                    raise
                damaged(f"{columns[0]!r} is left out: {error}")
                continue
            counts.update(kind for kind, _ in lines)
            yield from (line for _, line in lines)
        progress(total, total)
        yield _line({"end": counts})


def _tree(connection: sqlite3.Connection, sql: dict[str, str], n: int, columns: list[Any]) -> Iterator[tuple[str, str]]:
    root = columns[0]
    yield "tree", _record("tree", TREE, _with_base(connection, sql, n, columns), root)
    for kind, names in PARTS.items():
        for row in connection.execute(sql[READ[kind]], (n,)):
            yield kind, _record(kind, names, row, root)


def _with_base(connection: sqlite3.Connection, sql: dict[str, str], n: int, columns: list[Any]) -> list[Any]:
    """The columns of a tree; in place of a snapshot that is damaged, what a store would go on from."""
    root, *others, seq, stored = columns

    def entries_after(seq: int) -> list[Entry]:
        found = [rows.entry_from(root, row) for row in connection.execute(sql["all_entries_of"], (n,))]
        return [entry for entry in found if entry.seq > seq]

    try:
        if stored is not None:
            rows.decoded(stored, "it")
    except StoreCorrupt:
        birth = rows.birth_from(root, tuple(others[:7]))
        snapshot, seq, _ = base(root, birth, stored, seq, entries_after)
        stored = None if snapshot is None else encoded(snapshot)
    return [root, *others, seq, stored]


def _record(kind: str, names: tuple[str, ...], row: Iterable[Any], root: str) -> str:
    found = {
        name: rows.decoded(value, f"the {name} of a {kind} of {root!r}")
        if name in JSON and value is not None
        else value
        for name, value in zip(names, row, strict=True)
    }
    return _line({kind: found})


def _line(value: Any) -> str:
    text = encoded(value)
    return (text if text.isascii() else text.translate(BREAKS)) + "\n"


# -- in ------------------------------------------------------------------------------------------------------------


def restore(path: str | Path, lines: Iterable[str], progress: Progress) -> dict[str, int]:
    """Put everything an export says into a store that has none of its trees: all of it, or nothing.

    Gives how much there was of each kind.
    """
    path = Path(path)
    with owning(path, any_schema=True) as connection:
        is_new = files.schema_of(connection, path) == 0
        try:
            files.migrate(connection, path)
            connection.execute("begin immediate")
            counts = _Import(connection, progress).take(lines)
            connection.execute("commit")
        except BaseException:
            connection.close()
            if is_new:
                path.unlink(missing_ok=True)
            raise
        return counts


class _Import:
    """An import under way, in a transaction."""

    def __init__(self, connection: sqlite3.Connection, progress: Progress) -> None:
        self._connection, self._progress = connection, progress
        self._sql = queries("sqlite", "maintenance")
        self._counts = Counter(dict.fromkeys(KINDS, 0))
        self._actor: int | None = None

    def take(self, lines: Iterable[str]) -> dict[str, int]:
        """Take all lines, or say which one is wrong."""
        number, is_over = 0, False
        for number, line in enumerate(lines, 1):
            try:
                kind, said = _kind(json.loads(line), number)
                if is_over:
                    raise ValueError("there is more after the end")
                is_over = self._one(kind, said)
            except WRONG as error:
                raise StoreError(
                    f"line {number} is not what an export says: {error!r}; nothing was imported"
                ) from error
            if number % 1000 == 0:
                self._progress(number, 0)
        if not is_over:
            raise StoreError(f"the export ends after line {number}, before its end; nothing was imported")
        self._check()
        return dict(self._counts)

    def _one(self, kind: str, said: dict[str, Any]) -> bool:
        """Take a line; gives whether it is the last."""
        match kind:
            case "antiphon":
                self._connection.execute(self._sql["raise_boot"], (int(said["boots"]),))
            case "tree":
                self._add_tree(said)
            case "end":
                if said != self._counts:
                    raise ValueError(f"it promises {said}, there was {dict(self._counts)}")
            case _:
                self._add_part(kind, said)
        if kind in KINDS:
            self._counts[kind] += 1
        return kind == "end"

    def _add_tree(self, said: dict[str, Any]) -> None:
        *actor, snapshot_seq, snapshot = _columns(TREE, said)
        row = self._connection.execute(self._sql["insert_actor"], actor).fetchone()
        if row is None:
            raise RootExists(f"there is a root actor {said['id']!r} already; nothing was imported")
        self._actor = int(row[0])
        if snapshot is not None:
            self._connection.execute(self._sql["insert_snapshot"], (self._actor, snapshot_seq, snapshot))
        elif snapshot_seq != 0:
            raise _misfit(said["id"])

    def _add_part(self, kind: str, said: dict[str, Any]) -> None:
        if self._actor is None:
            raise ValueError("it belongs to no tree")
        state = said.pop("state", RUNNING) if kind == "task" else RUNNING
        values = (self._actor, *_columns(PARTS[kind], said))
        if state == RUNNING:
            self._connection.execute(self._sql[WRITE[kind]], values)
        elif state not in OVER:
            raise ValueError(f"no state of a task is named {state!r}")

    def _check(self) -> None:
        for query in ("broken_journals", "odd_snapshots"):
            row = self._connection.execute(self._sql[query]).fetchone()
            if row is not None:
                raise _misfit(row[0])


def _misfit(root: str) -> StoreError:
    return StoreError(f"the journal of {root!r} does not fit its sequence; nothing was imported")


def _kind(value: Any, number: int) -> tuple[str, dict[str, Any]]:
    """What kind of line this is, and what it says."""
    if number == 1:
        if value.get("antiphon") != "export" or value.get("format") != FORMAT:
            raise ValueError(f"an export begins with its format, {FORMAT}")
        return "antiphon", value
    ((kind, said),) = value.items()
    if kind not in (*KINDS, "end"):
        raise ValueError(f"no kind of line is named {kind!r}")
    return kind, said


def _columns(names: tuple[str, ...], said: dict[str, Any]) -> tuple[Any, ...]:
    if said.keys() != set(names):
        raise ValueError(f"it has {sorted(said)}, not {sorted(names)}")
    return tuple(_column(name, said[name]) for name in names)


def _column(name: str, value: Any) -> Any:
    is_absent = value is None and name == "snapshot"
    return encoded(value) if name in JSON and not is_absent else value
