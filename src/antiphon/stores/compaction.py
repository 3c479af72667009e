"""Compaction: old steps are removed from journals, up to a snapshot that the other steps are replayed from.

A step is removed if it is old enough, is not one of the latest of its tree, and is not after the latest intact snapshot
of which both hold; a quarantined tree stays as it is. Rows of letters from outside stay, without their bodies, so that
such a letter is still recognised when it comes again. There is no way back: neither the removed steps nor the states
at them can be read any more.
"""

import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from antiphon.runtime.errors import StoreCorrupt
from antiphon.stores import rows
from antiphon.stores.access import open_owned, open_reader
from antiphon.stores.journals import stored_journal
from antiphon.stores.queries import load_queries
from antiphon.stores.snapshots import load_at

Sql = dict[str, str]
Report = Callable[[str], None]
KEEP_STEPS = 1000
KEEP_DAYS = 30
LEAST_STEPS = 100  # the results of runs and debates are in the latest steps of their journals


@dataclass(frozen=True, slots=True)
class Policy:
    """Steps that compaction keeps: the latest of each tree, and all from a time on."""

    steps: int
    since: int  # in milliseconds
    root: str | None = None  # the only tree to compact


@dataclass(frozen=True, slots=True)
class Compaction:
    """Steps removed from the journal of a tree, both ends included, and the size of what they occupied."""

    root: str
    first: int
    last: int
    latest: int  # latest step of the tree
    bytes: int

    @property
    def steps(self) -> int:
        """Number of steps removed."""
        return self.last - self.first + 1


@dataclass(frozen=True, slots=True)
class _Tree:
    n: int
    root: str
    first: int
    last: int


def plan(path: str | Path, policy: Policy, damaged: Report) -> list[Compaction]:
    """Return what compacting would remove, also while the store is in use; damaged trees are reported and left out."""
    path = Path(path)
    sql = load_queries("sqlite", "maintenance")
    with open_reader(path) as connection:
        plans = [_plan_intact(connection, sql, tree, policy, damaged) for tree in _trees(connection, sql, policy)]
    return [compaction for compaction in plans if compaction is not None]


def compact(path: str | Path, policy: Policy, damaged: Report) -> Iterator[Compaction]:
    """Remove steps in one transaction per tree; yield what was removed from each once that is durable."""
    path = Path(path)
    sql = load_queries("sqlite", "maintenance")
    with open_owned(path) as connection:
        for tree in _trees(connection, sql, policy):
            connection.execute("begin immediate")
            compaction = _plan_intact(connection, sql, tree, policy, damaged)
            if compaction is None:
                connection.execute("rollback")
                continue
            _remove(connection, sql, tree.n, compaction)
            connection.execute("commit")
            yield compaction
        connection.execute("pragma wal_checkpoint(truncate)").fetchall()


def _trees(connection: sqlite3.Connection, sql: Sql, policy: Policy) -> list[_Tree]:
    trees = [_Tree(*row) for row in connection.execute(sql["compactable_trees"]).fetchall()]
    return [tree for tree in trees if policy.root in (None, tree.root)]


def _plan_intact(
    connection: sqlite3.Connection, sql: Sql, tree: _Tree, policy: Policy, damaged: Report
) -> Compaction | None:
    try:
        return _plan(connection, sql, tree, policy)
    except StoreCorrupt as error:
        damaged(f"{tree.root!r} is left as it is: {error}")
        return None


def _plan(connection: sqlite3.Connection, sql: Sql, tree: _Tree, policy: Policy) -> Compaction | None:
    """Return the steps of a tree to remove, or None; raise `StoreCorrupt` if the others would not be readable."""
    first = tree.first
    limit = tree.last - policy.steps
    row = connection.execute(sql["first_since"], (tree.n, first, limit, policy.since)).fetchone()
    if row is not None:
        limit = row[0] - 1
    if limit < first:
        return None
    last = _find_snapshot(connection, sql, tree, limit)
    if last < first:
        return None
    _check_readable(connection, tree, last)
    (size,) = connection.execute(sql["size_to"], (tree.n, first, last)).fetchone()
    return Compaction(tree.root, first, last, tree.last, size)


def _find_snapshot(connection: sqlite3.Connection, sql: Sql, tree: _Tree, limit: int) -> int:
    """Return the step of the latest snapshot up to a step that can be replayed from, or 0."""
    for seq, _, version, work, body in connection.execute(sql["all_snapshots_of"], (tree.n,)).fetchall():
        if seq <= limit and work is not None:
            for text in (version, work, body):
                rows.decode(text, f"the snapshot of {tree.root!r} at step {seq}")
            return int(seq)
    return 0


def _check_readable(connection: sqlite3.Connection, tree: _Tree, last: int) -> None:
    """Raise `StoreCorrupt` unless a tree can be replayed from a snapshot to its end."""
    row = connection.execute(load_queries("sqlite")["load_actor"], (tree.root,)).fetchone()
    origin = rows.origin_from(tree.root, row[1:8])
    journal = stored_journal(connection, tree.root, tree.n, origin, tree.first, tree.last)
    base = load_at(journal, "active", last)
    count = last + len(journal.entries(last, tree.last))
    if base.snapshot_seq != last or count != tree.last:
        raise StoreCorrupt(f"it cannot be replayed from step {last} to {tree.last}; {rows.RESTORE}")


def _remove(connection: sqlite3.Connection, sql: Sql, n: int, compaction: Compaction) -> None:
    steps = (n, compaction.first, compaction.last)
    connection.execute(sql["empty_entries"], steps)
    connection.execute(sql["delete_entries"], steps)
    connection.execute(sql["delete_snapshots"], (n, compaction.last))
    connection.execute(sql["set_first"], (compaction.last + 1, n))
