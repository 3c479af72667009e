"""Functions that cannot be called as a machine calls them, and functions as actors, are refused when it is built."""

from functools import partial

import pytest

from antiphon import (
    and_,
    assign,
    create_machine,
    enqueue_actions,
    from_callback,
    not_,
    or_,
    raise_,
    send_to,
    setup,
    spawn_child,
)
from antiphon.chart.errors import ChartError


def build_error(chart, **names):
    """Return the error of building a chart."""
    with pytest.raises(ChartError) as caught:
        create_machine({"id": "m", **chart}, **names)
    return caught.value


def around(state):
    """A chart with one odd state in it."""
    return {"initial": "a", "states": {"a": state, "b": {}}}


async def later(context, event):
    """An action that would never be awaited."""


async def many(context, event):
    """An async generator."""
    yield context


def parts(context, event):
    """A generator function."""
    yield context


def too_many(context, event, params, more):
    """A function of more arguments than there are."""


def with_option(context, event, *, option):
    """A function with a keyword argument that is not offered."""


class Later:
    async def __call__(self, context, event):
        """Do nothing."""

    async def method(self, context, event):
        """Do nothing."""

    def too_many(self, context, event, params, more):
        """Do nothing."""


UNFIT = {
    "coroutine": (later, "is async"),
    "async generator": (many, "is async"),
    "generator": (parts, "is a generator function"),
    "partial": (partial(later, {}), "is async"),
    "callable object": (Later(), "is async"),
    "async method": (Later().method, "is async"),
    "four arguments": (too_many, "needs 4 arguments (context, event, params, more), but gets at most 3"),
    "method of four arguments": (Later().too_many, "needs 4 arguments (context, event, params, more)"),
    "lambda of four arguments": (lambda a, b, c, d: True, "needs 4 arguments (a, b, c, d)"),
    "five arguments of which one is bound": (partial(lambda a, b, c, d, e: 1, 1), "needs 4 arguments (b, c, d, e)"),
    "rest after four arguments": (lambda a, b, c, d, *rest: True, "needs 4 arguments (a, b, c, d)"),
    "keyword argument": (with_option, "needs the keyword argument 'option'"),
    "scope by position only": (lambda context, scope, /: True, "takes 'scope' by position only"),
}
FIT = [
    print,
    dict,
    lambda: True,
    lambda *values: True,
    lambda context, event, params, scope: True,
    lambda context, event, params, more=1: True,
    lambda context, event, /, *, scope, option=1: True,
    partial(lambda a, b, c, d: True, 1),
    partial(with_option, option=1),
    Later().__init__,
]
# The places of functions in a chart, each with its path.
PLACES = {
    "states.a.entry": lambda function: {"entry": function},
    "states.a.exit[1]": lambda function: {"exit": [print, function]},
    "states.a.on.GO[1].actions[0]": lambda function: {"on": {"GO": ["b", {"actions": [function]}]}},
    "states.a.on.GO[1].guard": lambda function: {"on": {"GO": ["b", {"target": "b", "guard": function}]}},
    "states.a.always.guard": lambda function: {"always": {"target": "b", "guard": and_([not_(or_([function]))])}},
    "states.a.on.GO.actions": lambda function: {"on": {"GO": {"actions": assign({"n": function})}}},
    "states.a.on.GO.actions[0]": lambda function: {"on": {"GO": {"actions": [assign(function)]}}},
    "states.a.entry[0]": lambda function: {"entry": [raise_({"type": "X"}, delay=function)]},
    "states.a.entry[1]": lambda function: {"entry": [print, enqueue_actions(function)]},
    "states.a.entry[2]": lambda function: {"entry": [print, print, send_to("x", function)]},
    "states.a.entry[3]": lambda function: {"entry": [print, print, print, spawn_child("actor", input=function)]},
    "states.a.on.GO.actions.params": lambda function: {"on": {"GO": {"actions": {"type": "act", "params": function}}}},
    "states.a.on.GO.guard.params": lambda function: {"on": {"GO": {"guard": {"type": "test", "params": function}}}},
    "states.a.invoke.input": lambda function: {"invoke": {"src": "actor", "input": function}},
    "states.a.invoke[0].timeout": lambda function: {
        "invoke": [{"src": "actor", "timeout": function, "onTimeout": "b"}]
    },
    "states.a.output": lambda function: {"type": "final", "output": function},
}
NAMES = {"actions": {"act": print}, "guards": {"test": lambda: True}, "actors": {"actor": from_callback(print)}}


