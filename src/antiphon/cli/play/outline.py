"""The states of a chart as an indented outline of limited height."""

from collections.abc import Iterator, Set
from dataclasses import dataclass

from antiphon.chart.nodes import FINAL, PARALLEL, Node


@dataclass(frozen=True, slots=True)
class OutlineLine:
    """A state with its depth, activity, and number of hidden children."""

    node: Node
    depth: int
    is_active: bool
    folded: int = 0

    @property
    def kind(self) -> str:
        """The special type of the state, if any."""
        if self.node.type == FINAL:
            return "final"
        if self.node.is_history:
            return "history"
        return "parallel" if self.node.type == PARALLEL else ""


def outline(root: Node, active: Set[Node], height: int) -> list[OutlineLine]:
    """Return an outline of at most `height` lines.

    It is complete if that fits, else inactive states are folded, else it is cut around the active state.
    """
    complete = list(_lines(root, active, 0, fold=False))
    if len(complete) <= height:
        return complete
    folded = list(_lines(root, active, 0, fold=True))
    if len(folded) <= height:
        return folded
    middle = next((at for at, line in enumerate(folded) if line.is_active and not line.node.states), 0)
    start = min(max(0, middle - height // 2), len(folded) - height)
    return folded[start : start + height]


def _lines(node: Node, active: Set[Node], depth: int, fold: bool) -> Iterator[OutlineLine]:
    is_active = node in active
    is_folded = fold and not is_active and bool(node.states)
    yield OutlineLine(node, depth, is_active, len(node.states) if is_folded else 0)
    if not is_folded:
        for child in node.states.values():
            yield from _lines(child, active, depth + 1, fold)
