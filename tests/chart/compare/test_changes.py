"""Changes between two charts, in words."""

import json

import pytest

from antiphon import create_machine
from antiphon.chart.compare.changes import compare_charts
from antiphon.chart.draw.difference import to_difference_svg
from antiphon.chart.errors import EngineError
from antiphon.runtime.machines import hash_alone
from tests.fixtures.charts import load_chart


def machine(config):
    return create_machine({"id": "m", "initial": "a", **config}, strict=False)


def changes(old, new):
    """The changes between the states of two charts, without places."""
    return [(change.kind, change.part, change.text) for change in compare_charts(machine(old), machine(new))]


def states(**nodes):
    return {"states": {"a": {}, "b": {}, **nodes}}


def test_a_chart_is_the_same_as_itself():
    chart = load_chart("debate")

    assert compare_charts(create_machine(chart, strict=False), create_machine(chart, strict=False)) == []


def test_a_new_state_is_named_with_its_transitions():
    assert changes(states(), states(c={"type": "final"}, d={"on": {"GO": "a"}})) == [
        ("added", "state", "c (final)"),
        ("added", "state", "d"),
        ("added", "transition", "GO → a"),
    ]


def test_a_state_that_is_gone_is_named():
    assert changes(states(c={"on": {"GO": "a"}}), states()) == [("removed", "state", "c")]


def test_a_state_with_the_same_key_elsewhere_has_moved_with_the_states_inside():
    inner = {"initial": "x", "states": {"x": {"on": {"GO": "y"}}, "y": {}}}

    assert changes(states(c=inner), {"states": {"a": {}, "b": {"initial": "c", "states": {"c": inner}}}}) == [
        ("changed", "type", "type atomic → compound"),
        ("changed", "initial", "initial none → b.c"),
        ("moved", "state", "c → b.c"),
    ]


def test_a_state_of_another_type_has_not_moved():
    assert changes(states(c={}), {"states": {"a": {}, "b": {"initial": "c", "states": {"c": {"type": "final"}}}}})[
        -1
    ] == ("removed", "state", "c")


def test_a_key_that_is_there_twice_says_nothing_about_a_move():
    old = {"states": {"a": {"initial": "x", "states": {"x": {}}}, "b": {"initial": "x", "states": {"x": {}}}}}

    assert ("added", "state", "x") in changes(old, states(x={}))


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        ("b", None, ("removed", "GO → b")),
        (None, {"target": "b", "guard": "isReady"}, ("added", "GO [isReady] → b")),
        (
            {"target": "b", "guard": {"type": "is", "params": {"n": 1}}},
            {"target": "b", "guard": {"type": "is", "params": {"n": 2}}},
            ("changed", "GO [is(n: 1)] → b: guard is(n: 1) → is(n: 2)"),
        ),
        (
            {"target": "b", "actions": "log"},
            {"target": "b", "actions": ["log", {"type": "add", "params": {"n": 1}}]},
            ("changed", 'GO / log → b: actions log → log, add({"n": 1})'),
        ),
        ("b", "a", ("changed", "GO → b: target b → a")),
        ("a", {"target": "a", "reenter": True}, ("changed", "GO → a: reenter none → yes")),
        ({"target": "b"}, {}, ("changed", "GO → b: target b → (ignored)")),
    ],
)
def test_a_transition_says_what_became_of_it(before, after, change):
    old = {"states": {"a": {"on": {} if before is None else {"GO": before}}, "b": {}}}
    new = {"states": {"a": {"on": {} if after is None else {"GO": after}}, "b": {}}}

    assert [(kind, text) for kind, _, text in changes(old, new)] == [change]


def test_the_order_of_candidates_is_a_change():
    first = {"target": "a", "guard": "g"}
    second = {"target": "b", "guard": "h"}
    old = {"states": {"a": {"on": {"GO": [first, second]}}, "b": {}}}
    new = {"states": {"a": {"on": {"GO": [second, first]}}, "b": {}}}

    assert changes(old, new) == [("changed", "transition", "GO: its transitions are tested in another order")]


def test_a_transition_that_another_state_has_now_was_moved():
    old = {"states": {"a": {"on": {"GO": "b"}}, "b": {}}}
    new = {"on": {"GO": ".b"}, "states": {"a": {}, "b": {}}}

    assert changes(old, new) == [("moved", "transition", "GO → b: from a to m")]


def test_a_delay_that_changed_is_one_change():
    old = {"states": {"a": {"after": {"1000": "b"}}, "b": {}}}
    new = {"states": {"a": {"after": {"2000": "b"}}, "b": {}}}

    assert changes(old, new) == [("changed", "transition", "after 1000 ms → b: now after 2000 ms")]


def test_invoked_actors_actions_tags_and_context_are_compared():
    old = {"context": {"n": 1, "gone": 0}, **states(a={"invoke": {"src": "work", "input": 1}, "exit": "log"})}
    new = {
        "context": {"n": 2, "new": []},
        **states(a={"invoke": [{"src": "work", "input": 2}, {"src": "more"}], "entry": "log", "tags": ["busy"]}),
    }

    assert changes(old, new) == [
        ("changed", "context", "context.n 1 → 2"),
        ("removed", "context", "context.gone"),
        ("added", "context", "context.new = []"),
        ("changed", "tags", "tags none → busy"),
        ("changed", "entry", "entry none → log"),
        ("changed", "exit", "exit log → none"),
        ("changed", "invoke", "invoke work: input 1 → 2"),
        ("added", "invoke", "invoke more"),
    ]


def test_texts_for_people_are_no_change():
    assert changes(states(), {"description": "new", **states(a={"meta": {"x": 1}, "description": "new"})}) == []


def test_the_picture_shows_additions_and_what_is_gone():
    old = machine({"states": {"a": {"on": {"GO": "b"}}, "b": {}}})
    new = machine({"states": {"a": {"on": {"LEAVE": "c"}}, "c": {}}})
    picture = to_difference_svg(old, new)

    assert '<rect class="box added"' in picture
    assert '<rect class="box removed"' in picture
    assert 'class="row removed"' in picture
    assert ">GO → b</text>" in picture


def smaller(value):
    """The value with one part taken away, in every way."""
    if isinstance(value, dict):
        for key, inner in value.items():
            rest = {name: part for name, part in value.items() if name != key}
            yield rest
            yield from ({**value, key: part} for part in smaller(inner))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield [*value[:index], *value[index + 1 :]]
            yield from ([*value[:index], part, *value[index + 1 :]] for part in smaller(inner))


@pytest.mark.parametrize("name", ["permission", "streaming", "tools"])
def test_whatever_changes_the_behaviour_of_a_chart_is_a_change(name):
    whole = create_machine(load_chart(name), strict=False)
    tried = 0
    for chart in smaller(load_chart(name)):
        try:
            part = create_machine(chart, strict=False)
            differs = hash_alone(part) != hash_alone(whole)
        except (EngineError, KeyError):
            continue  # not a chart any more
        tried += 1
        assert bool(compare_charts(whole, part)) == differs, json.dumps(chart)

    assert tried > 50