@pytest.mark.parametrize("path", PLACES)
def test_a_function_that_cannot_be_called_is_refused_in_its_place(path):
    for function, problem in UNFIT.values():
        error = build_error(around(PLACES[path](function)), **NAMES)

        assert error.path == path
        if path != "states.a.entry[1]" or "arguments" not in problem:
            assert problem in error.problem


@pytest.mark.parametrize("path", PLACES)
def test_a_function_that_can_be_called_is_accepted_in_every_place(path):
    for function in FIT:
        create_machine({"id": "m", **around(PLACES[path](function))}, **NAMES)


@pytest.mark.parametrize("kind", UNFIT)
def test_a_named_function_that_cannot_be_called_is_refused_where_the_chart_names_it(kind):
    function, problem = UNFIT[kind]
    chart = around({"on": {"GO": [{"guard": "f", "actions": "f", "target": "b"}]}, "after": {"f": "b"}})

    acting = build_error(chart, actions={"f": function}, guards={"f": print}, delays={"f": 1})
    guarded = build_error(chart, actions={"f": print}, guards={"f": function}, delays={"f": 1})
    delayed = build_error(chart, actions={"f": print}, guards={"f": print}, delays={"f": function})

    assert (acting.path, acting.problem) == ("states.a.on.GO[0].actions", f"the action 'f' {acting.problem[15:]}")
    assert (guarded.path, guarded.problem) == ("states.a.on.GO[0].guard", f"the guard 'f' {guarded.problem[14:]}")
    assert delayed.path == "states.a.after.f"
    assert all(problem in error.problem for error in (acting, guarded, delayed))


@pytest.mark.parametrize(
    ("names", "path"),
    [
        ({"actions": {"f": later}}, "actions.f"),
        ({"actions": {"f": assign({"n": later})}}, "actions.f"),
        ({"guards": {"f": later}}, "guards.f"),
        ({"guards": {"f": and_(["g", not_(later)])}}, "guards.f"),
        ({"delays": {"f": later}}, "delays.f"),
        ({"actors": {"f": later}}, "actors.f"),
        ({"actions": {"f": spawn_child(later)}}, "actions.f"),
    ],
)
def test_a_function_that_no_state_names_is_refused_too(names, path):
    assert build_error(around({}), **names).path == path
    with pytest.raises(ChartError, match=path):
        setup(**names).create_machine(around({}))
    with pytest.raises(ChartError, match=path):
        create_machine(around({})).provide(**names)


def test_the_message_says_why_a_function_is_refused():
    error = build_error(around({"on": {"GO": {"guard": "test"}}}), guards={"test": too_many})

    assert str(error) == (
        "m: states.a.on.GO.guard: the guard 'test' needs 4 arguments (context, event, params, more), "
        "but gets at most 3 (context, event, params) and the keyword argument scope"
    )


def test_a_context_factory_gets_one_argument():
    create_machine({"context": lambda value, *, scope: {}})

    error = build_error({"context": lambda value, more: {}})

    assert (error.path, "needs 2 arguments (value, more), but gets at most 1" in error.problem) == ("context", True)
    assert "is async" in build_error({"context": later}).problem


@pytest.mark.parametrize(
    ("state", "path"),
    [
        ({"invoke": {"src": "work"}}, "states.a.invoke.src"),
        ({"invoke": [{"src": later}]}, "states.a.invoke[0].src"),
        ({"entry": spawn_child(later)}, "states.a.entry"),
    ],
)
def test_a_bare_function_as_an_actor_is_refused(state, path):
    error = build_error(around(state), actors={"work": later})

    assert error.path == path
    assert "the function 'later' is not actor logic; make it that with from_task(later)" in error.problem


def test_a_class_as_an_actor_is_refused():
    error = build_error(around({"invoke": {"src": "work"}}), actors={"work": Later})

    assert error.problem == "the class 'Later' is not actor logic; create an instance of it"


def test_a_relaxed_machine_takes_functions_of_any_kind():
    chart = around({"entry": later, "on": {"GO": {"guard": too_many, "target": "b"}}, "invoke": {"src": later}})

    assert create_machine(chart, strict=False).events == ["GO"]
