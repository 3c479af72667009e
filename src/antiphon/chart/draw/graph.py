"""Charts as graphs: the request to a layout engine that speaks ELK's JSON, and its answer as an SVG picture.

Arrows are labelled with events and guards; actions of transitions would triple the width, and are in the ladder.
"""

from collections.abc import Collection, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

from antiphon.chart.draw.boxes import Box, chart_boxes
from antiphon.chart.draw.svg_page import CHARACTER, COLOURS, LINE, PADDING, TITLE_CHARACTER, svg_page
from antiphon.chart.draw.wrapping import cells, wrap
from antiphon.chart.draw.xml_text import escape
from antiphon.chart.explore.labels import event_label, guard_label, written_transitions
from antiphon.chart.machine import Machine
from antiphon.chart.nodes import FINAL, PARALLEL, Node

LONGEST_ROW = 44  # characters of a row in a box before it is wrapped
LONGEST_LABEL = 30
HEADER = LINE + 8
OPTIONS = {
    "elk.algorithm": "layered",
    "elk.direction": "DOWN",
    "elk.hierarchyHandling": "INCLUDE_CHILDREN",
    "elk.edgeRouting": "ORTHOGONAL",
    "elk.layered.cycleBreaking.strategy": "DEPTH_FIRST",
    "elk.layered.nodePlacement.strategy": "NETWORK_SIMPLEX",
    "elk.edgeLabels.inline": "true",
    "elk.spacing.nodeNode": "28",
    "elk.layered.spacing.nodeNodeBetweenLayers": "34",
    "elk.spacing.edgeNode": "16",
    "elk.spacing.edgeEdge": "12",
    "elk.json.edgeCoords": "ROOT",
    "elk.json.shapeCoords": "ROOT",
}


class Arrow(NamedTuple):
    """An arrow between two states, with all labels that lead the same way."""

    source: Node
    target: Node
    lines: list[str]


class GraphPicture:
    """A picture of a machine, or of one of its states, that a layout engine arranges."""

    def __init__(
        self,
        machine: Machine,
        *,
        active: Collection[Node] = (),
        inside: Node | None = None,
        depth: int | None = None,
    ) -> None:
        self._title = machine.id
        self._active = frozenset(active)
        self._root = chart_boxes(machine.root if inside is None else inside, depth)
        self._names = {box.node: f"n{number}" for number, box in enumerate(self._root.walk())}
        self._rows = {box.node: self._lines(box) for box in self._root.walk()}
        self._arrows = list(_arrows(self._root, self._names))

    def _lines(self, box: Box) -> list[str]:
        """Return the rows of a box that no arrow shows."""
        rows = [row for row in box.rows if not any(target in self._names for target in row.targets)]
        return [line for row in rows for line in wrap(f"{row.text} {row.destination}".rstrip(), LONGEST_ROW)]

    def request(self) -> dict[str, Any]:
        """Return the graph to arrange, in ELK's JSON."""
        return {
            "id": "page",
            "layoutOptions": OPTIONS,
            "children": [self._shape(self._root)],
            "edges": [self._edge(number, arrow) for number, arrow in enumerate(self._arrows)],
        }

    def _shape(self, box: Box) -> dict[str, Any]:
        lines = self._rows[box.node]
        widths = [cells(box.title) * TITLE_CHARACTER, *(cells(line) * CHARACTER for line in lines)]
        width = max(*widths, 50.0) + 2 * PADDING if lines else max(widths[0], 50.0) + 2 * PADDING
        height = HEADER + len(lines) * LINE + PADDING
        name = self._names[box.node]
        if not box.children:
            return {"id": name, "width": width, "height": height}
        options = {
            **OPTIONS,
            "elk.padding": f"[top={height + 8},left=18,bottom=18,right=18]",
            "elk.nodeSize.constraints": "MINIMUM_SIZE",
            "elk.nodeSize.minimum": f"({width},{height})",
        }
        return {"id": name, "layoutOptions": options, "children": [self._shape(child) for child in box.children]}

    def _edge(self, number: int, arrow: Arrow) -> dict[str, Any]:
        width = max(map(cells, arrow.lines)) * CHARACTER + 8
        label = {"text": arrow.lines[0], "width": width, "height": len(arrow.lines) * LINE}
        ends = {"sources": [self._names[arrow.source]], "targets": [self._names[arrow.target]]}
        return {"id": f"e{number}", **ends, "labels": [label]}

    def svg(self, arranged: dict[str, Any]) -> str:
        """Return the picture of the graph that a layout engine has arranged."""
        shapes = {part["id"]: part for part in _walk(arranged)}
        edges = {edge["id"]: edge for part in shapes.values() for edge in part.get("edges", ())}
        parts: list[str] = []
        for box in self._root.walk():
            parts += self._draw_box(box, shapes[self._names[box.node]])
        colours = {arrow.target: 0 for arrow in self._arrows}
        colours = {target: index % COLOURS for index, target in enumerate(colours)}
        drawn = [(edges[f"e{number}"], arrow) for number, arrow in enumerate(self._arrows)]
        for edge, arrow in drawn:
            parts += _draw_line(edge, colours[arrow.target])
        for edge, arrow in drawn:
            parts += _draw_label(edge, arrow)
        return svg_page(self._title, arranged["width"], arranged["height"], parts)

    def _draw_box(self, box: Box, shape: dict[str, Any]) -> Iterator[str]:
        parent = box.node.parent
        names = ["outer" if box.children else "box"]
        names += ["region"] if parent is not None and parent.type == PARALLEL else []
        if box.node in self._active:
            names.append("around" if box.children else "active")
        yield f'<rect class="{" ".join(names)}" {_place(shape)} rx="{5 if box.children else 9}"/>'
        if box.node.type == FINAL:
            yield f'<rect class="final" {_place(shape, 3)} rx="7"/>'
        x = shape["x"] + PADDING
        yield f'<text class="title" x="{x:.1f}" y="{shape["y"] + LINE:.1f}">{escape(box.title)}</text>'
        for number, line in enumerate(self._rows[box.node]):
            y = shape["y"] + HEADER + number * LINE + LINE / 2 + 3.5
            yield f'<text class="row stays" x="{x:.1f}" y="{y:.1f}" xml:space="preserve">{escape(line)}</text>'


