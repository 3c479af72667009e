"""A list on the terminal from which one row is chosen: by the arrow keys, and by typing words that it has."""

import shutil
from collections.abc import Sequence

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout import BufferControl, FormattedTextControl, HSplit, Layout, Window
from prompt_toolkit.layout.processors import BeforeInput
from prompt_toolkit.output import Output

from antiphon.cli.render.text_width import clip, sanitize_line

ESCAPE_S = 0.05  # how long after Escape the rest of a sequence of an arrow key may come
OTHER_ROWS = 3  # of the screen: the heading, the line that is typed, and one below
HINT = "Up and Down choose, typing searches, Enter opens, Esc leaves"


class Picker:
    """Rows with one that is selected; those are shown that have all words of the search."""

    def __init__(self, rows: Sequence[str]) -> None:
        self._rows = [sanitize_line(row) for row in rows]
        self._search = Buffer(multiline=False, on_text_changed=lambda _: self._select(0))
        self._selected = 0  # among those that are shown

    def run(self, *, input: Input | None = None, output: Output | None = None) -> int | None:
        """Let the user choose; return the number of the row, or None if the user leaves."""
        search = Window(BufferControl(self._search, input_processors=[BeforeInput("search: ")]), height=1)
        lines = Window(FormattedTextControl(self._text), wrap_lines=False, dont_extend_height=True)
        application: Application[int | None] = Application(
            Layout(HSplit([lines, search]), search),
            key_bindings=self._keys(),
            erase_when_done=True,
            input=input,
            output=output,
        )
        application.ttimeoutlen = ESCAPE_S
        return application.run()

    def matches(self) -> list[int]:
        """Return the numbers of the rows that have all words of the search."""
        words = self._search.text.casefold().split()
        return [number for number, row in enumerate(self._rows) if all(word in row.casefold() for word in words)]

    def _select(self, place: int) -> None:
        self._selected = max(0, min(place, len(self.matches()) - 1))

    def _text(self) -> StyleAndTextTuples:
        size = shutil.get_terminal_size()
        page = max(1, size.lines - OTHER_ROWS)
        matches = self.matches()
        start = max(0, min(self._selected - page // 2, len(matches) - page))
        text: StyleAndTextTuples = [("bold", clip(HINT, size.columns - 1))]
        for place, number in enumerate(matches[start : start + page], start):
            is_selected = place == self._selected
            line = clip(f"{'>' if is_selected else ' '} {self._rows[number]}", size.columns - 1)
            text += [("", "\n"), ("reverse" if is_selected else "", line)]
        return text if matches else [*text, ("", "\n  nothing has these words")]

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()

        @keys.add("up")
        @keys.add("c-p")
        def go_up(event: KeyPressEvent) -> None:
            self._select(self._selected - 1)

        @keys.add("down")
        @keys.add("c-n")
        def go_down(event: KeyPressEvent) -> None:
            self._select(self._selected + 1)

        @keys.add("enter")
        def choose(event: KeyPressEvent) -> None:
            if matches := self.matches():
                event.app.exit(result=matches[self._selected])

        @keys.add("escape", eager=True)
        @keys.add("c-c")
        @keys.add("c-d")
        def leave(event: KeyPressEvent) -> None:
            event.app.exit(result=None)

        return keys
