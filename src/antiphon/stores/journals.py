"""Journals and snapshots of trees in an SQLite file."""

import sqlite3

from antiphon.runtime.encoding import encode, encode_json
from antiphon.runtime.errors import JournalCompacted, StoreCorrupt
from antiphon.runtime.records import Commit, Entry, Origin
from antiphon.stores import rows
from antiphon.stores.index import delete_rows
from antiphon.stores.queries import load_queries
from antiphon.stores.snapshots import (
    ENTRY_OVERHEAD,
    SnapshotSize,
    StoredJournal,
    StoredSnapshot,
    superfluous_snapshots,
)

# The statements that delete a tree; the actor goes last, because the other rows refer to it.
REMOVE = (
    "remove_dead_letters", "remove_rejections", "remove_incidents", "remove_tasks", "remove_letters", "remove_entries",
    "remove_snapshots", "remove_actor",
)  # fmt: skip


def remove_tree(connection: sqlite3.Connection, n: int) -> None:
    """Delete all rows of a tree."""
    sql = load_queries("sqlite")
    delete_rows(connection, n)
    for name in REMOVE:
        connection.execute(sql[name], (n,))


def read_entries(connection: sqlite3.Connection, root: str, n: int, after: int, limit: int) -> list[Entry]:
    """Read the entries of a tree after a step."""
    sql = load_queries("sqlite")
    after = max(0, after)
    row = connection.execute(sql["first_step"], (n,)).fetchone()
    if row is not None and after < row[0] - 1:
        raise JournalCompacted(root, row[0])
    # All at once: an error whose traceback held a cursor would keep the connection from being closed.
    stored = connection.execute(sql["entries_after"], (n, after, limit)).fetchall()
    entries = [rows.entry_from(root, row) for row in stored]
    for seq, entry in enumerate(entries, after + 1):
        if entry.seq != seq:
            raise StoreCorrupt(f"step {seq} of {root!r} is missing; {rows.RESTORE}")
    return entries


def stored_journal(
    connection: sqlite3.Connection, root: str, n: int, origin: Origin, first: int, last: int
) -> StoredJournal:
    """Return the journal of a tree, to be read from a connection."""
    sql = load_queries("sqlite")

    def snapshot_to(seq: int) -> StoredSnapshot | None:
        row = connection.execute(sql["snapshot_to"], (n, seq)).fetchone()
        return None if row is None else StoredSnapshot(*row)

    def version_after(seq: int) -> tuple[int, str] | None:
        row: tuple[int, str] | None = connection.execute(sql["version_after"], (n, seq)).fetchone()
        return row

    def entries(after: int, until: int) -> list[Entry]:
        return read_entries(connection, root, n, after, until - after)

    return StoredJournal(root, origin, first, last, snapshot_to, version_after, entries)


def save_snapshot(connection: sqlite3.Connection, n: int, commit: Commit) -> None:
    """Store the snapshot of a commit, after dropping superfluous ones: it uses their space."""
    sql = load_queries("sqlite")
    execute = connection.execute
    seq = commit.seq
    sizes = [SnapshotSize(*row) for row in execute(sql["snapshot_sizes"], (n, seq)).fetchall()]
    for step in superfluous_snapshots(sizes, seq):
        execute(sql["drop_snapshot"], (n, step))
    latest = sizes[-1] if sizes else SnapshotSize(0)
    count, size = execute(sql["journal_size"], (n, latest.seq, seq)).fetchone()
    journal = latest.journal + count * ENTRY_OVERHEAD + size
    body = encode_json(commit.snapshot)
    work = None if commit.open is None else encode(commit.open)
    execute(sql["save_snapshot"], (n, seq, len(body) + len(work or ""), journal, work, body))
