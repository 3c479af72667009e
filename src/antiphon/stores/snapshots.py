"""Stored snapshots: which of them are kept, and which one a tree is replayed from.

A snapshot only saves time: the journal gives the same state. So of the snapshots before the latest, few are kept:

1. By distance. A snapshot is dropped if the gap that it leaves is at most `GAP_SHARE` of the distance from the end of
   the gap to the latest one. So a step is replayed from a snapshot at most that share of its own distance away, or
   from the next one that was ever stored. Their number grows with the logarithm of the journal.
2. By size. A snapshot is dropped if it is larger than `SIZE_SHARE` of the journal between it and the one before it.
   So all of them together are never larger than that share of the journal, and replaying what lies in such a gap
   reads little more than the snapshot would have been.

Both conditions stay true as the journal grows. The snapshot that a journal begins with, that of a fork or of a
compacted journal, is never dropped.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

from antiphon.runtime.encoding import decode
from antiphon.runtime.errors import StoreCorrupt
from antiphon.runtime.open_work import OpenWork, open_work_from_json
from antiphon.runtime.records import Entry, Origin, Saved
from antiphon.runtime.replay.time_travel import FORKED
from antiphon.runtime.tree import MIGRATED
from antiphon.stores import rows

GAP_SHARE = 1 / 8
SIZE_SHARE = 3 / 4
ENTRY_OVERHEAD = 100  # estimated size of an entry in a file, without its body


class SnapshotSize(NamedTuple):
    """Step of a stored snapshot, its size, and the size of the journal up to there."""

    seq: int
    size: int = 0
    journal: int = 0
    is_first: bool = False  # a journal begins with it


class StoredSnapshot(NamedTuple):
    """Texts of a stored snapshot: the version of its machine, open timers and tasks, and the snapshot itself."""

    seq: int
    version: str
    open: str | bytes | None
    body: str | bytes


class Base(NamedTuple):
    """State to replay from, and the entries after it; without a snapshot, it is the beginning of the journal."""

    snapshot: Any
    seq: int
    entries: list[Entry]
    version: Any = None
    work: OpenWork = OpenWork()


@dataclass(frozen=True, slots=True)
class StoredJournal:
    """A journal as stores read it: its steps, and functions for snapshots and entries."""

    root: str
    origin: Origin
    first: int
    last: int
    snapshot_to: Callable[[int], StoredSnapshot | None]  # the latest at or before a step
    version_after: Callable[[int], tuple[int, str] | None]  # step and version of the next snapshot after a step
    entries: Callable[[int, int], list[Entry]]  # those after a step, up to another


def superfluous_snapshots(sizes: Sequence[SnapshotSize], latest: int) -> list[int]:
    """Return the steps of the snapshots to drop, of those before the latest one, oldest first."""
    dropped: list[int] = []
    previous = SnapshotSize(0)
    for size, following in pairwise([*sizes, SnapshotSize(latest)]):
        is_close = following.seq - previous.seq <= (latest - following.seq) * GAP_SHARE
        is_large = size.size > (size.journal - previous.journal) * SIZE_SHARE
        if (is_close or is_large) and not size.is_first:
            dropped.append(size.seq)
        else:
            previous = size
    return dropped


def find_base(journal: StoredJournal) -> Base:
    """Return the state to replay a tree from.

    If the latest snapshot is damaged or missing, an older one does, or the beginning of the journal. The entry of a
    migration has the snapshot it led to. Only a fork and a compacted journal begin with a snapshot that their entries
    cannot replace.
    """
    newest = journal.snapshot_to(journal.last)
    for stored in _snapshots(journal, newest):
        with suppress(ValueError):
            base = Base(json.loads(_text(stored.body)), stored.seq, _entries(journal, stored.seq, journal.last))
            return base if stored is newest else _skip_to_migration(journal, base)
    _require_first_snapshot(journal, newest is not None)
    return _skip_to_migration(journal, Base(None, 0, _entries(journal, 0, journal.last)))


def load_at(journal: StoredJournal, status: str, seq: int) -> Saved:
    """Return a tree at an earlier step: the nearest snapshot with its open work, and the entries from there."""
    root = journal.root
    earliest = max(1, journal.first - 1)
    if not earliest <= seq <= journal.last:
        removed = "; those before were removed by `antiphon db compact`" if 1 <= seq < earliest else ""
        raise ValueError(f"{root!r} has steps {earliest} to {journal.last}, not {seq}{removed}")
    base = _skip_to_migration(journal, _find_base_at(journal, seq))
    origin = journal.origin
    version = _version_at(journal, seq) if base.snapshot is None else base.version
    if version != origin.version:
        origin = replace(origin, version=version, hash="")
    at, letters, tasks = base.work
    entries = tuple(base.entries)
    return Saved(
        root, origin, status, seq, base.snapshot, base.seq, entries, letters, tasks, at=at, first=journal.first
    )


def _find_base_at(journal: StoredJournal, seq: int) -> Base:
    for stored in _snapshots(journal, journal.snapshot_to(seq)):
        if stored.open is not None:
            with suppress(ValueError):
                snapshot = json.loads(_text(stored.body))
                work = open_work_from_json(journal.root, decode(_text(stored.open)))
                version = rows.decode(stored.version, f"the version of a snapshot of {journal.root!r}")
                return Base(snapshot, stored.seq, _entries(journal, stored.seq, seq), version, work)
    if journal.first > 1:
        _require_first_snapshot(journal, True)
    return Base(None, 0, _entries(journal, 0, seq))


def _snapshots(journal: StoredJournal, newest: StoredSnapshot | None) -> Iterator[StoredSnapshot]:
    """Yield stored snapshots, newest first."""
    stored = newest
    while stored is not None:
        yield stored
        stored = journal.snapshot_to(stored.seq - 1)


def _entries(journal: StoredJournal, after: int, until: int) -> list[Entry]:
    entries = journal.entries(after, until)
    if after + len(entries) != until:
        raise StoreCorrupt(
            f"the journal of {journal.root!r} ends at {after + len(entries)}, not at {until}; {rows.RESTORE}"
        )
    return entries


def _skip_to_migration(journal: StoredJournal, base: Base) -> Base:
    """Return the state that the last migration after a base led to, or the base if there is none."""
    for i, entry in reversed(list(enumerate(base.entries))):
        event = entry.event
        if event.get("type") == MIGRATED:
            # Entries of schema 7 and before do not have the open timers and tasks.
            work = open_work_from_json(journal.root, event["open"]) if "open" in event else OpenWork(entry.at)
            return Base(event["snapshot"], entry.seq, base.entries[i + 1 :], event["to"], work)
    return base


def _version_at(journal: StoredJournal, seq: int) -> Any:
    """Return the version that a tree had at a step: that before the next migration, or of the next snapshot."""
    following = journal.version_after(seq)
    until = journal.last if following is None else following[0]
    for entry in journal.entries(seq, until):
        if entry.event.get("type") == MIGRATED:
            return entry.event["from"]
    return journal.origin.version if following is None else rows.decode(following[1], f"a version of {journal.root!r}")


def _require_first_snapshot(journal: StoredJournal, has_snapshots: bool) -> None:
    """Raise `StoreCorrupt` if a journal cannot be replayed without the snapshot that it begins with."""
    state = "damaged" if has_snapshots else "missing"
    origin = journal.origin
    if journal.first > 1:
        raise StoreCorrupt(
            f"the snapshot that the compacted journal of {journal.root!r} begins with is {state}; restore a backup"
        )
    if origin.forked_from is not None:
        first = journal.entries(0, 1)
        if has_snapshots or any(entry.event.get("type") == FORKED for entry in first):
            raise StoreCorrupt(
                f"the snapshot of {journal.root!r} is {state}; restore a backup, or fork it again from step "
                f"{origin.forked_seq} of {origin.forked_from!r}"
            )


def _text(stored: str | bytes) -> str:
    return stored if isinstance(stored, str) else stored.decode()
