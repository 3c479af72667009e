"""Lines typed at a terminal that is not drawn on, or asked for before a command starts."""

import asyncio
import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from antiphon.cli.input.signals import Signals
from antiphon.cli.render.plain import write
from antiphon.cli.render.text_width import sanitize_lines

try:
    import termios
except ImportError:  # not available on every platform
    termios = None  # type: ignore[assignment]

LOCAL_MODES = 3  # index of the local modes, which include ECHO, in the attributes of termios
PASTE_S = 0.02  # the lines of a paste arrive faster than a person types


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
        loop = asyncio.get_running_loop()
        line: asyncio.Future[str] = loop.create_future()
        keyboard = sys.stdin.fileno()
        pieces: list[bytes] = []

        def read() -> None:
            pieces.append(_read(keyboard))
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
    """Read one line before a command starts; raise `EOFError` and `KeyboardInterrupt` as `input` does."""
    _show(prompt)
    return _read_line()


@contextmanager
def no_echo() -> Iterator[None]:
    """Turn off echo, and keep Ctrl-C from flushing the terminal's queues."""
    if termios is None or not sys.stdin.isatty():
        yield
        return
    keyboard = sys.stdin.fileno()
    original = termios.tcgetattr(keyboard)
    attributes = [*original]
    attributes[LOCAL_MODES] = (original[LOCAL_MODES] & ~termios.ECHO) | termios.NOFLSH
    termios.tcsetattr(keyboard, termios.TCSANOW, attributes)
    try:
        yield
    finally:
        termios.tcsetattr(keyboard, termios.TCSANOW, original)


def discard_typed_input() -> None:
    """Discard keys that were typed but not read yet."""
    if termios is not None and sys.stdin.isatty():
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


def _show(prompt: str) -> None:
    # The prompt must not end up in redirected output.
    write(sys.stdout if sys.stdout.isatty() else sys.stderr, sanitize_lines(prompt))


def _read(keyboard: int) -> bytes:
    try:
        return os.read(keyboard, 4096)
    except OSError:  # the terminal is gone
        return b""


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
