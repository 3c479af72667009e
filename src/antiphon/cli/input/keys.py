"""Single keys read on the event loop without echo, and lines edited with them."""

import asyncio
import codecs
import re
import select
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from antiphon.cli.input.lines import read_bytes
from antiphon.cli.input.modes import quiet_terminal

MOST_TYPED = 1_000
SEQUENCE = re.compile(r"\x1b(?:\[[0-9;?]*[@-~]|O.)")
ENTER = "\r\n"
ESCAPE = "\x1b"
BACKSPACES = "\x7f\b"
CLEAR = "\x15"


@contextmanager
def read_keys(on_key: Callable[[str], None]) -> Iterator[bool]:
    """Call `on_key` for every key that is pressed; yield False if there is no keyboard. Ctrl-C stays a signal."""
    if not sys.stdin.isatty():
        yield False
        return

    def press(text: str) -> None:
        for key in _keys(text):
            on_key(key)

    with quiet_terminal(), read_text(press) as can_read:
        yield can_read


@contextmanager
def read_text(on_text: Callable[[str], object]) -> Iterator[bool]:
    """Call `on_text` for everything that is typed; yield False if the event loop cannot read a keyboard."""
    keyboard = sys.stdin.fileno()
    loop = asyncio.get_running_loop()
    decoder = codecs.getincrementaldecoder("utf-8")("ignore")

    def read() -> None:
        received = read_bytes(keyboard)
        if not received:
            loop.remove_reader(keyboard)
        on_text(decoder.decode(received))

    try:
        loop.add_reader(keyboard, read)
    except NotImplementedError:  # not available on every platform
        yield False
        return
    try:
        yield True
    finally:
        loop.remove_reader(keyboard)


def pending_text() -> str:
    """Return what was typed and not read yet, in a terminal that delivers keys one by one."""
    received = b""
    while sys.platform != "win32" and sys.stdin.isatty() and select.select([sys.stdin], [], [], 0)[0]:
        piece = read_bytes(sys.stdin.fileno())
        if not piece:
            break
        received += piece
    return received.decode("utf-8", "ignore")


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
