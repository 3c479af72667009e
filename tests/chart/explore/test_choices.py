"""Machines explored without their guards: every way is found, and each way only once."""

import pytest

from antiphon import create_machine, not_
from antiphon.chart.explore.choices import Choices, child_events, open_guards
from antiphon.chart.explore.coverage import get_transition_paths
from antiphon.chart.explore.paths import get_shortest_paths

DOOR = {
    "id": "door",
    "initial": "closed",
    "states": {
        "closed": {
            "on": {
                "OPEN": [
                    {"target": "open", "guard": {"type": "hasKey", "params": {"kind": "gold"}}},
                    {"target": "stuck", "guard": "isOld"},
                ]
            }
        },
        "open": {"on": {"CLOSE": "closed"}},
        "stuck": {},
    },
}


def explored(config):
    choices = Choices()
    return open_guards(create_machine(config, strict=False), choices), choices


def test_a_path_names_the_guards_that_hold():
    machine, choices = explored(DOOR)

    assert [str(path) for path in get_shortest_paths(machine, choices=choices)] == [
        "closed",
        "closed -- OPEN [isOld] --> stuck",
        "closed -- OPEN [hasKey(kind: gold)] --> open",
    ]


def test_every_transition_is_taken_whatever_its_guard_says():
    machine, choices = explored(DOOR)

    assert get_transition_paths(machine, choices=choices).is_complete


def test_guards_at_the_start_give_several_starts():
    machine, choices = explored(
        {"initial": "a", "states": {"a": {"always": [{"target": "b", "guard": "g"}, "c"]}, "b": {}, "c": {}}}
    )

    assert [str(path) for path in get_shortest_paths(machine, choices=choices)] == ["c", "b"]


def test_combined_guards_are_opened_too():
    machine, choices = explored(
        {"initial": "a", "states": {"a": {"on": {"GO": {"target": "b", "guard": not_("g")}}}, "b": {}}}
    )

    assert [str(path) for path in get_shortest_paths(machine, choices=choices)] == ["a", "a -- GO --> b"]


def test_a_circle_of_guarded_transitions_ends():
    always = {"target": "a", "guard": "g"}
    machine, choices = explored(
        {"initial": "a", "states": {"a": {"always": {**always, "target": "b"}}, "b": {"always": always}}}
    )

    assert len(get_shortest_paths(machine, choices=choices)) == 2


@pytest.mark.parametrize("count", range(5))
def test_all_answers_are_given_once(count):
    choices = Choices()
    ways = [result for result, _ in choices.ways(lambda: tuple(choices.answer(str(at)) for at in range(count)))]

    assert len(ways) == len(set(ways)) == 2**count


def test_events_of_children_that_actions_start_are_offered():
    on = {"xstate.done.actor.*": "b", "xstate.error.actor.x": "b"}
    machine = create_machine(
        {"initial": "a", "states": {"a": {"on": on, "invoke": {"src": "s", "id": "y"}}, "b": {}}}, strict=False
    )

    assert [event["type"] for event in child_events(machine)] == ["xstate.done.actor.child", "xstate.error.actor.x"]
