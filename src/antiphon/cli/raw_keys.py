"""Single keys on the event loop: heard as they are pressed, without showing themselves, and lines typed with them."""

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
except ImportError:  # not on every system
    termios = None  # type: ignore[assignment]

LOCAL_MODES, CONTROL = 3, 6  # where a terminal's settings have what is echoed, and how it is read
MOST_TYPED = 1_000
SEQUENCE = re.compile(r"\x1b(?:\[[0-9;?]*[@-~]|O.)")
ENTER, ESCAPE, BACKSPACES, CLEAR = "\r\n", "\x1b", "\x7f\b", "\x15"


@contextmanager
def heard(press: Callable[[str], None]) -> Iterator[bool]:
    """Call for every key that is pressed; gives whether there is a keyboard to listen to. Ctrl-C stays a signal."""
    if termios is None or not sys.stdin.isatty():
        yield False
        return
    keyboard, loop = sys.stdin.fileno(), asyncio.get_running_loop()
    before = termios.tcgetattr(keyboard)
    single = [*before]
    single[LOCAL_MODES] = (before[LOCAL_MODES] & ~(termios.ECHO | termios.ICANON)) | termios.NOFLSH
    single[CONTROL] = [*before[CONTROL]]
    single[CONTROL][termios.VMIN], single[CONTROL][termios.VTIME] = 1, 0
    decoder = codecs.getincrementaldecoder("utf-8")("ignore")

    def read() -> None:
        try:
            found = os.read(keyboard, 4096)
        except OSError:  # the terminal is gone
            found = b""
        if not found:
            loop.remove_reader(keyboard)
        for key in _keys(decoder.decode(found)):
            press(key)

    termios.tcsetattr(keyboard, termios.TCSANOW, single)
    loop.add_reader(keyboard, read)
    try:
        yield True
    finally:
        loop.remove_reader(keyboard)
        termios.tcsetattr(keyboard, termios.TCSANOW, before)


def _keys(text: str) -> list[str]:
    """The keys in what was read; what an arrow or a function key sends is none of ours."""
    return list(SEQUENCE.sub("", text))


@dataclass(slots=True)
class TypedLine:
    """A line that is being typed, and what it is for."""

    prompt: str
    text: str = ""

    def press(self, key: str) -> bool | None:
        """Take a key; true when the line is done, false when it is dropped, nothing while it goes on."""
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
    def shown(self) -> str:
        """The line as it stands there."""
        return f"{self.prompt}{self.text}▌  (Enter sends, Esc drops it)"
