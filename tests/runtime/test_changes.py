"""A step is checked and digested by what it changes: unstorable values have a path, and equal steps equal digests."""

import json
import socket
import sys
from datetime import date, datetime
from enum import Enum
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon import assign, create_machine, emit, from_task, from_transition, raise_, spawn_child
from antiphon.chart.codecs import register_codec
from antiphon.chart.refs import ActorRef
from antiphon.chart.text import GrowingText
from antiphon.runtime.errors import Unstorable
from antiphon.runtime.machines import chart_hash
from antiphon.runtime.records import Letter, Origin
from antiphon.runtime.replay import changes, stored_values
from antiphon.runtime.replay.changes import ABSENT, CONTEXT, LIMIT, Changes, changed_positions, check, compare_dicts
from antiphon.runtime.tree import Tree
from tests.laws.charts import law


def new_tree(machine):
    """A tree that has taken its first step."""
    tree = Tree("r", machine, Origin("o", machine.id, machine.version, chart_hash(machine)), 1, 10**9)
    return tree, tree.start(1000).entries[0]


def take(tree, event, at=1000):
    """The entry of the step that takes an event."""
    batch = tree.new_batch(at)
    tree.take(Letter("l", "r", event, at, at), at, batch)
    return batch.entries[-1]


def changed(old, new):
    """The context values that the digest has."""
    values: list[Any] = []
    compare_dicts(old, new, CONTEXT, values)
    return dict(zip(values[::2], values[1::2], strict=True))


def setting(function, **context):
    """A machine that sets `x`."""
    return create_machine({"id": "m", "context": context, "on": {"SET": {"actions": assign({"x": function})}}})


class Plain:
    """A class without a codec."""


class Mood(Enum):
    """An enum without a codec."""

    CALM = 1


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (lambda: {"items": [0, 1, 2, {"when": Plain()}]}, r"context\.x\.items\[3\]\.when: a Plain cannot be stored"),
        (lambda: [1, float("nan")], r"context\.x\[1\]: nan cannot be stored"),
        (lambda: float("inf"), r"context\.x: inf cannot be stored"),
        (lambda: {"deep": {1: "one"}}, r"context\.x\.deep: the key 1 cannot be stored"),
        (lambda: (Plain(),), r"context\.x\[0\]: a Plain cannot be stored"),
        (lambda: {1, 2}, r"context\.x: a set cannot be stored"),
        (lambda: b"bytes", r"context\.x: a bytes cannot be stored"),
        (lambda: Mood.CALM, r"context\.x: a Mood cannot be stored"),
        (object, r"context\.x: an object cannot be stored"),
    ],
)
def test_value_that_cannot_be_stored_is_refused_in_its_step_with_its_path(value, problem):
    tree, _ = new_tree(setting(lambda context, event: value(), x=None))

    with pytest.raises(Unstorable, match=problem):
        take(tree, {"type": "SET"})


def test_socket_is_named_by_its_type():
    with socket.socket() as value, pytest.raises(Unstorable, match=r"context\.x: a socket cannot be stored"):
        check(value, "context.x")


def test_value_that_contains_itself_is_refused():
    endless: list[Any] = []
    endless.append(endless)

    with pytest.raises(Unstorable, match="contains itself"):
        check(endless, "context.x")


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        ({"context": lambda: {"x": Plain()}}, r"context\.x: a Plain"),
        ({"entry": emit({"type": "E", "x": [Plain()]})}, r"emitted event 'E'\.x\[0\]: a Plain"),
        ({"entry": emit({"type": "E", "x": float("nan")})}, r"emitted event 'E'\.x: nan"),
        ({"entry": raise_({"type": "E", "x": Plain()}, delay=5)}, r"event 'E'\.x: a Plain"),
        ({"invoke": {"src": "task", "input": lambda: {"x": Plain()}}}, r"input of 'task'\.x: a Plain"),
        ({"entry": spawn_child("reducer")}, r"context\.x: a Plain"),
        ({"entry": spawn_child("child")}, r"context\.x: a Plain"),
        ({"initial": "a", "states": {"a": {"type": "final"}}, "output": lambda: [Plain()]}, r"output\[0\]: a Plain"),
    ],
)
def test_everything_that_a_step_stores_is_checked(config, problem):
    actors = {
        "task": from_task(print),
        "reducer": from_transition(lambda state, event: state, lambda: {"x": Plain()}),
        "child": create_machine({"id": "child", "context": lambda: {"x": Plain()}}),
    }

    with pytest.raises(Unstorable, match=problem):
        new_tree(create_machine({"id": "m", **config}, actors=actors))


