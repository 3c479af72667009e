"""Steps as lines: short for people, complete for programs."""

import json

from antiphon import create_machine, from_callback, initial_transition
from antiphon.chart.text import GrowingText
from antiphon.cli.play.feed import PlayedStep
from antiphon.cli.play.lines import JsonLines, PlainLines, value_text


def step(context, event=None, **more):
    machine = create_machine({"id": "m", "initial": "a", "context": context, "states": {"a": {}}}, **more)
    return PlayedStep(1234, event or {"type": "xstate.init"}, "start", (), initial_transition(machine)[0])


def test_a_plain_line_has_time_event_state_and_context():
    written = []
    PlainLines(written.append, written.append).show(step({"n": 1}))

    assert written == ["   1.23 s  start               a                     n=1\n"]


def test_a_plain_line_shows_only_what_has_changed():
    written, shown = [], step({"n": 1})
    view = PlainLines(written.append, written.append)
    view.show(shown)
    view.show(shown)

    assert "n=1" not in written[1]


def test_a_json_line_holds_what_json_does_not_know_as_well():
    written, failure = [], {"type": "xstate.error.actor.x", "error": ValueError("no")}
    child = lambda scope: {"child": scope.spawn("c", id="kid"), "text": GrowingText("hi"), "set": {1}}  # noqa: E731
    shown = step(child, failure, actors={"c": from_callback(lambda: None)})
    JsonLines(written.append, written.append).show(shown)

    found = json.loads(written[0])
    assert found["context"] == {"child": {"actor": "kid"}, "text": "hi", "set": "{1}"}
    assert found["event"]["error"] == {"name": "ValueError", "message": "no"}
    assert found["at_ms"] == 1234


def test_of_a_long_text_that_grows_the_end_is_shown_and_of_others_the_beginning():
    long = "0123456789" * 9

    assert value_text(GrowingText(long)).endswith('56789"')
    assert value_text(long).startswith('"0123')
    assert max(len(value_text(long)), len(value_text(GrowingText(long)))) == 40


def test_problems_are_complained_about():
    written, complaints = [], []
    for view in (PlainLines(written.append, complaints.append), JsonLines(written.append, complaints.append)):
        view.on_line(None)
        view.on_line("wrong")
        view.refresh(0)
        view.close()

    assert (written, complaints) == ([], ["wrong", "wrong"])
