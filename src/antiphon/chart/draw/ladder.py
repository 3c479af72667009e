"""Charts as SVG pictures: states below one another, and lines between them at their right side.

A row that leads to a state names it, and starts a line in the colour of that state; the lines run in a column right of
the boxes, so that nothing overlaps and a small change of the chart moves little in the picture. The regions of a
parallel state stand side by side, each with a column of its own. A line stays within its column: a row that leads from
a region to a state elsewhere has the colour and the name of that state, and no line.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from antiphon.chart.draw.boxes import Box, Row, chart_boxes
from antiphon.chart.draw.columns import assign_columns
from antiphon.chart.draw.svg_page import CHARACTER, COLOURS, LINE, PADDING, TITLE_CHARACTER, svg_page
from antiphon.chart.draw.wrapping import cells, wrap
from antiphon.chart.draw.xml_text import escape
from antiphon.chart.machine import Machine
from antiphon.chart.nodes import FINAL, PARALLEL, Node

LONGEST_LINE = 68  # characters of a row before it is wrapped
GAP = 16.0
LANE = 9.0
NARROWEST = 70.0
UNBROKEN_SPACE = "\u00a0"


def to_svg(
    machine: Machine,
    *,
    active: Collection[Node] = (),
    inside: Node | None = None,
    depth: int | None = None,
    title: str | None = None,
) -> str:
    """Draw a machine, or one of its states, as an SVG picture; states in `active` are highlighted."""
    root = machine.root if inside is None else inside
    return box_svg(chart_boxes(root, depth), title or machine.id, active)


def box_svg(box: Box, title: str, active: Collection[Node] = ()) -> str:
    """Draw boxes as an SVG picture."""
    return _Picture(box, frozenset(active)).svg(title)


@dataclass(slots=True)
class _Shape:
    """A box with its place; `area` is the box of the region, or of the picture, whose column its lines run in."""

    box: Box
    rows: list[list[str]]
    children: list["_Shape"] = field(default_factory=list)
    area: "_Shape | None" = None
    x: float = 0.0
    y: float = 0.0
    width: float = 0.0
    height: float = 0.0
    lanes: int = 0  # of its area, if it is one

    def walk(self) -> Iterator["_Shape"]:
        yield self
        for child in self.children:
            yield from child.walk()

    @property
    def header(self) -> float:
        """Height of the title and the rows."""
        lines = sum(len(lines) for lines in self.rows)
        return LINE + 8 + lines * LINE + PADDING

    @property
    def column(self) -> float:
        """Width of the lines at the right side of an area."""
        return GAP + LANE * self.lanes if self.lanes else 0.0

    def row_y(self, number: int) -> float:
        """Return the middle of the first line of a row."""
        return self.y + LINE + 8 + sum(len(lines) for lines in self.rows[:number]) * LINE + LINE / 2

    @property
    def arrival(self) -> float:
        """Height at which lines arrive."""
        return self.y + LINE / 2 + 2


class _Picture:
    """Sizes and places of all boxes: first heights, then lines, whose number decides about widths."""

    def __init__(self, root: Box, active: frozenset[Node]) -> None:
        self._active = active
        self._root = _shape(root)
        self._shapes = {shape.box.node: shape for shape in self._root.walk()}
        self._set_areas(self._root, self._root)
        self._set_heights(self._root)
        self._set_tops(self._root, GAP)
        targets = [target for shape in self._root.walk() for row in shape.box.rows for target in row.targets]
        self._colours = {target: index % COLOURS for index, target in enumerate(dict.fromkeys(targets))}
        self._lanes = self._assign_lanes()
        self._set_widths(self._root)
        self._set_lefts(self._root, GAP)

    def _set_areas(self, shape: _Shape, area: _Shape) -> None:
        shape.area = area
        for child in shape.children:
            self._set_areas(child, child if shape.box.has_regions else area)

    def _set_heights(self, shape: _Shape) -> None:
        for child in shape.children:
            self._set_heights(child)
        heights = [child.height for child in shape.children]
        if shape.box.has_regions:
            inner = max(heights) + GAP
            for child in shape.children:
                child.height = max(heights)
        else:
            inner = sum(heights) + GAP * len(heights)
        shape.height = shape.header + inner

    def _set_tops(self, shape: _Shape, top: float) -> None:
        shape.y = top
        below = top + shape.header
        for child in shape.children:
            self._set_tops(child, below)
            if not shape.box.has_regions:
                below += child.height + GAP

    def _connections(self) -> Iterator[tuple[_Shape, int, _Shape]]:
        """Yield the lines: shape and row that they start at, and the shape that they lead to."""
        for shape in self._root.walk():
            for number, row in enumerate(shape.box.rows):
                for target in row.targets:
                    end = self._shapes.get(target)
                    if end is not None and end.area is shape.area:
                        yield shape, number, end

    def _assign_lanes(self) -> dict[Node, int]:
        """Return the lane of each target in its area, and note how many lanes each area has."""
        spans: dict[Node, tuple[float, float]] = {}
        for shape, number, end in self._connections():
            top, bottom = spans.get(end.box.node, (end.arrival, end.arrival))
            start = shape.row_y(number)
            spans[end.box.node] = (min(top, start), max(bottom, start))
        lanes: dict[Node, int] = {}
        for area in self._areas():
            within = {node: span for node, span in spans.items() if self._shapes[node].area is area}
            columns = assign_columns(within)
            area.lanes = max(columns.values(), default=-1) + 1
            lanes.update(columns)
        return lanes

    def _areas(self) -> list[_Shape]:
        return [shape for shape in self._root.walk() if shape.area is shape]

    def _set_widths(self, shape: _Shape) -> None:
        for child in shape.children:
            self._set_widths(child)
        own = [cells(shape.box.title) * TITLE_CHARACTER, *(_width(lines) for lines in shape.rows)]
        if shape.box.has_regions:
            inner = sum(child.width + child.column + GAP for child in shape.children) + GAP
        else:
            inner = max((child.width for child in shape.children), default=0.0) + 2 * GAP
        shape.width = max(NARROWEST, max(own) + 2 * PADDING, inner if shape.children else 0.0)

    def _set_lefts(self, shape: _Shape, left: float) -> None:
        shape.x = left
        if shape.box.has_regions:
            used = sum(child.width + child.column + GAP for child in shape.children) + GAP
            shape.children[-1].width += shape.width - used
        x = left + GAP
        for child in shape.children:
            if shape.box.has_regions:
                self._set_lefts(child, x)
                x += child.width + child.column + GAP
            else:
                child.width = shape.width - 2 * GAP
                self._set_lefts(child, left + GAP)

    def svg(self, title: str) -> str:
        """Return the picture as a document."""
        width = self._root.x + self._root.width + self._root.column + GAP
        height = self._root.y + self._root.height + GAP
        parts: list[str] = []
        for shape in self._root.walk():
            parts.extend(self._draw_box(shape))
        for shape, number, end in self._connections():
            parts.extend(self._draw_line(shape, number, end))
        return svg_page(title, width, height, parts)

    def _draw_box(self, shape: _Shape) -> Iterator[str]:
        box = shape.box
        parent = box.node.parent
        names = ["outer" if shape.children else "box"]
        names += ["region"] if parent is not None and parent.type == PARALLEL else []
        if box.node in self._active:
            names.append("around" if shape.children else "active")
        names += [box.mark] if box.mark else []
        radius = 5 if shape.children else 9
        about = f"<title>{escape(box.node.description)}</title>" if box.node.description else ""
        yield f'<rect class="{" ".join(names)}" {_place(shape)} rx="{radius}">{about}</rect>'
        if box.node.type == FINAL:
            yield f'<rect class="final" {_place(shape, 3)} rx="7"/>'
        yield f'<text class="title" x="{shape.x + PADDING:.1f}" y="{shape.y + LINE:.1f}">{escape(box.title)}</text>'
        for number, row in enumerate(box.rows):
            yield from self._draw_row(shape, number, row)

    def _draw_row(self, shape: _Shape, number: int, row: Row) -> Iterator[str]:
        lines = shape.rows[number]
        y = shape.row_y(number) + 3.5
        name = f"row {row.mark or ('' if row.targets else 'stays')}".rstrip()
        for line in lines[: len(lines) - 1 if row.targets else len(lines)]:
            yield f"{_text(name, shape, y)}{escape(line)}</text>"
            y += LINE
        if row.targets:
            text = lines[-1].removesuffix(_destination(row))
            yield (
                f"{_text(name, shape, y)}{escape(text)}"
                f'<tspan class="to f{self._colours[row.targets[0]]}">{escape(_destination(row))}</tspan></text>'
            )

    def _draw_line(self, shape: _Shape, number: int, end: _Shape) -> Iterator[str]:
        assert shape.area is not None
        colour = self._colours[end.box.node]
        area = shape.area
        lane = area.x + area.width + GAP / 2 + LANE * self._lanes[end.box.node]
        start_x = shape.x + shape.width
        start_y = shape.row_y(number)
        end_x = end.x + end.width
        yield f'<circle class="f{colour}" cx="{start_x:.1f}" cy="{start_y:.1f}" r="3"/>'
        path = f"M{start_x:.1f} {start_y:.1f}H{lane:.1f}V{end.arrival:.1f}H{end_x + 7:.1f}"
        yield f'<path class="line c{colour}" d="{path}"/>'
        yield f'<path class="f{colour}" d="M{end_x:.1f} {end.arrival:.1f}l8 -4v8z"/>'


def _text(name: str, shape: _Shape, y: float) -> str:
    return f'<text class="{name}" x="{shape.x + PADDING:.1f}" y="{y:.1f}" xml:space="preserve">'


def _shape(box: Box) -> _Shape:
    rows = [wrap(f"{row.text} {_destination(row)}".rstrip(" "), LONGEST_LINE) for row in box.rows]
    return _Shape(box, rows, [_shape(child) for child in box.children])


def _destination(row: Row) -> str:
    """Return the names of the targets as one word, which is not wrapped."""
    return row.destination.replace(" ", UNBROKEN_SPACE)


def _width(lines: list[str]) -> float:
    return max(map(cells, lines)) * CHARACTER


def _place(shape: _Shape, inset: float = 0.0) -> str:
    return (
        f'x="{shape.x + inset:.1f}" y="{shape.y + inset:.1f}" '
        f'width="{shape.width - 2 * inset:.1f}" height="{shape.height - 2 * inset:.1f}"'
    )
