"""Export and import of whole stores as text: one JSON object a line.

The first line has the format, the last one the number of lines of each kind, so that a truncated file is noticed. In
between, each tree is followed by its steps, letters, tasks and dead letters:

    {"antiphon": "export", "format": 1, "boots": 3}
    {"tree": {"id": "a", "machine": "chat", "seq": 2, ...}}
    {"step": {"seq": 1, "at": 1700000000000, "to": "", "letter": null, "body": {"event": {"type": "xstate.init"}}}}
    ...
    {"end": {"tree": 1, "snapshot": 0, "step": 2, "letter": 0, "task": 0, "dead": 0, "rejection": 0, "incident": 0}}

A tree has its latest snapshot; older ones follow it. Steps without a body are those of a compacted journal.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from antiphon.runtime.encoding import encode, encode_checked, encode_json
from antiphon.runtime.errors import RootExists, StoreCorrupt, StoreError
from antiphon.runtime.histories import change_history, new_suffix
from antiphon.stores import files, rows
from antiphon.stores.access import open_owned, open_reader
from antiphon.stores.journals import stored_journal
from antiphon.stores.queries import load_queries
from antiphon.stores.snapshots import find_base

Progress = Callable[[int, int], None]
FORMAT = 1
# The columns of each kind of line, in the order of its SQL statements.
TREE = (
    "id", "history", "machine", "version", "hash", "input", "forked_from", "forked_seq", "status", "created",
    "updated", "seq", "mark", "attempts", "reason", "first", "snapshot_seq", "snapshot_journal", "snapshot_open",
    "snapshot",
)  # fmt: skip
PARTS: dict[str, tuple[str, ...]] = {
    "snapshot": ("seq", "journal", "version", "open", "body"),
    "step": ("seq", "at", "to", "letter", "body"),
    "letter": ("id", "at", "due", "arrival", "starts", "body"),
    "task": ("id", "to", "src", "input", "safety", "attempt", "epoch", "starts"),
    "dead": ("id", "at", "body", "error"),
    "rejection": ("id", "at", "seq", "can", "problem"),
    "incident": ("seq", "at", "kind", "detail"),
}
# Columns that exports of files before schemas 7 to 9 lack, and the columns that had another name there.
DEFAULTS = {
    "mark": 0, "attempts": 0, "reason": None, "arrival": 0, "starts": 0,
    "first": 1, "snapshot_journal": 0, "snapshot_open": None, "problem": None,
}  # fmt: skip
OLD_NAMES = {"incarnation": "history"}
READ = {
    "step": "all_entries_of", "letter": "all_letters_of", "task": "all_tasks_of", "dead": "all_dead_letters_of",
    "rejection": "all_rejections_of", "incident": "all_incidents_of",
}  # fmt: skip
WRITE = {
    "snapshot": "insert_snapshot", "step": "insert_entry", "letter": "insert_letter", "task": "insert_task",
    "dead": "insert_dead_letter", "rejection": "insert_rejection", "incident": "insert_incident",
}  # fmt: skip
# The states of tasks in exports of files before schema 5, which kept tasks that had ended.
RUNNING = "running"
ENDED = ("done", "cancelled", "interrupted", "unknown")
# Columns that are written as JSON, not as text; some of them may be absent.
JSON = {"version", "input", "snapshot", "snapshot_open", "open", "body", "can", "problem"}
OPTIONAL = {"snapshot", "snapshot_open", "open", "problem"}
KINDS = ("tree", *PARTS)
# Characters that some programs treat as the end of a line.
BREAKS = {0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"}
# Errors that an invalid line can cause.
INVALID_LINE = (
    ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError,
    sqlite3.IntegrityError, sqlite3.InterfaceError, sqlite3.ProgrammingError,
)  # fmt: skip


def export(path: str | Path, progress: Progress, damaged: Callable[[str], None] | None = None) -> Iterator[str]:
    """Yield the lines of a store as it is at one moment, also while it is in use.

    A damaged tree ends the export with `StoreCorrupt`; with `damaged`, it is left out and reported to that function.
    """
    path = Path(path)
    sql = load_queries("sqlite", "maintenance")
    with open_reader(path) as connection:
        boots = connection.execute(load_queries("sqlite")["current_boot"]).fetchone()
        yield _line({"antiphon": "export", "format": FORMAT, "boots": 0 if boots is None else boots[0]})
        (total,) = connection.execute(sql["tree_count"]).fetchone()
        counts = Counter(dict.fromkeys(KINDS, 0))
        for done, (n, *columns) in enumerate(connection.execute(sql["all_actors"])):
            progress(done, total)
            try:
                with files.translate_errors(path):
                    lines = list(_tree_lines(connection, sql, n, columns))
            except StoreCorrupt as error:
                if damaged is None:
                    raise
                damaged(f"{columns[0]!r} is left out: {error}")
                continue
            counts.update(kind for kind, _ in lines)
            yield from (line for _, line in lines)
        progress(total, total)
        yield _line({"end": counts})


def _tree_lines(
    connection: sqlite3.Connection, sql: dict[str, str], n: int, columns: list[Any]
) -> Iterator[tuple[str, str]]:
    root = columns[0]
    (latest, *older) = _snapshots(connection, sql, n, columns)
    yield "tree", _record_line("tree", TREE, (*columns, *latest), root)
    for row in older:
        yield "snapshot", _record_line("snapshot", PARTS["snapshot"], row, root)
    for kind, query in READ.items():
        for row in connection.execute(sql[query], (n,)):
            yield kind, _record_line(kind, PARTS[kind], row, root)


def _snapshots(
    connection: sqlite3.Connection, sql: dict[str, str], n: int, columns: list[Any]
) -> Iterator[tuple[Any, ...]]:
    """Yield the snapshots of a tree as columns; those of the latest are without its version.

    If the latest is damaged, it is replaced by the one that a store would use instead; damaged older ones are left out.
    """
    root, *actor, first = columns
    stored = connection.execute(sql["all_snapshots_of"], (n,)).fetchall()
    intact = [row for row in stored if _is_intact(row)]
    if stored and intact[:1] != stored[:1]:
        origin = rows.origin_from(root, tuple(actor[:7]))
        base = find_base(stored_journal(connection, root, n, origin, first, actor[-4]))
        intact = [row for row in intact if row[0] <= base.seq]
        if base.snapshot is not None and base.seq not in (row[0] for row in intact):
            intact.insert(0, (base.seq, 0, None, None, encode_json(base.snapshot)))
    seq, journal, _, work, body = intact[0] if intact else (0, 0, None, None, None)
    yield seq, journal, work, body
    yield from intact[1:]


def _is_intact(row: tuple[Any, ...]) -> bool:
    """Return whether all texts of a snapshot can be read."""
    try:
        for text in row[2:]:
            if text is not None:
                rows.decode(text, "a snapshot")
    except StoreCorrupt:
        return False
    return True


def _record_line(kind: str, names: tuple[str, ...], row: Iterable[Any], root: str) -> str:
    record = {
        name: rows.decode(value, f"the {name} of a {kind} of {root!r}") if name in JSON and value is not None else value
        for name, value in zip(names, row, strict=True)
    }
    return _line({kind: record})


def _line(value: Any) -> str:
    text = encode_checked(value)
    return (text if text.isascii() else text.translate(BREAKS)) + "\n"


def restore(path: str | Path, lines: Iterable[str], progress: Progress) -> dict[str, int]:
    """Import an export into a store that has none of its trees, all of it or nothing.

    Return the number of lines of each kind.
    """
    path = Path(path)
    with open_owned(path, any_schema=True) as connection:
        is_new = files.schema_number(connection, path) == 0
        try:
            files.migrate(connection, path)
            connection.execute("begin immediate")
            counts = _Import(connection, progress).run(lines)
            connection.execute("commit")
        except BaseException:
            connection.close()
            if is_new:
                path.unlink(missing_ok=True)
            raise
        return counts


class _Import:
    """An import in progress, in a transaction."""

    def __init__(self, connection: sqlite3.Connection, progress: Progress) -> None:
        self._connection = connection
        self._progress = progress
        self._sql = load_queries("sqlite", "maintenance")
        self._counts = Counter(dict.fromkeys(KINDS, 0))
        self._actor: int | None = None
        self._suffix = new_suffix()

    def run(self, lines: Iterable[str]) -> dict[str, int]:
        """Import all lines; raise `StoreError` with the number of an invalid one."""
        number = 0
        has_ended = False
        for number, line in enumerate(lines, 1):
            try:
                kind, record = _parse_line(json.loads(line), number)
                if has_ended:
                    raise ValueError("a line follows the end of the export")
                has_ended = self._import_record(kind, record)
            except INVALID_LINE as error:
                raise StoreError(
                    f"line {number} is not a valid line of an export: {error!r}; nothing was imported"
                ) from error
            if number % 1000 == 0:
                self._progress(number, 0)
        if not has_ended:
            raise StoreError(f"the export is incomplete: it stops after line {number}; nothing was imported")
        self._check()
        return dict(self._counts)

    def _import_record(self, kind: str, record: dict[str, Any]) -> bool:
        """Import a record; return whether it is the last."""
        match kind:
            case "antiphon":
                self._connection.execute(self._sql["raise_boot"], (int(record["boots"]),))
            case "tree":
                self._add_tree(record)
            case "end":
                if {**dict.fromkeys(KINDS, 0), **record} != self._counts:
                    raise ValueError(f"the export announces {record}, but has {dict(self._counts)}")
            case _:
                self._add_part(kind, record)
        if kind in KINDS:
            self._counts[kind] += 1
        return kind == "end"

    def _add_tree(self, record: dict[str, Any]) -> None:
        root, history, *facts, snapshot_seq, journal, work, snapshot = _columns(TREE, record)
        if not isinstance(history, str):
            raise ValueError(f"the history of {root!r} is not a text")
        # The store that it comes from may continue the same past: their tasks must have different keys.
        actor = (root, change_history(history, record["seq"], self._suffix), *facts)
        row = self._connection.execute(self._sql["insert_actor"], actor).fetchone()
        if row is None:
            raise RootExists(f"there is a root actor {record['id']!r} already; nothing was imported")
        self._actor = int(row[0])
        if snapshot is not None:
            version = encode(record["version"])
            row = (self._actor, snapshot_seq, journal, version, work, snapshot)
            self._connection.execute(self._sql["insert_snapshot"], row)
        elif snapshot_seq != 0:
            raise _journal_error(record["id"])

    def _add_part(self, kind: str, record: dict[str, Any]) -> None:
        if self._actor is None:
            raise ValueError("it belongs to no tree")
        state = record.pop("state", RUNNING) if kind == "task" else RUNNING
        values = (self._actor, *_columns(PARTS[kind], record))
        if state == RUNNING:
            self._connection.execute(self._sql[WRITE[kind]], values)
        elif state not in ENDED:
            raise ValueError(f"no state of a task is named {state!r}")

    def _check(self) -> None:
        for query in ("broken_journals", "headless_journals", "odd_snapshots"):
            row = self._connection.execute(self._sql[query]).fetchone()
            if row is not None:
                raise _journal_error(row[0])


def _journal_error(root: str) -> StoreError:
    return StoreError(f"the journal of {root!r} does not match its sequence number; nothing was imported")


def _parse_line(value: Any, number: int) -> tuple[str, dict[str, Any]]:
    """Return the kind of a line and its record."""
    if number == 1:
        if value.get("antiphon") != "export" or value.get("format") != FORMAT:
            raise ValueError(f"the first line of an export must have format {FORMAT}")
        return "antiphon", value
    ((kind, record),) = value.items()
    if kind not in (*KINDS, "end"):
        raise ValueError(f"no kind of line is named {kind!r}")
    return kind, record


def _columns(names: tuple[str, ...], record: dict[str, Any]) -> tuple[Any, ...]:
    record = {OLD_NAMES.get(name, name): value for name, value in record.items()}
    record = {**{name: value for name, value in DEFAULTS.items() if name in names}, **record}
    if record.keys() != set(names):
        raise ValueError(f"it has the keys {sorted(record)}, not {sorted(names)}")
    return tuple(_column(name, record[name]) for name in names)


def _column(name: str, value: Any) -> Any:
    is_absent = value is None and name in OPTIONAL
    return encode_checked(value) if name in JSON and not is_absent else value
