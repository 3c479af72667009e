"""What a person types: lines with editing and a history where there is a terminal, several of them pasted or joined."""

import os
import select
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType

from antiphon.paths import user_path

try:
    import termios
except ImportError:  # not on every system
    termios = None  # type: ignore[assignment]

HISTORY_LINES = 1_000
LOCAL_MODES = 3  # where a terminal's settings have what is echoed
PASTE_S = 0.02  # lines of a paste come faster than anybody types
Ask = Callable[[str], str]


class Typewriter:
    """Reads messages at a prompt; `EOFError` and `KeyboardInterrupt` end it, as `input` has it."""

    def __init__(self, history: Path | None = None) -> None:
        self._history = history
        self._prompts = 0
        self.prompt: int | None = None  # the number of the prompt that is shown now
        self._readline = _readline() if sys.stdin.isatty() and sys.stdout.isatty() else None
        if self._readline is not None and history is not None:
            with suppress(OSError):
                self._readline.read_history_file(history)
            self._readline.set_history_length(HISTORY_LINES)

    def message(self, prompt: str) -> str:
        """A message: one line, lines that end in a backslash and the next one, or all lines of a paste."""
        line = self.ask(prompt)
        lines = [line]
        while lines[-1].endswith("\\") or (not line.startswith("/") and _more_is_here()):
            goes_on = lines[-1].endswith("\\")
            lines[-1] = lines[-1].removesuffix("\\")
            lines.append(self.ask("… " if goes_on else ""))
        self._remember()
        return "\n".join(lines)

    def ask(self, prompt: str) -> str:
        """One line."""
        if sys.stdout.isatty():
            self._prompts += 1
            self.prompt = self._prompts
            try:
                return input(prompt)
            finally:
                self.prompt = None
        # What is typed at must not stand in what is written elsewhere.
        print(prompt, end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        return line.rstrip("\n")

    def _remember(self) -> None:
        if self._readline is not None and self._history is not None:
            with suppress(OSError):
                self._history.parent.mkdir(parents=True, exist_ok=True)
                os.close(os.open(self._history, os.O_CREAT | os.O_RDWR, 0o600))
                self._readline.write_history_file(self._history)


@contextmanager
def unechoed() -> Iterator[None]:
    """Let no key show itself in what is being drawn, and no Ctrl-C throw away what is on its way to the terminal."""
    if termios is None or not sys.stdin.isatty():
        yield
        return
    keyboard = sys.stdin.fileno()
    before = termios.tcgetattr(keyboard)
    quiet = [*before]
    quiet[LOCAL_MODES] = (before[LOCAL_MODES] & ~termios.ECHO) | termios.NOFLSH
    termios.tcsetattr(keyboard, termios.TCSANOW, quiet)
    try:
        yield
    finally:
        termios.tcsetattr(keyboard, termios.TCSANOW, before)


def forget_typed() -> None:
    """Drop what was typed ahead, as Ctrl-C does."""
    if termios is not None and sys.stdin.isatty():
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


def history_file() -> Path:
    """Where typed lines are kept."""
    return user_path("state", "history")


def _readline() -> ModuleType | None:
    try:
        import readline
    except ImportError:  # not on every system
        return None
    return readline


def _more_is_here() -> bool:
    try:
        return sys.stdin.isatty() and bool(select.select([sys.stdin], [], [], PASTE_S)[0])
    except (OSError, ValueError):
        return False
