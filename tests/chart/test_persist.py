"""Snapshots as JSON: what goes in, what is refused with its place, what comes back."""

import json
from math import isfinite

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon import (
    GrowingText,
    SimulatedClock,
    assign,
    create_actor,
    create_machine,
    from_task,
    from_transition,
    spawn_child,
)
from antiphon.chart.errors import SnapshotError
from antiphon.chart.persist import is_plain

NESTED = {
    "id": "m",
    "initial": "p",
    "states": {
        "p": {
            "initial": "a",
            "states": {
                "a": {"on": {"NEXT": "b"}},
                "b": {"initial": "b1", "states": {"b1": {"on": {"NEXT": "b2"}}, "b2": {}}},
                "shallow": {"type": "history"},
                "deep": {"type": "history", "history": "deep"},
            },
            "on": {"OUT": "out"},
        },
        "out": {"on": {"SHALLOW": "p.shallow", "DEEP": "p.deep"}},
    },
}


def persist(context):
    return create_actor(create_machine({"id": "m", "context": context})).get_persisted_snapshot()


@pytest.mark.parametrize(
    ("value", "place"),
    [
        (object(), "context.x: a object"),
        ({1, 2}, "context.x: a set"),
        ([1, {"y": b"bytes"}], r"context\.x\[1\]\.y: a bytes"),
        ({1: "one"}, "context.x: the key 1 is not a string"),
        (lambda: None, "context.x: a function"),
        (complex(1, 2), "context.x: a complex"),
    ],
)
def test_what_json_cannot_hold_is_refused_with_its_place(value, place):
    with pytest.raises(SnapshotError, match=place):
        persist({"x": value})


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_numbers_that_json_has_not_are_refused(value):
    with pytest.raises(SnapshotError, match=r"context\.x"):
        persist({"x": value})


def test_context_that_is_json_already_is_not_copied():
    actor = create_actor(create_machine({"id": "m", "context": {"list": [1, {"deep": [True, None, 1.5]}]}}))

    assert actor.get_persisted_snapshot()["context"] is actor.get_snapshot().context


def test_tuples_become_lists_and_texts_become_strings():
    assert persist({"t": (1, (2,)), "x": [GrowingText("a") + "b"]})["context"] == {"t": [1, [2]], "x": ["ab"]}


def test_context_that_contains_itself_is_refused():
    loop = {}
    loop["self"] = loop

    with pytest.raises(SnapshotError):
        persist(loop)


def test_output_and_error_are_persisted():
    done = create_actor(
        create_machine({"initial": "f", "output": {"n": 1}, "states": {"f": {"type": "final"}}})
    ).start()
    failed = create_actor(create_machine({"on": {"E": {"actions": lambda: 1 / 0}}}))
    failed.subscribe(error=lambda error: None)
    failed.start().send({"type": "E"})

    assert done.get_persisted_snapshot()["output"] == {"n": 1}
    assert failed.get_persisted_snapshot()["error"] == {"name": "ZeroDivisionError", "message": "division by zero"}


def test_restored_done_actor_still_knows_its_output():
    machine = create_machine({"initial": "f", "output": {"n": 1}, "states": {"f": {"type": "final"}}})
    saved = json.loads(json.dumps(create_actor(machine).start().get_persisted_snapshot()))
    ended = []

    actor = create_actor(machine, snapshot=saved)
    actor.subscribe(complete=lambda: ended.append(1))
    actor.start()

    assert (actor.get_snapshot().status, actor.get_snapshot().output, ended) == ("done", {"n": 1}, [1])


