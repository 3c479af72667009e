"""Messages read from the keyboard, with editing and history on a terminal."""

import os
import select
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType

from antiphon.cli.render.plain import write
from antiphon.cli.render.text_width import sanitize_lines
from antiphon.paths import user_path

try:
    import termios
except ImportError:  # not available on every platform
    termios = None  # type: ignore[assignment]

HISTORY_LINES = 1_000
LOCAL_MODES = 3  # index of the local modes, which include ECHO, in the attributes of termios
PASTE_S = 0.02  # the lines of a paste arrive faster than a person types
Ask = Callable[[str], str]


class Prompt:
    """Reads messages from the keyboard; raises `EOFError` and `KeyboardInterrupt` as `input` does."""

    def __init__(self, history: Path | None = None) -> None:
        self._history = history
        self._count = 0
        self.current: int | None = None  # the number of the prompt that is shown now
        self._readline = _readline() if sys.stdin.isatty() and sys.stdout.isatty() else None
        if self._readline is not None and history is not None:
            with suppress(OSError):
                self._readline.read_history_file(history)
            self._readline.set_history_length(HISTORY_LINES)

    def message(self, prompt: str) -> str:
        """Read a message: one line, lines joined by a backslash at their end, or all lines of a paste."""
        line = self.ask(prompt)
        lines = [line]
        while lines[-1].endswith("\\") or (not line.startswith("/") and _has_pending_input()):
            is_continued = lines[-1].endswith("\\")
            lines[-1] = lines[-1].removesuffix("\\")
            lines.append(self.ask("… " if is_continued else ""))
        self._save_history()
        return "\n".join(lines)

    def ask(self, prompt: str) -> str:
        """Read one line."""
        # The library for lines writes the prompt to the terminal by itself.
        prompt = sanitize_lines(prompt)
        if sys.stdout.isatty():
            self._count += 1
            self.current = self._count
            try:
                return input(prompt)
            finally:
                self.current = None
        # The prompt must not end up in redirected output.
        write(sys.stderr, prompt)
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        return line.rstrip("\n")

    def _save_history(self) -> None:
        if self._readline is not None and self._history is not None:
            with suppress(OSError):
                self._history.parent.mkdir(parents=True, exist_ok=True)
                os.close(os.open(self._history, os.O_CREAT | os.O_RDWR, 0o600))
                self._readline.write_history_file(self._history)


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


def history_file() -> Path:
    """Return the path of the input history."""
    return user_path("state", "history")


def _readline() -> ModuleType | None:
    try:
        import readline
    except ImportError:  # not available on every platform
        return None
    return readline


def _has_pending_input() -> bool:
    try:
        return sys.stdin.isatty() and bool(select.select([sys.stdin], [], [], PASTE_S)[0])
    except (OSError, ValueError):
        return False
