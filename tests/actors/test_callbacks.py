"""Callbacks and reducers: plain functions as actors."""

import pytest

from antiphon import (
    ActorError,
    create_actor,
    create_machine,
    emit,
    from_callback,
    from_stream,
    from_task,
    from_transition,
    send_to,
)


def invoking(logic, on=None, **more):
    """A machine that runs some logic until `LEAVE` comes."""
    busy = {"invoke": {"src": "work", "id": "work", **more}, "on": {"LEAVE": "away", **(on or {})}}
    return create_machine({"initial": "busy", "states": {"busy": busy, "away": {}}}, actors={"work": logic})


def test_clean_up_runs_once_when_the_state_is_left():
    calls = []
    logic = from_callback(lambda: calls.append("start") or (lambda: calls.append("clean")))
    actor = create_actor(invoking(logic)).start()

    actor.send({"type": "LEAVE"})
    actor.stop()

    assert calls == ["start", "clean"]


def test_clean_up_runs_when_the_root_is_stopped():
    calls = []

    create_actor(invoking(from_callback(lambda: lambda: calls.append("clean")))).start().stop()

    assert calls == ["clean"]


def test_callback_without_clean_up_is_just_stopped():
    actor = create_actor(invoking(from_callback(lambda: None))).start()

    actor.send({"type": "LEAVE"})

    assert actor.get_snapshot().value == "away"


def test_callback_gets_its_input_and_may_ask_for_nothing():
    values = []

    create_actor(invoking(from_callback(values.append), input=lambda context, event: event["type"])).start()

    assert values == ["xstate.init"]


def test_callback_hears_events_and_answers():
    values = []

    def echo(*, scope):
        scope.receive(lambda event: scope.send_back({"type": "ECHO", "of": event["type"]}))

    on = {
        "ASK": {"actions": send_to("work", {"type": "PING"})},
        "ECHO": {"actions": lambda context, event: values.append(event)},
    }
    create_actor(invoking(from_callback(echo), on)).start().send({"type": "ASK"})

    assert values == [{"type": "ECHO", "of": "PING"}]


def test_callback_that_was_left_is_not_heard_any_more():
    values = []
    scopes = []
    logic = from_callback(lambda *, scope: scopes.append(scope))
    machine = create_machine(
        {
            "initial": "busy",
            "on": {"NEWS": {"actions": lambda context, event: values.append(event)}},
            "states": {"busy": {"invoke": {"src": "work"}, "on": {"LEAVE": "away"}}, "away": {}},
        },
        actors={"work": logic},
    )
    actor = create_actor(machine).start()

    scopes[0].send_back({"type": "NEWS", "n": 1})
    actor.send({"type": "LEAVE"})
    scopes[0].send_back({"type": "NEWS", "n": 2})

    assert values == [{"type": "NEWS", "n": 1}]


def test_callback_can_emit():
    values = []
    scopes = []
    actor = create_actor(from_callback(lambda *, scope: scopes.append(scope)))
    actor.on("news", values.append)
    actor.start()

    scopes[0].emit({"type": "news"})

    assert values == [{"type": "news"}]


def test_callback_that_fails_ends_its_actor():
    errors = []
    actor = create_actor(invoking(from_callback(lambda: 1 / 0)))
    actor.subscribe(error=errors.append)

    actor.start()

    assert [type(error) for error in errors] == [ZeroDivisionError]
    assert actor.get_snapshot().status == "error"


def test_listener_of_a_callback_that_fails_ends_its_actor():
    machine = invoking(
        from_callback(lambda *, scope: scope.receive(lambda event: 1 / 0)),
        {"ASK": {"actions": send_to("work", {"type": "PING"})}},
        onError="away",
    )
    actor = create_actor(machine).start()

    actor.send({"type": "ASK"})

    assert actor.get_snapshot().value == "away"


def test_reducer_folds_events_from_an_initial_state_of_its_input():
    actor = create_actor(from_transition(lambda total, event: total + event["by"], lambda given: given), input=10)

    actor.start()
    actor.send({"type": "ADD", "by": 5})

    assert actor.get_snapshot().context == 15


def test_reducer_may_ask_for_its_scope():
    values = []

    def reduce(count, event, *, scope):
        scope.emit({"type": "counted", "count": count + 1})
        return count + 1

    actor = create_actor(from_transition(reduce, 0))
    actor.on("counted", values.append)

    actor.start().send({"type": "X"})

    assert values == [{"type": "counted", "count": 1}]


def test_stopped_callback_is_stopped_for_good():
    calls = []
    actor = create_actor(from_callback(lambda *, scope: scope.receive(calls.append))).start()

    actor.stop()
    actor.send({"type": "X"})

    assert (actor.get_snapshot().status, actor.is_stopped, calls) == ("stopped", True, [])


def test_stopped_reducer_folds_no_more():
    actor = create_actor(from_transition(lambda heard, event: [*heard, event["type"]], [])).start()

    actor.send({"type": "A"})
    actor.stop()
    actor.send({"type": "B"})

    # The last thing a reducer hears is that it is stopped, as in XState.
    assert actor.get_snapshot().context == ["A", "xstate.stop"]


def test_machine_emits_what_its_listeners_hear():
    values = []
    actor = create_actor(create_machine({"on": {"E": {"actions": emit({"type": "m", "n": 1})}}}))
    subscription = actor.on("m", values.append)
    actor.start()

    actor.send({"type": "E"})
    subscription.unsubscribe()
    actor.send({"type": "E"})

    assert values == [{"type": "m", "n": 1}]


def test_callback_has_a_key_of_its_own():
    keys = []
    logic = from_callback(lambda scope: keys.append(scope.key))

    create_actor(invoking(logic)).start()
    create_actor(invoking(logic)).start()

    assert len({key for key in keys if len(key) == 32}) == 2


@pytest.mark.parametrize("make", [from_task, from_stream, from_callback])
def test_a_function_that_needs_more_than_its_input_is_refused(make):
    async def work(value, more):
        yield value

    make(lambda value, *, scope: None)
    with pytest.raises(ActorError, match=r"'work' cannot be actor logic: it needs 2 arguments \(value, more\)"):
        make(work)


def test_a_reducer_that_would_never_be_awaited_is_refused():
    async def reduce(state, event):
        """Do nothing."""

    with pytest.raises(ActorError, match="'reduce' cannot be actor logic: it is async"):
        from_transition(reduce, 0)
