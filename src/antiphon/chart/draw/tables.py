"""Charts as tables in Markdown, and as indented text."""

from collections.abc import Collection, Iterator

from antiphon.chart.draw.boxes import Box, chart_boxes
from antiphon.chart.draw.wrapping import wrap
from antiphon.chart.explore.labels import action_labels, event_label, guard_label, written_transitions
from antiphon.chart.machine import Machine
from antiphon.chart.nodes import Node

HEADER = ("state", "event", "guard", "target", "actions")
ACTIVE_MARK = "▶"
INDENT = "  "


def to_table(machine: Machine, *, inside: Node | None = None) -> str:
    """Write the transitions of a machine, or of one of its states, as a Markdown table."""
    root = machine.root if inside is None else inside
    rows = [HEADER, ("---",) * len(HEADER)]
    rows += [tuple(map(_escape, cells)) for node in root.walk() for cells in _rows(node)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows) + "\n"


def _rows(node: Node) -> Iterator[tuple[str, ...]]:
    place = ".".join(node.path) or node.key
    transitions = list(written_transitions(node))
    for key in ("entry", "exit"):
        if actions := action_labels(node.config.get(key)):
            yield place, f"({key})", "", "", ", ".join(actions)
    for transition in transitions:
        guard = transition.config.get("guard")
        yield (
            place,
            event_label(transition.event_type, node),
            "" if guard is None else guard_label(guard),
            ", ".join(".".join(target.path) or target.key for target in transition.targets or ()),
            ", ".join(action_labels(transition.config.get("actions"))),
        )
    if not transitions and not node.states:
        yield place, "", "", "", ""


def _escape(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def to_text(
    machine: Machine,
    *,
    active: Collection[Node] = (),
    inside: Node | None = None,
    depth: int | None = None,
    width: int = 100,
) -> str:
    """Write a machine, or one of its states, as an indented outline; states in `active` are marked."""
    root = chart_boxes(machine.root if inside is None else inside, depth)
    return "\n".join(_outline(root, frozenset(active), "", width)) + "\n"


def _outline(box: Box, active: frozenset[Node], indent: str, width: int) -> Iterator[str]:
    mark = f"{ACTIVE_MARK} " if box.node in active else ""
    yield f"{indent}{mark}{box.title}"
    room = max(20, width - len(indent) - len(INDENT) * 2)
    for row in box.rows:
        for line in wrap(f"{row.text} {row.destination}".rstrip(), room):
            yield f"{indent}{INDENT * 2}{line}"
    for child in box.children:
        yield from _outline(child, active, indent + INDENT, width)