def test_values_with_codecs_references_texts_and_errors_are_storable():
    @register_codec
    class Colour(Enum):
        RED = 1

    child = create_machine({"id": "child"})
    context = {"ref": lambda context, event, scope: scope.spawn("child"), "text": GrowingText("a"), "red": Colour.RED}
    times = {"at": datetime(2026, 1, 2), "on": [date(2026, 1, 2)], "error": ValueError("no"), "pair": (1, 2)}
    config = {"id": "m", "on": {"SET": {"actions": assign({**context, **times})}}}
    tree, _ = new_tree(create_machine(config, actors={"child": child}))

    assert take(tree, {"type": "SET"}).digest is not None


@pytest.mark.parametrize("size", [5, 500])
def test_equal_number_of_an_unstorable_type_is_refused_where_all_items_are_new(size):
    old = {"x": list(range(1000, 1000 + size))}

    with pytest.raises(Unstorable, match="Fraction"):
        changed(old, {"x": [Fraction(number) for number in old["x"]]})


# A step costs what it changes


def visits(old, new):
    """How many functions are called to compare two contexts."""
    count = 0

    def on_event(frame, kind, argument):
        nonlocal count
        count += kind == "call" and frame.f_code.co_name not in ("<lambda>",)

    sys.setprofile(on_event)
    try:
        compare_dicts(old, new, CONTEXT, [])
    finally:
        sys.setprofile(None)
    return count


def messages(count):
    """Different small dicts."""
    return [{"role": "user", "text": f"message {number}", "parts": [{"n": number}]} for number in range(count)]


@pytest.mark.parametrize(
    "step",
    [
        lambda items: [*items, {"role": "user", "text": "new"}],
        lambda items: [*items[1:], {"role": "user", "text": "new"}],
        lambda items: [*items[:50], {**items[50], "text": "edited"}, *items[51:]],
        lambda items: [*items[:50], *items[51:]],
        lambda items: items[:40],
        lambda items: [{"role": "user", "text": "new"}, *items],
        lambda items: [*items[:50], *items[51:-10], *items[-9:]],
    ],
    ids=["append", "slide", "edit", "remove", "cut", "prepend", "remove two"],
)
def test_changing_a_list_visits_as_few_objects_however_long_it_is(step):
    short = messages(100)
    long = messages(20_000)
    few = visits({"items": short}, {"items": step(short)})
    many = visits({"items": long}, {"items": step(long)})

    assert few < 250
    assert many < few + 60


@pytest.mark.parametrize("key", ["k50", "new"])
def test_changing_one_value_of_a_large_dict_visits_as_few_objects_however_large_it_is(key):
    def table(size):
        return {f"k{number}": {"n": [number]} for number in range(size)}

    short = table(100)
    long = table(20_000)

    assert visits({"table": short}, {"table": {**short, key: {"n": [0]}}}) < 100
    assert visits({"table": long}, {"table": {**long, key: {"n": [0]}}}) < 140


def test_deep_change_visits_only_the_path_to_it():
    threads = [{"messages": messages(1000), "title": f"t{number}"} for number in range(20)]
    edited = {**threads[7], "messages": [*threads[7]["messages"], {"text": "new"}]}

    assert visits({"threads": threads}, {"threads": [*threads[:7], edited, *threads[8:]]}) < 80


def test_weighing_stops_at_the_limit(monkeypatch):
    weighed = []
    weigh = stored_values.weigh
    monkeypatch.setattr(stored_values, "weigh", lambda value, room: (weighed.append(value), weigh(value, room))[1])

    stored_values.weigh(messages(10_000), LIMIT)
    changed({"items": messages(10)}, {"items": messages(10_000)})

    assert len(weighed) < 400


def test_actor_that_took_no_part_is_not_looked_at():
    child = setting(lambda context, event: event["v"], x=0)
    config = {"id": "m", "context": {}, "invoke": [{"id": f"c{i}", "src": "child"} for i in range(5)]}
    tree, _ = new_tree(create_machine(config, actors={"child": child}))
    tree.host.begin(2, 1000)
    actor = tree.actor.snapshot.children["c3"].actor
    actor.system.relay(None, actor, {"type": "SET", "v": 1})

    assert list(tree.host.previous) == [actor]
    assert tree.host.changes().values == ["c3", "context.x", 1]