@pytest.mark.parametrize(("event", "value"), [("SHALLOW", {"p": {"b": "b1"}}), ("DEEP", {"p": {"b": "b2"}})])
def test_history_is_recalled_after_a_restart(event, value):
    machine = create_machine(NESTED)
    actor = create_actor(machine).start()
    for type in ("NEXT", "NEXT", "OUT"):
        actor.send({"type": type})
    saved = json.loads(json.dumps(actor.get_persisted_snapshot()))

    assert saved["historyValue"] == {"m.p.shallow": [{"id": "m.p.b"}], "m.p.deep": [{"id": "m.p.b.b2"}]}
    again = create_actor(machine, snapshot=saved).start()
    again.send({"type": event})
    assert again.get_snapshot().value == value


def test_restored_children_keep_their_state_and_are_started():
    counter = from_transition(lambda count, event: count + 1, 0)
    chart = {"entry": [spawn_child("count", id="b"), spawn_child("count", id="a")]}
    machine = create_machine(chart, actors={"count": counter})
    actor = create_actor(machine).start()
    actor.get_snapshot().children["a"].send({"type": "X"})

    again = create_actor(machine, snapshot=json.loads(json.dumps(actor.get_persisted_snapshot()))).start()
    again.get_snapshot().children["a"].send({"type": "X"})

    contexts = {id: ref.get_snapshot().context for id, ref in again.get_snapshot().children.items()}
    assert list(contexts.items()) == [("b", 0), ("a", 2)]


def test_restoring_runs_no_entry_actions():
    entered = []
    machine = create_machine({"entry": lambda: entered.append(1)})
    saved = create_actor(machine).get_persisted_snapshot()

    create_actor(machine, snapshot=saved).start()

    assert entered == []


def test_actor_that_was_not_started_can_be_persisted():
    machine = create_machine(
        {"id": "m", "context": {"n": 1}, "invoke": {"src": "kid"}}, actors={"kid": create_machine({})}
    )

    assert create_actor(machine, clock=SimulatedClock()).get_persisted_snapshot()["status"] == "active"


def test_references_deep_in_the_context_come_back_alive():
    def adopt(context, event, *, scope):
        return {"all": [{"ref": scope.spawn("kid", id="kid")}]}

    machine = create_machine({"on": {"ADOPT": {"actions": assign(adopt)}}}, actors={"kid": create_machine({})})
    actor = create_actor(machine).start()
    actor.send({"type": "ADOPT"})

    snapshot = create_actor(machine, snapshot=actor.get_persisted_snapshot()).get_snapshot()

    assert snapshot.context["all"][0]["ref"] is snapshot.children["kid"]


def test_reference_to_nobody_comes_back_as_nothing():
    saved = {**persist({}), "context": {"ref": {"xstate$$type": 1, "id": "gone"}}}

    snapshot = create_actor(create_machine({"id": "m"}), snapshot=saved).get_snapshot()

    assert snapshot.context == {"ref": None}


def test_input_of_a_task_must_be_json_too():
    machine = create_machine({"invoke": {"src": "work", "input": lambda: object()}}, actors={"work": from_task(print)})
    actor = create_actor(machine)

    with pytest.raises(SnapshotError, match="input: a object is not JSON"):
        actor.get_persisted_snapshot()


leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=2)
keys = st.text(max_size=2) | st.integers()
values = st.recursive(
    leaves | st.sampled_from([GrowingText("t"), b"", ()]),
    lambda inner: st.lists(inner, max_size=12) | st.dictionaries(keys, inner, max_size=12),
    max_leaves=40,
)


def naively(value):
    if isinstance(value, dict):
        return all(isinstance(key, str) and naively(inner) for key, inner in value.items())
    if isinstance(value, list):
        return all(map(naively, value))
    return value is None or isinstance(value, str | int) or (isinstance(value, float) and isfinite(value))


@given(values)
def test_what_is_json_as_it_is_can_be_told(value):
    assert is_plain(value) == naively(value)


@pytest.mark.parametrize("times", [1, 3, 12, 1_000])
def test_a_context_that_contains_itself_however_often_is_refused(times):
    value = []
    value.extend([value] * times)

    with pytest.raises(SnapshotError, match="contains itself"):
        persist({"x": value})
