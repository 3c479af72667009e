"""Labels of transitions, events, guards, actions and states."""

import pytest

from antiphon import and_, assign, create_machine, from_task, not_, or_, state_in
from antiphon.chart.explore.labels import (
    EventLabels,
    action_labels,
    event_label,
    guard_label,
    invoke_label,
    move_label,
    transition_label,
    value_label,
    written_transitions,
)


def machine_with(**state):
    return create_machine({"id": "m", "initial": "a", "states": {"a": state, "b": {}}}, strict=False)


def only_transition(**state):
    [transition] = written_transitions(machine_with(**state).states["a"])
    return transition


def test_a_transition_is_event_guard_and_actions():
    transition = only_transition(on={"E": {"target": "b", "guard": "ready", "actions": ["one", {"type": "two"}]}})

    assert transition_label(transition) == "E [ready] / one, two"


def test_a_move_is_source_and_target():
    transition = only_transition(on={"E": {"target": "b", "guard": "ready", "actions": "one"}})

    assert move_label(transition) == "a → b [ready] / one"


def test_a_transition_without_target_stays_where_it_is():
    assert move_label(only_transition(on={"E": {"actions": "one"}})) == "a / one"


@pytest.mark.parametrize(
    ("state", "label"),
    [
        ({"always": "b"}, "always"),
        ({"after": {500: "b"}}, "after 500 ms"),
        ({"after": {"2.5": "b"}}, "after 2.5 ms"),
        ({"after": {"soon": "b"}}, "after soon"),
        ({"initial": "x", "states": {"x": {}}, "onDone": "b"}, "done"),
        ({"invoke": {"src": "load", "onDone": "b"}}, "done load"),
        ({"invoke": {"src": "load", "id": "l", "onError": "b"}}, "error l"),
        ({"invoke": {"src": "load", "id": "l", "onSnapshot": "b"}}, "snapshot l"),
        ({"invoke": {"src": "load", "id": "l", "timeout": 5, "onTimeout": "b"}}, "timeout l"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_internal_events_have_everyday_names(state, label):
    assert transition_label(only_transition(**state)) == label


def test_an_internal_event_that_no_state_reacts_to_has_a_name_too():
    labels = EventLabels(machine_with().root)

    assert [labels[type] for type in ("GO", "xstate.error.actor.x", "xstate.stop")] == ["GO", "error x", "stop"]


def test_the_same_event_is_named_by_the_state_that_reacts_to_it():
    machine = machine_with(after={500: "b"})

    assert EventLabels(machine.root)["xstate.after.500.m.a"] == "after 500 ms"
    assert event_label("xstate.after.500.m.a", machine.states["b"]) == "after.500.m.a"


def test_guards_are_combined_in_words():
    guard = and_(["a", or_([not_("b"), state_in("#c")]), state_in({"d": "e"})])

    assert guard_label(guard) == 'a and (not b or in #c) and in {"d": "e"}'


def test_functions_are_called_by_their_names():
    def shout():
        pass

    assert action_labels([shout, lambda: None, assign({"n": 1}), {"type": "x"}]) == ["shout", "function", "assign", "x"]
    assert action_labels(None) == []


def test_an_invoked_actor_is_called_by_its_logic_and_its_own_name():
    child = create_machine({"id": "child"})
    invokes = [{"src": "load"}, {"src": "load", "id": "l"}, {"src": child}, {"src": from_task(lambda: None), "id": "t"}]
    node = machine_with(invoke=invokes).states["a"]

    assert [invoke_label(invoke, node) for invoke in node.invokes] == ["load", "load as l", "child", "actor as t"]


@pytest.mark.parametrize(
    ("value", "label"),
    [("a", "a"), ({"a": "b"}, "a.b"), ({"a": {"x": "y", "z": {}}}, "a.(x.y, z)"), ({}, "")],
    ids=str,
)
def test_a_state_value_fits_one_line(value, label):
    assert value_label(value) == label


def test_transitions_that_the_builder_added_are_not_written():
    invoke = {"src": "load", "id": "l", "timeout": 5, "onTimeout": "b"}

    [transition] = written_transitions(machine_with(invoke=invoke).states["a"])

    assert transition.event_type == "xstate.timeout.actor.l"
