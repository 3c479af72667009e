"""Read-only values: they are dicts and lists to every reader, and refuse every change."""

import copy
import json
import pickle

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon import assign, create_actor, create_machine
from antiphon.chart.frozen import FrozenDict, FrozenList, freeze

values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(codec="utf-8"), max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)

CHANGES = [
    lambda view: view["list"].append(1),
    lambda view: view["list"].extend([1]),
    lambda view: view["list"].insert(0, 1),
    lambda view: view["list"].pop(),
    lambda view: view["list"].remove(1),
    lambda view: view["list"].clear(),
    lambda view: view["list"].sort(),
    lambda view: view["list"].reverse(),
    lambda view: view["list"].__setitem__(0, 2),
    lambda view: view["list"].__setitem__(slice(None), []),
    lambda view: view["list"].__delitem__(0),
    lambda view: view["list"].__iadd__([1]),
    lambda view: view["list"].__imul__(2),
    lambda view: view["dict"].update(a=1),
    lambda view: view["dict"].setdefault("b", 1),
    lambda view: view["dict"].pop("a"),
    lambda view: view["dict"].popitem(),
    lambda view: view["dict"].clear(),
    lambda view: view["dict"].__setitem__("a", 2),
    lambda view: view["dict"].__delitem__("a"),
    lambda view: view["dict"].__ior__({"a": 2}),
    lambda view: view["list"][1]["deep"].append(1),
    lambda view: view["tuple"][0].append(1),
]


@given(values)
def test_a_read_only_value_is_equal_to_the_original_for_every_reader(value):
    view = freeze(value)

    assert view == value
    assert json.dumps(view) == json.dumps(value)
    assert orjson.dumps(view) == orjson.dumps(value)
    assert pickle.loads(pickle.dumps(view)) == value


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("protocol", [None, *range(2, pickle.HIGHEST_PROTOCOL + 1)])
def test_no_method_changes_a_read_only_value(change, protocol):
    value = {"list": [1, {"deep": []}], "dict": {"a": 1}, "tuple": ([],)}
    view = freeze(value) if protocol is None else pickle.loads(pickle.dumps(freeze(value), protocol))

    with pytest.raises(TypeError, match=r"read-only .* assign, or change a copy"):
        change(view)
    assert view == value


def test_no_method_was_forgotten():
    readers = {"copy", "count", "fromkeys", "get", "index", "items", "keys", "values"}
    for frozen, plain in ((FrozenDict, dict), (FrozenList, list)):
        public = {name for name in dir(plain) if not name.startswith("_")}
        inherited = {name for name in public if getattr(frozen, name) is getattr(plain, name) or name == "fromkeys"}

        assert inherited == public & readers


@given(values)
def test_a_deep_copy_can_be_changed_throughout(value):
    mutable = copy.deepcopy(freeze(value))

    assert mutable == value
    assert {FrozenDict, FrozenList}.isdisjoint(kinds(mutable))


def kinds(value):
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return {type(value)}.union(*map(kinds, inner))


def test_a_shallow_copy_is_plain():
    view = freeze({"a": [1]})

    assert {type(x) for x in (view.copy(), {**view}, view | {}, copy.copy(view))} == {dict}
    assert {type(x) for x in (view["a"].copy(), [*view["a"]], view["a"] + [], copy.copy(view["a"]))} == {list}


def test_the_original_can_change_without_effect():
    value = {"list": [1], "dict": {}}
    view = freeze(value)
    value["list"].append(2)
    value["dict"]["a"] = 1

    assert view == {"list": [1], "dict": {}}


def test_the_context_of_a_machine_cannot_be_changed_by_one_of_its_actors():
    def spoil(context, event):
        context["items"].append(event["item"])

    machine = create_machine(
        {"id": "m", "context": {"items": []}, "on": {"SPOIL": {"actions": "spoil"}}}, actions={"spoil": spoil}
    )
    actor = create_actor(machine)
    actor.subscribe(error=lambda error: None)
    actor.start().send({"type": "SPOIL", "item": 1})

    assert actor.get_snapshot().status == "error"
    assert create_actor(machine).start().get_snapshot().context == {"items": []}


def test_a_chart_that_changes_after_it_was_built_changes_no_actor():
    config = {"id": "m", "context": {"items": []}}
    machine = create_machine(config)
    config["context"]["items"].append(1)

    assert create_actor(machine).start().get_snapshot().context == {"items": []}


def test_the_context_after_an_assign_is_a_plain_dict():
    machine = create_machine(
        {"id": "m", "context": {"n": 0, "items": []}, "on": {"ADD": {"actions": "add"}}},
        actions={"add": assign({"n": lambda context, event: context["n"] + 1})},
    )
    actor = create_actor(machine).start()
    actor.send({"type": "ADD"})

    assert type(actor.get_snapshot().context) is dict
    assert actor.get_snapshot().context == {"n": 1, "items": []}
