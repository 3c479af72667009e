"""The live picture shows states, events, context and text, in any terminal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon import assign, create_machine, get_microsteps, initial_transition
from antiphon.chart.text import GrowingText
from antiphon.cli.play.feed import PlayedStep
from antiphon.cli.play.frame import FrameBuilder
from antiphon.cli.render.text_width import width

CHART = {
    "id": "chat",
    "initial": "idle",
    "context": {"name": "Ada", "nothing": None, "text": ""},
    "states": {
        "idle": {"on": {"SEND": {"target": "streaming", "actions": "begin"}}},
        "streaming": {"on": {"CHUNK": {"actions": "append"}, "END": "complete"}, "after": {500: "idle"}},
        "complete": {"type": "final"},
    },
}
ACTIONS = {
    "begin": assign({"text": GrowingText("Hello")}),
    "append": assign({"text": lambda context: context["text"] + " and on"}),
}


def picture(*events, chart=CHART):
    machine = create_machine(chart, actions=ACTIONS)
    snapshot, _ = initial_transition(machine)
    found = FrameBuilder(machine)
    found.add(PlayedStep(0, {"type": "xstate.init"}, "start", (), snapshot))
    for number, event in enumerate(events, start=1):
        microsteps = get_microsteps(machine, snapshot, {"type": event})
        snapshot = microsteps[-1].snapshot
        taken = tuple(transition for microstep in microsteps for transition in microstep.transitions)
        found.add(PlayedStep(number * 100, {"type": event}, event, taken, snapshot))
    return found


def text_of(frame):
    return ["".join(text for text, _ in line).rstrip() for line in frame]


def test_everything_has_its_place():
    lines = text_of(picture("SEND", "CHUNK").frame(70, 20))

    assert lines[0].split() == ["antiphon", "chat", "active", "0.2", "s"]
    assert lines[1].startswith("── states ──")
    assert [line.split("  0.")[0].strip() for line in lines[2:6]] == [
        "● chat",
        "○ idle",
        "● streaming",
        "○ complete  final",
    ]
    assert "next  CHUNK, END, after 500 ms" in lines
    assert lines[lines.index("name     Ada") + 1] == "nothing  –"
    assert "Hello and on" in lines


def test_events_tell_where_they_led():
    lines = text_of(picture("SEND", "CHUNK", "NOPE").frame(70, 20))

    events = [line.split("  0.")[1] for line in lines if "  0." in line][1:]
    assert events == ["00  start → idle", "10  SEND → streaming", "20  CHUNK", "30  NOPE (no reaction)"]


def test_the_same_event_again_only_counts():
    lines = text_of(picture("SEND", "CHUNK", "CHUNK", "CHUNK").frame(70, 20))

    assert any(line.endswith("CHUNK ×3") for line in lines)


def test_a_narrow_terminal_shows_one_part_below_the_other():
    lines = text_of(picture("SEND").frame(40, 24))

    assert [line.strip("─ ") for line in lines if line.startswith("──")] == ["states", "events", "context", "text"]


def test_a_low_terminal_shows_the_states_only():
    lines = text_of(picture("SEND").frame(40, 7))

    assert [line.strip("─ ") for line in lines if line.startswith("──")] == ["states"]


def test_a_machine_that_has_ended_says_so():
    lines = text_of(picture("SEND", "END").frame(70, 20))

    assert "next  none: the machine has ended" in lines
    assert any("END → complete (done)" in line for line in lines)


def test_what_ended_the_machine_is_said():
    found = picture("SEND")
    machine = found.machine
    broken = machine.resolve_state("idle", status="error", error="no more")
    found.add(PlayedStep(300, {"type": "xstate.error"}, "error", (), broken))

    assert "failed: no more" in text_of(found.frame(70, 20))


def test_a_problem_takes_the_place_of_the_next_events():
    found = picture("SEND")
    found.problem = "not JSON: {"

    assert "not JSON: {" in text_of(found.frame(70, 20))


def test_there_is_nothing_to_see_before_the_first_step():
    assert FrameBuilder(create_machine(CHART, actions=ACTIONS)).frame(80, 24) == []


@pytest.mark.parametrize("context", [{}, {"list": [1, 2]}, {"one": {"two": 3}}])
def test_any_context_can_be_shown(context):
    assert text_of(picture(chart={"id": "m", "context": lambda: context}).frame(70, 20))


def test_a_long_string_gets_room_of_its_own():
    lines = text_of(picture(chart={"id": "m", "context": {"essay": "word " * 20}}).frame(70, 30))

    assert any(line.startswith("── essay ─") for line in lines)


@given(st.integers(20, 200), st.integers(6, 60))
def test_the_picture_fits_every_terminal(columns, rows):
    frame = picture("SEND", "CHUNK", "CHUNK").frame(columns, rows)

    assert len(frame) <= rows
    assert all(sum(width(text) for text, _ in line) <= columns for line in frame)
