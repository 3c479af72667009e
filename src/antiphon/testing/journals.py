"""Steps of a journal, taken again in a test: the inspector copies them as one."""

from collections.abc import Mapping, Sequence
from typing import Any

from antiphon.runtime.machines import AnyMachine, chart_hash
from antiphon.runtime.records import Entry, Origin, Saved
from antiphon.runtime.tree import Tree

ROOT = "test"


def replay_steps(
    machine: AnyMachine,
    steps: Sequence[tuple[int, str, Mapping[str, Any]]],
    *,
    input: Any = None,
    history: str = ROOT,
    snapshot: Mapping[str, Any] | None = None,
    after: int = 0,
) -> dict[str, Any]:
    """Take the steps of a journal again and return the snapshot of the tree after them, as JSON.

    A step is its time in milliseconds, the address of the actor that took the event, and the event; the first one is
    `xstate.init`, unless they begin with a snapshot, which is that after the step `after`. Ids that machines made are
    the same again with the same `history`. Tasks do not run, because their results are among the steps.
    """
    origin = Origin(history, machine.id, machine.version, chart_hash(machine), input)
    tree = Tree(ROOT, machine, origin, 0)
    entries = tuple(
        Entry(ROOT, number, at, to, dict(event)) for number, (at, to, event) in enumerate(steps, start=after + 1)
    )
    if snapshot is None:
        tree.replay_all(entries, accept=True)
    else:
        tree.restore(Saved(ROOT, origin, "", after + len(entries), snapshot, after, entries), accept=True)
    view: dict[str, Any] = tree.view(copy=True)
    return view
