"""Figures as Markdown tables, and progress beside them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from statistics import median

ABSENT = "–"


def print_table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A title and an aligned table: the first column to the left, figures to the right."""
    widths = [max(len(line[column]) for line in [head, *rows]) for column in range(len(head))]
    print(f"\n{title}\n")
    print_row(head, widths)
    print("|" + "|".join("-" * (width + 1) + (":" if column else "-") for column, width in enumerate(widths)) + "|")
    for row in rows:
        print_row(row, widths)


def print_row(cells: Sequence[str], widths: Sequence[int]) -> None:
    """One line of a table."""
    first, *others = zip(cells, widths, strict=True)
    padded = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]
    print("| " + " | ".join(padded) + " |")


def thousands(value: float | None) -> str:
    """A speed in thousands, with about three digits."""
    if value is None:
        return ABSENT
    return f"{value / 1000:.{0 if value >= 100_000 else 1}f}"


def spread(values: Sequence[float]) -> str:
    """The median and, where there are several, the lowest and highest."""
    if not values:
        return ABSENT
    middle = ratio(median(values))
    return middle if len(values) == 1 else f"{middle} ({ratio(min(values))}–{ratio(max(values))})"


def ratio(value: float) -> str:
    """A ratio with about three digits."""
    return f"{value:.{0 if value >= 100 else 1 if value >= 10 else 2}f}"


def report(text: str) -> None:
    """Progress on stderr: one line that overwrites itself on a terminal, lines elsewhere."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
    elif text:
        print(text.rstrip("\n"), file=sys.stderr, flush=True)