@pytest.mark.parametrize("size", [3, 40, 400])
def test_new_items_are_found_wherever_they_are(size):
    old = [[number] for number in range(size)]
    new = [[-1]]

    assert list(changed_positions(old, [*new, *old])) == [0]
    assert list(changed_positions(old, [*old, *new])) == [size]
    assert list(changed_positions(old, [*old[:1], *new, *old[2:]])) == [1]
    assert list(changed_positions(old, [*old[2:], *new])) == [size - 2]
    assert list(changed_positions(old, old[1:])) == []
    assert list(changed_positions([], old)) == list(range(size))
    assert list(changed_positions(old, [])) == []


# The digest


def test_digest_has_the_changed_values_and_lengths_of_large_ones():
    large = "x" * (LIMIT + 1)
    old = {"same": 1, "n": 1, "gone": 2, "text": "a", "items": [1], "nested": {"a": 1, "b": 2}}
    new = {"same": 1, "n": 2, "text": large, "items": [large, 2], "nested": {"a": 1, "b": 3}, "added": {"k": "v"}}

    assert changed(old, new) == {
        "context.n": 2,
        "context.gone": (),
        "context.text": (LIMIT + 1,),
        "context.items": (2,),
        "context.nested.b": 3,
        "context.added": {"k": "v"},
    }


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (1, True),
        (None, 0),
        ("a", "b"),
        ([1, 2], [2, 1]),
        ({"a": 1}, [1]),
        (ABSENT, None),
        ([{"a": 1}], [{"a": 2}]),
        ("x" * 2000, "x" * 2001),
        ([0] * 600, [0] * 601),
        (0.5, 0.25),
        (GrowingText("ab"), GrowingText("abc")),
    ],
)
def test_different_values_change_the_digest(old, new):
    assert changed({} if old is ABSENT else {"x": old}, {"x": new}) != {}


def test_large_lists_of_one_length_are_equal_in_the_digest():
    assert changed({"x": [1] * 600, "y": ["a" * 2000]}, {"x": [2] * 600, "y": ["b" * 2000]}) == {}


def moved(structure, values):
    """A digest of changes."""
    made = Changes({}, [], None)
    made.structure += structure
    made.values += values
    return made.digest


def test_digest_is_the_same_in_every_release():
    # Stored entries have it: a change of the format has to keep the old one for them.
    values = ["n", 1, "x", 0.5, "text", "é\ud83e", "list", [1, None, True, {"k": -(2**70)}], "long", (2000,)]

    assert moved([], []) == "."
    assert moved(["", "open"], []) == "fee7e712."
    assert moved(["", "open"], ["n", 1]) == "fee7e712.a86890e1"
    assert moved(["a/b", None, "done", 0, "cancel x of a", "task", "a", "src"], values) == "6b67105b.c9570750"


def test_context_values_and_structure_have_their_own_part_of_the_digest():
    move = {"target": "b", "actions": assign({"x": lambda context, event: event["v"]})}
    config = {"id": "m", "context": {"x": 0}, "initial": "a", "states": {"a": {"on": {"GO": move}}, "b": {}}}

    def digest(event, **options):
        return take(new_tree(create_machine({**config, **options}))[0], event).digest.split(".")

    structure, values = digest({"type": "GO", "v": 1})
    assert digest({"type": "GO", "v": 2})[0] == structure
    assert digest({"type": "GO", "v": 2})[1] != values
    other = {**config["states"], "a": {"on": {"GO": {**move, "target": "a"}}}}
    assert digest({"type": "GO", "v": 1}, states=other) == ["", values]


@pytest.mark.parametrize(
    "more",
    [
        {"entry": emit({"type": "E"})},
        {"entry": emit({"type": "E", "x": 1})},
        {"entry": raise_({"type": "E"}, delay=5)},
        {"entry": raise_({"type": "E"}, delay=6)},
        {"entry": raise_({"type": "E"}, delay=5, id="timer")},
        {"invoke": {"src": "task", "id": "t"}},
        {"invoke": {"src": "child", "id": "t"}},
        {"after": {5: "c"}},
        {"type": "final"},
    ],
    ids=str,
)
def test_every_effect_of_a_step_is_in_the_digest(more):
    def digest(state):
        states = {"a": {"on": {"GO": "b"}}, "b": state, "c": {}}
        actors = {"task": from_task(print), "child": create_machine({"id": "child"})}
        machine = create_machine({"id": "m", "initial": "a", "states": states}, actors=actors)
        return take(new_tree(machine)[0], {"type": "GO"}).digest

    assert digest(more) != digest({})


