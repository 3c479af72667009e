"""The command `antiphon ps`: what runs, waits or was interrupted in a store, and the command that continues it."""

import argparse
import os
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from antiphon.cli.frame import CliCommand, print_lines, print_rows
from antiphon.cli.lookup import UNFINISHED, latest_with, next_command, settle, short_ids, status_text
from antiphon.cli.options import add_json, add_server, add_store, existing_store, positive_int
from antiphon.cli.records import print_json, with_library
from antiphon.cli.render.text_width import clip, sanitize_line, table_lines, width
from antiphon.cli.render.units import format_age
from antiphon.cli.windows.types import AnyLibrary
from antiphon.client import local, starting
from antiphon.threads.kinds import ThreadView

HEADINGS = ("ID", "KIND", "STATUS", "AGE", "WINDOWS", "TITLE", "NEXT")
MOST_TITLE = 40
FEWEST_TITLE = 12
EMPTY = "nothing runs or waits; list all with: antiphon threads"
EXAMPLES = """examples:
  antiphon ps               list what runs, waits or was interrupted, the most recently used first
  antiphon attach           watch the last that runs or waits; answer it, stop it, or leave it running
  antiphon resume           continue the last that is not finished
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--limit", type=positive_int, default=20, metavar="N", help="maximum number (default: 20)")
    add_json(parser)
    add_store(parser)
    add_server(parser)


@dataclass(frozen=True, slots=True)
class _Row:
    """A thread, with the number of terminals and pages that show it; None where nobody knows."""

    view: ThreadView
    short_id: str
    windows: int | None
    next: str | None

    def cells(self, now: int, most_title: int = MOST_TITLE) -> tuple[str, ...]:
        """Return the cells of a table."""
        view = self.view
        return (
            self.short_id,
            view.kind or "chat",
            status_text(view),
            format_age(now - view.updated),
            "-" if self.windows is None else str(self.windows),
            clip(sanitize_line(view.title), most_title),
            self.next.replace(view.id, self.short_id) if self.next else sanitize_line(view.problem or ""),
        )

    def to_json(self, now: int) -> dict[str, Any]:
        """Return the row as JSON."""
        view = self.view
        facts = {"id": view.id, "kind": view.kind or "chat", "status": view.status, "waiting": view.waiting}
        more = {"title": view.title, "model": view.model, "ageMs": max(0, now - view.updated)}
        return {**facts, **more, "windows": self.windows, "next": self.next, "problem": view.problem}


async def _list(library: AnyLibrary, options: argparse.Namespace) -> int:
    views = settle(await latest_with(library, UNFINISHED, options.limit), library)
    counts = await _windows(options) if views else None
    ids = await short_ids(library, (view.id for view in views))
    rows = [
        _Row(
            view,
            ids[view.id],
            None if counts is None else counts.get(view.id, 0),
            next_command(view, is_unowned=library.is_unowned),
        )
        for view in views
    ]
    now = time.time_ns() // 1_000_000
    if options.json:
        return print_json([row.to_json(now) for row in rows])
    if not rows:
        return print_lines([EMPTY])
    return print_rows(table_lines([HEADINGS, *_fitting_cells(rows, now)]))


def _fitting_cells(rows: Sequence[_Row], now: int) -> list[tuple[str, ...]]:
    """Return the cells of a table, with titles that are short enough for the terminal."""
    cells = [row.cells(now) for row in rows]
    if not sys.stdout.isatty():
        return cells
    excess = max(map(width, table_lines([HEADINGS, *cells]))) - shutil.get_terminal_size().columns
    most_title = max(width(row[HEADINGS.index("TITLE")]) for row in cells) - max(0, excess)
    return [row.cells(now, max(FEWEST_TITLE, most_title)) for row in rows]


async def _windows(options: argparse.Namespace) -> Mapping[str, int] | None:
    """Return how many terminals and pages show a thread; None if no server of this machine says so."""
    if options.server is not None or not starting.is_enabled(os.environ, options):
        return None
    try:
        path = await local.find_server(existing_store(options))
        status, body = (404, None) if path is None else await local.request(path, "GET", "/local/windows")
    except (starting.LocalServerError, OSError, EOFError, ValueError, TimeoutError):
        return None
    return None if status != 200 or body is None else body["windows"]


COMMAND = CliCommand(
    "List what runs, waits or was interrupted, with the terminals and pages that show it and the command to continue.",
    add_options,
    with_library(_list),
    EXAMPLES,
)
