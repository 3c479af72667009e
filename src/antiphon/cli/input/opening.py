"""The line input that fits the terminal: the line editor where it can draw, else lines that the terminal edits."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec

from antiphon.cli.input.history import history_file
from antiphon.cli.input.lines import LineInput, TerminalLines
from antiphon.cli.input.signals import Signals
from antiphon.cli.input.suggestions import Suggest
from antiphon.cli.render.plain import can_draw


def can_edit() -> bool:
    """Return whether lines can be edited, and rows chosen, on the terminal."""
    is_drawn = sys.stdin.isatty() and can_draw(sys.stdout, os.environ)
    return is_drawn and find_spec("prompt_toolkit") is not None


def pick_row(rows: Sequence[str]) -> int | None:
    """Let the user choose a row; return its number, or None if the user leaves."""
    # Imported here because it is slow to load.
    from antiphon.cli.input.adapters import editor_output
    from antiphon.cli.input.picker import Picker

    return Picker(rows).run(output=editor_output())


@contextmanager
def open_lines(
    signals: Signals, *, is_plain: bool = False, has_history: bool = False, suggest: Suggest | None = None
) -> Iterator[LineInput]:
    """Open the input of a command; the terminal is as before at the end."""
    if is_plain or not can_edit():
        yield TerminalLines(signals)
        return
    # Imported here because it is slow to load.
    from antiphon.cli.input.editor import LineEditor

    history = history_file() if has_history else None
    with LineEditor(signals, history=history, suggest=suggest) as editor:
        yield editor
