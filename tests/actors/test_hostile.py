"""Torn or hostile snapshots: restoring one is refused, or gives an actor that fully works."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from antiphon import (
    SimulatedClock,
    assign,
    create_actor,
    create_machine,
    from_callback,
    from_transition,
    raise_,
    send_to,
)
from antiphon.chart.errors import SnapshotError
from antiphon.chart.snapshot import Snapshot

KID = {
    "id": "kid",
    "context": {"n": 0},
    "initial": "x",
    "states": {"x": {"after": {30: "y"}, "on": {"POKE": {"actions": assign({"poked": True})}}}, "y": {}},
}
# What its context holds does not matter to this chart, so that no garbage in there can break it.
CHART = {
    "id": "m",
    "version": "1",
    "context": {"n": 0, "list": [1, {"deep": 2}], "ref": None},
    "type": "parallel",
    "states": {
        "p": {
            "initial": "out",
            "states": {
                "out": {"on": {"IN": "in.back"}},
                "in": {
                    "initial": "a",
                    "on": {"OUT": "out"},
                    "states": {
                        "a": {"on": {"NEXT": "b"}},
                        "b": {"initial": "b1", "states": {"b1": {"on": {"NEXT": "b2"}}, "b2": {"on": {"NEXT": "b1"}}}},
                        "back": {"type": "history", "history": "deep"},
                    },
                },
            },
        },
        "q": {
            "invoke": [
                {"src": "kid", "id": "k", "systemId": "s", "onSnapshot": {}},
                {"src": "count", "id": "r"},
                {"src": "bell", "id": "c"},
            ],
            "after": {50: {"actions": assign({"ticked": True})}},
            "on": {
                "ADOPT": {
                    "actions": assign({"ref": lambda context, event, *, scope: scope.spawn("kid", id="spawned")})
                },
                "POKE": {"actions": [send_to(id, {"type": "POKE"}) for id in ("k", "r", "c")]},
                "LATER": {
                    "actions": [send_to("k", {"type": "POKE"}, delay=20, id="l"), raise_({"type": "X"}, delay=5)]
                },
            },
        },
    },
}
MACHINE = create_machine(
    CHART,
    actors={
        "kid": create_machine(KID),
        "count": from_transition(lambda state, event: [event["type"]], []),
        "bell": from_callback(lambda: None),
    },
)
EVENTS = ["IN", "NEXT", "NEXT", "POKE", "LATER", "OUT", "IN"]


def full_snapshot() -> dict[str, Any]:
    """A persisted snapshot with every part that one can have."""
    clock = SimulatedClock()
    actor = create_actor(MACHINE, clock=clock).start()
    for type in ("IN", "NEXT", "NEXT", "OUT", "ADOPT", "POKE", "LATER"):
        actor.send({"type": type})
    snapshot: dict[str, Any] = json.loads(json.dumps(actor.get_persisted_snapshot(timers=True, stamp=True)))
    return snapshot


SAVED = full_snapshot()
DELETED = object()
REFERENCE = {"xstate$$type": 1, "id": "k"}
GARBAGE = [REFERENCE, DELETED, None, [], {}, "x", 7, True, -1.5, ["x"], [[{}]], {"a": [None, {"b": 1}]}, {"id": "zzz"}]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all values inside a value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in inner:
        yield (*path, key)
        yield from places(below, (*path, key))


def with_at(path: tuple[Any, ...], replacement: Any) -> dict[str, Any]:
    """The snapshot with something else at a place."""
    changed = copy.deepcopy(SAVED)
    target: Any = changed
    for key in path[:-1]:
        target = target[key]
    if replacement is DELETED:
        del target[path[-1]]
    else:
        target[path[-1]] = replacement
    return changed


def is_legal(snapshot: Any) -> bool:
    """Return whether compound states have one active child, parallel states all, and other states none."""
    active = set(snapshot.nodes)
    counts = {node: sum(child in active for child in node.states.values()) for node in active}
    expected = {node: {"compound": 1, "parallel": len(node.children)}.get(node.type, 0) for node in active}
    return counts == expected and not any(node.is_history for node in active)


def check(persisted: Any) -> None:
    """Restore a snapshot; if that is not refused, everything must work from then on."""
    clock = SimulatedClock()
    try:
        actor = create_actor(MACHINE, snapshot=persisted, clock=clock)
    except SnapshotError:
        return
    errors: list[Any] = []
    actor.subscribe(error=errors.append)
    was = actor.get_snapshot().status
    actor.start()
    walk(actor, clock)
    # Without an invoked child, which a chart may have stopped, sending to it is an error.
    if persisted["children"].keys() >= {"k", "r", "c"}:
        assert (was == "error") == bool(errors), errors
    json.dumps(actor.get_persisted_snapshot(timers=True, stamp=True))
    actor.stop()


def walk(actor: Any, clock: SimulatedClock) -> None:
    for type in EVENTS:
        snapshot = actor.get_snapshot()
        assert isinstance(snapshot, Snapshot), snapshot.error
        assert is_legal(snapshot), snapshot.value
        actor.send({"type": type})
    clock.increment(100)
    assert is_legal(actor.get_snapshot()), actor.get_snapshot().value


def test_snapshot_that_was_not_touched_is_restored():
    clock = SimulatedClock()
    actor = create_actor(MACHINE, snapshot=copy.deepcopy(SAVED), clock=clock)

    assert actor.get_snapshot().value == {"p": "out", "q": {}}
    assert [node.id for node in actor.get_snapshot().history["m.p.in.back"]] == ["m.p.in.b.b2"]
    check(SAVED)


@pytest.mark.parametrize("path", list(places(SAVED)), ids=lambda path: ".".join(map(str, path)))
def test_snapshot_with_garbage_in_one_place_is_refused_or_works(path):
    for replacement in GARBAGE:
        changed = with_at(path, replacement)
        try:
            check(changed)
        except Exception as error:
            change = "deleted" if replacement is DELETED else f"= {replacement!r}"
            raise AssertionError(f"{'.'.join(map(str, path))} {change}: {type(error).__name__}: {error}") from error


@pytest.mark.parametrize("garbage", [[], "x", 7, True, -1.5, [SAVED], {}, {"status": "active"}])
def test_what_is_no_snapshot_is_refused(garbage):
    with pytest.raises(SnapshotError):
        create_actor(MACHINE, snapshot=garbage)


@pytest.mark.parametrize(
    "value",
    [
        {"p": {"in": "back"}, "q": {}},
        {"p": {"out": {}, "in": "a"}, "q": {}},
        {"p": {"in": {"a": {}, "b": "b1"}}, "q": {}},
        {"p": {"out": "x"}, "q": {}},
        {"p": "out", "q": "q"},
        "p",
        {"p": "in"},
        {},
        "",
        {"p": {"in": {"b": "b1.b2"}}, "q": {}},
    ],
    ids=json.dumps,
)
def test_state_value_is_refused_or_completed_to_a_legal_one(value):
    check({**copy.deepcopy(SAVED), "value": value})


@pytest.mark.parametrize(
    "recalled",
    [
        ["m.p.in.b.b2", "m.p.in.a"],
        ["m.p.in.b.b1", "m.p.in.b.b2"],
        ["m.q"],
        ["m"],
        ["m.p.out"],
        ["m.p.in.back"],
        ["m.p.in.b"],
        [],
        ["#m.p.in.a"],
    ],
    ids=json.dumps,
)
def test_recalled_states_are_refused_or_lead_to_a_legal_state(recalled):
    history = {"m.p.in.back": [{"id": id} for id in recalled]}

    check({**copy.deepcopy(SAVED), "historyValue": history})


@pytest.mark.parametrize("id", ["m.p", "nobody", "", "m.p.in.b.b1"])
def test_history_of_what_is_no_history_state_is_refused_or_harmless(id):
    check({**copy.deepcopy(SAVED), "historyValue": {id: [{"id": "m.p.in.a"}]}})


@pytest.mark.parametrize("status", ["done", "error", "stopped"])
@pytest.mark.parametrize("path", [("status",), ("children", "k", "snapshot", "status")])
def test_ended_status_is_restored_as_it_is(path, status):
    actor = create_actor(MACHINE, snapshot=with_at(path, status), clock=SimulatedClock())

    snapshot = actor.get_snapshot() if len(path) == 1 else actor.get_snapshot().children["k"].get_snapshot()

    assert snapshot.status == status


def test_restored_actor_that_is_done_takes_no_more_events():
    actor = create_actor(MACHINE, snapshot=with_at(("status",), "done"), clock=SimulatedClock()).start()
    before = actor.get_snapshot()

    actor.send({"type": "IN"})

    assert actor.get_snapshot() is before


def test_refused_snapshot_leaves_no_child_running():
    ran = []
    machine = create_machine(
        {"id": "m", "invoke": [{"src": "bell", "id": "good"}, {"src": "kid", "id": "bad"}]},
        actors={"bell": from_callback(lambda: ran.append(1)), "kid": create_machine(KID)},
    )
    broken = create_actor(machine, clock=SimulatedClock()).start().get_persisted_snapshot()
    ran.clear()
    broken["children"]["bad"]["snapshot"]["value"] = "gone"

    with pytest.raises(SnapshotError, match="gone"):
        create_actor(machine, snapshot=broken, clock=SimulatedClock())

    assert ran == []


@pytest.mark.parametrize("path", [("value",), ("context", "list"), ("historyValue",), ("children",)])
def test_deeply_nested_garbage_is_refused_or_works(path):
    deep = json.loads('{"d":' * 900 + "{}" + "}" * 900)

    check(with_at(path, deep))
