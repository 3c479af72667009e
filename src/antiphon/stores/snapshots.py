"""Stored snapshots, and what to replay from when one cannot be read."""

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from antiphon.runtime.errors import StoreCorrupt
from antiphon.runtime.records import Entry, Origin
from antiphon.runtime.time_travel import FORKED
from antiphon.runtime.tree import MIGRATED


def find_base(
    root: str, origin: Origin, stored: bytes | None, seq: int, entries_after: Callable[[int], list[Entry]]
) -> tuple[Any, int, list[Entry]]:
    """Return a snapshot, its sequence number, and the entries after it.

    A snapshot only saves time: if it is damaged or missing, replaying the whole journal gives the same state. The
    entry of a migration has the snapshot it led to. Only a fork begins with a snapshot that its journal cannot replace.
    """
    if stored is not None:
        with suppress(ValueError):
            return json.loads(stored.decode()), seq, entries_after(seq)
    entries = entries_after(0)
    for entry in reversed(entries):
        if entry.event.get("type") == MIGRATED:
            return entry.event["snapshot"], entry.seq, [later for later in entries if later.seq > entry.seq]
    is_needed = stored is not None or any(entry.event.get("type") == FORKED for entry in entries[:1])
    if origin.forked_from is not None and is_needed:
        state = "missing" if stored is None else "damaged"
        raise StoreCorrupt(
            f"the snapshot of {root!r} is {state}; restore a backup, or fork it again from step {origin.forked_seq} "
            f"of {origin.forked_from!r}"
        )
    return None, 0, entries
