"""Pictures of what changed between two charts: the new one, with what is gone where it was."""

from antiphon.chart.compare.matching import match_states
from antiphon.chart.draw.boxes import ADDED, REMOVED, Row, chart_boxes
from antiphon.chart.draw.ladder import box_svg
from antiphon.chart.machine import Machine
from antiphon.chart.nodes import Node


def to_difference_svg(old: Machine, new: Machine) -> str:
    """Draw a new chart as a ladder: additions in green, what is gone in red and struck out."""
    pairs = match_states(old.root, new.root)
    sources = {node: source for source, node in pairs.items()}
    former = {box.node: box for box in chart_boxes(old.root).walk()}
    root = chart_boxes(new.root)
    for box in list(root.walk()):
        source = sources.get(box.node)
        if source is None:
            box.mark = ADDED
        else:
            box.rows = _merge_rows(former[source].rows, box.rows, pairs)
            box.children += [former[node] for node in source.states.values() if node not in pairs]
    for node, box in former.items():
        if node not in pairs:
            box.mark = REMOVED
            box.rows = [_removed(row) for row in box.rows]
            box.children = [child for child in box.children if child.node not in pairs]
    return box_svg(root, f"{new.id}: changes")


def _merge_rows(old: list[Row], new: list[Row], pairs: dict[Node, Node]) -> list[Row]:
    """Return the rows of a state: those of today, and those that are gone."""
    before = [Row(row.text, tuple(pairs.get(node, node) for node in row.targets)) for row in old]
    current = [row if row in before else row._replace(mark=ADDED) for row in new]
    former = [_removed(row) for row in before if row not in new]
    return [*current, *former]


def _removed(row: Row) -> Row:
    return Row(f"{row.text} {row.destination}".rstrip(), (), REMOVED)
