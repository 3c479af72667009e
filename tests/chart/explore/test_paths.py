"""Paths lead from a machine's start to its states: the shortest, all simple ones, or the one that events take."""

import pytest

from antiphon import assign, create_machine, from_task
from antiphon.chart.explore.graph import ExplorationError
from antiphon.chart.explore.paths import get_paths_from_events, get_shortest_paths, get_simple_paths

DIAMOND = {
    "id": "m",
    "initial": "a",
    "states": {
        "a": {"on": {"LEFT": "b", "RIGHT": "c"}},
        "b": {"on": {"DOWN": "d"}},
        "c": {"on": {"DOWN": "d", "OVER": "b"}},
        "d": {"on": {"UP": "a"}},
    },
}


def diamond():
    return create_machine(DIAMOND)


def texts(paths):
    return [str(path) for path in paths]


def test_the_shortest_paths_lead_to_every_state():
    assert texts(get_shortest_paths(diamond())) == [
        "a",
        "a -- LEFT --> b",
        "a -- RIGHT --> c",
        "a -- LEFT --> b -- DOWN --> d",
    ]


def test_a_path_knows_its_steps_its_weight_and_its_ends():
    path = get_shortest_paths(diamond())[-1]

    assert [(event["type"], snapshot.value) for event, snapshot in path.steps] == [("LEFT", "b"), ("DOWN", "d")]
    assert (path.weight, path.start.value, path.state.value) == (2, "a", "d")
    assert path.events == [{"type": "LEFT"}, {"type": "DOWN"}]


def test_paths_can_be_asked_for_some_states_only():
    assert texts(get_shortest_paths(diamond(), to_state=lambda snapshot: snapshot.matches("c"))) == ["a -- RIGHT --> c"]


def test_simple_paths_are_in_no_state_twice():
    assert sorted(texts(get_simple_paths(diamond(), to_state=lambda snapshot: snapshot.matches("d")))) == [
        "a -- LEFT --> b -- DOWN --> d",
        "a -- RIGHT --> c -- DOWN --> d",
        "a -- RIGHT --> c -- OVER --> b -- DOWN --> d",
    ]


def test_simple_paths_lead_to_every_state():
    ends = [path.state.value for path in get_simple_paths(diamond())]

    assert sorted(ends) == ["a", "b", "b", "c", "d", "d", "d"]


def test_too_many_simple_paths_are_an_error():
    states = {f"s{i}": {"on": {f"E{n}": f"s{n}" for n in range(8)}} for i in range(8)}

    with pytest.raises(ExplorationError, match="more than 100 simple paths"):
        get_simple_paths(create_machine({"initial": "s0", "states": states}), limit=100)


def test_events_take_one_path():
    [path] = get_paths_from_events(diamond(), ["RIGHT", {"type": "OVER"}, "NOPE"])

    assert str(path) == "a -- RIGHT --> c -- OVER --> b -- NOPE --> b"


def test_events_that_end_elsewhere_take_no_path():
    assert get_paths_from_events(diamond(), ["LEFT"], to_state=lambda snapshot: snapshot.matches("c")) == []


def test_events_may_be_timers_and_children():
    states = {
        "a": {"invoke": {"src": "load", "id": "l", "onDone": "b"}},
        "b": {"after": {5: "c"}},
        "c": {"type": "final"},
    }
    machine = create_machine({"id": "m", "initial": "a", "states": states}, actors={"load": from_task(lambda: None)})

    [path] = get_paths_from_events(machine, ["xstate.done.actor.l", "xstate.after.5.m.b", "TOO_LATE"])

    assert str(path) == "a -- done l --> b -- after 5 ms --> c (done) -- TOO_LATE --> c (done)"


def test_an_event_that_fails_is_an_error():
    machine = create_machine({"on": {"GO": {"actions": assign(lambda: 1 / 0)}}})

    with pytest.raises(ExplorationError, match="ZeroDivisionError"):
        get_paths_from_events(machine, ["GO"])


def test_paths_lead_through_timers_and_children():
    states = {
        "idle": {"on": {"GO": "loading"}},
        "loading": {"invoke": {"src": "load", "id": "l", "onDone": "ready", "onError": "failed"}},
        "failed": {"after": {500: "loading"}},
        "ready": {},
    }
    machine = create_machine({"id": "m", "initial": "idle", "states": states}, actors={"load": from_task(lambda: None)})

    [path] = get_simple_paths(machine, to_state=lambda snapshot: snapshot.matches("failed"))

    assert str(path) == "idle -- GO --> loading -- error l --> failed"


def test_input_reaches_the_machine():
    machine = create_machine({"context": lambda given: {"n": given}})

    assert [path.state.context for path in get_shortest_paths(machine, input=3)] == [{"n": 3}]
    assert get_paths_from_events(machine, [], input=4)[0].state.context == {"n": 4}


def test_a_state_is_reached_once_however_much_time_its_timers_have_left():
    regions = {
        "pulse": {"initial": "on", "states": {"on": {"after": {10: {"target": "on", "reenter": True}}}}},
        "alarm": {"initial": "off", "states": {"off": {"after": {35: "on"}}, "on": {}}},
    }

    paths = get_shortest_paths(create_machine({"type": "parallel", "states": regions}))

    assert [path.weight for path in paths] == [0, 4]
