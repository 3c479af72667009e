"""Functions get the time, ids and random numbers of their step from `scope`; pure steps get them as arguments."""

from itertools import count

import pytest

from antiphon import (
    EngineError,
    SimulatedClock,
    and_,
    assign,
    create_actor,
    create_machine,
    emit,
    enqueue_actions,
    from_transition,
    get_initial_microsteps,
    get_microsteps,
    initial_transition,
    not_,
    or_,
    play,
    raise_,
    spawn_child,
    transition,
)
from antiphon.chart.errors import GuardError


def facts(scope):
    """All facts of a scope."""
    return [scope.now, scope.new_id(), scope.random()]


def given(now=5):
    """Facts that a test knows."""
    ids = count(1)
    return {"now": now, "new_id": lambda: f"id{next(ids)}", "random": lambda: 0.25}


ASSIGN = create_machine(
    {
        "context": {"x": None},
        "on": {"GO": {"actions": assign({"x": lambda context, event, scope: facts(scope)})}},
    }
)


def test_pure_step_gets_the_facts_as_arguments():
    snapshot, _ = initial_transition(ASSIGN)

    assert transition(ASSIGN, snapshot, {"type": "GO"}, **given())[0].context == {"x": [5, "id1", 0.25]}
    [microstep] = get_microsteps(ASSIGN, snapshot, {"type": "GO"}, **given(6))
    assert microstep.snapshot.context["x"][0] == 6


@pytest.mark.parametrize(
    ("name", "use"), [("now", lambda s: s.now), ("new_id", lambda s: s.new_id()), ("random", lambda s: s.random())]
)
def test_pure_step_without_a_fact_says_which_argument_to_pass(name, use):
    ask = assign({"x": lambda context, event, scope: use(scope)})
    machine = create_machine({"context": {}, "on": {"GO": {"actions": ask}}})
    snapshot, _ = initial_transition(machine)

    with pytest.raises(EngineError, match=f"scope.{name} is not known in a pure step; pass {name}=… to transition"):
        transition(machine, snapshot, {"type": "GO"})


def test_entering_a_machine_gets_the_facts():
    machine = create_machine({"context": lambda scope: {"x": facts(scope)}})

    assert initial_transition(machine, **given())[0].context == {"x": [5, "id1", 0.25]}
    assert get_initial_microsteps(machine, **given(7))[0].snapshot.context["x"][0] == 7


@pytest.mark.parametrize(
    "guard",
    [
        lambda context, event, scope: scope.now > 100,
        not_(lambda context, event, scope: scope.now <= 100),
        and_([lambda context, event: True, lambda context, event, scope: scope.now > 100]),
        or_([lambda context, event: False, lambda context, event, scope: scope.now > 100]),
        {"type": "isAfter", "params": lambda context, event, scope: scope.now},
    ],
)
def test_guards_get_the_facts(guard):
    config = {"initial": "a", "states": {"a": {"on": {"GO": {"target": "b", "guard": guard}}}, "b": {}}}
    machine = create_machine(config, guards={"isAfter": lambda context, event, params: params > 100})
    snapshot, _ = initial_transition(machine)

    assert transition(machine, snapshot, {"type": "GO"}, now=100)[0].value == "a"
    assert transition(machine, snapshot, {"type": "GO"}, now=101)[0].value == "b"
    with pytest.raises(GuardError, match=r"scope\.now is not known"):
        transition(machine, snapshot, {"type": "GO"})
    clock = SimulatedClock(100)
    actor = create_actor(machine, clock=clock).start()
    actor.send({"type": "GO"})
    assert actor.get_snapshot().value == "a"
    clock.increment(1)
    actor.send({"type": "GO"})
    assert actor.get_snapshot().value == "b"


def test_eventless_guards_and_checks_get_the_facts():
    late = {"target": "b", "guard": lambda context, event, scope: scope.now > 100}
    choose = enqueue_actions(
        lambda context, event, enqueue, scope: (
            enqueue.check(lambda c, e, scope: scope.now > 100) and enqueue.assign({"x": scope.now})
        )
    )
    machine = create_machine(
        {"context": {}, "initial": "a", "states": {"a": {"always": late, "on": {"GO": {"actions": choose}}}, "b": {}}}
    )
    snapshot, _ = initial_transition(machine, now=100)
    after, _ = transition(machine, snapshot, {"type": "GO"}, now=101)

    assert (snapshot.value, after.value, after.context) == ("a", "b", {"x": 101})


def test_every_function_of_a_step_gets_the_facts():
    now = lambda context, event, scope: scope.now  # noqa: E731
    child = create_machine({})
    machine = create_machine(
        {
            "context": {},
            "initial": "a",
            "states": {
                "a": {
                    "entry": [
                        spawn_child("child", id="c", input=now),
                        emit(lambda context, event, scope: {"type": "AT", "now": scope.now}),
                        raise_({"type": "LATER"}, delay=now, id="later"),
                        {"type": "tell", "params": now},
                    ],
                    "on": {"GO": "b"},
                },
                "b": {"type": "final", "output": now},
            },
            "output": lambda context, event: event["output"],
        },
        actors={"child": child},
        actions={"tell": lambda context, event, params: None},
    )
    snapshot, effects = initial_transition(machine, now=42)

    assert [
        getattr(effect, "delay", None) or getattr(effect, "given", None) or getattr(effect, "event", None)
        for effect in effects[1:]
    ] == [{"type": "AT", "now": 42}, 42, 42]
    assert snapshot.children["c"].input == 42
    assert transition(machine, snapshot, {"type": "GO"}, now=43)[0].output == 43


def test_actor_has_the_time_of_its_clock_and_ids_of_its_own():
    actor = create_actor(ASSIGN, clock=SimulatedClock(77)).start()
    actor.send({"type": "GO"})
    now, first, number = actor.get_snapshot().context["x"]
    actor.send({"type": "GO"})
    _, second, _ = actor.get_snapshot().context["x"]

    assert now == 77
    assert len(first) == len(second) == 32
    assert first != second
    assert 0 <= number < 1


def test_ids_and_random_numbers_of_an_actor_can_be_given():
    sources = given()
    actor = create_actor(ASSIGN, clock=SimulatedClock(3), new_id=sources["new_id"], random=sources["random"]).start()
    actor.send({"type": "GO"})

    assert actor.get_snapshot().context["x"] == [3, "id1", 0.25]


def test_actions_and_reducers_get_the_facts():
    seen = []
    reducer = from_transition(lambda state, event, scope: scope.now, 0)
    clock = SimulatedClock(9)
    actor = create_actor(create_machine({"entry": lambda scope: seen.append(scope.now)}), clock=clock).start()
    folding = create_actor(reducer, clock=clock).start()
    folding.send({"type": "X"})

    assert actor.get_snapshot().status == "active"
    assert (seen, folding.get_snapshot().context) == ([9], 9)


def test_played_chart_has_the_time_of_its_trace():
    machine = create_machine(
        {
            "context": {},
            "initial": "a",
            "states": {
                "a": {"after": {30: "b"}},
                "b": {"entry": assign({"at": lambda context, event, scope: scope.now})},
            },
        }
    )

    assert play(machine, [{"after": 30}]).entries[-1].context == {"at": 30}
