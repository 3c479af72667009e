"""The API does what XState's does: the Python twin of every case in `api-golden.json`, its number in the docstring.

The results were translated by hand; `docs/xstate-api.md` says how each case reads in Python.
"""

import asyncio
import json
import re
import sys
from pathlib import Path

import pytest
from conformance.error_texts import is_same_error

import antiphon
from antiphon import (
    SimulatedClock,
    assign,
    create_actor,
    create_machine,
    emit,
    from_callback,
    from_stream,
    from_task,
    from_transition,
    get_initial_microsteps,
    get_microsteps,
    get_next_transitions,
    initial_transition,
    log,
    matches_state,
    raise_,
    send_to,
    spawn_child,
    to_awaitable,
    transition,
    wait_for,
)
from antiphon.actors.errors import NotRoot, WaitError
from antiphon.chart.errors import ChartError, EngineError, EventError, SnapshotError
from antiphon.chart.values import path_to_state_value
from tests.paths import DOCS

FLAT = {"initial": "a", "states": {"a": {"on": {"E": "b"}}, "b": {"on": {"E": "a"}}}}
ENDING = {"initial": "a", "states": {"a": {"on": {"F": "f"}}, "f": {"type": "final"}}}
SAVED = {"status": "active", "value": "a", "context": {}, "children": {}, "historyValue": {}}
PAGE = DOCS / "xstate-api.md"
RESULTS = {case["n"]: case["result"] for case in json.loads((Path(__file__).parent / "api-golden.json").read_text())}


def thrown(case):
    """The message of the error that XState threw in a case."""
    prefix, _, message = RESULTS[case].partition("throws: ")
    assert not prefix
    return message


def fail(message):
    raise RuntimeError(message)


async def forever():
    await asyncio.get_running_loop().create_future()


def types(items):
    return [item.type for item in items]


@pytest.fixture
def unhandled(monkeypatch):
    """The texts of the errors that actors report where no event loop runs."""
    texts = []
    monkeypatch.setattr(sys, "excepthook", lambda kind, error, trace: texts.append(str(error)))
    return texts


def outcome(main):
    """Run a coroutine function; gives its result and the texts of the errors that the loop was told of."""
    texts = []

    async def run():
        handler = asyncio.get_running_loop()
        handler.set_exception_handler(lambda loop, context: texts.append(str(context["exception"])))
        return await main()

    return asyncio.run(run()), texts


