"""Lines typed at a terminal: the port of commands that ask, and lines that the terminal itself edits."""

import asyncio
import os
import select
import sys
from contextlib import AbstractContextManager
from typing import Literal, Protocol, get_args

from antiphon.cli.input.modes import discard_typed_input, no_echo
from antiphon.cli.input.signals import Signals
from antiphon.cli.render.plain import write
from antiphon.cli.render.text_width import sanitize_lines

PASTE_S = 0.02  # the lines of a paste arrive faster than a person types


EditingKeys = Literal["emacs", "vi"]
EDITING_KEYS: tuple[EditingKeys, ...] = get_args(EditingKeys)


class Interrupted(Exception):
    """Raised when the user presses Ctrl-C at a question."""


class LineInput(Protocol):
    """Source of typed lines; raises `EOFError` at their end, and `Interrupted` at Ctrl-C."""

    async def message(self, prompt: str) -> str:
        """Read a message of one or more lines."""
        ...

    async def ask(self, prompt: str) -> str:
        """Read one line."""
        ...

    async def edit(self, text: str, suffix: str) -> str:
        """Let the user change a text in an editor, and return it; the suffix of its file names the language."""
        ...

    def use_keys(self, keys: EditingKeys) -> bool:
        """Use the keys of emacs or vi; return False if the terminal itself edits lines."""
        ...

    def hide(self) -> AbstractContextManager[None]:
        """Keep typed keys from being shown until the end of the block."""
        ...

    @property
    def draft(self) -> str:
        """What was typed during work, and is the beginning of the next message."""
        ...

    def set_aside(self) -> None:
        """Keep what was typed and not read yet out of the next answer: as the draft, or forget it if there is none."""
        ...


class TerminalLines:
    """Reads lines that the terminal itself edits."""

    def __init__(self, signals: Signals) -> None:
        self._signals = signals

    async def message(self, prompt: str) -> str:
        """Read a message: one line, lines joined by a backslash at their end, or all lines of a paste."""
        line = await self.ask(prompt)
        lines = [line]
        while lines[-1].endswith("\\") or (not line.startswith("/") and _has_pending_input()):
            is_continued = lines[-1].endswith("\\")
            lines[-1] = lines[-1].removesuffix("\\")
            lines.append(await self.ask("… " if is_continued else ""))
        return "\n".join(lines)

    async def ask(self, prompt: str) -> str:
        """Read one line."""
        _show(prompt)
        try:
            return await self._read()
        except (EOFError, Interrupted):
            _show("\n")
            raise

    async def edit(self, text: str, suffix: str) -> str:
        """Let the user change a text in an editor, and return it."""
        # Imported here because few are asked for.
        from antiphon.cli.input.external_editor import edit_text

        return await edit_text(text, suffix, self._signals)

    def use_keys(self, keys: EditingKeys) -> bool:
        """Return False: the terminal itself edits lines."""
        return False

    def hide(self) -> AbstractContextManager[None]:
        """Keep typed keys from being shown until the end of the block; the terminal keeps them for the next line."""
        return no_echo()

    @property
    def draft(self) -> str:
        """Nothing: the terminal keeps what is typed."""
        return ""

    def set_aside(self) -> None:
        """Forget what was typed and not read yet: the terminal would send it without showing it."""
        discard_typed_input()

    async def _read(self) -> str:
        loop = asyncio.get_running_loop()
        line: asyncio.Future[str] = loop.create_future()
        keyboard = sys.stdin.fileno()
        pieces: list[bytes] = []

        def read() -> None:
            pieces.append(read_bytes(keyboard))
            if line.done():
                return
            if pieces[-1].endswith(b"\n"):
                line.set_result(b"".join(pieces).decode("utf-8", "replace").rstrip("\n"))
            elif not pieces[-1]:
                line.set_exception(EOFError())

        def interrupt() -> None:
            if not line.done():
                line.set_exception(Interrupted())

        try:
            loop.add_reader(keyboard, read)
        except NotImplementedError:  # not available on every platform
            return await loop.run_in_executor(None, _read_line)
        try:
            with self._signals.handled_by(interrupt):
                return await line
        finally:
            loop.remove_reader(keyboard)


def ask_line(prompt: str) -> str:
    """Read one line before a command starts; what was typed before it was asked for does not count.

    Raise `EOFError` and `KeyboardInterrupt` as `input` does.
    """
    discard_typed_input()
    _show(prompt)
    return _read_line()


def read_bytes(keyboard: int) -> bytes:
    """Read what was typed; nothing if the terminal is gone."""
    try:
        return os.read(keyboard, 4096)
    except OSError:
        return b""


def _show(prompt: str) -> None:
    # The prompt must not end up in redirected output.
    write(sys.stdout if sys.stdout.isatty() else sys.stderr, sanitize_lines(prompt))


def _read_line() -> str:
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line.rstrip("\n")


def _has_pending_input() -> bool:
    try:
        return sys.stdin.isatty() and bool(select.select([sys.stdin], [], [], PASTE_S)[0])
    except (OSError, ValueError):
        return False
