"""Steps that report usage, read from the journals of trees that were changed since a time.

A journal is read on its own pages, and steps that report nothing are passed over by SQLite, so that a large store with
few recent trees is read quickly, also while another process owns it.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from antiphon.runtime.records import Entry
from antiphon.stores.access import open_reader
from antiphon.stores.queries import load_queries
from antiphon.stores.rows import decode_values, entry_from

PLACE_BITS = 32  # of the step, in the number of an entry


class TreeSteps(NamedTuple):
    """Tree of the index, the input that it was created with, and those of its steps that report usage."""

    root: str
    kind: str
    facts: Any
    summary: Any
    input: Any
    entries: list[Entry]


def read_usage(path: str | Path, since: int) -> Iterator[TreeSteps]:
    """Iterate over the trees that were changed since a time, with the steps since then that report usage."""
    sql = load_queries("sqlite", "maintenance")
    with open_reader(path) as connection:
        trees = connection.execute(sql["trees_since"], (since,)).fetchall()
        for n, root, kind, facts, summary, input, first in trees:
            place = (n << PLACE_BITS) + first
            steps = connection.execute(sql["usage_steps"], (place, (n + 1) << PLACE_BITS)).fetchall()
            entries = [entry_from(root, step) for step in steps]
            if entries:
                yield TreeSteps(root, kind, _decode(root, facts), _decode(root, summary), _decode(root, input), entries)


def _decode(root: str, text: str | None) -> Any:
    return None if text is None else decode_values(text, f"tree {root!r}")
