"""Timers in persisted snapshots, and the three ways in which they go on after a restart."""

import json

import pytest

from antiphon import GrowingText, SimulatedClock, assign, cancel, create_actor, create_machine, raise_, send_to
from antiphon.chart.errors import SnapshotError

LAMP = {
    "id": "lamp",
    "initial": "on",
    "states": {"on": {"after": {100: "dim"}, "on": {"OFF": "off"}}, "dim": {"after": {50: "off"}}, "off": {}},
}


def saved_after(machine, ms, **options):
    """Return the persisted snapshot of a machine some time after its start at time 0."""
    clock = SimulatedClock()
    actor = create_actor(machine, clock=clock).start()
    clock.increment(ms)
    return json.loads(json.dumps(actor.get_persisted_snapshot(timers=True, **options)))


def restore(machine, saved, now, policy="absolute"):
    clock = SimulatedClock(now)
    return create_actor(machine, snapshot=saved, clock=clock, timers=policy).start(), clock


def changes(actor, clock, *moments):
    """The value at some moments."""
    values = {}
    for moment in moments:
        clock.set(moment)
        values[moment] = actor.get_snapshot().value
    return values


def test_pending_timers_are_persisted_when_asked_for():
    saved = saved_after(create_machine(LAMP), 30)

    name = "xstate.after.100.lamp.on"
    timer = {"id": name, "target": "#_internal", "event": {"type": name}, "delay": 100, "due": 100, "remaining": 70}
    assert saved["timers"] == [timer]


def test_timers_are_not_persisted_unless_asked_for():
    actor = create_actor(create_machine(LAMP), clock=SimulatedClock()).start()

    assert "timers" not in actor.get_persisted_snapshot()


def test_timers_that_fired_or_were_cancelled_are_not_persisted():
    clock = SimulatedClock()
    actor = create_actor(create_machine(LAMP), clock=clock).start()

    clock.increment(100)
    assert [timer["id"] for timer in actor.get_persisted_snapshot(timers=True)["timers"]] == [
        "xstate.after.50.lamp.dim"
    ]
    clock.increment(50)

    fresh = create_actor(create_machine({**LAMP, "initial": "off"}), clock=SimulatedClock()).start()
    assert actor.get_persisted_snapshot(timers=True) == fresh.get_persisted_snapshot(timers=True)


def test_without_timers_a_restored_actor_waits_for_nothing():
    machine = create_machine(LAMP)
    saved = create_actor(machine, clock=SimulatedClock()).start().get_persisted_snapshot()

    actor, clock = restore(machine, saved, 0)

    assert changes(actor, clock, 1000) == {1000: "on"}


def test_absolute_timer_fires_at_its_old_deadline():
    machine = create_machine(LAMP)
    actor, clock = restore(machine, saved_after(machine, 30), now=80)

    assert changes(actor, clock, 99, 100) == {99: "on", 100: "dim"}


def test_remaining_timer_fires_after_the_time_it_had_left():
    machine = create_machine(LAMP)
    actor, clock = restore(machine, saved_after(machine, 30), now=500, policy="remaining")

    assert changes(actor, clock, 569, 570) == {569: "on", 570: "dim"}


def test_restarted_timer_fires_after_its_whole_delay():
    machine = create_machine(LAMP)
    actor, clock = restore(machine, saved_after(machine, 30), now=500, policy="restart")

    assert changes(actor, clock, 599, 600) == {599: "on", 600: "dim"}


def test_late_timer_fires_at_once():
    machine = create_machine(LAMP)
    actor, clock = restore(machine, saved_after(machine, 30), now=1000)

    clock.increment(0)

    assert actor.get_snapshot().value == "dim"


def late_order(machine, saved):
    """The order in which late timers fire."""
    actor, clock = restore(machine, saved, now=1000)
    clock.increment(0)
    return actor.get_snapshot().context["rang"]


RINGING = {"actions": assign({"rang": lambda context, event: [*context["rang"], event["n"]]})}


def test_late_timers_fire_in_the_order_of_their_deadlines():
    entry = [raise_({"type": "RING", "n": n}, delay=n, id=f"ring{n}") for n in (30, 10, 20)]
    machine = create_machine({"context": {"rang": []}, "entry": entry, "on": {"RING": RINGING}})

    assert late_order(machine, saved_after(machine, 5)) == [10, 20, 30]


def test_late_timers_of_parents_and_children_fire_in_the_order_of_their_deadlines():
    def kid(delay):
        tell = send_to(lambda context, event, *, scope: scope.self.parent, {"type": "RING", "n": delay})
        return create_machine(
            {"initial": "a", "states": {"a": {"after": {delay: {"target": "b", "actions": tell}}}, "b": {}}}
        )

    machine = create_machine(
        {
            "context": {"rang": []},
            "invoke": [{"src": "late", "id": "late"}, {"src": "early", "id": "early"}],
            "entry": raise_({"type": "RING", "n": 20}, delay=20),
            "on": {"RING": RINGING},
        },
        actors={"late": kid(30), "early": kid(10)},
    )

    assert late_order(machine, saved_after(machine, 5)) == [10, 20, 30]


PARENT = {"invoke": {"src": "lamp", "id": "lamp"}}


