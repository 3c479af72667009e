"""The line editor: messages of one or more lines, with completion and history, on the event loop.

1. A paste is one message, whatever its lines; Enter sends, Alt-Enter and a backslash before Enter begin a line.
2. Ctrl-C clears the text, and at an empty prompt raises `Interrupted`; Ctrl-D at an empty prompt ends the input.
3. What is typed while a command works is the draft of the next message, and never an answer; the view may show it.
"""

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import TracebackType

from prompt_toolkit import PromptSession
from prompt_toolkit.application import Application
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.filters import Condition
from prompt_toolkit.history import DummyHistory
from prompt_toolkit.input import create_input
from prompt_toolkit.input.typeahead import get_typeahead
from prompt_toolkit.output import ColorDepth

from antiphon.cli.input.adapters import FileHistory, SuggestionCompleter, editor_output, redraw_reflowed
from antiphon.cli.input.clusters import UnjoinedText, length_before
from antiphon.cli.input.editor_keys import answer_keys, clear_or_interrupt, default_keys, message_keys
from antiphon.cli.input.external_editor import EditorError, edit_text
from antiphon.cli.input.keys import BACKSPACES, CLEAR, SEQUENCE, pending_text, read_text
from antiphon.cli.input.lines import EditingKeys, Interrupted
from antiphon.cli.input.modes import quiet_terminal
from antiphon.cli.input.signals import Signals
from antiphon.cli.input.suggestions import Suggest
from antiphon.cli.render.plain import write
from antiphon.cli.render.text_width import sanitize_lines
from antiphon.cli.render.units import plural

INTERRUPT = "\x03"
ESCAPE_S = 0.05  # how long after Escape the rest of a sequence of an arrow key may come
MENU_ROWS = 6
MENTION = re.compile(r"(?:^|\s)@\S*$")
CONTINUATION = "… "
MOST_ECHOED = 15  # lines of a message


class LineEditor:
    """Edits lines at a terminal that can be drawn on; a context manager, which restores the terminal."""

    def __init__(self, signals: Signals, *, history: Path | None = None, suggest: Suggest | None = None) -> None:
        self._signals = signals
        self._draft = ""
        self._input = create_input()
        self._modes = quiet_terminal()
        output = editor_output()
        self._messages: PromptSession[str] = PromptSession(
            history=FileHistory(history) if history is not None else None,
            completer=SuggestionCompleter(suggest) if suggest is not None else None,
            complete_while_typing=Condition(self._is_completed),
            reserve_space_for_menu=MENU_ROWS,
            multiline=True,
            prompt_continuation=lambda width, line, wraps: CONTINUATION.rjust(width) if not wraps else " " * width,
            key_bindings=message_keys(self._edit_draft),
            input_processors=[UnjoinedText()],
            color_depth=_color_depth(),
            enable_suspend=True,
            erase_when_done=True,
            input=self._input,
            output=output,
        )
        self._answers: PromptSession[str] = PromptSession(
            history=DummyHistory(),
            key_bindings=answer_keys(),
            input_processors=[UnjoinedText()],
            erase_when_done=True,
            input=self._input,
            output=output,
        )
        for session in (self._messages, self._answers):
            session.app.ttimeoutlen = ESCAPE_S
            session.app._on_resize = partial(redraw_reflowed, session.app)  # type: ignore[method-assign]
        self.use_keys(default_keys())

    def __enter__(self) -> "LineEditor":
        self._modes.__enter__()
        self._type(pending_text())  # typed while the command was starting
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._modes.__exit__(kind, error, trace)

    async def message(self, prompt: str) -> str:
        """Read a message of one or more lines."""
        draft = self._draft
        self._draft = ""
        return await self._read(self._messages, prompt, clear_or_interrupt, draft)

    async def ask(self, prompt: str) -> str:
        """Read one line."""
        return await self._read(self._answers, prompt, _interrupt)

    async def edit(self, text: str, suffix: str) -> str:
        """Let the user change a text in an editor, and return it."""
        return await edit_text(text, suffix, self._signals)

    @contextmanager
    def hide(self) -> Iterator[None]:
        """Read typed keys without showing them until the end of the block; they are the next draft."""
        with read_text(self._type):
            yield

    @property
    def draft(self) -> str:
        """What was typed during work, and is the beginning of the next message."""
        return self._draft

    def set_aside(self) -> None:
        """Keep what was typed and not read yet as the draft."""
        self._type(pending_text())

    def use_keys(self, keys: EditingKeys) -> bool:
        """Use the keys of emacs or vi."""
        mode = EditingMode.VI if keys == "vi" else EditingMode.EMACS
        for session in (self._messages, self._answers):
            session.app.editing_mode = mode
        return True

    async def _read(
        self,
        session: "PromptSession[str]",
        prompt: str,
        on_press: Callable[[Application[str]], None],
        draft: str = "",
    ) -> str:
        app = session.app

        def press() -> None:
            if app.is_running and not app.is_done:
                on_press(app)

        try:
            with self._signals.handled_by(press):
                text = await session.prompt_async(
                    sanitize_lines(prompt), default=draft, handle_sigint=False, set_exception_handler=False
                )
            _echo(prompt, text)
            return text
        finally:
            # What came in one piece with Enter was not read by the prompt.
            self._type("".join(key.data for key in get_typeahead(self._input)))

    def _type(self, text: str) -> None:
        """Add typed text to the next draft."""
        for key in SEQUENCE.sub("", text).replace("\r\n", "\n").replace("\r", "\n"):
            if key == INTERRUPT:
                self._signals.press()
            elif key in BACKSPACES:
                self._draft = self._draft[: len(self._draft) - length_before(self._draft)]
            elif key == CLEAR:
                self._draft = ""
            elif key.isprintable() or key in "\n\t":
                self._draft += key

    async def _edit_draft(self, text: str) -> str:
        try:
            return await self.edit(text, ".md")
        except EditorError as error:
            write(sys.stdout, f"{sanitize_lines(str(error))}\n")
            return text

    def _is_completed(self) -> bool:
        """Return whether suggestions are shown without Tab: for commands, and for mentioned files."""
        before = self._messages.default_buffer.document.text_before_cursor
        return (before.startswith("/") and "\n" not in before) or MENTION.search(before) is not None


def _interrupt(application: Application[str]) -> None:
    application.exit(exception=Interrupted())


def _echo(prompt: str, text: str) -> None:
    """Write what was typed below what is on the screen; of a long message its first lines."""
    lines = sanitize_lines(f"{prompt}{text}").split("\n")
    if len(lines) > MOST_ECHOED:
        lines = [*lines[:MOST_ECHOED], f"({plural(len(lines) - MOST_ECHOED, 'more line')})"]
    write(sys.stdout, f"\n{CONTINUATION}".join(lines) + "\n")


def _color_depth() -> ColorDepth | None:
    return ColorDepth.MONOCHROME if os.environ.get("NO_COLOR") else None
