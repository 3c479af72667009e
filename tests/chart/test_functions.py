"""Users' functions take what they ask for: fewer arguments than there are, `params`, or the keyword `scope`."""

from functools import partial

import pytest

from antiphon import assign, create_actor, create_machine, initial_transition, transition
from antiphon.chart.functions import from_input, full, plain, shape


class Thing:
    def method(self, context, event):
        return (context, event)

    def scoped(self, context, *, scope):
        return (context, scope)

    @classmethod
    def of_class(cls, context):
        return context

    @staticmethod
    def static(context, event, params):
        return (context, event, params)

    def __call__(self, context):
        return context


def of_all(context, event, params, *, scope):
    return (context, event, params, scope)


def any_number(*values):
    return values


@pytest.mark.parametrize(
    ("function", "gives"),
    [
        (lambda: "nothing", "nothing"),
        (lambda context: context, "C"),
        (lambda context, event: (context, event), ("C", "E")),
        (lambda context, event, params: (context, event, params), ("C", "E", "P")),
        (of_all, ("C", "E", "P", "S")),
        (lambda *, scope: scope, "S"),
        (lambda context, *, scope: (context, scope), ("C", "S")),
        (lambda context, event, scope: (context, event, scope), ("C", "E", "S")),
        (Thing().method, ("C", "E")),
        (Thing().scoped, ("C", "S")),
        (Thing().of_class, "C"),
        (Thing.static, ("C", "E", "P")),
        (Thing(), "C"),
        (any_number, ("C", "E")),
        (partial(of_all, "bound"), ("bound", "C", "E", "S")),
        (partial(lambda prefix, context, event: (prefix, context), "bound"), ("bound", "C")),
    ],
)
def test_function_is_given_what_it_takes(function, gives):
    assert full(function)("C", "E", "P", "S") == gives


def test_function_that_needs_no_more_is_called_directly():
    def action(context, event):
        return None

    assert plain(action) is action
    assert plain(lambda context, event, params: None) is None
    assert plain(lambda context, *, scope: None) is None


def test_shape_is_the_same_for_a_function_and_for_an_object_that_wraps_it():
    def with_default(context, event, params=None):
        return params

    class Wrapped:
        def __call__(self, context, event, params=None):
            return params

    assert shape(with_default).positional == shape(Wrapped()).positional == shape(partial(with_default)).positional


def test_optional_params_are_given():
    values = []

    def note(context, event, params=None):
        values.append(params)

    chart = {"entry": {"type": "note", "params": {"by": 1}}}
    create_actor(create_machine(chart, actions={"note": note})).start()

    assert values == [{"by": 1}]


def test_defaults_that_close_over_a_loop_are_kept():
    values = []
    actions = [lambda number=number: values.append(number) for number in range(3)]

    create_actor(create_machine({"entry": actions})).start()

    assert values == [0, 1, 2]


def test_context_factory_takes_input_or_scope_or_neither():
    assert from_input(lambda: "nothing")("I", "S") == "nothing"
    assert from_input(lambda given: given)("I", "S") == "I"
    assert from_input(lambda *, scope: scope)("I", "S") == "S"
    assert from_input(lambda given, *, scope: (given, scope))("I", "S") == ("I", "S")


def test_builtin_function_can_be_an_action():
    printed = []
    machine = create_machine({"entry": printed.append, "context": {"n": 1}})

    create_actor(machine).start()

    assert printed == [{"n": 1}]


def test_params_may_be_a_function_of_context_and_event():
    chart = {
        "context": {"n": 2},
        "on": {"E": {"actions": {"type": "add", "params": lambda context, event: event["by"]}}},
    }
    machine = create_machine(
        chart, actions={"add": assign({"n": lambda context, event, params: context["n"] + params})}
    )

    snapshot, _ = transition(machine, initial_transition(machine)[0], {"type": "E", "by": 5})

    assert snapshot.context == {"n": 7}


def test_guard_takes_params():
    chart = {
        "initial": "a",
        "states": {"a": {"on": {"E": {"guard": {"type": "atLeast", "params": {"n": 3}}, "target": "b"}}}, "b": {}},
    }
    machine = create_machine(chart, guards={"atLeast": lambda context, event, params: event["n"] >= params["n"]})
    snapshot, _ = initial_transition(machine)

    assert transition(machine, snapshot, {"type": "E", "n": 2})[0].value == "a"
    assert transition(machine, snapshot, {"type": "E", "n": 3})[0].value == "b"
