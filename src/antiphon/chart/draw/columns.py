"""Columns for vertical lines, so that no two lines in a column overlap."""

from collections.abc import Mapping
from typing import TypeVar

K = TypeVar("K")
SPACE = 4.0  # between two lines of a column


def assign_columns(spans: Mapping[K, tuple[float, float]]) -> dict[K, int]:
    """Return a column for each span of heights, short spans in the first columns."""
    used: list[list[tuple[float, float]]] = []
    columns: dict[K, int] = {}
    for key, (top, bottom) in sorted(spans.items(), key=lambda item: item[1][1] - item[1][0]):
        column = next(
            (index for index, spans_there in enumerate(used) if _is_free(spans_there, top, bottom)), len(used)
        )
        if column == len(used):
            used.append([])
        used[column].append((top, bottom))
        columns[key] = column
    return columns


def _is_free(spans: list[tuple[float, float]], top: float, bottom: float) -> bool:
    return all(bottom < other_top - SPACE or top > other_bottom + SPACE for other_top, other_bottom in spans)
