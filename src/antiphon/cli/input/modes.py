"""Modes of a terminal: saved when a command starts, and restored when it ends, however it ends.

1. A terminal that another program has left without echo, or with its cursor hidden, is mended first.
2. While a command draws, typed keys are not echoed; they are read on the event loop.
3. Other programs, such as an editor, get the terminal as the shell had it.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from antiphon.cli.render.gate import draw

try:
    import termios
except ImportError:  # not available on every platform
    termios = None  # type: ignore[assignment]

# Indexes in the attributes of termios.
INPUT_MODES = 0
OUTPUT_MODES = 1
LOCAL_MODES = 3
CONTROL = 6
SHOW_CURSOR = "\x1b[?25h"


@contextmanager
def quiet_terminal() -> Iterator[None]:
    """Deliver typed keys one by one and without echo; at the end, restore the terminal. Ctrl-C stays a signal."""
    if termios is None or not sys.stdin.isatty():
        yield
        return
    normal = _normal_modes()
    _set_modes(_quiet(normal))
    if sys.stdout.isatty():
        draw(sys.stdout, SHOW_CURSOR)
    try:
        yield
    finally:
        _set_modes(normal)


@contextmanager
def normal_terminal() -> Iterator[None]:
    """Give the terminal to another program, and take it back."""
    if termios is None or not sys.stdin.isatty():
        yield
        return
    _set_modes(_normal_modes())
    try:
        yield
    finally:
        _set_modes(_quiet(_normal_modes()))


@contextmanager
def no_echo() -> Iterator[None]:
    """Turn off echo, and keep Ctrl-C from flushing the terminal's queues."""
    if termios is None or not sys.stdin.isatty():
        yield
        return
    original = termios.tcgetattr(sys.stdin.fileno())
    attributes = [*original]
    attributes[LOCAL_MODES] = (original[LOCAL_MODES] & ~termios.ECHO) | termios.NOFLSH
    _set_modes(attributes)
    try:
        yield
    finally:
        _set_modes(original)


def discard_typed_input() -> None:
    """Discard keys that were typed but not read yet."""
    if termios is not None and sys.stdin.isatty():
        with suppress(termios.error):
            termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


def _normal_modes() -> list[Any]:
    """Return the modes of the terminal with those that a shell expects."""
    attributes = termios.tcgetattr(sys.stdin.fileno())
    attributes[INPUT_MODES] |= termios.ICRNL
    attributes[OUTPUT_MODES] |= termios.OPOST | termios.ONLCR
    attributes[LOCAL_MODES] |= termios.ECHO | termios.ICANON | termios.ISIG | termios.IEXTEN
    attributes[LOCAL_MODES] &= ~termios.NOFLSH
    return attributes


def _quiet(normal: list[Any]) -> list[Any]:
    attributes = [*normal]
    attributes[LOCAL_MODES] = (normal[LOCAL_MODES] & ~(termios.ECHO | termios.ICANON)) | termios.NOFLSH
    attributes[CONTROL] = [*normal[CONTROL]]
    attributes[CONTROL][termios.VMIN] = 1
    attributes[CONTROL][termios.VTIME] = 0
    return attributes


def _set_modes(attributes: list[Any]) -> None:
    with suppress(termios.error):  # the terminal is gone
        termios.tcsetattr(sys.stdin.fileno(), termios.TCSANOW, attributes)
