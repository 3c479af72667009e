"""States that can never become active are found, however many situations the others make."""

from antiphon import assign, create_machine, from_task
from antiphon.chart.explore.reachability import connected_states, reachable_states, unreachable_states

MORE = {"MORE": {"actions": assign({"n": lambda context: context["n"] + 1})}}


def test_an_unreachable_state_is_reported():
    machine = create_machine(
        {"id": "m", "initial": "a", "states": {"a": {"on": {"GO": "b"}}, "b": {}, "c": {"on": {"GO": "a"}}}}
    )

    assert unreachable_states(machine) == ["m.c"]
    assert reachable_states(machine) == ["m", "m.a", "m.b"]


def test_a_state_behind_a_guard_that_never_holds_is_unreachable():
    go = {"target": "b", "guard": lambda: False}

    assert unreachable_states(
        create_machine({"id": "m", "initial": "a", "states": {"a": {"on": {"GO": go}}, "b": {}}})
    ) == ["m.b"]


def test_a_state_that_is_left_at_once_is_reachable():
    states = {"a": {"on": {"GO": "b"}}, "b": {"always": "c"}, "c": {}}

    assert unreachable_states(create_machine({"initial": "a", "states": states})) == []


def test_states_behind_timers_and_children_are_reachable():
    states = {"a": {"after": {5: "b"}}, "b": {"invoke": {"src": "load", "onError": "c"}}, "c": {}}

    assert (
        unreachable_states(create_machine({"initial": "a", "states": states}, actors={"load": from_task(lambda: None)}))
        == []
    )


def test_a_context_that_grows_for_ever_does_not_matter_once_all_connected_states_were_seen():
    machine = create_machine({"id": "m", "initial": "a", "context": {"n": 0}, "on": MORE, "states": {"a": {}, "b": {}}})

    assert unreachable_states(machine) == ["m.b"]


def test_history_states_are_neither():
    machine = create_machine({"id": "m", "initial": "a", "states": {"a": {}, "h": {"type": "history"}}})

    assert (reachable_states(machine), unreachable_states(machine)) == (["m", "m.a"], [])


def connected_ids(chart):
    return {node.key for node in connected_states(create_machine({"id": "m", **chart}).root)}


def test_a_state_that_is_always_entered_elsewhere_leaves_its_initial_state_unconnected():
    inside = {"initial": "x", "states": {"x": {}, "y": {}}}

    assert connected_ids({"initial": "a", "states": {"a": {"on": {"GO": "b.y"}}, "b": inside}}) == {"m", "a", "b", "y"}


def test_entering_one_region_connects_the_others():
    regions = {name: {"initial": "x", "states": {"x": {}, name: {}}} for name in ("r", "s")}

    states = connected_ids(
        {"initial": "a", "states": {"a": {"on": {"GO": "p.r.r"}}, "p": {"type": "parallel", "states": regions}}}
    )

    assert states == {"m", "a", "p", "r", "s", "x"}


def test_history_connects_where_it_leads_by_default():
    inside = {"initial": "x", "states": {"x": {}, "y": {}, "h": {"type": "history", "target": "y"}}}

    assert connected_ids({"initial": "a", "states": {"a": {"on": {"GO": "b.h"}}, "b": inside}}) == {"m", "a", "b", "y"}


def test_several_deep_initial_states_are_connected() -> None:
    regions = {"x": {"initial": "a", "states": {"a": {}, "b": {}}}, "y": {"initial": "c", "states": {"c": {}, "d": {}}}}
    chart = {
        "id": "m",
        "options": {"scxml": True},
        "initial": ["#m.p.x.b", "#m.p.y.d"],
        "states": {"p": {"type": "parallel", "states": regions}},
    }
    connected = connected_states(create_machine(chart).root)

    assert {"m.p.x.b", "m.p.y.d"} <= {node.id for node in connected}
