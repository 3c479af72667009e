"""Charts without the functions that are written into them."""

from antiphon import and_, assign, create_machine, get_transition_paths, not_, raise_, state_in
from antiphon.chart.explore.choices import Choices, open_guards
from antiphon.chart.explore.structure import without_functions


def is_ready(context):
    raise AssertionError("it is not called")


def test_computed_values_are_left_out():
    chart = {"context": is_ready, "output": is_ready, "invoke": {"src": "work", "input": is_ready}, "tags": ["a"]}

    assert without_functions(chart) == {"invoke": {"src": "work"}, "tags": ["a"]}


def test_actions_that_call_functions_are_left_out():
    go = raise_({"type": "GO"})
    chart = {"entry": [is_ready, "log", assign({"n": is_ready}), go], "exit": is_ready}

    assert without_functions(chart) == {"entry": ["log", go]}


def test_guards_keep_their_names():
    chart = {"always": [{"guard": is_ready, "target": "a"}, {"guard": {"type": "is", "params": is_ready}}]}

    assert without_functions(chart) == {"always": [{"guard": "is_ready", "target": "a"}, {"guard": {"type": "is"}}]}
    assert without_functions({"guard": and_([is_ready, not_("isOld"), state_in("a")])})["guard"] == and_(
        ["is_ready", not_("isOld"), state_in("a")]
    )


def test_a_machine_with_functions_in_its_chart_is_explored_without_them():
    chart = {
        "id": "m",
        "initial": "a",
        "context": is_ready,
        "states": {"a": {"on": {"GO": [{"guard": is_ready, "target": "b"}, "c"]}}, "b": {}, "c": {}},
    }
    choices = Choices()
    machine = create_machine(without_functions(chart), guards={"is_ready": bool})

    assert get_transition_paths(open_guards(machine, choices), choices=choices).is_complete
