"""Actors take one event at a time to its end, stop with their children, and need no event loop for that."""

import asyncio

import pytest

from antiphon import (
    SimulatedClock,
    assign,
    create_actor,
    create_machine,
    emit,
    from_callback,
    from_transition,
    initial_transition,
    raise_,
    send_parent,
    send_to,
    spawn_child,
    stop_child,
    transition,
)
from antiphon.actors.clock import RealClock
from antiphon.actors.errors import NotRoot, SystemIdTaken
from antiphon.chart.errors import EventError, UnknownActor

FLAT = {"initial": "a", "states": {"a": {"on": {"E": "b"}}, "b": {"on": {"E": "a"}}}}


def failing(actor):
    """The errors an actor tells its observers."""
    errors = []
    actor.subscribe(error=errors.append)
    return errors


def test_event_sent_by_an_observer_waits_until_all_have_seen_the_snapshot():
    values = []
    actor = create_actor(create_machine(FLAT))

    def first(snapshot):
        values.append(("first", snapshot.value))
        if snapshot.value == "b":
            actor.send({"type": "E"})

    actor.subscribe(first)
    actor.subscribe(lambda snapshot: values.append(("second", snapshot.value)))
    actor.start()
    values.clear()
    actor.send({"type": "E"})

    assert values == [("first", "b"), ("second", "b"), ("first", "a"), ("second", "a")]


def test_event_sent_by_a_listener_waits_its_turn():
    values = []
    states = {
        "a": {"on": {"E": {"target": "b", "actions": "tell"}}},
        "b": {"on": {"E": {"actions": "note"}}},
    }
    machine = create_machine(
        {"initial": "a", "states": states},
        actions={"tell": emit({"type": "m"}), "note": lambda: values.append("E@b")},
    )
    actor = create_actor(machine)
    actor.on("m", lambda event: (actor.send({"type": "E"}), values.append("listened")))

    actor.start().send({"type": "E"})

    assert values == ["listened", "E@b"]


def test_raised_events_come_before_sent_ones():
    values = []

    def act(*, scope):
        scope.self.send({"type": "SENT"})

    on = {
        "GO": {"actions": [act, raise_({"type": "RAISED"})]},
        "SENT": {"actions": lambda: values.append("sent")},
        "RAISED": {"actions": lambda: values.append("raised")},
    }
    create_actor(create_machine({"on": on})).start().send({"type": "GO"})

    assert values == ["raised", "sent"]


def test_parent_and_child_that_answer_each_other_do_not_nest():
    depths = []
    depth = [0]

    def note():
        depth[0] += 1
        depths.append(depth[0])
        depth[0] -= 1

    kid = create_machine({"on": {"PING": {"actions": [note, send_parent({"type": "PONG"})]}}})
    machine = create_machine(
        {
            "context": {"n": 0},
            "invoke": {"src": "kid", "id": "kid"},
            "on": {
                "PONG": {
                    "guard": lambda context: context["n"] < 50,
                    "actions": [
                        assign({"n": lambda context: context["n"] + 1}),
                        note,
                        send_to("kid", {"type": "PING"}),
                    ],
                }
            },
        },
        actors={"kid": kid},
    )
    actor = create_actor(machine).start()

    actor.send({"type": "PONG"})

    assert actor.get_snapshot().context == {"n": 50}
    assert set(depths) == {1}


def test_long_exchange_between_actors_does_not_exhaust_the_stack():
    kid = create_machine({"on": {"PING": {"actions": send_parent({"type": "PONG"})}}})
    more = {
        "guard": lambda context: context["n"] < 5000,
        "actions": [assign({"n": lambda context: context["n"] + 1}), send_to("kid", {"type": "PING"})],
    }
    chart = {"context": {"n": 0}, "invoke": {"src": "kid", "id": "kid"}, "on": {"PONG": more}}
    actor = create_actor(create_machine(chart, actors={"kid": kid})).start()

    actor.send({"type": "PONG"})

    assert (actor.get_snapshot().status, actor.get_snapshot().context) == ("active", {"n": 5000})


