"""Setups: functions bound once, machines made from them, and what type arguments cost at run time."""

from typing import Literal, TypedDict

import pytest

from antiphon import (
    Machine,
    Snapshot,
    and_,
    assign,
    create_actor,
    initial_transition,
    setup,
    transition,
)
from antiphon.chart.errors import ChartError


class Context(TypedDict):
    n: int


class Add(TypedDict):
    type: Literal["ADD"]
    by: int


CHART = {"id": "counter", "context": {"n": 0}, "on": {"ADD": {"guard": "may", "actions": "add"}}}


def counter():
    return setup[Context, Add](
        actions={"add": assign({"n": lambda context, event: context["n"] + event["by"]})},
        guards={"may": lambda context, event: event["by"] > 0},
    )


def after(machine, *events):
    snapshot, _ = initial_transition(machine)
    for event in events:
        snapshot, _ = transition(machine, snapshot, event)
    return snapshot


def test_machine_of_a_setup_has_its_functions():
    machine = counter().create_machine(CHART)

    assert after(machine, {"type": "ADD", "by": 2}, {"type": "ADD", "by": -1}).context == {"n": 2}


def test_type_arguments_are_optional_and_change_nothing():
    for kind in (setup, setup[Context], setup[Context, Add], setup[Context, Add, Literal["a"]]):
        built = kind(actions={"add": assign({"n": 1})}, guards={"may": lambda: True})

        assert type(built) is setup
        assert after(built.create_machine(CHART), {"type": "ADD"}).context == {"n": 1}


def test_machines_and_snapshots_take_one_two_or_three_type_arguments():
    for kind in (Machine, Snapshot):
        assert [kind[Context], kind[Context, Add], kind[Context, Add, str]]


def test_one_setup_makes_many_machines_that_share_nothing():
    task = counter()
    first = task.create_machine({**CHART, "invoke": {"src": counter().create_machine(CHART)}})
    second = task.create_machine(CHART)

    assert first.implementations.inline_actors
    assert not second.implementations.inline_actors


def test_actors_and_delays_of_a_setup_are_bound_as_well():
    child = setup().create_machine({"id": "child"})
    chart = {
        "invoke": {"src": "child", "id": "one"},
        "initial": "a",
        "states": {"a": {"after": {"soon": "b"}}, "b": {}},
    }
    machine = setup(actors={"child": child}, delays={"soon": 10}).create_machine(chart)

    assert list(initial_transition(machine)[0].children) == ["one"]


def test_unknown_names_are_refused_unless_the_machine_is_relaxed():
    with pytest.raises(ChartError, match="no guard named 'may'"):
        setup().create_machine(CHART)

    assert setup().create_machine(CHART, strict=False).id == "counter"


def test_machine_of_a_setup_takes_a_migration():
    machine = counter().create_machine(
        {**CHART, "version": 2}, migrate=lambda old, version: {**old, "context": {"n": 9}}
    )
    saved = {"status": "active", "value": {}, "historyValue": {}, "context": {}, "children": {}, "version": 1}

    assert create_actor(machine, snapshot=saved).get_snapshot().context == {"n": 9}


def test_extended_setup_has_more_functions_and_the_old_one_its_own():
    extended = counter().extend(
        actions={"double": assign({"n": lambda context: context["n"] * 2})}, guards={"may": lambda: True}
    )
    chart = {**CHART, "on": {**CHART["on"], "DOUBLE": {"actions": "double"}}}
    machine = extended.create_machine(chart)

    assert after(machine, {"type": "ADD", "by": -2}, {"type": "DOUBLE"}).context == {"n": -4}
    with pytest.raises(ChartError, match="no action named 'double'"):
        counter().create_machine(chart)


def test_extended_setup_may_refer_to_what_it_extends():
    extended = counter().extend(guards={"often": and_(["may", lambda context: context["n"] > 0])})
    machine = extended.create_machine({**CHART, "on": {"ADD": {"guard": "often", "actions": "add"}}})

    assert after(machine, {"type": "ADD", "by": 1}).context == {"n": 0}


def test_extended_setup_has_more_actors_and_delays():
    child = setup().create_machine({"id": "child"})
    extended = setup(delays={"soon": 1}).extend(actors={"child": child}, delays={"later": 2})

    assert repr(extended) == "setup(actors=['child'], delays=['soon', 'later'])"


def test_state_configs_and_actions_are_given_back_as_they_are():
    task = counter()
    config = {"entry": "add"}
    action = assign({"n": 1})
    function = print

    assert task.create_state_config(config) is config
    assert task.create_action(action) is action
    assert task.create_action(function) is function


def test_actions_of_a_setup_are_those_of_antiphon():
    task = counter()
    built = [
        task.assign({"n": 1}),
        task.raise_({"type": "ADD", "by": 1}, delay=10, id="later"),
        task.send_to("child", {"type": "HELLO"}, delay=10, id="hello"),
        task.emit({"type": "notice"}),
        task.log("text", "label"),
        task.cancel("later"),
        task.spawn_child("child", id="one", input=1, system_id="it", sync_snapshot=True),
        task.stop_child("one"),
        task.enqueue_actions(lambda context, event, enqueue: None),
    ]

    assert [action.type for action in built] == [
        "xstate.assign",
        "xstate.raise",
        "xstate.sendTo",
        "xstate.emit",
        "xstate.log",
        "xstate.cancel",
        "xstate.spawnChild",
        "xstate.stopChild",
        "xstate.enqueueActions",
    ]


def test_assign_of_a_setup_takes_the_whole_context():
    task = counter()
    machine = task.create_machine(
        {**CHART, "on": {"SET": {"actions": task.assign(lambda context, event: {**context, "n": 7})}}}
    )

    assert after(machine, {"type": "SET"}).context == {"n": 7}


def test_raise_of_a_setup_sends_the_machine_an_event():
    task = counter()
    machine = task.create_machine({**CHART, "entry": task.raise_({"type": "ADD", "by": 3})})

    assert after(machine).context == {"n": 3}


def test_setup_says_what_it_binds():
    assert repr(counter()) == "setup(actions=['add'], guards=['may'])"
    assert repr(setup()) == "setup()"
