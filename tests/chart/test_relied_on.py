"""Rules that the machines of conversations rely on, each in its smallest chart."""

import asyncio

import pytest

from antiphon import (
    assign,
    create_actor,
    create_machine,
    emit,
    from_callback,
    from_task,
    initial_transition,
    transition,
    wait_for,
)
from antiphon.chart.errors import GuardError


def context_of(entry, **implementations):
    """The context after the actions of an entry."""
    machine = create_machine({"context": {"n": 1, "seen": None}, "entry": entry}, **implementations)
    return initial_transition(machine)[0].context


@pytest.mark.requirement("E-02")
def test_a_context_is_a_literal_or_made_from_the_input():
    def count_from(input):
        return {"n": input["n"] + 1}

    machine = create_machine({"context": count_from})

    assert context_of([]) == {"n": 1, "seen": None}
    assert initial_transition(machine, {"n": 1})[0].context == {"n": 2}


@pytest.mark.requirement("E-03")
@pytest.mark.parametrize(
    "assignment",
    [{"n": 2}, {"n": lambda context: context["n"] + 1}, lambda context, event: {"n": 2}],
    ids=["values", "functions", "one function"],
)
def test_a_context_is_assigned_by_values_functions_or_one_function(assignment):
    assert context_of([assign(assignment)])["n"] == 2


@pytest.mark.requirement("E-04")
def test_actions_by_name_and_inline_run_in_order_and_see_what_was_assigned_before():
    actions = [assign({"n": 5}), "look", assign({"n": lambda context: context["n"] + 1})]

    found = context_of(actions, actions={"look": assign({"seen": lambda context: context["n"]})})

    assert found == {"n": 6, "seen": 5}


@pytest.mark.requirement("E-05")
def test_a_guard_that_throws_says_where():
    def broken(context, event, params):
        raise KeyError(params["name"])

    config = {"initial": "a", "states": {"a": {"on": {"GO": {"guard": {"type": "has", "params": {"name": "x"}}}}}}}
    machine = create_machine(config, guards={"has": broken})

    with pytest.raises(GuardError, match=r"the guard 'has' of a transition from '.*a' on 'GO' raised KeyError: 'x'"):
        transition(machine, initial_transition(machine)[0], {"type": "GO"})


@pytest.mark.requirement("E-06")
@pytest.mark.parametrize(("n", "state"), [(0, "none"), (1, "one"), (2, "many")])
def test_the_first_candidate_whose_guard_holds_is_taken(n, state):
    candidates = [
        {"guard": lambda context, event: event["n"] == 0, "target": "none"},
        {"guard": lambda context, event: event["n"] < 2, "target": "one"},
        {"target": "many"},
    ]
    machine = create_machine(
        {"initial": "a", "states": {"a": {"on": {"GO": candidates}}, "none": {}, "one": {}, "many": {}}}
    )

    assert transition(machine, initial_transition(machine)[0], {"type": "GO", "n": n})[0].value == state


@pytest.mark.requirement("E-07", "E-16")
@pytest.mark.parametrize(("given", "state"), [(2, "done"), (0, "failed")])
def test_invoked_work_has_an_input_and_its_end_is_an_event(given, state):
    async def divide(input):
        return 10 // input

    invoke = {"id": "work", "src": "divide", "input": given, "onDone": "done", "onError": "failed"}
    machine = create_machine(
        {"initial": "a", "states": {"a": {"invoke": invoke}, "done": {}, "failed": {}}},
        actors={"divide": from_task(divide)},
    )

    async def main():
        return await wait_for(create_actor(machine).start(), lambda snapshot: not snapshot.matches("a"))

    assert asyncio.run(main()).value == state


@pytest.mark.requirement("E-08")
@pytest.mark.parametrize(("reenter", "entries"), [(False, 1), (True, 2)])
def test_a_state_that_is_its_own_target_is_entered_again_only_if_asked(reenter, entries):
    entered = []
    state = {"entry": lambda: entered.append(1), "on": {"GO": {"target": "a", "reenter": reenter}}}
    create_actor(create_machine({"initial": "a", "states": {"a": state}})).start().send({"type": "GO"})

    assert len(entered) == entries


@pytest.mark.requirement("E-09")
def test_what_a_callback_sends_back_reaches_its_parent_and_what_it_emits_only_listeners():
    events = []
    noted = []

    def work(input, scope):
        scope.receive(lambda event: (scope.emit({"type": "EMITTED"}), scope.send_back({"type": "SENT"})))

    machine = create_machine(
        {"invoke": {"id": "work", "src": "work"}, "on": {"*": {"actions": lambda context, event: noted.append(event)}}},
        actors={"work": from_callback(work)},
    )
    child = create_actor(machine).start().get_snapshot().children["work"]
    child.on("EMITTED", events.append)
    child.send({"type": "BEGIN"})

    assert (events, noted) == ([{"type": "EMITTED"}], [{"type": "SENT"}])


@pytest.mark.requirement("E-13")
@pytest.mark.parametrize("target", ["b", {"target": "b"}, "#chart.b", "#b.c"])
def test_a_target_is_a_sibling_a_shorthand_or_an_id_with_a_path(target):
    named = {"id": "b"} if target == "#b.c" else {}
    states = {"a": {"on": {"GO": target}}, "b": {**named, "initial": "c", "states": {"c": {}}}}
    machine = create_machine({"id": "chart", "initial": "a", "states": states})

    assert transition(machine, initial_transition(machine)[0], {"type": "GO"})[0].value == {"b": "c"}


@pytest.mark.requirement("E-15")
def test_provide_replaces_functions_and_never_the_context():
    machine = create_machine({"context": {"n": 1}, "entry": "add"}, actions={"add": assign({"n": 2})})
    provided = machine.provide(actions={"add": emit({"type": "ADDED"})})

    assert initial_transition(machine)[0].context == {"n": 2}
    assert initial_transition(provided)[0].context == {"n": 1}


@pytest.mark.requirement("E-16")
def test_send_runs_to_completion_before_it_returns_and_subscribers_have_heard():
    states = {"a": {"on": {"GO": "b"}}, "b": {"always": "c"}, "c": {}}
    actor = create_actor(create_machine({"initial": "a", "states": states})).start()
    values = []
    actor.subscribe(lambda snapshot: values.append(snapshot.value))
    possible = actor.get_snapshot().can({"type": "GO"})
    actor.send({"type": "GO"})

    assert (possible, actor.get_snapshot().value, actor.get_snapshot().status, values) == (True, "c", "active", ["c"])


@pytest.mark.requirement("E-18")
def test_a_loop_of_work_that_is_done_at_once_starves_nobody():
    """Timers and other tasks have their turn."""

    async def nothing(input):
        return None

    def looping(provided):
        return {"invoke": {"src": "nothing", "onDone": provided}}

    states = {"a": looping("b"), "b": looping("a")}
    machine = create_machine({"initial": "a", "states": states}, actors={"nothing": from_task(nothing)})

    async def main():
        actor = create_actor(machine).start()
        turns = 0
        for _ in range(100):
            await asyncio.sleep(0)
            turns += 1
        actor.stop()
        return turns

    assert asyncio.run(asyncio.wait_for(main(), 10)) == 100
