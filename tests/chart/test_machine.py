"""Machines: functions bound to a chart's names, and questions that can be asked of them and of their snapshots."""

import pytest

from antiphon import assign, create_actor, create_machine, from_callback, initial_transition, transition
from antiphon.chart.errors import ChartError, EngineError

CHART = {
    "id": "m",
    "version": "7",
    "context": {"n": 0},
    "initial": "a",
    "states": {
        "a": {"tags": ["calm"], "meta": 1, "on": {"GO": {"target": "b", "guard": "may"}, "NO": {}}},
        "b": {"id": "bee", "initial": "x", "tags": "busy", "states": {"x": {"tags": ["busy", "deep"]}, "y": {}}},
    },
}


def machine(**more):
    return create_machine(CHART, guards={"may": lambda context, event: event.get("ok", True)}, **more)


def test_machine_knows_its_names():
    assert (machine().id, machine().version, list(machine().states)) == ("m", "7", ["a", "b"])
    assert repr(machine()) == "Machine('m')"


def test_nodes_are_found_by_id():
    built = machine()

    assert built.get_state_node_by_id("m.a") is built.states["a"]
    assert built.get_state_node_by_id("#bee.x") is built.states["b"].states["x"]
    with pytest.raises(EngineError, match="no state of machine 'm' has the id 'nobody'"):
        built.get_state_node_by_id("nobody")


def test_chart_may_be_shared_between_machines_and_stays_as_it_was():
    before = repr(CHART)

    for _ in range(2):
        actor = create_actor(machine()).start()
        actor.send({"type": "GO"})

    assert repr(CHART) == before


def test_provided_machine_has_new_functions_and_the_old_one_its_own():
    refusing = machine().provide(guards={"may": lambda: False})
    snapshot, _ = initial_transition(refusing)

    assert transition(refusing, snapshot, {"type": "GO"})[0].value == "a"
    assert transition(machine(), initial_transition(machine())[0], {"type": "GO"})[0].value == {"b": "x"}


def test_provided_machine_is_checked_as_well():
    with pytest.raises(ChartError, match="no guard named 'may'"):
        create_machine(CHART)

    relaxed = create_machine(CHART, strict=False)
    assert relaxed.provide(guards={"may": lambda: True}).strict is False


def test_inline_actors_survive_providing():
    ran = []
    first = create_machine({"invoke": {"src": from_callback(lambda: ran.append(1))}})

    create_actor(first.provide(actions={})).start()

    assert ran == [1]


def test_value_is_resolved_to_a_snapshot():
    snapshot = machine().resolve_state({"b": "y"}, context={"n": 5})

    assert (snapshot.value, snapshot.context, snapshot.status) == ({"b": "y"}, {"n": 5}, "active")
    assert snapshot.matches("b.y")


@pytest.mark.parametrize("value", ["zzz", {"b": "zzz"}, {"zzz": {}}, 7, None, ["a"], {"a": {}, "b": {}}])
def test_value_that_is_none_is_refused(value):
    with pytest.raises(EngineError):
        machine().resolve_state(value)


def test_snapshot_answers_what_it_matches():
    snapshot = machine().resolve_state({"b": "x"})

    assert all(snapshot.matches(value) for value in ("b", "b.x", {"b": "x"}))
    assert not any(snapshot.matches(value) for value in ("a", "b.y", {"b": "y"}, "x", "b.x.z"))


def test_snapshot_answers_which_tags_it_has():
    snapshot = machine().resolve_state({"b": "x"})

    assert snapshot.tags == {"busy", "deep"}
    assert snapshot.has_tag("deep")
    assert not snapshot.has_tag("calm")


def test_snapshot_answers_what_it_can_take():
    snapshot, _ = initial_transition(machine())

    assert snapshot.can({"type": "GO"})
    assert not snapshot.can({"type": "GO", "ok": False})
    assert not snapshot.can({"type": "NO"})
    assert not snapshot.can({"type": "UNKNOWN"})


def test_value_that_was_given_away_is_the_callers_to_change():
    snapshot = machine().resolve_state({"b": "x"})

    snapshot.value["b"] = "broken"

    assert snapshot.value == {"b": "x"}


def test_context_is_computed_from_the_input():
    built = create_machine({"context": lambda given: {"n": given}})

    assert initial_transition(built, 5)[0].context == {"n": 5}
    assert create_actor(built, input=6).get_snapshot().context == {"n": 6}


def test_assign_keeps_the_context_before_it():
    built = create_machine({"context": {"n": 0}, "on": {"E": {"actions": assign({"n": 1})}}})
    before, _ = initial_transition(built)

    after, _ = transition(built, before, {"type": "E"})

    assert (before.context, after.context) == ({"n": 0}, {"n": 1})


def test_two_machines_from_one_chart_share_no_memory():
    first = machine()
    second = machine()
    snapshot, _ = initial_transition(first)
    transition(first, snapshot, {"type": "GO"})

    assert first.tables is not second.tables
    assert second.tables.count == 0
