"""The screen draws in place, only what has changed, and leaves the terminal as it was."""

import os

import pytest

from antiphon import create_machine, initial_transition
from antiphon.cli.play.feed import PlayedStep
from antiphon.cli.play.screen import Screen


@pytest.fixture
def size(monkeypatch):
    def resize(columns, lines):
        monkeypatch.setattr("shutil.get_terminal_size", lambda: os.terminal_size((columns, lines)))

    resize(80, 24)
    return resize


def screen(written, **options):
    machine = create_machine({"id": "m", "initial": "a", "states": {"a": {}}})
    found = Screen(machine, written.append, environment=options.pop("environment", {}), **options)
    found.show(PlayedStep(0, {"type": "xstate.init"}, "start", (), initial_transition(machine)[0]))
    return found


def test_nothing_is_drawn_before_there_is_something(size):
    written = []
    Screen(create_machine({}), written.append).refresh(0)

    assert written == ["\x1b[?25l"]


def test_what_has_not_changed_is_not_drawn_again(size):
    written = []
    found = screen(written)
    found.refresh(0)
    written.clear()

    found.refresh(0)

    assert written == [""]


def test_what_has_changed_is_drawn_in_its_place(size):
    written = []
    found = screen(written)
    found.refresh(0)
    height = written[-1].count("\n")

    found.refresh(1500)

    assert written[-1].startswith(f"\x1b7\x1b[{height}A\r")
    assert "1.5 s" in written[-1]
    assert written[-1].endswith("\x1b8")


def test_another_size_begins_a_new_picture(size):
    written = []
    found = screen(written)
    found.refresh(0)
    size(60, 20)

    found.refresh(0)

    assert written[-1].startswith("\x1b[2J\x1b[H")


def test_a_picture_of_another_height_is_drawn_over_the_old_one(size):
    written = []
    found = screen(written)
    found.refresh(0)
    height = written[-1].count("\n")
    machine = create_machine({"id": "m", "context": {"one": 1, "two": 2}})
    found.show(PlayedStep(0, {"type": "E"}, "E", (), initial_transition(machine)[0]))

    found.refresh(0)

    assert written[-1].startswith(f"\r\x1b[{height}A")
    assert written[-1].endswith("\x1b[J")


def test_closing_gives_the_cursor_back(size):
    written = []
    screen(written).close()

    assert written[-1] == "\x1b[0m\x1b[?25h"


def test_with_a_prompt_the_cursor_stays_and_the_line_is_cleaned(size):
    written = []
    found = screen(written, prompt=True)
    found.refresh(0)
    found.on_line(None)
    found.close()

    assert "\x1b[?25l" not in "".join(written)
    assert written[0].endswith("> ")
    assert written[1:] == ["\x1b[1A\r\x1b[K> ", "\r\x1b[K\x1b[0m\x1b[?25h"]


def test_colours_can_be_switched_off(size):
    written = []
    screen(written, environment={"NO_COLOR": "1"}).refresh(0)

    assert "38;5" not in written[-1]


def test_a_terminal_without_unicode_gets_ascii(size):
    written = []
    screen(written, encoding="ascii").refresh(0)

    assert written[-1].isascii()
