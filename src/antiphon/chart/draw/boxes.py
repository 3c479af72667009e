"""States as boxes: the title, the rows and the inner states that every picture of a chart shows."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from antiphon.chart.explore.labels import (
    action_labels,
    condition_label,
    event_label,
    invoke_label,
    written_transitions,
)
from antiphon.chart.nodes import FINAL, PARALLEL, Node

INITIAL_MARK = "●"
FINAL_MARK = "◎"
PARALLEL_MARK = "∥"
HISTORY_MARKS = {"shallow": "(H)", "deep": "(H*)"}
HIDDEN_MARK = "…"
ADDED = "added"
REMOVED = "removed"


class Row(NamedTuple):
    """A line about a state, and the states that it leads to; `mark` is set in pictures of changes."""

    text: str
    targets: tuple[Node, ...] = ()
    mark: str = ""

    @property
    def destination(self) -> str:
        """The states that the row leads to, in words."""
        return f"→ {', '.join(node.key for node in self.targets)}" if self.targets else ""


@dataclass(slots=True)
class Box:
    """A state with its rows and the boxes inside; `hidden` is the number of inner states that are not shown."""

    node: Node
    title: str
    rows: list[Row]
    children: list["Box"] = field(default_factory=list)
    hidden: int = 0
    mark: str = ""  # in pictures of changes

    @property
    def has_regions(self) -> bool:
        """True for a parallel state whose regions are shown."""
        return self.node.type == PARALLEL and len(self.children) > 1

    def walk(self) -> Iterator["Box"]:
        """Yield this box and all inside, in document order."""
        yield self
        for child in self.children:
            yield from child.walk()


def chart_boxes(node: Node, depth: int | None = None) -> Box:
    """Return the box of a state with those inside, down to a depth; a depth of 0 is the state alone."""
    children = list(node.states.values())
    is_cut = depth is not None and depth <= 0
    below = None if depth is None else depth - 1
    box = Box(node, state_title(node), list(_rows(node)))
    if is_cut and children:
        box.hidden = len(children)
        box.title = f"{box.title} {HIDDEN_MARK}"
    elif not is_cut:
        box.children = [chart_boxes(child, below) for child in children]
    return box


def state_title(node: Node) -> str:
    """Return the key of a state, with marks for the initial state and for special types."""
    marks = [INITIAL_MARK] if any(node in (around.initial, *around.initials) for around in node.ancestors()) else []
    if node.type == FINAL:
        marks.append(FINAL_MARK)
    elif node.type == PARALLEL:
        marks.append(PARALLEL_MARK)
    elif node.is_history:
        marks.append(HISTORY_MARKS[node.history or "shallow"])
    return " ".join([*marks, node.key])


def _rows(node: Node) -> Iterator[Row]:
    for key in ("entry", "exit"):
        if actions := action_labels(node.config.get(key)):
            yield Row(f"{key} / {', '.join(actions)}")
    for invoke in node.invokes:
        yield Row(f"invoke {invoke_label(invoke, node)}")
    if node.is_history and node.config.get("target"):
        yield Row("default", node.history_default)
    yield from _transition_rows(node)


def _transition_rows(node: Node) -> Iterator[Row]:
    """Yield the transitions of a state: events with the same candidates in one row, those that stay first."""
    by_event: dict[str, list[Row]] = {}
    for transition in written_transitions(node):
        event = event_label(transition.event_type, node)
        is_ignored = transition.is_forbidden and not transition.config.get("guard")
        text = " is ignored" if is_ignored else condition_label(transition)
        by_event.setdefault(event, []).append(Row(text, tuple(transition.targets or ())))
    groups: dict[tuple[Row, ...], list[str]] = {}
    for event, candidates in by_event.items():
        groups.setdefault(tuple(candidates), []).append(event)
    for rows, events in sorted(groups.items(), key=lambda group: any(row.targets for row in group[0])):
        for row in rows:
            yield Row(", ".join(events) + row.text, row.targets)
