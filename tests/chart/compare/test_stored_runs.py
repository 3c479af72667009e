"""Consequences of a changed chart for stored runs."""

from antiphon import create_machine
from antiphon.chart.compare.stored_runs import find_consequences


def machine(states, **config):
    return create_machine({"id": "m", "initial": next(iter(states)), "states": states, **config}, strict=False)


def consequences(old, new):
    return [(each.part, each.text) for each in find_consequences(old, new)]


def test_a_chart_that_only_grew_has_no_consequences():
    assert consequences(machine({"a": {}}), machine({"a": {"on": {"GO": "b"}}, "b": {}})) == []


def test_a_state_that_is_gone_does_not_restore():
    assert consequences(machine({"a": {}, "b": {}}), machine({"a": {}})) == [
        ("value", "runs in b do not restore: no state named 'b' inside 'm'")
    ]


def test_a_state_that_moved_does_not_restore():
    nested = {"initial": "b", "states": {"b": {}}}

    assert consequences(machine({"a": {}, "b": {}}), machine({"a": nested})) == [
        ("value", "runs in a continue in a.b, without its entry actions"),
        ("value", "runs in b do not restore: no state named 'b' inside 'm'"),
    ]


def test_a_region_that_is_gone_does_not_restore():
    old = machine({"p": {"type": "parallel", "states": {"x": {}, "y": {}}}})
    new = machine({"p": {"type": "parallel", "states": {"x": {}}}})

    assert {part for part, _ in consequences(old, new)} == {"value"}


def test_histories_that_are_gone_or_recall_other_states_do_not_restore():
    old = machine({"a": {"initial": "x", "states": {"x": {}, "y": {"id": "why"}, "h": {"type": "history"}}}})
    renamed = machine({"a": {"initial": "x", "states": {"x": {}, "y": {}, "h": {"type": "history"}}}})
    gone = machine({"a": {"initial": "x", "states": {"x": {}, "y": {"id": "why"}}}})

    assert consequences(old, renamed) == [
        ("history", "runs for which a.h remembers a.y do not restore: it is not there any more")
    ]
    assert consequences(old, gone) == [("history", "runs that a.h remembers a state for do not restore: it is gone")]


def test_children_and_timers_are_known_by_their_ids():
    old = machine({"a": {"invoke": {"src": "work", "id": "w"}, "after": {"1000": "b"}}, "b": {}})
    new = machine({"a": {"invoke": {"src": "work", "id": "v"}, "after": {"2000": "b"}}, "b": {}})

    assert consequences(old, new) == [
        ("invoke", "runs in a have a child work as w whose result nothing waits for"),
        ("invoke", "runs in a have no child work as v: it starts when the state is entered"),
        ("timer", "runs in a have a timer 'after 1000 ms' that nothing waits for"),
        ("timer", "runs in a have no timer 'after 2000 ms': it is set when the state is entered"),
    ]


def test_a_child_of_other_logic_is_a_consequence():
    old = machine({"a": {"invoke": {"src": "work", "id": "w"}}})
    new = machine({"a": {"invoke": {"src": "play", "id": "w"}}})

    assert consequences(old, new) == [
        ("invoke", "runs in a have a child work as w; its logic is 'play' now, and was 'work'")
    ]


def test_a_new_key_of_the_context_is_missing_in_stored_runs():
    old = machine({"a": {}}, context={"n": 1})

    assert consequences(old, machine({"a": {}}, context={"n": 1, "m": 2})) == [
        ("context", "stored runs have no context.m")
    ]


def test_another_id_is_another_machine():
    assert consequences(machine({"a": {}}), create_machine({"id": "n", "states": {}}))[0][0] == "id"


def test_every_state_of_a_chart_restores_with_the_same_chart():
    region = {
        "initial": "h",
        "states": {"h": {"type": "history"}, "x": {}, "y": {"type": "parallel", "states": {"z": {}}}},
    }
    nested = machine({"a": {}, "p": {"type": "parallel", "states": {"r": region, "s": region}}})

    assert consequences(nested, nested) == []


def test_a_history_recalls_only_states_inside_its_parent():
    history = {"h": {"type": "history"}}
    old = machine({"a": {"initial": "x", "states": {"x": {}, "y": {"id": "why"}, **history}}})
    new = machine({"a": {"initial": "x", "states": {"x": {}, **history}}, "y": {"id": "why"}})

    assert ("history", "runs for which a.h remembers a.y do not restore: it is not there any more") in consequences(
        old, new
    )
