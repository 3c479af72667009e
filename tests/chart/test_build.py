"""A chart that cannot be built says where it is wrong, what is there, and what would have been right."""

import pytest

from antiphon import and_, create_machine, from_callback, not_, or_, spawn_child
from antiphon.chart.errors import ChartError, EngineError


def build_error(chart, **names):
    """Return the error of building a chart."""
    with pytest.raises(ChartError) as caught:
        create_machine({"id": "m", **chart}, **names)
    return caught.value


def around(state):
    """A chart with one odd state in it."""
    return {"initial": "a", "states": {"a": state, "b": {}}}


def test_message_has_machine_place_problem_and_known_names():
    error = build_error(around({"on": {"GO": {"actions": ["walk", "fly"]}}}), actions={"walk": print, "run": print})

    assert str(error) == "m: states.a.on.GO.actions[1]: no action named 'fly'; known: run, walk"
    assert (error.chart_id, error.path) == ("m", "states.a.on.GO.actions[1]")
    assert (error.problem, error.known) == ("no action named 'fly'", ("run", "walk"))


def test_chart_error_is_an_engine_error():
    assert issubclass(ChartError, EngineError)


@pytest.mark.parametrize(
    ("state", "path", "problem", "known"),
    [
        ({"on": {"GO": "c"}}, "states.a.on.GO.target", "no state named 'c' inside 'm'", ("a", "b")),
        ({"on": {"GO": "b.c"}}, "states.a.on.GO.target", "no state named 'c' inside 'm.b'", ()),
        ({"on": {"GO": ".c"}}, "states.a.on.GO.target", "no state named 'c' inside 'm.a'", ()),
        ({"on": {"GO": "#c"}}, "states.a.on.GO.target", "no state of machine 'm' has the id 'c'", ("m", "m.a", "m.b")),
        ({"on": {"GO": ["b", "c"]}}, "states.a.on.GO[1].target", "no state named 'c' inside 'm'", ("a", "b")),
        ({"on": {"GO": {"target": ["b", "c"]}}}, "states.a.on.GO.target", "no state named 'c'", ("a", "b")),
        ({"on": {"GO": {"target": 7}}}, "states.a.on.GO.target", "a target is a string, not 7", ()),
        ({"always": {"target": "c"}}, "states.a.always.target", "no state named 'c'", ("a", "b")),
        ({"after": {10: "c"}}, "states.a.after.10.target", "no state named 'c'", ("a", "b")),
        ({"onDone": "c"}, "states.a.onDone.target", "no state named 'c'", ("a", "b")),
    ],
)
def test_unknown_target(state, path, problem, known):
    error = build_error(around(state))

    assert (error.path, error.known) == (path, known)
    assert problem in error.problem


@pytest.mark.parametrize(
    ("state", "path"),
    [
        ({"entry": "fly"}, "states.a.entry"),
        ({"exit": ["fly"]}, "states.a.exit[0]"),
        ({"entry": {"type": "fly"}}, "states.a.entry"),
        ({"on": {"GO": {"actions": "fly"}}}, "states.a.on.GO.actions"),
        ({"on": {"GO": [{}, {"actions": "fly"}]}}, "states.a.on.GO[1].actions"),
        ({"always": {"actions": "fly", "guard": "ok"}}, "states.a.always.actions"),
        ({"invoke": {"src": "kid", "onDone": {"actions": "fly"}}}, "states.a.invoke.onDone.actions"),
        (
            {"invoke": [{"src": "kid"}, {"src": "kid", "onError": {"actions": "fly"}}]},
            "states.a.invoke[1].onError.actions",
        ),
        ({"initial": {"target": "x", "actions": "fly"}, "states": {"x": {}}}, "states.a.initial.actions"),
    ],
)
def test_unknown_action(state, path):
    names = {"actions": {"walk": print}, "guards": {"ok": bool}, "actors": {"kid": from_callback(print)}}

    error = build_error(around(state), **names)

    assert (error.path, error.problem, error.known) == (path, "no action named 'fly'", ("walk",))


