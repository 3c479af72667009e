"""All problems of a chart in one pass."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.app import own_machines
from antiphon.chart.explore.lint import RULES, LintProblem, lint_chart
from antiphon.chart.machine import Machine
from antiphon.chart.names import Implementations

BROKEN = {
    "id": "m",
    "initial": "x",
    "extra": 1,
    "states": {
        "a": {"on": {"GO": "nowhere", "RUN": {"target": "#m.b", "acts": []}}, "entry": 5, "type": "odd"},
        "b": 3,
        "c.d": {"on": {"E": [{"target": "a", "guard": "g"}, {"target": "#gone"}]}},
    },
}


def chart(**states: Any) -> dict[str, Any]:
    return {"id": "m", "initial": "a", "states": states}


def rules_of(config: dict[str, Any]) -> list[tuple[str, str]]:
    return [(problem.rule, problem.path) for problem in lint_chart(config)]


@pytest.mark.parametrize("machine", own_machines(), ids=lambda machine: machine.id)
def test_the_machines_of_antiphon_have_no_problem(machine: Machine[Any, Any]) -> None:
    assert lint_chart(machine.config, machine.implementations) == []


def test_every_problem_of_a_broken_chart_is_reported_once() -> None:
    problems = lint_chart(BROKEN)

    assert sorted(problem.path for problem in problems) == [
        "",
        "initial",
        "states.a.entry",
        "states.a.on.GO.target",
        "states.a.on.RUN",
        "states.a.type",
        "states.b",
        "states.c.d.on.E[0].guard",
        "states.c.d.on.E[1].target",
    ]
    assert {problem.rule for problem in problems} == {"broken"}


def test_a_missing_initial_state_hides_no_other_problem() -> None:
    problems = lint_chart({"id": "m", "states": {"a": {"on": 5, "states": {"x": {"on": 7}}}, "b": {"on": {"E": "z"}}}})

    assert sorted(problem.path for problem in problems) == [
        "",
        "states.a",
        "states.a.on",
        "states.a.states.x.on",
        "states.b.on.E.target",
    ]


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (chart(a={"on": {"GO": "c"}}, b={"on": {"GO": "a"}}, c={"type": "final"}), [("never-entered", "states.b")]),
        (chart(a={"on": {"GO": ["b", {"target": "a"}]}}, b={"type": "final"}), [("never-taken", "states.a")]),
        (chart(a={"on": {"GO": "b"}}, b={}), [("dead-end", "states.b")]),
        (chart(a={"on": {"GO": "b"}}, b={"type": "final", "on": {"X": "a"}}), [("final-with-transitions", "states.b")]),
        (chart(a={"always": "b"}, b={"always": "a"}), [("endless", "states.a")]),
        (
            {**chart(a={"on": {"GO": "a"}}), "context": {"n": [1, float("nan")]}},
            [("unstorable-context", "context.n[1]")],
        ),
    ],
    ids=lambda value: value[0][0] if isinstance(value, list) else "",
)
def test_a_problem_of_the_structure_is_found(config: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert rules_of(config) == expected


def test_the_same_guard_with_other_parameters_is_another_one() -> None:
    def candidates(*levels: int) -> dict[str, Any]:
        guards = [{"type": "isAbove", "params": {"level": level}} for level in levels]
        states = {"a": {"on": {"GO": [{"target": "a", "guard": guard} for guard in guards]}}}
        return {"id": "m", "initial": "a", "states": states}

    def same(config: dict[str, Any]) -> int:
        return [problem.rule for problem in lint_chart(config)].count("same-guard")

    assert same(candidates(1, 2)) == 0
    assert same(candidates(1, 2, 1)) == 1


def test_a_circle_with_a_guard_may_end() -> None:
    assert "endless" not in dict(rules_of(chart(a={"always": "b"}, b={"always": {"target": "a", "guard": "g"}})))


def test_every_rule_is_described() -> None:
    assert all(RULES.values())
    assert LintProblem._fields == ("rule", "path", "text")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["a", "b", "#m.a", "g", "GO", "final"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "id",
                    "initial",
                    "states",
                    "on",
                    "always",
                    "after",
                    "invoke",
                    "target",
                    "guard",
                    "actions",
                    "type",
                    "a",
                    "b",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=25,
)


@given(st.dictionaries(st.sampled_from(["id", "initial", "states", "on", "context", "entry", "type"]), VALUES))
def test_any_json_object_is_checked_without_an_exception(config: dict[str, Any]) -> None:
    lint_chart(config)


@pytest.mark.parametrize(
    "config",
    [
        {"id": "counter", "on": {"ADD": {"actions": "add"}}},
        {"id": "child"},
        chart(a={"on": {"GO": "b"}}, b={"on": {"TICK": {"actions": "count"}}}),
    ],
    ids=["a machine without states", "a machine that only runs", "a state that reacts and stays"],
)
def test_a_machine_may_rest_where_it_reacts(config: dict[str, Any]) -> None:
    names = Implementations(actions={"add": print, "count": print})

    assert lint_chart(config, names) == []
