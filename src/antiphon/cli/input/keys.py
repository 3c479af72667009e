"""Single keys read on the event loop without echo, and lines edited with them."""

import asyncio
import codecs
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

try:
    import termios
except ImportError:  # not available on every platform
    termios = None  # type: ignore[assignment]

# Indexes of the local modes and the control characters in the attributes of termios.
LOCAL_MODES = 3
CONTROL = 6
MOST_TYPED = 1_000
SEQUENCE = re.compile(r"\x1b(?:\[[0-9;?]*[@-~]|O.)")
ENTER = "\r\n"
ESCAPE = "\x1b"
BACKSPACES = "\x7f\b"
CLEAR = "\x15"


@contextmanager
def read_keys(on_key: Callable[[str], None]) -> Iterator[bool]:
    """Call `on_key` for every key that is pressed; yield False if there is no keyboard. Ctrl-C stays a signal."""
    if termios is None or not sys.stdin.isatty():
        yield False
        return
    keyboard = sys.stdin.fileno()
    loop = asyncio.get_running_loop()
    original = termios.tcgetattr(keyboard)
    attributes = [*original]
    attributes[LOCAL_MODES] = (original[LOCAL_MODES] & ~(termios.ECHO | termios.ICANON)) | termios.NOFLSH
    attributes[CONTROL] = [*original[CONTROL]]
    attributes[CONTROL][termios.VMIN] = 1
    attributes[CONTROL][termios.VTIME] = 0
    decoder = codecs.getincrementaldecoder("utf-8")("ignore")

    def read() -> None:
        try:
            received = os.read(keyboard, 4096)
        except OSError:  # the terminal is gone
            received = b""
        if not received:
            loop.remove_reader(keyboard)
        for key in _keys(decoder.decode(received)):
            on_key(key)

    termios.tcsetattr(keyboard, termios.TCSANOW, attributes)
    loop.add_reader(keyboard, read)
    try:
        yield True
    finally:
        loop.remove_reader(keyboard)
        termios.tcsetattr(keyboard, termios.TCSANOW, original)


def _keys(text: str) -> list[str]:
    """Split input into keys; the sequences of arrow and function keys are ignored."""
    return list(SEQUENCE.sub("", text))


@dataclass(slots=True)
class TypedLine:
    """A line that is being typed, with its prompt."""

    prompt: str
    text: str = ""

    def press(self, key: str) -> bool | None:
        """Process a key; return True when the line is complete, False when it is cancelled, else None."""
        if key in ENTER:
            return True
        if key == ESCAPE:
            return False
        if key in BACKSPACES:
            self.text = self.text[:-1]
        elif key == CLEAR:
            self.text = ""
        elif key.isprintable() and len(self.text) < MOST_TYPED:
            self.text += key
        return None

    @property
    def display_text(self) -> str:
        """The line with its prompt and a cursor."""
        return f"{self.prompt}{self.text}▌  (Enter sends, Esc cancels)"