@pytest.mark.parametrize(
    "guard", ["maybe", {"type": "maybe"}, not_("maybe"), and_(["sure", "maybe"]), or_([not_("maybe"), "sure"])]
)
def test_unknown_guard(guard):
    error = build_error(around({"on": {"GO": {"guard": guard}}}), guards={"sure": bool})

    assert (error.path, error.problem) == ("states.a.on.GO.guard", "no guard named 'maybe'")
    assert error.known == ("sure",)


def test_unknown_actor():
    error = build_error(around({"invoke": {"src": "ghost"}}), actors={"kid": from_callback(print)})

    assert (error.path, error.problem) == ("states.a.invoke.src", "no actor named 'ghost'")
    assert error.known == ("kid",)


def test_unknown_actor_of_a_spawn():
    error = build_error(around({"entry": [spawn_child("ghost")]}), actors={"kid": from_callback(print)})

    assert error.path == "states.a.entry[0]"
    assert (error.problem, error.known) == ("no actor named 'ghost'", ("kid",))


def test_invoke_without_an_actor():
    error = build_error(around({"invoke": {"id": "kid"}}), actors={"kid": from_callback(print)})

    assert error.path == "states.a.invoke.src"
    assert error.known == ("kid",)


def test_unknown_delay():
    error = build_error(around({"after": {"soon": "b"}}), delays={"later": 10})

    assert (error.path, error.problem, error.known) == ("states.a.after.soon", "no delay named 'soon'", ("later",))


def test_negative_delay():
    error = build_error(around({"after": {-5: "b"}}))

    assert (error.path, error.problem) == ("states.a.after.-5", "a delay cannot be negative: -5")


@pytest.mark.parametrize(
    ("chart", "path"),
    [
        ({"states": 7}, "states"),
        ({"on": 7}, "on"),
        ({"on": []}, "on"),
        ({"on": {"GO": 7}}, "on.GO"),
        ({"on": {"GO": [7]}}, "on.GO[0]"),
        ({"after": []}, "after"),
        ({"always": 7}, "always"),
        ({"invoke": "kid"}, "invoke"),
        ({"initial": "a", "states": {"a": 7}}, "states.a"),
        ({"initial": "a", "states": {"a": []}}, "states.a"),
        ({"options": 7}, "options"),
        ({"options": []}, "options"),
        ({"id": 7}, "id"),
        ({"initial": 7, "states": {"a": {}}}, "initial"),
        ({"initial": ["a"], "states": {"a": {}}}, "initial"),
        ({"initial": {"target": ["a"]}, "states": {"a": {}}}, "initial"),
        ({"type": 7}, "type"),
        ({"type": []}, "type"),
        ({"entry": 7}, "entry"),
        ({"entry": [{}]}, "entry[0]"),
        ({"entry": {"type": 7}}, "entry"),
        ({"on": {"GO": {"guard": 7}}}, "on.GO.guard"),
        ({"on": {"GO": {"guard": {}}}}, "on.GO.guard"),
        ({"on": {"GO": {"guard": {"type": []}}}}, "on.GO.guard"),
        ({"tags": 7}, "tags"),
        ({"tags": [7]}, "tags"),
        ({"context": 7}, "context"),
        ({"context": []}, "context"),
        ({"initial": "a", "states": {"a": {}, "h": {"type": "history", "target": 7}}}, "states.h.target"),
        ({"initial": "a", "states": {"a": {}, "h": {"history": []}}}, "states.h.history"),
        ({"initial": "a", "states": {"a": {"id": "x", "route": 7}}}, "states.a.route"),
        ({"invoke": {"src": "kid", "id": 7}}, "invoke.id"),
        ({"invoke": {"src": "kid", "systemId": 7}}, "invoke.systemId"),
        ({"on": {"GO": {"reenter": "yes"}}}, "on.GO.reenter"),
        ({"type": "history"}, ""),
    ],
    ids=repr,
)
def test_value_of_the_wrong_type(chart, path):
    error = build_error(chart, actors={"kid": from_callback(print)})

    assert error.path == path


