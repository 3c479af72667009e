"""Graphs of documents: a tree with one row for each node, as text and as SVG.

A row stands below its parent. Of several children the last one stays in the column of its parent, and the others come
before it, each one column to the right with all that follows it. So no lines cross, and in every column to the left of
a row there is a line.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal

NodeKind = Literal["node", "current", "left", "gap"]
MARKS: dict[NodeKind, str] = {"node": "●", "current": "◉", "left": "○", "gap": "⋮"}
COLUMN = 18
ROW = 24
RADIUS = 5


@dataclass(frozen=True, slots=True)
class GraphRow:
    """A node, with the number of the row of its parent and of the one that was merged into it."""

    text: str
    parent: int | None
    column: int
    kind: NodeKind = "node"
    joins: int | None = None


@dataclass(frozen=True, slots=True)
class GraphBlock:
    """A tree, drawn; `title` describes it."""

    title: str
    rows: Sequence[GraphRow]


def graph_lines(rows: Sequence[GraphRow]) -> list[str]:
    """Draw a graph as lines of text."""
    return [f"{_tracks(rows, row)}{MARKS[row.kind]} {row.text}".rstrip() for row in rows]


def _tracks(rows: Sequence[GraphRow], row: GraphRow) -> str:
    """Return what stands to the left of a row: the lines of other columns, and its own way from its parent."""
    if row.column == 0:
        return ""
    begins = row.parent is not None and rows[row.parent].column < row.column
    return "│ " * (row.column - 1) + ("├─" if begins else "│ ")


def graph_svg(graph: GraphBlock) -> str:
    """Draw a graph as an SVG element, in the colours of the page around it."""
    rows = graph.rows
    widest = max((_x(row.column) + COLUMN + 8 * len(row.text) for row in rows), default=COLUMN)
    height = ROW * len(rows) + ROW // 2
    parts = [
        f'<svg class="graph" role="img" width="{widest}" height="{height}" viewBox="0 0 {widest} {height}">'
        f"<title>{escape(graph.title)}</title>"
    ]
    for number, row in enumerate(rows):
        parts += _edges(rows, number, row)
    for number, row in enumerate(rows):
        parts += _node(number, row)
    return "".join((*parts, "</svg>\n"))


def _edges(rows: Sequence[GraphRow], number: int, row: GraphRow) -> Iterator[str]:
    if row.parent is not None:
        start = rows[row.parent]
        yield f'<path d="M{_x(start.column)} {_y(row.parent)}V{_y(number)}H{_x(row.column)}"/>'
    if row.joins is not None:
        source = rows[row.joins]
        yield f'<path class="joins" d="M{_x(source.column)} {_y(row.joins)}L{_x(row.column)} {_y(number)}"/>'


def _node(number: int, row: GraphRow) -> Iterator[str]:
    if row.kind != "gap":
        yield f'<circle class="{row.kind}" cx="{_x(row.column)}" cy="{_y(number)}" r="{RADIUS}"/>'
    text = f"{MARKS['gap']} {row.text}" if row.kind == "gap" else row.text
    yield f'<text class="{row.kind}" x="{_x(row.column) + COLUMN}" y="{_y(number) + 5}">{escape(text)}</text>'


def _x(column: int) -> int:
    return COLUMN * column + COLUMN // 2


def _y(number: int) -> int:
    return ROW * number + ROW // 2