def test_events_sent_before_the_start_wait_for_it():
    actor = create_actor(create_machine(FLAT))

    actor.send({"type": "E"})
    assert actor.get_snapshot().value == "a"
    actor.start()

    assert actor.get_snapshot().value == "b"


def test_starting_twice_is_starting_once():
    entered = []
    actor = create_actor(create_machine({"entry": lambda: entered.append(1)}))

    assert actor.start() is actor.start()
    assert entered == [1]


def test_entry_actions_run_at_the_start_and_not_before():
    entered = []
    actor = create_actor(create_machine({"entry": lambda: entered.append(1)}))
    assert entered == []

    actor.start()

    assert entered == [1]


def test_error_in_the_middle_of_a_step_leaves_the_snapshot_before_it():
    actions = [assign({"n": 1}), lambda: 1 / 0]
    states = {"a": {"on": {"E": {"target": "b", "actions": actions}}}, "b": {}}
    actor = create_actor(create_machine({"initial": "a", "context": {"n": 0}, "states": states}))
    errors = failing(actor.start())

    actor.send({"type": "E"})

    snapshot = actor.get_snapshot()
    assert (snapshot.status, snapshot.value, snapshot.context) == ("error", "a", {"n": 0})
    assert [type(error) for error in errors] == [ZeroDivisionError]
    assert snapshot.error is errors[0]


@pytest.mark.parametrize("event", ["E", None, 7, {}, {"type": 7}, {"type": None}, ["type"], object()])
@pytest.mark.parametrize("started", [True, False])
def test_what_is_not_an_event_is_refused_and_changes_nothing(event, started):
    actor = create_actor(create_machine(FLAT))
    if started:
        actor.start()
    before = actor.get_snapshot()

    with pytest.raises(EventError):
        actor.send(event)

    assert actor.get_snapshot() is before
    actor.start().send({"type": "E"})
    assert actor.get_snapshot().value == "b"


def test_interrupt_in_an_action_goes_up_and_leaves_the_actor_usable():
    def act(context, event):
        if event.get("stop"):
            raise KeyboardInterrupt

    machine = create_machine({"context": {"n": 0}, "on": {"E": {"actions": [act, assign({"n": 1})]}}})
    actor = create_actor(machine).start()

    with pytest.raises(KeyboardInterrupt):
        actor.send({"type": "E", "stop": True})
    actor.send({"type": "E"})

    assert actor.get_snapshot().context == {"n": 1}


def test_unsubscribed_observer_hears_no_more():
    values = []
    actor = create_actor(create_machine(FLAT)).start()
    subscription = actor.subscribe(values.append)

    actor.send({"type": "E"})
    subscription.unsubscribe()
    subscription.unsubscribe()
    actor.send({"type": "E"})

    assert [snapshot.value for snapshot in values] == ["b"]


def test_observer_may_be_an_object_or_a_dict():
    class Watcher:
        def __init__(self):
            self.seen = []

        def next(self, snapshot):
            self.seen.append(snapshot.value)

    watcher = Watcher()
    values = []
    actor = create_actor(create_machine(FLAT))
    actor.subscribe(watcher)
    actor.subscribe({"next": lambda snapshot: values.append(snapshot.value)})

    actor.start()

    assert (watcher.seen, values) == (["a"], ["a"])


def test_late_observer_of_an_ended_actor_hears_how_it_ended():
    calls = []
    done = create_actor(create_machine({"initial": "f", "states": {"f": {"type": "final"}}})).start()
    failed = create_actor(create_machine({"on": {"E": {"actions": lambda: 1 / 0}}}))
    failing(failed.start())
    failed.send({"type": "E"})

    done.subscribe(complete=lambda: calls.append("complete"))
    failed.subscribe(error=lambda error: calls.append(type(error)))

    assert calls == ["complete", ZeroDivisionError]