def _arrows(root: Box, names: dict[Node, str]) -> Iterator[Arrow]:
    by_ends: dict[tuple[Node, Node], dict[str, None]] = {}
    for box in root.walk():
        for transition in written_transitions(box.node):
            guard = transition.config.get("guard")
            label = event_label(transition.event_type, box.node) + ("" if guard is None else f" [{guard_label(guard)}]")
            for target in transition.targets or ():
                if target in names:
                    by_ends.setdefault((box.node, target), {})[label] = None
        for target in box.node.history_default if box.node.config.get("target") else ():
            if target in names:
                by_ends.setdefault((box.node, target), {})["default"] = None
    for (source, target), labels in by_ends.items():
        yield Arrow(source, target, [line for label in labels for line in wrap(label, LONGEST_LABEL)])


def _walk(part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield part
    for child in part.get("children", ()):
        yield from _walk(child)


def _draw_line(edge: dict[str, Any], colour: int) -> Iterator[str]:
    for section in edge.get("sections", ()):
        points = [section["startPoint"], *section.get("bendPoints", ()), section["endPoint"]]
        path = "L".join(f"{point['x']:.1f} {point['y']:.1f}" for point in points)
        yield f'<path class="line c{colour}" d="M{path}"/>'
        *_, (before, end) = pairwise(points)
        yield f'<path class="f{colour}" d="{_arrow_head(before, end)}"/>'


def _arrow_head(before: dict[str, float], end: dict[str, float]) -> str:
    """Return a triangle at the end of a line that runs along an axis."""
    dx = (end["x"] > before["x"]) - (end["x"] < before["x"])
    dy = (end["y"] > before["y"]) - (end["y"] < before["y"])
    back = f"l{-8 * dx - 4 * dy} {-8 * dy - 4 * dx}"
    return f"M{end['x']:.1f} {end['y']:.1f}{back}l{8 * dy} {8 * dx}z"


def _draw_label(edge: dict[str, Any], arrow: Arrow) -> Iterator[str]:
    for label in edge.get("labels", ()):
        yield f'<rect class="label" {_place(label)}/>'
        for number, line in enumerate(arrow.lines):
            y = label["y"] + LINE * (number + 0.7)
            yield f'<text class="row" x="{label["x"] + 4:.1f}" y="{y:.1f}" xml:space="preserve">{escape(line)}</text>'


def _place(shape: dict[str, Any], inset: float = 0.0) -> str:
    return (
        f'x="{shape["x"] + inset:.1f}" y="{shape["y"] + inset:.1f}" '
        f'width="{shape["width"] - 2 * inset:.1f}" height="{shape["height"] - 2 * inset:.1f}"'
    )
