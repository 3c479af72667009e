"""A machine runs without actors: its timers, its children and what it sends itself are kept track of."""

import pytest

from antiphon import assign, cancel, create_machine, from_task, raise_, send_to, spawn_child
from antiphon.chart.errors import LoopError
from antiphon.chart.explore.situation import enter, take, take_next

WORK = {"work": from_task(lambda: None)}


def start(config, **functions):
    machine = create_machine({"id": "m", **config}, **functions)
    return machine, enter(machine)[-1].situation


def after(machine, situation, *events):
    for event in events:
        situation = take(machine, situation, {"type": event})[-1].situation
    return situation


def working(situation):
    return [ref.id for ref in situation.working]


def test_entering_gives_the_first_snapshot():
    machine = create_machine({"context": lambda given: {"n": given}})

    [turn] = enter(machine, 5)

    assert turn.event == {"type": "xstate.init", "input": 5}
    assert turn.situation.snapshot.context == {"n": 5}


def test_a_timer_is_pending_until_its_state_is_left():
    machine, situation = start({"initial": "a", "states": {"a": {"after": {5: "b"}, "on": {"GO": "b"}}, "b": {}}})

    assert [event.event["type"] for event in situation.pending.events] == ["xstate.after.5.m.a"]
    assert after(machine, situation, "GO").pending.events == ()


def test_the_next_timer_can_be_awaited():
    machine, situation = start({"initial": "a", "states": {"a": {"after": {5: "b"}}, "b": {}}})

    [turn] = take_next(machine, situation)

    assert (turn.situation.snapshot.value, turn.situation.pending.now) == ("b", 5)
    assert take_next(machine, turn.situation) == []


def test_delayed_events_to_itself_are_pending_and_can_be_cancelled():
    later = send_to(lambda: None, {"type": "LATE"}, delay=5, id="late")
    machine, situation = start({"entry": later, "on": {"CALM": {"actions": cancel("late")}}})

    assert situation.pending.next.event == {"type": "LATE"}
    assert after(machine, situation, "CALM").pending.events == ()


def test_an_event_to_itself_arrives_right_after_the_step():
    echo = send_to("#_internal", {"type": "ECHO"})
    config = {
        "initial": "a",
        "states": {"a": {"on": {"GO": {"target": "b", "actions": echo}}}, "b": {"on": {"ECHO": "c"}}, "c": {}},
    }
    machine, situation = start(config)

    turns = take(machine, situation, {"type": "GO"})

    assert [(turn.event["type"], turn.situation.snapshot.value) for turn in turns] == [("GO", "b"), ("ECHO", "c")]


def test_sending_itself_events_without_end_is_an_error():
    again = send_to("#_internal", {"type": "AGAIN"})
    machine, situation = start({"on": {"AGAIN": {"actions": again}}, "options": {"maxIterations": 9}})

    with pytest.raises(LoopError, match="without end"):
        take(machine, situation, {"type": "AGAIN"})


def test_a_child_works_until_its_state_is_left():
    states = {"a": {"invoke": {"src": "work", "id": "w"}, "on": {"GO": "b"}}, "b": {}}
    machine, situation = start({"initial": "a", "states": states}, actors=WORK)

    assert working(situation) == ["w"]
    assert working(after(machine, situation, "GO")) == []


@pytest.mark.parametrize("ending", ["xstate.done.actor.w", "xstate.error.actor.w"])
def test_a_child_works_no_more_once_it_has_ended(ending):
    config = {"invoke": {"src": "work", "id": "w"}, "on": {"*": {"actions": assign({"seen": True})}}}
    machine, situation = start(config, actors=WORK)

    assert working(after(machine, situation, ending)) == []


def test_a_child_spawned_by_the_event_that_ends_another_of_its_name_is_at_work():
    again = {"actions": spawn_child("work", id="w")}
    machine, situation = start(
        {"entry": spawn_child("work", id="w"), "on": {"xstate.done.actor.w": again}}, actors=WORK
    )

    assert working(after(machine, situation, "xstate.done.actor.w")) == ["w"]


def test_a_machine_that_has_ended_has_nothing_pending_and_takes_nothing():
    config = {
        "initial": "a",
        "entry": raise_({"type": "LATE"}, delay=9),
        "states": {"a": {"on": {"GO": "b"}}, "b": {"type": "final"}},
    }
    machine, situation = start(config)

    ended = after(machine, situation, "GO")

    assert ended.is_over
    assert ended.pending.events == ()
    assert take(machine, ended, {"type": "GO"}) == []


def test_an_error_in_a_function_ends_the_machine():
    def fail():
        raise ValueError("no")

    machine, situation = start({"on": {"GO": {"actions": assign(fail)}}})

    [turn] = take(machine, situation, {"type": "GO"})

    assert isinstance(turn.error, ValueError)
    assert turn.situation.snapshot.status == "error"


def test_an_error_on_the_way_in_ends_the_machine_too():
    def fail():
        raise ValueError("no")

    [turn] = enter(create_machine({"entry": assign(fail)}))

    assert (turn.situation.snapshot.status, str(turn.error)) == ("error", "no")


def test_of_conflicting_transitions_only_those_that_were_taken_are_told():
    regions = {name: {"initial": "x", "states": {"x": {"on": {"OUT": f"#m.{name}2"}}}} for name in ("r", "s")}
    states = {"p": {"type": "parallel", "states": regions}, "r2": {}, "s2": {}}
    machine, situation = start({"initial": "p", "states": states})

    [turn] = take(machine, situation, {"type": "OUT"})

    assert [transition.source.id for transition in turn.transitions] == ["m.p.r.x"]
    assert turn.situation.snapshot.value == "r2"
