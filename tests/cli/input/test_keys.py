"""Keys as they are pressed, and lines typed with them."""

import asyncio
import io
import os
import pty
import termios

import pytest

from antiphon.cli.input.keys import MOST_TYPED, TypedLine, read_keys
from tests.fixtures.screen import DEADLINE_S


def typed(text):
    line = TypedLine("say: ")
    return line, [line.press(key) for key in text]


def test_a_line_is_typed_corrected_and_sent():
    line, done = typed("Hallo\x7f\x7f\bo\r")

    assert line.text == "Hao"
    assert done[-1] is True
    assert set(done[:-1]) == {None}


def test_a_line_can_be_begun_again_or_dropped():
    line, _ = typed("wrong\x15right")
    _, done = typed("no\x1b")

    assert line.display_text.startswith("say: right▌")
    assert done[-1] is False


def test_a_line_has_an_end_and_no_control_characters():
    line, _ = typed("x" * (MOST_TYPED + 5))
    other, _ = typed("a\tb\x01c")

    assert len(line.text) == MOST_TYPED
    assert other.text == "abc"


def test_keys_are_heard_one_by_one_without_echo_and_the_terminal_is_given_back(monkeypatch):
    screen, terminal = pty.openpty()
    before = termios.tcgetattr(terminal)

    async def listen():
        pressed = []
        heard_all = asyncio.Event()

        def press(key):
            pressed.append(key)
            if key == "q":
                heard_all.set()

        with os.fdopen(terminal, "r", closefd=False) as keyboard:
            monkeypatch.setattr("sys.stdin", keyboard)
            with read_keys(press) as is_there:
                quiet = termios.tcgetattr(terminal)[3] & (termios.ECHO | termios.ICANON)
                os.write(screen, "pü".encode())
                os.write(screen, b"\x1b[A\x1bOP")  # an arrow, and a function key
                os.write(screen, b"q")
                async with asyncio.timeout(DEADLINE_S):
                    await heard_all.wait()
        return pressed, is_there, quiet

    try:
        pressed, is_there, quiet = asyncio.run(listen())
        after = termios.tcgetattr(terminal)
    finally:
        os.close(screen)
        os.close(terminal)

    assert (pressed, is_there, quiet) == (["p", "ü", "q"], True, 0)
    assert after[3] == before[3]


def test_without_a_terminal_nobody_listens(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("q"))
    with read_keys(pytest.fail) as is_there:
        assert not is_there
