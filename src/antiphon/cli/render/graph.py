"""Graphs as lines of a terminal."""

import shutil
from collections.abc import Sequence

from antiphon.cli.render.text_width import clip, sanitize_line
from antiphon.threads.export.graph import GraphRow, graph_lines


def draw_graph(rows: Sequence[GraphRow]) -> list[str]:
    """Return the lines of a graph, clipped to the width of the terminal."""
    cells = shutil.get_terminal_size().columns
    return [clip(sanitize_line(line), cells) for line in graph_lines(rows)]
