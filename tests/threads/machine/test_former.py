"""Former charts bound to the functions of today, and snapshots of trees that are moved to the present charts."""

import pytest

from antiphon import SimulatedClock, create_actor, create_machine
from antiphon.chart.errors import ChartError
from antiphon.threads.machine.former import bind_former, migrate_by

LEAF = create_machine({"id": "leaf", "context": {"old": 0, "new": ["x"]}})
TREE = create_machine(
    {"id": "tree", "context": lambda given: {"name": given.get("name"), "limit": 5}}, actors={"leaf": LEAF}
)


def leaf(context):
    snapshot = {"status": "active", "value": {}, "historyValue": {}, "context": context, "children": {}}
    return {"src": "leaf", "snapshot": snapshot, "syncSnapshot": False}


def tree(context, **children):
    return {"status": "active", "value": {}, "historyValue": {}, "context": context, "children": children}


def test_keys_that_a_context_lacks_get_the_values_of_a_new_one_in_every_actor():
    snapshot = migrate_by(TREE, {})(tree({"name": "a"}, one=leaf({"old": 3}), two=leaf({"old": 4, "new": []})), 1)

    assert snapshot["context"] == {"name": "a", "limit": 5}
    assert snapshot["children"]["one"]["snapshot"]["context"] == {"old": 3, "new": ["x"]}
    assert snapshot["children"]["two"]["snapshot"]["context"] == {"old": 4, "new": []}


def test_children_are_changed_before_their_parent():
    seen = []
    changes = {"tree": lambda snapshot: seen.append("tree"), "leaf": lambda snapshot: seen.append("leaf")}
    migrate_by(TREE, changes)(tree({"name": "a"}, one=leaf({"old": 3})), 1)

    assert seen == ["leaf", "tree"]


def test_children_without_a_machine_are_left_as_they_are():
    task = {"src": "task", "snapshot": {"status": "active", "input": 3}, "syncSnapshot": False}

    assert migrate_by(TREE, {})(tree({}, task=task), 1)["children"]["task"] == task


def test_a_former_chart_has_the_functions_of_today_and_its_own():
    machine = create_machine(
        {"id": "m", "context": lambda: {"n": 0, "added": 1}, "on": {"GO": {"actions": "count"}}},
        actions={"count": lambda: None},
    )
    heard = []
    chart = {"id": "m", "version": 1, "context": {"n": 0}, "on": {"GO": {"actions": ["count", "tell"]}}}
    former = bind_former(machine, chart, actions={"tell": lambda: heard.append("told")})
    actor = create_actor(former, clock=SimulatedClock()).start()
    actor.send({"type": "GO"})

    assert (former.version, actor.get_snapshot().context, heard) == (1, {"n": 0}, ["told"])


def test_a_former_chart_that_names_a_function_that_nobody_has_is_refused():
    with pytest.raises(ChartError, match="gone"):
        bind_former(LEAF, {"id": "leaf", "context": {}, "entry": "gone"})
