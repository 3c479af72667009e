"""A debate drawn: columns where there is room, one below the other where there is not, and never more than fits."""

import io

import pytest
from rich.console import Console

from antiphon.cli.debate.live_view import LiveDebateView, columns, terminal_color
from tests.cli.debate.test_state import apply, debate_state, recorded
from tests.fixtures.screen import ESCAPES

LONG = "Many words about cars. " * 400


def speaking(text):
    found = debate_state()
    apply(found, "state", state="awaitingArguments", phase="opening", roundNumber=0, maxRounds=2)
    for id in ("for", "against"):
        apply(found, "turn_started", participantId=id, phase="opening", roundNumber=1)
        apply(found, "text", participantId=id, text=text)
    return found


def drawn(shown, *, width, height=24, hint="p pause"):
    """The picture of a debate at one moment, in lines."""
    file = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    console = Console(file=file, width=width, height=height, force_terminal=True, highlight=False, markup=False)
    view = LiveDebateView(console, now=lambda: 1.0)
    view.begin(shown, is_resumed=False)
    file.buffer.truncate(0)
    view.refresh(shown, hint)
    found = file.buffer.getvalue().decode()
    view.close()
    return [line for line in ESCAPES.sub("", found).replace("\x00", "").replace("\r", "").split("\n") if line]


@pytest.mark.parametrize(
    ("count", "cells", "across"), [(2, 110, 2), (2, 60, 1), (3, 110, 3), (4, 110, 2), (4, 140, 4), (1, 20, 1)]
)
def test_as_many_stand_side_by_side_as_can_be_read(count, cells, across):
    assert columns(count, cells) == across


@pytest.mark.parametrize("width", [24, 40, 60, 80, 110, 200])
@pytest.mark.parametrize("height", [16, 24, 40])
def test_a_long_debate_is_never_wider_or_higher_than_the_terminal(width, height):
    lines = drawn(speaking(LONG), width=width, height=height)

    assert max(map(len, lines)) <= width
    assert len(lines) <= height


def test_what_was_said_last_is_in_sight():
    lines = drawn(speaking(f"{LONG}the end"), width=110)

    assert sum(line.count("the end▌") for line in lines) == 2


def test_nothing_that_a_model_says_is_obeyed_or_taken_for_markup():
    lines = drawn(speaking("[bold]a[/bold] \x1b[2J:smile:"), width=110)

    assert any("[bold]a[/bold] [2J:smile:" in line for line in lines)


def test_a_round_is_printed_once_and_stays():
    shown = speaking("Words")
    said = {
        "participantId": "for",
        "content": "Some **bold** <i>words</i>",
        "tokensUsed": 7,
        "cost": "0.5",
        "latencyMs": 1500,
    }
    failed = {"participantId": "against", "failed": True, "error": {"message": "too busy"}}
    one = {**recorded("opening", 1), "responses": [said, failed]}
    file = io.StringIO()
    view = LiveDebateView(Console(file=file, width=110, height=24, force_terminal=True, highlight=False, markup=False))
    view.begin(shown, is_resumed=False)
    for _ in range(2):
        apply(shown, "round_recorded", round=one)
        view._print_round(shown, one)
    view.close()

    text = ESCAPES.sub("", file.getvalue())
    assert text.count("Openings ──") == 1
    assert "Some bold <i>words</i>" in text
    assert "7 tokens · $0.50 · 1.5 s" in text
    assert "did not answer: too busy" in text


@pytest.mark.requirement("S4-29")
@pytest.mark.parametrize("color", ["red", "#F00", "rgb(1, 2, 3)", "salmon-ish", "link https://x.example", "#d1495b"])
def test_any_text_may_be_a_colour(color):
    shown = speaking("Hello.")
    shown.participants[0]["color"] = color

    assert any("Hello." in line for line in drawn(shown, width=100))


def test_a_colour_of_the_terminal_is_drawn():
    assert [terminal_color(text) for text in ("#d1495b", "red", "nothing")] == ["#d1495b", "red", ""]