@pytest.mark.parametrize(("policy", "moment"), [("absolute", 500), ("remaining", 570), ("restart", 600)])
def test_policy_holds_for_the_timers_of_children(policy, moment):
    machine = create_machine(PARENT, actors={"lamp": create_machine(LAMP)})
    saved = saved_after(machine, 30)

    actor, clock = restore(machine, saved, now=500, policy=policy)
    lamp = actor.get_snapshot().children["lamp"]

    clock.set(moment - 1 if moment > 500 else moment)
    assert lamp.get_snapshot().value == ("on" if moment > 500 else "dim")
    clock.set(moment)
    assert lamp.get_snapshot().value == "dim"


def test_unknown_policy_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="no timer policy named 'sometimes'; known: absolute, remaining, restart"):
        create_actor(create_machine(LAMP), snapshot=saved_after(create_machine(LAMP), 0), timers="sometimes")


def test_unknown_policy_is_refused_even_if_there_is_nothing_to_restore():
    with pytest.raises(ValueError, match="no timer policy named 'sometimes'"):
        create_actor(create_machine(LAMP), timers="sometimes")


def test_restored_timer_is_cancelled_when_its_state_is_left():
    machine = create_machine(LAMP)
    actor, clock = restore(machine, saved_after(machine, 30), now=30)

    actor.send({"type": "OFF"})

    assert changes(actor, clock, 1000) == {1000: "off"}


def test_restored_timer_is_cancelled_by_its_id():
    chart = {
        "initial": "waiting",
        "entry": raise_({"type": "RING"}, delay=100, id="alarm"),
        "on": {"RING": ".rung", "HUSH": {"actions": cancel("alarm")}},
        "states": {"waiting": {}, "rung": {}},
    }
    machine = create_machine(chart)
    actor, clock = restore(machine, saved_after(machine, 30), now=30)

    actor.send({"type": "HUSH"})

    assert changes(actor, clock, 1000) == {1000: "waiting"}


def test_delayed_event_to_a_child_survives():
    kid = create_machine({"initial": "a", "states": {"a": {"on": {"WAKE": "b"}}, "b": {}}})
    chart = {
        "invoke": {"src": "kid", "id": "kid"},
        "on": {"LATER": {"actions": send_to("kid", {"type": "WAKE"}, delay=50)}},
    }
    machine = create_machine(chart, actors={"kid": kid})
    first = create_actor(machine, clock=SimulatedClock()).start()
    first.send({"type": "LATER"})

    actor, clock = restore(machine, first.get_persisted_snapshot(timers=True), now=0)
    clock.increment(50)

    assert actor.get_snapshot().children["kid"].get_snapshot().value == "b"


def test_timer_persisted_after_a_restart_still_knows_its_whole_delay():
    machine = create_machine(LAMP)
    actor, _ = restore(machine, saved_after(machine, 30), now=30)

    [timer] = actor.get_persisted_snapshot(timers=True)["timers"]

    assert (timer["delay"], timer["due"], timer["remaining"]) == (100, 100, 70)


def test_restored_actor_that_was_not_started_has_not_lost_its_timers():
    machine = create_machine(LAMP)
    saved = saved_after(machine, 30)

    actor = create_actor(machine, snapshot=saved, clock=SimulatedClock(30))

    assert actor.get_persisted_snapshot(timers=True) == saved


def test_two_timers_under_one_id_both_survive():
    entry = [raise_({"type": "RING", "n": n}, delay=n, id="ring") for n in (10, 20)]
    machine = create_machine({"context": {"rang": []}, "entry": entry, "on": {"RING": RINGING}})
    actor, clock = restore(machine, saved_after(machine, 5), now=5)

    clock.increment(100)

    assert actor.get_snapshot().context == {"rang": [10, 20]}


def test_unnamed_timer_of_a_new_process_does_not_take_the_name_of_a_restored_one():
    later = {"actions": raise_({"type": "RING", "n": 1}, delay=100)}
    machine = create_machine({"context": {"rang": []}, "on": {"RING": RINGING, "LATER": later}})
    first = create_actor(machine, clock=SimulatedClock()).start()
    first.send({"type": "LATER"})
    saved = first.get_persisted_snapshot(timers=True)
    # In a process of its own, the restored actor would count from the start again.
    prefix, _, number = saved["timers"][0]["id"].rpartition(":")
    saved["timers"][0]["id"] = f"{prefix}:{int(number) + 1}"

    actor, _ = restore(machine, saved, now=10)
    actor.send({"type": "LATER"})

    assert len(actor.get_persisted_snapshot(timers=True)["timers"]) == 2


def test_event_of_a_timer_is_persisted_as_json():
    machine = create_machine({"entry": raise_({"type": "SAY", "text": GrowingText("hello")}, delay=10)})

    [timer] = saved_after(machine, 0)["timers"]

    assert timer["event"] == {"type": "SAY", "text": "hello"}


def test_event_of_a_timer_that_json_cannot_hold_is_refused_with_its_place():
    machine = create_machine({"entry": raise_({"type": "SAY", "what": object()}, delay=10, id="say")})
    actor = create_actor(machine, clock=SimulatedClock()).start()

    with pytest.raises(SnapshotError, match=r"timers.*what: a object is not JSON"):
        actor.get_persisted_snapshot(timers=True)


def test_timer_for_a_child_that_is_gone_is_dropped():
    machine = create_machine(LAMP)
    saved = saved_after(machine, 30)
    saved["timers"].append({**saved["timers"][0], "id": "x", "target": "nobody"})

    actor, clock = restore(machine, saved, now=30)

    assert changes(actor, clock, 100) == {100: "dim"}