def test_every_case_has_a_twin_and_a_line_in_the_table():
    cases = list(RESULTS)

    docstrings = [str(item.__doc__) for name, item in globals().items() if name.startswith("test_")]
    assert sorted(re.findall(r"\bX\d+\b", " ".join(docstrings))) == sorted(cases)
    assert re.findall(r"^\| (X\d+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE) == cases


def test_unknown_sibling_as_target_is_refused():
    """X1."""
    with pytest.raises(ChartError) as refused:
        create_machine({"initial": "a", "states": {"a": {"on": {"E": "zzz"}}}})

    assert refused.value.path == "states.a.on.E.target"
    assert is_same_error(thrown("X1"), refused.value.problem)
    assert refused.value.known == ("a",)


def test_target_of_the_root_without_a_dot_is_refused_with_a_hint():
    """X2."""
    with pytest.raises(ChartError) as refused:
        create_machine({"on": {"E": "a"}, "initial": "a", "states": {"a": {}}})

    assert is_same_error(thrown("X2"), refused.value.problem)
    assert "write '.a' instead of 'a'" in refused.value.problem


def test_unknown_id_as_target_is_refused():
    """X3."""
    with pytest.raises(ChartError) as refused:
        create_machine({"initial": "a", "states": {"a": {"on": {"E": "#nope"}}}})

    assert is_same_error(thrown("X3"), refused.value.problem)


def test_compound_state_without_initial_is_refused():
    """X4."""
    with pytest.raises(ChartError) as refused:
        create_machine({"states": {"a": {}}})

    assert is_same_error(thrown("X4"), refused.value.problem)


def test_unknown_initial_state_is_refused_or_ends_the_actor_if_relaxed():
    """X5."""
    chart = {"initial": "zzz", "states": {"a": {}}}
    with pytest.raises(ChartError, match="no state named 'zzz' inside; known: a"):
        create_machine(chart)

    snapshot = create_actor(create_machine(chart, strict=False)).get_snapshot()

    assert snapshot.status == "error"
    assert is_same_error(RESULTS["X5"].partition(" error=")[2], str(snapshot.error))


def test_none_as_transition_forbids_the_event():
    """X6 and X7: Python has one nothing, and it means what `undefined` means in XState."""
    inner = {"initial": "c", "on": {"E": "q"}, "states": {"c": {"on": {"E": None}}}}
    actor = create_actor(create_machine({"initial": "p", "states": {"p": inner, "q": {}}})).start()

    actor.send({"type": "E"})

    assert actor.get_snapshot().value == {"p": "c"}


def test_empty_event_name_is_refused():
    """X8."""
    with pytest.raises(ChartError) as refused:
        create_machine({"initial": "a", "states": {"a": {"on": {"": "a"}}}})

    assert is_same_error(thrown("X8"), refused.value.problem)


def test_duplicate_ids_are_refused_unless_relaxed():
    """X9."""
    chart = {"initial": "a", "states": {"a": {"id": "x"}, "b": {"id": "x"}}}
    with pytest.raises(ChartError, match="the id 'x' is taken by another state"):
        create_machine(chart)

    assert create_machine(chart, strict=False).states.keys() == {"a", "b"}


def test_empty_target_is_no_target():
    """X10."""
    ran = []
    state = {"exit": lambda: ran.append("x"), "on": {"E": {"target": "", "actions": lambda: ran.append("t")}}}
    actor = create_actor(create_machine({"initial": "a", "states": {"a": state}})).start()

    actor.send({"type": "E"})

    assert ran == ["t"]


def test_observers_hear_of_the_start_and_of_every_event_even_unhandled():
    """X11."""
    values = []
    actor = create_actor(create_machine(FLAT))
    actor.subscribe(values.append)

    actor.start()
    actor.send({"type": "NOPE"})
    actor.send({"type": "E"})

    assert len(values) == 3
    assert values[0] is values[1]


def test_late_observer_is_not_told_the_current_snapshot():
    """X12."""
    values = []
    actor = create_actor(create_machine(FLAT)).start()

    actor.subscribe(values.append)

    assert values == []


def test_transition_without_change_keeps_the_snapshot():
    """X13."""
    state = {"on": {"E": "a", "F": {"actions": lambda: None}}}
    actor = create_actor(create_machine({"initial": "a", "states": {"a": state}})).start()
    before = actor.get_snapshot()

    actor.send({"type": "E"})
    assert actor.get_snapshot() is before
    actor.send({"type": "F"})
    assert actor.get_snapshot() is before


def test_assign_makes_a_new_snapshot_and_a_new_context_even_if_it_assigns_nothing():
    """X14."""
    machine = create_machine({"context": {"n": 0}, "on": {"E": {"actions": assign({})}}})
    actor = create_actor(machine).start()
    before = actor.get_snapshot()

    actor.send({"type": "E"})

    assert actor.get_snapshot() is not before
    assert actor.get_snapshot().context is not before.context


def test_event_sent_inside_an_action_waits_for_the_end_of_the_step():
    """X15."""
    ran = []

    def act(*, scope):
        scope.self.send({"type": "X"})
        ran.append("act")

    states = {
        "a": {"on": {"E": {"target": "b", "actions": [act]}}},
        "b": {"entry": lambda: ran.append("en:b"), "on": {"X": {"actions": lambda: ran.append("X@b")}}},
    }
    create_actor(create_machine({"initial": "a", "states": states})).start().send({"type": "E"})

    assert ran == ["act", "en:b", "X@b"]


def test_observers_of_an_actor_that_is_done_get_its_snapshot_then_its_end():
    """X16."""
    calls = []
    actor = create_actor(create_machine(ENDING))
    actor.subscribe(lambda snapshot: calls.append(snapshot.status), complete=lambda: calls.append("complete"))

    actor.start()
    actor.send({"type": "F"})

    assert calls == ["active", "done", "complete"]


def test_observers_of_an_actor_that_fails_get_the_error_only():
    """X17."""
    calls = []
    actor = create_actor(create_machine({"on": {"E": {"actions": lambda: fail("x")}}}))
    actor.subscribe(
        lambda snapshot: calls.append(snapshot.status),
        error=lambda error: calls.append(f"error:{error}"),
        complete=lambda: calls.append("complete"),
    )

    actor.start()
    actor.send({"type": "E"})

    assert calls == ["active", "error:x"]


def test_error_that_nobody_observes_is_reported_and_not_raised_by_send(unhandled):
    """X18."""
    machine = create_machine({"on": {"E": {"actions": lambda: fail("lost")}}})

    create_actor(machine).start().send({"type": "E"})

    assert unhandled == ["lost"]


def test_error_that_nobody_observes_goes_to_the_handler_of_a_running_loop(unhandled):
    machine = create_machine({"on": {"E": {"actions": lambda: fail("lost")}}})

    async def main():
        create_actor(machine).start().send({"type": "E"})

    assert outcome(main) == (None, ["lost"])
    assert unhandled == []


def test_stopping_completes_the_observers():
    """X19."""
    calls = []
    actor = create_actor(create_machine(FLAT))
    actor.subscribe(lambda snapshot: calls.append(snapshot.status), complete=lambda: calls.append("complete"))

    actor.start().stop()

    assert calls == ["active", "complete"]
    assert actor.get_snapshot().status == "stopped"


def test_child_cannot_be_stopped_from_outside():
    """X20."""
    actor = create_actor(create_machine({"invoke": {"src": from_callback(lambda: None), "id": "k"}})).start()

    with pytest.raises(NotRoot, match=r"^actor '.*' is a child; only its parent can stop it, with stop_child$"):
        actor.get_snapshot().children["k"].stop()


def test_wait_for_gives_a_snapshot_that_matches_at_once():
    """X21."""

    async def main():
        actor = create_actor(create_machine(ENDING)).start()
        return await wait_for(actor, lambda snapshot: snapshot.matches("a")) is actor.get_snapshot()

    assert asyncio.run(main())


def test_wait_for_fails_when_the_actor_ends_first():
    async def main():
        actor = create_actor(create_machine(ENDING)).start()
        waiting = asyncio.ensure_future(wait_for(actor, lambda snapshot: snapshot.matches("zzz")))
        asyncio.get_running_loop().call_soon(actor.send, {"type": "F"})
        await waiting

    with pytest.raises(WaitError, match=r"^actor '.*' ended before the predicate held$"):
        asyncio.run(main())


def test_wait_for_fails_after_its_timeout():
    async def main():
        await wait_for(create_actor(create_machine(ENDING)).start(), lambda snapshot: False, timeout=0.005)

    with pytest.raises(WaitError, match=r"^the predicate did not hold for actor '.*' within 5 ms$"):
        asyncio.run(main())


def test_wait_for_fails_at_once_for_an_actor_that_is_done():
    """X22."""

    async def main():
        actor = create_actor(create_machine({"initial": "f", "states": {"f": {"type": "final"}}})).start()
        await wait_for(actor, lambda snapshot: False, timeout=20)

    with pytest.raises(WaitError, match=r"^actor '.*' ended before the predicate held$"):
        asyncio.run(main())


def test_to_awaitable_gives_the_output_or_the_error_or_nothing_after_a_stop():
    """X23."""
    leaving = {"F": "f", "X": {"actions": lambda: fail("bad")}}
    chart = {"initial": "a", "output": 42, "states": {"a": {"on": leaving}, "f": {"type": "final"}}}
    machine = create_machine(chart)

    async def main():
        done, failed, stopped = (create_actor(machine).start() for _ in range(3))
        futures = [to_awaitable(actor) for actor in (done, failed, stopped)]
        done.send({"type": "F"})
        failed.send({"type": "X"})
        stopped.stop()
        return await asyncio.gather(*futures, return_exceptions=True)

    output, error, nothing = asyncio.run(main())
    assert (output, str(error), nothing) == (42, "bad", None)


def test_transition_gives_the_effects_in_order_and_performs_none():
    """X24."""
    actions = [
        assign({"n": 1}),
        raise_({"type": "R"}),
        raise_({"type": "D"}, delay=5, id="d"),
        emit({"type": "m"}),
        log("hi"),
        "custom",
    ]
    after = {"entry": {"type": "en", "params": {"x": 1}}, "after": {100: "a"}, "invoke": {"src": "p", "id": "k"}}
    states = {"a": {"exit": "ex", "on": {"E": {"target": "b", "actions": actions}}}, "b": after}
    machine = create_machine(
        {"initial": "a", "context": {"n": 0}, "states": states},
        actions=dict.fromkeys(["ex", "custom", "en"], fail),
        actors={"p": from_task(forever)},
    )

    snapshot, first = initial_transition(machine)
    snapshot, effects = transition(machine, snapshot, {"type": "E"})

    timer = "xstate.after.100.(machine).b"
    assert first == ()
    assert [(effect.type, effect.params) for effect in effects] == [
        ("ex", None),
        ("xstate.raise", {"event": {"type": "R"}}),
        ("xstate.raise", {"event": {"type": "D"}, "id": "d", "delay": 5}),
        ("xstate.emit", {"event": {"type": "m"}}),
        ("xstate.log", {"value": "hi"}),
        ("custom", None),
        ("en", {"x": 1}),
        ("xstate.raise", {"event": {"type": timer}, "id": timer, "delay": 100}),
        ("xstate.spawnChild", {"id": "k", "src": "p"}),
    ]
    assert (snapshot.value, snapshot.context) == ("b", {"n": 1})


def test_transition_lists_the_start_and_the_stop_of_invoked_children():
    """X25."""
    chart = {"initial": "a", "states": {"a": {"invoke": {"src": "p", "id": "k"}, "on": {"N": "b"}}, "b": {}}}
    machine = create_machine(chart, actors={"p": from_task(forever)})

    before, starting = initial_transition(machine)
    after, stopping = transition(machine, before, {"type": "N"})

    assert (types(starting), list(before.children)) == (["xstate.spawnChild"], ["k"])
    assert (types(stopping), list(after.children)) == (["xstate.stopChild"], [])


def test_initial_transition_runs_the_context_factory_once():
    """X26: XState runs it twice."""
    calls = []

    initial_transition(create_machine({"context": lambda: calls.append(1) or {}}))

    assert calls == [1]


def test_transition_of_a_snapshot_that_is_done_still_lists_actions():
    """X27."""
    final = {"type": "final", "on": {"E": {"actions": "x"}}}
    chart = {"initial": "f", "states": {"f": final}, "on": {"E": {"actions": "y"}}}
    machine = create_machine(chart, actions={"x": fail, "y": fail})

    before, _ = initial_transition(machine)
    after, effects = transition(machine, before, {"type": "E"})

    assert (before.status, after.status, types(effects)) == ("done", "done", ["x"])


def test_microsteps_are_the_rounds_of_a_step():
    """X28."""
    states = {
        "a": {"entry": "ea", "on": {"GO": {"target": "b", "actions": raise_({"type": "R"})}}},
        "b": {"entry": "eb", "always": "c"},
        "c": {"on": {"R": "d"}},
        "d": {},
    }
    machine = create_machine({"initial": "a", "states": states}, actions={"ea": fail, "eb": fail})

    entering = get_initial_microsteps(machine)
    going = get_microsteps(machine, entering[0].snapshot, {"type": "GO"})

    assert [(step.snapshot.value, types(step.effects)) for step in entering] == [("a", ["ea"])]
    assert [(step.snapshot.value, types(step.effects)) for step in going] == [
        ("b", ["xstate.raise", "eb"]),
        ("c", []),
        ("d", []),
    ]


def test_unhandled_event_is_one_microstep_that_does_nothing():
    """X29."""
    machine = create_machine(FLAT)
    snapshot, _ = initial_transition(machine)

    [step] = get_microsteps(machine, snapshot, {"type": "NOPE"})

    assert (step.snapshot.value, step.effects) == ("a", ())


def test_next_transitions_come_from_the_leaf_outwards():
    """X30."""
    leaf = {"on": {"B": "d", "A": "d"}, "after": {5: "d"}, "invoke": {"src": "z", "id": "i", "onDone": "d"}}
    middle = {
        "initial": "c",
        "on": {"P": "q"},
        "onDone": "q",
        "always": {"target": "q", "guard": lambda: False},
        "states": {"c": leaf, "d": {}},
    }
    chart = {"id": "m", "initial": "p", "on": {"R": {"actions": "x"}}, "states": {"p": middle, "q": {}}}
    machine = create_machine(chart, actions={"x": fail}, actors={"z": from_task(forever)})

    result = get_next_transitions(initial_transition(machine)[0])

    order = ["B", "A", "xstate.done.actor.i", "xstate.after.5.m.p.c", "P", "xstate.done.state.m.p", "", "R"]
    assert [candidate.event_type for candidate in result] == order


def summarize(inspection):
    """An inspection event in short."""
    event = f":{inspection.event['type']}" if inspection.event else ""
    action = f":{inspection.action.type}" if inspection.action else ""
    return f"{inspection.type.removeprefix('@xstate.')}{event}{action}"


def test_inspectors_are_told_of_a_start_and_of_a_transition_in_order():
    """X31."""
    calls = []
    states = {"a": {"entry": "ea", "on": {"E": "b"}}, "b": {"entry": "eb", "always": "c"}, "c": {}}
    machine = create_machine({"initial": "a", "states": states}, actions={"ea": lambda: None, "eb": lambda: None})

    actor = create_actor(machine, inspect=lambda happened: calls.append(summarize(happened)))
    calls.append("|")
    actor.start()
    calls.append("|")
    actor.send({"type": "E"})

    assert " ".join(calls) == (
        "actor | event:xstate.init action:ea snapshot:xstate.init "
        "| event:E action:eb microstep:E microstep:E snapshot:E"
    )


def test_inspectors_are_told_of_an_invoked_child_in_order():
    """X32."""
    calls = []
    states = {"a": {"on": {"E": "b"}}, "b": {"invoke": {"src": "kid", "id": "k"}}}
    machine = create_machine({"initial": "a", "states": states}, actors={"kid": create_machine({"id": "kid"})})
    actor = create_actor(machine, id="root").start()
    actor.system.inspect(lambda happened: calls.append(summarize(happened).replace(":", f"@{happened.actor.id}:", 1)))

    actor.send({"type": "E"})

    assert calls == [
        "event@root:E",
        "actor",
        "action@root:xstate.spawnChild",
        "microstep@root:E",
        "event@k:xstate.init",
        "snapshot@k:xstate.init",
        "snapshot@root:E",
    ]


def test_session_ids_count_up_and_are_the_default_id():
    """X33."""
    first, second = (create_actor(create_machine(FLAT)) for _ in range(2))

    assert re.fullmatch(r"x:\d+", first.session_id)
    assert int(second.session_id[2:]) - int(first.session_id[2:]) == 1
    assert first.id == first.session_id


def test_machine_without_an_id_is_called_machine():
    """X34."""
    machine = create_machine(FLAT)

    assert (machine.id, machine.root.key) == ("(machine)", "(machine)")
    assert (machine.states["a"].id, machine.states["a"].path) == ("(machine).a", ("a",))


def test_reference_in_context_is_persisted_by_id_and_comes_back_alive():
    """X35."""
    machine = create_machine(
        {"context": lambda *, scope: {"ref": scope.spawn("k", id="kk"), "deep": [{"r": None}]}},
        actors={"k": create_machine({"id": "k"})},
    )

    saved = json.loads(json.dumps(create_actor(machine).start().get_persisted_snapshot()))
    snapshot = create_actor(machine, snapshot=saved).start().get_snapshot()

    assert saved["context"] == {"ref": {"xstate$$type": 1, "id": "kk"}, "deep": [{"r": None}]}
    assert list(saved["children"]) == ["kk"]
    assert snapshot.context["ref"] is snapshot.children["kk"]


def test_persisted_snapshot_has_the_keys_of_xstate():
    """X36."""
    invoke = {"src": "k", "id": "kk", "systemId": "sys", "onSnapshot": {}}
    chart = {"initial": "a", "states": {"a": {"invoke": invoke}}}
    machine = create_machine(chart, actors={"k": create_machine({"context": {"z": 1}})})

    saved = create_actor(machine).start().get_persisted_snapshot()

    child = {"status": "active", "value": {}, "historyValue": {}, "context": {"z": 1}, "children": {}}
    assert saved == {
        "status": "active",
        "value": "a",
        "historyValue": {},
        "context": {},
        "children": {"kk": {"snapshot": child, "src": "k", "systemId": "sys", "syncSnapshot": True}},
    }


def test_spawned_child_without_a_name_cannot_be_persisted():
    """X37: as in XState's development build; in production it writes what cannot be restored."""
    actor = create_actor(create_machine({"entry": spawn_child(create_machine({}), id="k")})).start()

    with pytest.raises(SnapshotError, match=r"the child 'k' cannot be persisted because its logic has no name"):
        actor.get_persisted_snapshot()


def test_invoked_logic_gets_a_name_from_its_place_and_can_be_persisted():
    """X38."""
    machine = create_machine({"id": "m", "initial": "a", "states": {"a": {"invoke": {"src": create_machine({})}}}})

    saved = create_actor(machine).start().get_persisted_snapshot()

    child = {"status": "active", "value": {}, "historyValue": {}, "context": {}, "children": {}}
    named = {"snapshot": child, "src": "xstate.invoke.0.m.a", "syncSnapshot": False}
    assert saved["children"] == {"0.m.a": named}


def test_state_value_that_no_longer_exists_is_refused_or_ends_the_actor_if_relaxed():
    """X39."""
    saved = {**SAVED, "value": "gone"}
    with pytest.raises(SnapshotError, match=r"no state named 'gone' inside '\(machine\)'"):
        create_actor(create_machine(FLAT), snapshot=saved)

    actor = create_actor(create_machine(FLAT, strict=False), snapshot=saved)
    actor.subscribe(error=lambda error: None)
    snapshot = actor.start().get_snapshot()

    assert snapshot.status == "error"
    assert is_same_error(RESULTS["X39"].removeprefix("error: "), str(snapshot.error))


def test_child_whose_logic_is_gone_is_refused_or_dropped_if_relaxed():
    """X40."""
    saved = {**SAVED, "children": {"k": {"src": "gone", "snapshot": {"status": "active"}}}}
    with pytest.raises(SnapshotError, match=r"children\.k runs 'gone', which is not under actors"):
        create_actor(create_machine(FLAT), snapshot=saved)

    snapshot = create_actor(create_machine(FLAT, strict=False), snapshot=saved).start().get_snapshot()

    assert (snapshot.status, dict(snapshot.children)) == ("active", {})


def test_snapshot_without_children_is_refused_or_ends_the_actor_if_relaxed():
    """X41."""
    saved = {"status": "active", "value": "a", "context": {}}
    with pytest.raises(SnapshotError, match="children should be an object, not None"):
        create_actor(create_machine(FLAT), snapshot=saved)

    actor = create_actor(create_machine(FLAT, strict=False), snapshot=saved)
    actor.subscribe(error=lambda error: None)

    assert actor.start().get_snapshot().status == "error"


def test_partial_value_is_completed_with_initial_states():
    """X42."""
    machine = create_machine({"initial": "p", "states": {"p": {"initial": "x", "states": {"x": {}, "y": {}}}}})

    restored = create_actor(machine, snapshot={**SAVED, "value": {"p": {}}}).get_snapshot()

    assert restored.value == {"p": "x"}
    assert machine.resolve_state("p").value == {"p": "x"}
    assert machine.resolve_state({"p": "y"}).value == {"p": "y"}


def test_final_state_is_resolved_to_a_snapshot_that_is_done():
    """X43."""
    assert create_machine(ENDING).resolve_state("f").status == "done"


def test_restored_context_is_the_very_object_that_was_given():
    """X44."""
    context = {"n": 1}

    actor = create_actor(create_machine(FLAT), snapshot={**SAVED, "context": context})

    assert actor.get_snapshot().context is context


def test_snapshot_as_json_has_plain_keys_only():
    """X45."""
    result = create_actor(create_machine({**FLAT, "tags": ["t"]})).get_snapshot().to_json()

    assert list(result) == ["status", "context", "value", "children", "historyValue", "tags"]
    assert result["tags"] == ["t"]


def test_meta_is_keyed_by_the_ids_of_active_states_that_have_some():
    """X46."""
    chart = {"id": "m", "meta": 0, "initial": "a", "states": {"a": {"meta": {"x": 1}}, "b": {"meta": 2}}}

    assert create_actor(create_machine(chart)).get_snapshot().get_meta() == {"m": 0, "m.a": {"x": 1}}


def test_provide_replaces_by_name_and_leaves_the_machine_alone():
    """X47."""
    ran = []
    first = {"x": lambda: ran.append("x0"), "y": lambda: ran.append("y0")}
    machine = create_machine({"entry": ["x", "y"]}, actions=first)

    create_actor(machine.provide(actions={"x": lambda: ran.append("x1")})).start()
    create_actor(machine).start()

    assert ran == ["x1", "y0", "x0", "y0"]


def test_listeners_to_a_type_come_before_those_to_all_and_one_that_fails_stops_no_other(unhandled):
    """X48."""
    calls = []
    actor = create_actor(create_machine({"on": {"E": {"actions": emit({"type": "m"})}}}))
    actor.on("*", lambda event: calls.append("*"))
    actor.on("m", lambda event: calls.append("m") or fail("L"))
    actor.on("m", lambda event: calls.append("m2"))

    actor.start().send({"type": "E"})

    assert (calls, unhandled) == (["m", "m2", "*"], ["L"])


def test_listener_sees_the_updated_snapshot():
    """X49."""
    values = []
    states = {"a": {"on": {"E": {"target": "b", "actions": emit({"type": "m"})}}}, "b": {}}
    actor = create_actor(create_machine({"initial": "a", "states": states}))
    actor.on("m", lambda event: values.append(actor.get_snapshot().value))

    actor.start().send({"type": "E"})

    assert values == ["b"]


def test_receiver_of_an_event_sees_the_updated_snapshot_of_its_sender():
    """X50."""
    values = []

    def kid(*, scope):
        scope.receive(lambda event: values.append(scope.self.parent.get_snapshot().value))

    states = {"a": {"on": {"E": {"target": "b", "actions": send_to("k", {"type": "X"})}}}, "b": {}}
    chart = {"initial": "a", "invoke": {"src": from_callback(kid), "id": "k"}, "states": states}
    create_actor(create_machine(chart)).start().send({"type": "E"})

    assert values == ["b"]


def test_system_id_is_known_until_its_actor_stops():
    """X51."""
    invoke = {"src": create_machine({}), "systemId": "s"}
    chart = {"initial": "a", "states": {"a": {"invoke": invoke, "on": {"N": "b"}}, "b": {}}}
    actor = create_actor(create_machine(chart), system_id="root").start()

    assert actor.system.get("s") is not None
    actor.send({"type": "N"})
    assert actor.system.get("s") is None
    assert actor.system.get("root") is actor
    assert list(actor.system.get_all()) == ["root"]


def test_reducer_keeps_its_state_in_the_context_of_its_snapshot():
    """X52."""
    actor = create_actor(from_transition(lambda n, event: n + 1 if event["type"] == "INC" else n, 0)).start()

    actor.send({"type": "INC"})

    assert actor.get_snapshot().context == 1
    assert actor.get_persisted_snapshot() == {"status": "active", "context": 1}


def test_snapshot_of_a_task_forgets_its_input_once_settled():
    """X53."""

    async def work(input):
        return input["x"]

    async def main():
        actor = create_actor(from_task(work), input={"x": 5})
        before = actor.get_snapshot().to_json()
        await to_awaitable(actor.start())
        return before, actor.get_snapshot().to_json()

    assert asyncio.run(main()) == ({"status": "active", "input": {"x": 5}}, {"status": "done", "output": 5})


def test_task_whose_function_fails_before_it_awaits_ends_in_error():
    """X54."""

    async def main():
        errors = []
        actor = create_actor(from_task(lambda: fail("sync")))
        actor.subscribe(error=lambda error: errors.append(str(error)))
        actor.start()
        return errors, actor.get_snapshot().status

    assert asyncio.run(main()) == (["sync"], "error")


def test_stream_has_its_last_value_as_context_and_is_done_at_its_end():
    """X55: `from_stream` stands for `fromObservable`."""

    async def values():
        yield 1
        yield 2

    async def main():
        seen = []
        actor = create_actor(from_stream(values))
        actor.subscribe(lambda snapshot: seen.append((snapshot.status, snapshot.context)))
        await to_awaitable(actor.start())
        return seen

    assert asyncio.run(main()) == [("active", None), ("active", 1), ("active", 2), ("done", 2)]


def test_selection_is_observed_only_when_it_changes():
    """X56."""
    on = {"N": {"actions": assign({"n": lambda context: context["n"] + 1})}, "M": {"actions": assign({"m": 1})}}
    actor = create_actor(create_machine({"context": {"n": 0, "m": 0}, "on": on})).start()
    values = []
    actor.select(lambda snapshot: snapshot.context["n"]).subscribe(values.append)

    for type in ("N", "M", "N"):
        actor.send({"type": type})

    assert values == [1, 2]


def test_simulated_timers_of_the_same_time_run_in_the_order_in_which_they_were_set():
    """X57."""
    clock = SimulatedClock()
    ran = []
    for number in range(5):
        clock.set_timeout(lambda number=number: ran.append(number), 10)

    clock.increment(10)

    assert ran == [0, 1, 2, 3, 4]


def test_simulated_timers_see_the_time_moved_to():
    """X58."""
    clock = SimulatedClock()
    values = []
    clock.set_timeout(lambda: values.append(clock.now()), 10)

    clock.increment(25)

    assert values == [25]


def test_string_is_not_an_event():
    """X59: as in XState's development build; in production it is taken and ignored."""
    actor = create_actor(create_machine(FLAT)).start()

    with pytest.raises(EventError, match="an event is a mapping with a string under \"type\", not 'E'"):
        actor.send("E")

    assert actor.get_snapshot().value == "a"


def test_event_of_type_star_is_taken_by_the_wildcard():
    """X60: as in XState's production build; in development it is an error."""
    actor = create_actor(create_machine({"initial": "a", "states": {"a": {"on": {"*": "b"}}, "b": {}}})).start()

    actor.send({"type": "*"})

    assert (actor.get_snapshot().status, actor.get_snapshot().value) == ("active", "b")


def test_stopped_actor_ignores_events():
    """X61."""
    actor = create_actor(create_machine(FLAT)).start().stop()

    actor.send({"type": "E"})

    assert actor.get_snapshot().value == "a"


def test_output_of_a_final_state_is_computed_from_the_event_and_carried_by_the_done_event():
    """X62."""
    values = []
    final = {"type": "final", "output": lambda context, event: event["v"] * 2}
    inner = {
        "initial": "x",
        "onDone": {"target": "q", "actions": lambda context, event: values.append(event)},
        "states": {"x": {"on": {"F": "f"}}, "f": final},
    }
    machine = create_machine({"id": "m", "initial": "p", "states": {"p": inner, "q": {}}})

    create_actor(machine).start().send({"type": "F", "v": 4})

    assert values == [{"type": "xstate.done.state.m.p", "output": 8}]


def invoking(work, key):
    """The event of key `key` that an invoked task leads to."""
    values = []
    going = {"target": "b", "actions": lambda context, event: values.append(event)}
    states = {"a": {"invoke": {"src": from_task(work), "id": "k", key: going}}, "b": {}}

    async def main():
        actor = create_actor(create_machine({"initial": "a", "states": states})).start()
        await wait_for(actor, lambda snapshot: snapshot.matches("b"))

    asyncio.run(main())
    return values


def test_done_event_of_an_actor_has_its_output_and_its_id():
    """X63."""

    async def work():
        return 9

    assert invoking(work, "onDone") == [{"type": "xstate.done.actor.k", "output": 9, "actorId": "k"}]


def test_error_event_of_an_actor_has_its_error_and_its_id():
    """X64: only exceptions can be raised in Python, so the error is one."""
    error = RuntimeError("E!")

    async def work():
        raise error

    assert invoking(work, "onError") == [{"type": "xstate.error.actor.k", "error": error, "actorId": "k"}]


def test_entry_actions_of_the_start_see_the_init_event_with_the_input():
    """X65."""
    values = []

    create_actor(create_machine({"entry": lambda context, event: values.append(event)}), input={"a": 1}).start()

    assert values == [{"type": "xstate.init", "input": {"a": 1}}]


def test_output_of_a_parallel_root_sees_its_own_done_event():
    """X66: done events always have an `output`, `None` where XState has `undefined`."""
    values = []
    regions = {
        "a": {"initial": "f", "states": {"f": {"type": "final", "output": 3}}},
        "b": {"type": "final", "output": 4},
    }
    output = {"output": lambda context, event: values.append(event) or 1}

    create_actor(create_machine({"id": "m", "type": "parallel", **output, "states": regions})).start()

    assert values == [{"type": "xstate.done.state.m", "output": None}]


def test_machine_as_json_has_the_keys_of_xstate():
    """X67: what the chart does not give is left out, like `undefined` in JSON."""
    options = {"version": "1", "meta": {}, "output": 1, "description": "d"}

    result = create_machine({**FLAT, **options}).to_json()

    assert " ".join(result) == (
        "id key version type initial history states on transitions entry exit meta order output invoke description tags"
    )
    assert create_machine(FLAT).to_json().keys() == result.keys() - options.keys()


def test_transition_as_json_has_the_keys_of_xstate():
    """X68."""
    spec = {
        "target": "b",
        "guard": "g",
        "actions": ["x", {"type": "y", "params": {"p": 1}}],
        "meta": {"q": 1},
        "description": "d",
    }
    chart = {"id": "m", "initial": "a", "states": {"a": {"on": {"E": spec}}, "b": {}}}
    machine = create_machine(chart, actions={"x": fail, "y": fail}, guards={"g": fail})

    assert machine.to_json()["states"]["a"]["on"]["E"] == [
        {
            "target": ["#m.b"],
            "guard": "g",
            "actions": ["x", {"type": "y", "params": {"p": 1}}],
            "meta": {"q": 1},
            "description": "d",
            "source": "#m.a",
            "reenter": False,
            "eventType": "E",
        }
    ]


def test_nodes_are_numbered_in_document_order():
    """X69."""
    machine = create_machine(
        {"initial": "a", "states": {"a": {"initial": "a1", "states": {"a1": {}}}, "b": {}}},
    )

    orders = [node.order for node in machine.root.walk()]

    assert orders == [0, 1, 2, 3]
    assert machine.to_json()["order"] == -1


def test_events_of_a_machine_are_those_of_all_its_states_without_forbidden_ones():
    """X70."""
    states = {"a": {"on": {"A": "b", "F": {}}, "after": {5: "b"}}, "b": {}}
    machine = create_machine({"initial": "a", "on": {"R": {"actions": "x"}}, "states": states}, actions={"x": fail})

    assert machine.events == ["R", "A", "xstate.after.5.(machine).a"]


def test_state_values_are_matched_and_made_from_paths():
    """X71."""
    assert matches_state("a", {"a": "b"})
    assert not matches_state({"a": "b"}, "a")
    assert matches_state("a.b", {"a": {"b": "c"}})
    assert path_to_state_value(["a", "b", "c"]) == {"a": {"b": "c"}}


def test_assert_event_takes_wildcards_and_names_what_it_expected():
    """X72."""
    antiphon.assert_event({"type": "a.b"}, "a.*")

    with pytest.raises(EngineError, match=r"^expected an event of type 'a' or 'b', not \{'type': 'x'\}$"):
        antiphon.assert_event({"type": "x"}, ["a", "b"])


def test_pure_transition_executes_no_action():
    """X73: `transition` stands for `getNextSnapshot`, `initial_transition` for `getInitialSnapshot`."""
    ran = []
    states = {"a": {"on": {"E": {"target": "b", "actions": lambda: ran.append(1)}}}, "b": {}}
    machine = create_machine({"initial": "a", "states": states})

    snapshot, _ = transition(machine, initial_transition(machine)[0], {"type": "E"})

    assert (snapshot.value, ran) == ("b", [])


def test_child_spawned_in_an_assign_starts_after_the_step():
    """X74."""
    ran = []
    child = from_callback(lambda: ran.append("start"))
    actions = [assign({"r": lambda context, event, *, scope: scope.spawn(child)}), lambda: ran.append("next action")]
    actor = create_actor(create_machine({"context": {"r": None}, "on": {"E": {"actions": actions}}})).start()

    actor.send({"type": "E"})

    assert ran == ["next action", "start"]
    assert re.fullmatch(r"x:\d+", actor.get_snapshot().context["r"].id)


def test_error_of_a_child_goes_up_until_someone_handles_it():
    """X75."""

    async def work():
        fail("deep")

    async def main():
        errors = []
        ended = asyncio.Event()
        kid = create_machine({"invoke": {"src": from_task(work)}})
        actor = create_actor(create_machine({"invoke": {"src": kid, "id": "k"}}))
        actor.subscribe(error=lambda error: errors.append(str(error)) or ended.set())
        actor.start()
        await ended.wait()
        return errors, actor.get_snapshot().status

    assert asyncio.run(main()) == (["deep"], "error")


def test_children_use_the_clock_of_the_root():
    """X76."""
    clock = SimulatedClock()
    kid = create_machine({"initial": "a", "states": {"a": {"after": {10: "b"}}, "b": {}}})
    actor = create_actor(create_machine({"invoke": {"src": kid, "id": "k"}}), clock=clock).start()

    clock.increment(10)

    assert actor.get_snapshot().children["k"].get_snapshot().value == "b"


def test_action_sees_the_context_of_its_place_while_the_actor_shows_the_snapshot_before():
    """X77."""
    values = []

    def act(context, event, *, scope):
        before = scope.self.get_snapshot()
        values.append((before.value, before.context["n"], context["n"]))

    states = {"a": {"on": {"E": {"target": "b", "actions": [assign({"n": 1}), act]}}}, "b": {}}
    actor = create_actor(create_machine({"initial": "a", "context": {"n": 0}, "states": states})).start()

    actor.send({"type": "E"})

    assert values == [("a", 0, 1)]


def test_stop_inside_an_action_drops_what_waits():
    """X78."""
    ran = []

    def act(*, scope):
        ran.append("A")
        scope.self.send({"type": "B"})
        scope.self.stop()
        scope.self.send({"type": "C"})

    on = {
        "A": {"actions": act},
        "B": {"actions": lambda: ran.append("B")},
        "C": {"actions": lambda: ran.append("C")},
    }
    actor = create_actor(create_machine({"on": on})).start()

    actor.send({"type": "A"})

    assert (ran, actor.get_snapshot().status) == (["A"], "stopped")


def test_observer_that_fails_is_reported_and_does_not_break_the_actor(unhandled):
    """X79."""
    actor = create_actor(create_machine(FLAT))
    actor.subscribe(lambda snapshot: fail("obs"))

    actor.start().send({"type": "E"})

    assert (actor.get_snapshot().value, unhandled) == ("b", ["obs", "obs"])


def test_machine_without_states_has_an_empty_value():
    """X80."""
    assert create_actor(create_machine({})).get_snapshot().value == {}


def test_event_is_passed_on_as_it_is():
    """X81."""
    values = []
    event = {"type": "E"}
    machine = create_machine({"on": {"E": {"actions": lambda context, event: values.append(event)}}})

    create_actor(machine).start().send(event)

    assert values[0] is event


def test_context_written_in_the_chart_is_shared_until_the_first_assign():
    """X82."""
    machine = create_machine({"context": {"list": []}})

    assert create_actor(machine).get_snapshot().context is create_actor(machine).get_snapshot().context
