"""A machine's definition has the keys and shapes that XState's `machine.toJSON()` has."""

import json
from pathlib import Path

import pytest

from antiphon import (
    and_,
    assign,
    create_machine,
    from_task,
    initial_transition,
    not_,
    or_,
    raise_,
    state_in,
    transition,
)
from antiphon.chart.definition import to_json, written_chart
from antiphon.chart.errors import ChartError
from antiphon.chart.text import GrowingText

# Made by xstate 5.33.3: a chart with everything in it, and what its toJSON() gave.
FROM_XSTATE = json.loads((Path(__file__).parent / "xstate-definition.json").read_text())
FLAT = {"id": "m", "initial": "a", "states": {"a": {}}}


def test_a_definition_is_the_one_that_xstate_gives():
    machine = create_machine(FROM_XSTATE["config"], strict=False)

    assert to_json(machine) == FROM_XSTATE["definition"]


def test_a_definition_survives_json():
    definition = to_json(create_machine(FROM_XSTATE["config"], strict=False))

    assert json.loads(json.dumps(definition)) == definition


def test_a_definition_leaves_out_what_is_absent():
    definition = to_json(create_machine(FLAT))

    assert list(definition) == [
        "id", "key", "type", "initial", "history", "states", "on", "transitions", "entry", "exit", "order", "invoke",
        "tags",
    ]  # fmt: skip


def test_a_transition_names_its_source_and_its_targets():
    config = {"target": "b", "guard": "g", "actions": ["x", {"type": "y", "params": {"p": 1}}], "meta": {"q": 1}}
    chart = {"id": "m", "initial": "a", "states": {"a": {"on": {"E": {**config, "description": "d"}}}, "b": {}}}

    definition = to_json(create_machine(chart, strict=False))

    assert definition["states"]["a"]["on"]["E"] == [
        {
            "target": ["#m.b"],
            "guard": "g",
            "actions": ["x", {"type": "y", "params": {"p": 1}}],
            "meta": {"q": 1},
            "description": "d",
            "source": "#m.a",
            "reenter": False,
            "eventType": "E",
        }
    ]


def test_orders_count_states_in_the_document_and_the_root_has_none():
    chart = {"initial": "a", "states": {"a": {"initial": "a1", "states": {"a1": {}}}, "b": {}}}

    definition = to_json(create_machine(chart))

    a = definition["states"]["a"]
    b = definition["states"]["b"]
    assert (definition["order"], a["order"], a["states"]["a1"]["order"], b["order"]) == (-1, 1, 2, 3)


def test_functions_keep_their_names_and_nothing_else():
    def shout():
        pass

    def is_loud():
        return True

    chart = {"on": {"E": {"guard": is_loud, "actions": [shout, assign({"n": 1}), raise_({"type": "F"})]}}}

    [definition] = to_json(create_machine(chart))["on"]["E"]

    assert definition["guard"] == {"type": "is_loud"}
    assert definition["actions"] == [{"type": "shout"}, {"type": "xstate.assign"}, {"type": "xstate.raise"}]


def test_combined_guards_are_written_out():
    guard = and_(["a", or_(["b", not_("c")]), state_in("#m.x")])
    chart = {"id": "m", "initial": "x", "states": {"x": {}}, "on": {"E": {"guard": guard}}}

    [definition] = to_json(create_machine(chart, strict=False))["on"]["E"]

    inner = {"type": "xstate.or", "guards": ["b", {"type": "xstate.not", "guards": ["c"]}]}
    inside = {"type": "xstate.stateIn", "params": {"stateValue": "#m.x"}}
    assert definition["guard"] == {"type": "xstate.and", "guards": ["a", inner, inside]}


def test_values_that_are_functions_are_left_out():
    invoke = {"src": from_task(lambda: None), "input": {"kept": 1, "gone": lambda context: 2}}
    chart = {"id": "m", "output": lambda context: 1, "meta": [lambda: 1, GrowingText("text")], "invoke": invoke}

    definition = to_json(create_machine(chart))

    assert "output" not in definition
    assert definition["meta"] == [None, "text"]
    assert definition["invoke"] == [
        {"src": "xstate.invoke.0.m", "input": {"kept": 1}, "type": "xstate.invoke", "id": "0.m"}
    ]


def test_a_delay_may_be_a_fraction():
    chart = {"id": "m", "initial": "a", "states": {"a": {"after": {"0.5": "b"}}, "b": {}}}

    [definition] = to_json(create_machine(chart))["states"]["a"]["transitions"]

    assert (definition["delay"], definition["eventType"]) == (0.5, "xstate.after.0.5.m.a")


def test_what_json_cannot_hold_is_refused_with_its_place():
    machine = create_machine({"id": "m", "initial": "a", "states": {"a": {"meta": {"when": {1, 2}}}}})

    with pytest.raises(ChartError, match=r"m: #m\.a meta\.when: a set cannot be written as JSON"):
        to_json(machine)


def test_a_machine_made_again_from_its_chart_behaves_the_same():
    guards = {"g": lambda: True, "never": lambda: False}
    machine = create_machine(FROM_XSTATE["config"], guards=guards, strict=False)
    again = create_machine(json.loads(json.dumps(machine.config)), guards=guards, strict=False)

    walked = [initial_transition(version)[0] for version in (machine, again)]
    for event in ("NOTHING", "RESET", "error.io", "xstate.after.500.m.a", "GO"):
        walked = [transition(version.machine, version, {"type": event})[0] for version in walked]

        assert walked[0].value == walked[1].value
    assert to_json(again) == to_json(machine)


def test_a_chart_is_written_as_it_was_with_names_for_functions():
    def may(context):
        return True

    guards = [and_(["a", may]), or_(["a", not_("b")]), state_in("#m.a")]
    chart = {
        **FLAT,
        "context": {"text": GrowingText("abc"), "n": 1, "none": None},
        "entry": [assign({"n": 2}), {"type": "note", "params": {"deep": ["x"]}}],
        "on": {"GO": [{"target": ".a", "guard": guard} for guard in guards]},
        "always": ({"guard": may},),
    }
    machine = create_machine(chart, guards={"a": may, "b": may}, actions={"note": lambda: None})

    assert json.loads(json.dumps(written_chart(machine))) == {
        **FLAT,
        "context": {"text": "abc", "n": 1, "none": None},
        "entry": ["xstate.assign", {"type": "note", "params": {"deep": ["x"]}}],
        "on": {
            "GO": [
                {"target": ".a", "guard": {"type": "and", "guards": ["a", "may"]}},
                {"target": ".a", "guard": {"type": "or", "guards": ["a", {"type": "not", "guards": ["b"]}]}},
                {"target": ".a", "guard": {"type": "stateIn", "params": {"stateValue": "#m.a"}}},
            ]
        },
        "always": [{"guard": "may"}],
    }


def test_a_chart_without_an_id_gets_that_of_its_machine():
    assert written_chart(create_machine({"initial": "a", "states": {"a": {}}}))["id"] == "(machine)"