def test_selection_can_be_read_and_compared_in_its_own_way():
    chart = {"context": {"n": 0}, "on": {"ADD": {"actions": assign({"n": lambda context: context["n"] + 1})}}}
    actor = create_actor(create_machine(chart)).start()
    values = []
    halves = actor.select(lambda snapshot: snapshot.context["n"], lambda one, other: one // 2 == other // 2)
    halves.subscribe(values.append)

    for _ in range(4):
        actor.send({"type": "ADD"})

    assert (values, halves.get()) == ([2, 4], 4)


def noting(calls, name):
    """Logic that notes its start and its stop."""
    return from_callback(lambda: calls.append(f"+{name}") or (lambda: calls.append(f"-{name}")))


def tree(calls, name, *kids):
    """A machine that invokes a noting callback and other machines."""
    invokes = [{"src": noting(calls, name), "id": "self"}, *({"src": kid, "id": kid.id} for kid in kids)]
    return create_machine({"id": name, "invoke": invokes})


def test_stopping_the_root_stops_every_descendant_before_its_later_siblings():
    calls = []
    root = tree(calls, "r", tree(calls, "a", tree(calls, "b")), tree(calls, "c"))

    actor = create_actor(root).start()
    started = list(calls)
    calls.clear()
    actor.stop()

    assert started == ["+r", "+a", "+b", "+c"]
    assert calls == ["-r", "-a", "-b", "-c"]


def test_children_of_a_machine_that_is_done_are_stopped():
    calls = []
    states = {"busy": {"on": {"END": "end"}}, "end": {"type": "final"}}
    chart = {"invoke": {"src": noting(calls, "kid")}, "initial": "busy", "states": states}
    actor = create_actor(create_machine(chart)).start()

    actor.send({"type": "END"})

    assert calls == ["+kid", "-kid"]
    assert actor.get_snapshot().status == "done"


def test_stopping_runs_no_exit_actions():
    calls = []

    create_actor(create_machine({"exit": lambda: calls.append("exit")})).start().stop()

    assert calls == []


def test_stopped_child_is_told_and_forgotten():
    calls = []
    on = {
        "COME": {"actions": spawn_child("kid", id="kid")},
        "GO": {"actions": stop_child("kid")},
        "ASK": {"actions": send_to("kid", {"type": "X"})},
    }
    actor = create_actor(create_machine({"on": on}, actors={"kid": noting(calls, "kid")}))
    errors = failing(actor.start())

    actor.send({"type": "COME"})
    actor.send({"type": "GO"})
    assert (calls, dict(actor.get_snapshot().children)) == (["+kid", "-kid"], {})
    actor.send({"type": "ASK"})

    assert [type(error) for error in errors] == [UnknownActor]
    assert "'kid'" in str(errors[0])


def test_stopping_a_child_that_is_not_there_does_nothing():
    actor = create_actor(create_machine({"on": {"GO": {"actions": stop_child("nobody")}}})).start()

    actor.send({"type": "GO"})

    assert actor.get_snapshot().status == "active"


def test_grandchild_cannot_be_stopped_from_outside():
    actor = create_actor(tree([], "r", tree([], "a"))).start()
    grandchild = actor.get_snapshot().children["a"].get_snapshot().children["self"]

    with pytest.raises(NotRoot):
        grandchild.stop()


def test_deep_tree_of_children_is_started_and_stopped():
    calls = []
    machine = tree(calls, "0")
    for level in range(1, 30):
        machine = tree(calls, str(level), machine)

    create_actor(machine).start().stop()

    assert calls == [f"+{level}" for level in range(29, -1, -1)] + [f"-{level}" for level in range(29, -1, -1)]


def test_snapshot_of_the_pure_functions_can_be_run():
    chart = {"initial": "a", "states": {"a": {"on": {"N": "b"}}, "b": {"invoke": {"src": "count", "id": "k"}}}}
    chart["on"] = {"ASK": {"actions": send_to("k", {"type": "X"})}}
    machine = create_machine(chart, actors={"count": from_transition(lambda count, event: count + 1, 0)})
    snapshot, _ = transition(machine, initial_transition(machine)[0], {"type": "N"})

    actor = create_actor(machine, snapshot=snapshot).start()
    actor.send({"type": "ASK"})

    assert actor.get_snapshot().children["k"].get_snapshot().context == 1


def test_one_pure_snapshot_can_be_run_twice():
    machine = create_machine(
        {"invoke": {"src": "count", "id": "k"}, "on": {"ASK": {"actions": send_to("k", {"type": "X"})}}},
        actors={"count": from_transition(lambda count, event: count + 1, 0)},
    )
    snapshot, _ = initial_transition(machine)

    first = create_actor(machine, snapshot=snapshot).start()
    second = create_actor(machine, snapshot=snapshot).start()
    first.send({"type": "ASK"})

    assert first.get_snapshot().children["k"].get_snapshot().context == 1
    assert second.get_snapshot().children["k"].get_snapshot().context == 0


def test_system_id_is_free_again_for_a_successor():
    states = {
        name: {"invoke": {"src": "kid", "id": name, "systemId": "voice"}, "on": {"NEXT": following}}
        for name, following in (("a", "b"), ("b", "a"))
    }
    actor = create_actor(create_machine({"initial": "a", "states": states}, actors={"kid": create_machine({})})).start()
    first = actor.system.get("voice")

    actor.send({"type": "NEXT"})

    assert actor.system.get("voice") is actor.get_snapshot().children["b"].actor
    assert actor.system.get("voice") is not first


def test_system_id_taken_twice_is_an_error():
    invokes = [{"src": "kid", "id": name, "systemId": "voice"} for name in ("a", "b")]
    actor = create_actor(create_machine({"invoke": invokes}, actors={"kid": create_machine({})}))
    errors = failing(actor)

    actor.start()

    assert [type(error) for error in errors] == [SystemIdTaken]
    assert "'voice'" in str(errors[0])


def test_actors_reach_each_other_by_system_id():
    calls = []

    def call(*, scope):
        scope.system.get("ear").send({"type": "PSST"})

    ear = from_callback(lambda *, scope: scope.receive(lambda event: calls.append(event["type"])))
    chart = {"invoke": {"src": "ear", "systemId": "ear"}, "on": {"CALL": {"actions": call}}}

    create_actor(create_machine(chart, actors={"ear": ear})).start().send({"type": "CALL"})

    assert calls == ["PSST"]


def test_systems_of_two_roots_are_apart():
    first, second = (create_actor(create_machine(FLAT), system_id="root").start() for _ in range(2))

    assert (first.system.get("root"), second.system.get("root")) == (first, second)


def test_hook_is_told_of_events_that_no_transition_takes():
    unhandled = []
    machine = create_machine({"on": {"KNOWN": {"actions": lambda: None}, "FORBIDDEN": None}})

    def note(event, snapshot):
        unhandled.append((event["type"], snapshot.value))

    actor = create_actor(machine, on_unhandled=note)

    actor.start()
    for type in ("KNOWN", "FORBIDDEN", "UNKNOWN"):
        actor.send({"type": type})

    assert unhandled == [("UNKNOWN", {})]


def test_hook_is_told_of_events_behind_guards_that_do_not_hold():
    unhandled = []
    machine = create_machine({"on": {"E": {"guard": lambda context, event: event["ok"], "actions": lambda: None}}})
    actor = create_actor(machine, on_unhandled=lambda event, snapshot: unhandled.append(event["ok"])).start()

    actor.send({"type": "E", "ok": True})
    actor.send({"type": "E", "ok": False})

    assert unhandled == [False]


def test_hook_tests_guards_no_more_often_than_without_it():
    tested = []
    machine = create_machine({"on": {"E": {"guard": lambda: tested.append(1) or True, "actions": lambda: None}}})

    create_actor(machine, on_unhandled=lambda event, snapshot: None).start().send({"type": "E"})

    assert tested == [1]


def test_hook_is_told_of_what_children_do_not_take_either():
    unhandled = []
    chart = {"invoke": {"src": "kid", "id": "kid"}, "on": {"ASK": {"actions": send_to("kid", {"type": "WHAT"})}}}
    machine = create_machine(chart, actors={"kid": create_machine({"id": "kid"})})
    actor = create_actor(
        machine, on_unhandled=lambda event, snapshot: unhandled.append((event["type"], snapshot.machine.id))
    )

    actor.start().send({"type": "ASK"})

    assert unhandled == [("WHAT", "kid")]


def test_hook_that_fails_does_not_break_the_actor(monkeypatch):
    reported = []
    monkeypatch.setattr("sys.excepthook", lambda kind, error, trace: reported.append(kind))
    actor = create_actor(create_machine(FLAT), on_unhandled=lambda event, snapshot: 1 / 0).start()

    actor.send({"type": "NOPE"})
    actor.send({"type": "E"})

    assert (actor.get_snapshot().value, reported) == ("b", [ZeroDivisionError])


def test_real_clock_uses_the_running_loop():
    async def main():
        reached = asyncio.Event()
        states = {"a": {"after": {1: "b"}}, "b": {"entry": lambda: reached.set()}}
        actor = create_actor(create_machine({"initial": "a", "states": states}), clock=RealClock()).start()
        await asyncio.wait_for(reached.wait(), 1)
        return actor.get_snapshot().value

    assert asyncio.run(main()) == "b"


def test_stopped_actor_leaves_no_timer_on_the_clock():
    class Clock(SimulatedClock):
        def __init__(self):
            super().__init__()
            self.pending = set()

        def set_timeout(self, callback, delay_ms):
            handle = super().set_timeout(callback, delay_ms)
            self.pending.add(handle)
            return handle

        def clear_timeout(self, handle):
            self.pending.discard(handle)
            super().clear_timeout(handle)

    clock = Clock()
    kid = create_machine({"initial": "a", "states": {"a": {"after": {10: "b"}}, "b": {}}})
    chart = {"invoke": {"src": "kid"}, "entry": raise_({"type": "LATER"}, delay=5)}
    actor = create_actor(create_machine(chart, actors={"kid": kid}), clock=clock).start()
    assert len(clock.pending) == 2

    actor.stop()

    assert clock.pending == set()


def test_everything_but_time_and_tasks_works_without_a_loop():
    kid = from_callback(lambda *, scope: scope.receive(lambda event: scope.send_back({"type": "DONE"})))
    states = {"a": {"on": {"ASK": {"actions": send_to("k", {"type": "X"})}, "DONE": "b"}}, "b": {"type": "final"}}
    chart = {"initial": "a", "invoke": {"src": "kid", "id": "k"}, "states": states, "output": 42}
    actor = create_actor(create_machine(chart, actors={"kid": kid})).start()

    actor.send({"type": "ASK"})

    assert (actor.get_snapshot().status, actor.get_snapshot().output) == ("done", 42)


def test_an_actor_that_failed_takes_no_more_events(monkeypatch):
    reported = []
    monkeypatch.setattr("sys.excepthook", lambda kind, error, trace: reported.append(str(error)))

    def fail():
        raise ValueError(f"attempt {len(reported) + 1}")

    actor = create_actor(create_machine({"on": {"FAIL": {"actions": fail}}})).start()
    actor.send({"type": "FAIL"})
    actor.send({"type": "FAIL"})

    assert reported == ["attempt 1"]
    assert (actor.is_stopped, actor.is_idle) == (True, False)
