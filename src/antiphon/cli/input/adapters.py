"""The history and the suggestions as prompt_toolkit takes them, and its output."""

import os
import sys
from collections.abc import AsyncGenerator, Iterable, Mapping
from pathlib import Path

from prompt_toolkit.application import Application
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.data_structures import Point
from prompt_toolkit.document import Document
from prompt_toolkit.history import History
from prompt_toolkit.layout.screen import Char
from prompt_toolkit.output import Output, create_output
from prompt_toolkit.output.vt100 import Vt100_Output

from antiphon.cli.input.history import append_history, read_history
from antiphon.cli.input.suggestions import Suggest
from antiphon.cli.render.reflow import count_rows, is_reflowing
from antiphon.cli.render.text_width import sanitize_line


class FileHistory(History):
    """The history in a file."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def load_history_strings(self) -> Iterable[str]:
        """Return the messages, the newest first."""
        return reversed(read_history(self._path))

    def store_string(self, string: str) -> None:
        """Append a message."""
        append_history(self._path, string)


class SuggestionCompleter(Completer):
    """Completes what is being typed by suggestions."""

    def __init__(self, suggest: Suggest) -> None:
        self._suggest = suggest

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Return nothing: suggestions are asynchronous."""
        return ()

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        """Yield the suggestions for the text before the cursor."""
        for suggestion in await self._suggest(document.text_before_cursor):
            about = sanitize_line(suggestion.about)
            label = sanitize_line(suggestion.text)
            yield Completion(suggestion.text, -suggestion.replaces, display=label, display_meta=about)


def editor_output() -> Output:
    """Return standard output, which is not asked where its cursor is: a late answer would be read as keys."""
    output = create_output(sys.stdout)
    if isinstance(output, Vt100_Output):
        output.enable_cpr = False
    return output


def redraw_reflowed(application: Application[str]) -> None:
    """Erase all rows that the prompt takes after the width has changed, and draw it again."""
    renderer = application.renderer
    screen = renderer.last_rendered_screen
    columns = max(1, application.output.get_size().columns)
    if screen is not None and is_reflowing(os.environ):
        cursor = renderer._cursor_pos
        above = count_rows([_text(screen.data_buffer[row]) for row in range(cursor.y)], columns)
        renderer._cursor_pos = Point(x=cursor.x % columns, y=above + cursor.x // columns)
    Application._on_resize(application)


def _text(row: Mapping[int, Char]) -> str:
    """Return the text of a drawn row, without the spaces at its end."""
    return "".join(row[column].char if column in row else " " for column in range(max(row, default=-1) + 1)).rstrip()