@pytest.mark.parametrize("chart", [None, 7, "chart", [], object()])
def test_what_is_no_chart(chart):
    with pytest.raises(ChartError, match="a chart is a mapping"):
        create_machine(chart)


def test_duplicate_id():
    error = build_error({"initial": "a", "states": {"a": {"id": "x"}, "b": {"id": "x"}}})

    assert (error.path, error.problem) == ("states.b.id", "the id 'x' is taken by another state")


def test_id_of_the_machine_taken_by_a_state():
    assert build_error({"initial": "a", "states": {"a": {"id": "m"}}}).path == "states.a.id"


def test_missing_initial_state():
    error = build_error({"initial": "a", "states": {"a": {"states": {"x": {}, "y": {}}}}})

    assert error.path == "states.a"
    assert "the compound state 'm.a' has no initial state" in error.problem
    assert "add 'initial': 'x'" in error.problem


def test_unknown_initial_state():
    error = build_error({"initial": "c", "states": {"a": {}, "b": {}}})

    assert (error.path, error.problem, error.known) == ("initial", "no state named 'c' inside", ("a", "b"))


@pytest.mark.parametrize(
    ("state", "path", "key"),
    [
        ({"On": {}}, "states.a", "On"),
        ({"context": {}}, "states.a", "context"),
        ({"on": {"GO": {"cond": "x"}}}, "states.a.on.GO", "cond"),
        ({"invoke": {"src": "kid", "data": 1}}, "states.a.invoke", "data"),
        ({"initial": {"target": "x", "guard": "y"}, "states": {"x": {}}}, "states.a.initial", "guard"),
    ],
)
def test_unknown_key(state, path, key):
    error = build_error(around(state), actors={"kid": from_callback(print)})

    assert (error.path, error.problem) == (path, f"unknown key {key!r}")
    assert error.known


def test_unknown_key_of_the_root_and_of_its_options():
    assert build_error({"inital": "a"}).problem == "unknown key 'inital'"
    assert "initial" in build_error({"inital": "a"}).known
    assert build_error({"options": {"maxIteration": 5}}).path == "options"
    assert build_error({"options": {"maxIteration": 5}}).known == ("maxIterations", "regionLocal", "scxml")


def test_unknown_state_type_and_kind_of_history():
    error = build_error(around({"type": "compuond"}))
    assert (error.path, error.problem) == ("states.a.type", "no state type named 'compuond'")
    assert error.known == ("atomic", "compound", "final", "history", "parallel")

    assert build_error(around({"type": "history", "history": "full"})).known == ("deep", "shallow")


def test_states_inside_a_final_state():
    error = build_error(around({"type": "final", "states": {"x": {}}}))

    assert (error.path, error.problem) == ("states.a.type", "a state of type 'final' cannot have child states")


def test_initial_of_a_parallel_state():
    assert build_error(around({"type": "parallel", "initial": "x", "states": {"x": {}}})).path == "states.a.initial"


def test_compound_state_without_states():
    assert build_error(around({"type": "compound"})).path == "states.a"


@pytest.mark.parametrize("most", [0, -1, "many", True, None, [], float("nan")])
def test_wrong_bound_on_rounds(most):
    assert build_error({"options": {"maxIterations": most}}).path == "options.maxIterations"


def test_first_of_several_problems_is_reported():
    assert build_error({"initial": "a", "states": {"a": {"on": {"GO": "x"}, "entry": "fly"}}}).path.startswith(
        "states.a."
    )


def test_relaxed_machine_takes_unknown_names_and_keys():
    chart = {"initial": "a", "wat": 1, "states": {"a": {"entry": "fly", "on": {"GO": {"guard": "maybe"}}}}}

    assert create_machine(chart, strict=False).id == "(machine)"


def test_relaxed_machine_still_refuses_unknown_targets():
    with pytest.raises(ChartError, match="does not exist"):
        create_machine({"initial": "a", "states": {"a": {"on": {"GO": "x"}}}}, strict=False)