def test_end_of_a_timer_and_of_a_task_is_in_the_digest():
    def digest(**state):
        actors = {"task": from_task(print)}
        states = {"a": {"on": {"GO": "b"}, **state}, "b": {}}
        machine = create_machine({"id": "m", "initial": "a", "states": states}, actors=actors)
        return take(new_tree(machine)[0], {"type": "GO"}).digest

    digests = {digest(), digest(after={5: "b"}), digest(invoke={"src": "task", "id": "t"})}
    assert len(digests) == 3


def test_structure_has_states_statuses_children_timers_and_tasks():
    states = {
        "a": {"on": {"GO": "b"}},
        "b": {"invoke": {"src": "task", "id": "t"}, "after": {5: "c"}, "on": {"GO": "c"}},
        "c": {"type": "final"},
    }
    tree, _ = new_tree(create_machine({"id": "m", "initial": "a", "states": states}, actors={"task": from_task(print)}))

    def structure(seq):
        tree.host.begin(seq, 1000)
        tree.actor.system.relay(None, tree.actor, {"type": "GO"})
        return tree.host.changes().structure

    timer = "xstate.after.5.m.b"
    assert structure(2) == ["", "b", "active", 1, "timer", "", "", timer, timer, "task", "t", "task"]
    assert structure(3) == ["", "c", "done", 0, f"cancel {timer} of ", "stop t"]


# The digest depends on values only


def test_order_of_parallel_states_makes_no_difference():
    one = {"b": "x", "a": {"d": "y", "c": "z"}}
    other = {"a": {"c": "z", "d": "y"}, "b": "x"}

    assert str(changes._states(one)) == str(changes._states(other))


def test_reference_to_an_actor_is_as_good_as_none_because_the_actor_may_have_ended():
    ref = ActorRef("child", "child", None)

    assert changed({"x": ref, "y": None, "z": [ref]}, {"x": None, "y": ref, "z": [None]}) == {}


def contexts():
    """Contexts with values that are of another kind, or other objects, once they were stored and read."""
    texts = st.text(max_size=3) | st.integers(1000, 1030).map(lambda size: "x" * size)
    numbers = st.booleans() | st.integers(-2, 2) | st.sampled_from([0.5, 1.0])
    leaves = st.none() | numbers | texts | texts.map(GrowingText)
    inner = st.recursive(
        leaves,
        lambda part: (
            st.lists(part, max_size=4)
            | st.lists(part, max_size=3).map(tuple)
            | st.dictionaries(st.sampled_from("abc"), part, max_size=3)
            | st.lists(part, min_size=40, max_size=60)
        ),
        max_leaves=12,
    )
    return st.dictionaries(st.sampled_from("pqrs"), inner, max_size=4)


def read_again(value):
    """A value as it is once it was stored and read."""
    if isinstance(value, dict):
        return {key: read_again(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [read_again(inner) for inner in value]
    return str(value) if isinstance(value, GrowingText) else json.loads(json.dumps(value))


def share(old, new):
    """`new`, with those parts of `old` that are equal."""
    if type(old) is type(new) and old == new and read_again(old) == read_again(new):
        return old
    if isinstance(new, dict) and isinstance(old, dict):
        return {key: share(old.get(key), value) for key, value in new.items()}
    if isinstance(new, list) and isinstance(old, list):
        return [share(old[i] if i < len(old) else None, value) for i, value in enumerate(new)]
    return new


@law(400)
@given(contexts(), contexts())
def test_digest_is_the_same_for_values_that_were_stored_and_read(old, new):
    def digest(old, new):
        values: list[Any] = []
        compare_dicts(old, new, CONTEXT, values)
        return moved([], values)

    expected = digest(read_again(old), read_again(new))
    assert digest(old, new) == expected
    assert digest(read_again(old), new) == expected
    assert digest(old, share(old, new)) == expected


@law(100)
@given(contexts())
def test_equal_contexts_have_an_empty_digest(context):
    assert changed(context, read_again(context)) == {}
