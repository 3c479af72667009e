"""Snapshots as they are stored, and what to go on from when one cannot be read."""

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from antiphon.runtime.errors import StoreCorrupt
from antiphon.runtime.past import FORKED
from antiphon.runtime.records import Birth, Entry
from antiphon.runtime.tree import MIGRATED


def base(
    root: str, birth: Birth, stored: bytes | None, seq: int, entries_after: Callable[[int], list[Entry]]
) -> tuple[Any, int, list[Entry]]:
    """A snapshot, the sequence it was taken at, and the journal after it.

    A snapshot only saves time: where it is damaged or gone, the journal from its beginning tells the same. A
    migration's entry carries the snapshot it led to. Only a fork begins with a snapshot that its journal cannot give.
    """
    if stored is not None:
        with suppress(ValueError):
            return json.loads(stored.decode()), seq, entries_after(seq)
    entries = entries_after(0)
    for entry in reversed(entries):
        if entry.event.get("type") == MIGRATED:
            return entry.event["snapshot"], entry.seq, [later for later in entries if later.seq > entry.seq]
    is_needed = stored is not None or any(entry.event.get("type") == FORKED for entry in entries[:1])
    if birth.forked_from is not None and is_needed:
        state = "gone" if stored is None else "damaged"
        raise StoreCorrupt(
            f"the snapshot of {root!r} is {state}; restore a backup, or fork it again from step {birth.forked_seq} "
            f"of {birth.forked_from!r}"
        )
    return None, 0, entries
