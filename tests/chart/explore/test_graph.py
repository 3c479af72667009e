"""A machine is explored through every event, timer and child, each situation once."""

import json
from types import MappingProxyType

import pytest

from antiphon import assign, create_machine, from_task, raise_, send_to
from antiphon.chart.explore.graph import ExplorationError, get_adjacency
from antiphon.chart.explore.identity import serialize

WORK = {"work": from_task(lambda: None)}
TURNS = {"on": {"E": {"actions": "turn"}}}
TURN = {"turn": assign({"n": lambda context: (context["n"] + 1) % 3})}


def explore_chart(chart, functions=None, **options):
    return get_adjacency(create_machine({"id": "m", **chart}, **(functions or {})), **options)


def arrows(graph):
    """Return source, event and target of each edge, by state value."""
    vertices = graph.vertices
    return [
        (vertex.snapshot.value, edge.event["type"], vertices[edge.target].snapshot.value)
        for vertex in graph
        for edge in vertex.edges
    ]


def test_every_event_is_tried_in_every_state():
    graph = explore_chart({"initial": "a", "states": {"a": {"on": {"GO": "b"}}, "b": {"on": {"BACK": "a", "GO": "b"}}}})

    assert arrows(graph) == [("a", "GO", "b"), ("b", "GO", "b"), ("b", "BACK", "a")]


def test_an_event_that_nobody_reacts_to_leads_nowhere():
    graph = explore_chart({"initial": "a", "states": {"a": {}, "b": {}}}, events=["GO"])

    assert arrows(graph) == []


def test_states_differ_by_their_context():
    graph = explore_chart({"context": {"n": 0}, **TURNS}, {"actions": TURN})

    assert [vertex.snapshot.context["n"] for vertex in graph] == [0, 1, 2]


def test_what_tells_states_apart_can_be_chosen():
    graph = explore_chart(
        {"context": {"n": 0}, **TURNS}, {"actions": TURN}, serialize=lambda snapshot: str(snapshot.value)
    )

    assert len(graph) == 1


def test_events_carry_the_payloads_they_are_given():
    keep = {"actions": {"keep": assign({"n": lambda context, event: event["n"]})}}
    payloads = {"SET": [{"n": 1}, {"n": 2}]}

    graph = explore_chart({"context": {"n": 0}, "on": {"SET": {"actions": "keep"}}}, keep, payloads=payloads)

    assert [edge.event for edge in graph.start.edges] == [{"n": 1, "type": "SET"}, {"n": 2, "type": "SET"}]
    assert len(graph) == 3


def test_events_may_depend_on_the_snapshot():
    states = {"a": {"on": {"GO": "b"}}, "b": {"on": {"GO": "a"}}}

    graph = explore_chart(
        {"initial": "a", "states": states}, events=lambda snapshot: ["GO"] if snapshot.matches("a") else []
    )

    assert arrows(graph) == [("a", "GO", "b")]


def test_wildcards_are_tried_too():
    graph = explore_chart({"initial": "a", "states": {"a": {"on": {"*": "b", "x.*": "c"}}, "b": {}, "c": {}}})

    assert arrows(graph) == [("a", "*", "b"), ("a", "x.*", "c")]


def test_routes_are_tried():
    states = {"a": {}, "b": {"id": "there", "route": {}}}

    assert arrows(explore_chart({"initial": "a", "states": states})) == [
        ("a", "xstate.route", "b"),
        ("b", "xstate.route", "b"),
    ]


def test_an_eventless_guard_may_wait_for_an_event_that_nothing_reacts_to():
    leave = {"target": "b", "guard": lambda context, event: event["type"] == "PASS"}

    graph = explore_chart({"initial": "a", "states": {"a": {"always": leave}, "b": {}}}, events=["PASS"])

    assert arrows(graph) == [("a", "PASS", "b")]


def test_timers_fire():
    graph = explore_chart({"initial": "a", "states": {"a": {"after": {5: "b"}}, "b": {}}})

    assert arrows(graph) == [("a", "xstate.after.5.m.a", "b")]
    assert graph.start.edges[0].cause == "timer"


def test_of_two_timers_the_one_due_first_fires_first():
    states = {"a": {"after": {5: "b", 3: "c"}}, "b": {}, "c": {}}

    assert arrows(explore_chart({"initial": "a", "states": states})) == [("a", "xstate.after.3.m.a", "c")]


def test_a_timer_waits_while_another_one_ticks():
    regions = {
        "pulse": {"initial": "on", "states": {"on": {"after": {10: {"target": "on", "reenter": True}}}}},
        "alarm": {"initial": "off", "states": {"off": {"after": {35: "on"}}, "on": {}}},
    }

    graph = explore_chart({"type": "parallel", "states": regions})

    assert graph.machine.states["alarm"].states["on"] in graph.nodes


def test_delayed_events_to_itself_arrive():
    late = [raise_({"type": "LATE"}, delay=5), send_to("#_internal", {"type": "LATER"}, delay=9)]
    states = {"a": {"on": {"LATE": "b"}}, "b": {"on": {"LATER": "c"}}, "c": {}}

    graph = explore_chart({"initial": "a", "entry": late, "states": states}, events=[])

    assert arrows(graph) == [("a", "LATE", "b"), ("b", "LATER", "c")]


def test_children_are_done_or_fail():
    invoke = {"src": "work", "id": "w", "onDone": "b", "onError": "c"}
    graph = explore_chart({"initial": "a", "states": {"a": {"invoke": invoke}, "b": {}, "c": {}}}, {"actors": WORK})

    assert arrows(graph) == [("a", "xstate.done.actor.w", "b"), ("a", "xstate.error.actor.w", "c")]


def test_a_failure_that_nobody_reacts_to_ends_the_machine():
    graph = explore_chart({"invoke": {"src": "work", "id": "w"}}, {"actors": WORK})

    [edge] = graph.start.edges
    assert graph.vertices[edge.target].snapshot.status == "error"


@pytest.mark.parametrize("name", ["w", "work"])
def test_children_give_the_outputs_they_are_given_by_id_or_by_logic(name):
    keep = {"actions": assign({"got": lambda context, event: event["output"]})}
    chart = {"context": {"got": None}, "invoke": {"src": "work", "id": "w", "onDone": keep, "onError": {}}}

    graph = explore_chart(chart, {"actors": WORK}, outputs={name: [1, 2]}, errors={name: []})

    assert [vertex.snapshot.context["got"] for vertex in graph] == [None, 1, 2]


def test_children_report_their_snapshots_while_they_work():
    news = {"actions": assign({"seen": lambda context, event: event["snapshot"]})}
    chart = {"context": {}, "invoke": {"src": "work", "id": "w", "onSnapshot": news}}

    graph = explore_chart(chart, {"actors": WORK}, snapshots={"w": ["half"]}, errors={"other": [1], "w": []})

    assert [vertex.snapshot.context for vertex in graph] == [{}, {"seen": "half"}]


def test_a_child_that_has_ended_says_no_more():
    chart = {"invoke": {"src": "work", "id": "w", "onDone": {"actions": "note"}, "onError": {}}}

    graph = explore_chart(chart, {"actors": WORK, "actions": {"note": lambda: None}}, errors={"w": []})

    assert len(graph) == 2
    assert [len(vertex.edges) for vertex in graph] == [1, 0]


def test_history_tells_situations_apart():
    inside = {
        "initial": "x",
        "states": {"x": {"on": {"N": "y"}}, "y": {}, "h": {"type": "history"}},
        "on": {"OUT": "out"},
    }

    graph = explore_chart({"initial": "in", "states": {"in": inside, "out": {"on": {"BACK": "in.h"}}}})

    assert {json.dumps(end) for start, _, end in arrows(graph) if start == "out"} == {'{"in": "x"}', '{"in": "y"}'}


def test_exploring_stops_where_it_is_told_to():
    states = {"a": {"on": {"GO": "b"}}, "b": {"on": {"GO": "c"}}, "c": {}}

    graph = explore_chart({"initial": "a", "states": states}, stop_when=lambda snapshot: snapshot.matches("b"))

    assert arrows(graph) == [("a", "GO", "b")]


def test_too_many_situations_are_an_error_that_says_why():
    chart = {"context": {"n": 0}, "on": {"MORE": {"actions": assign({"n": lambda context: context["n"] + 1})}}}

    with pytest.raises(ExplorationError, match=r"m: more than 20 situations; context\.n alone has 20 values"):
        explore_chart(chart, limit=20)


def test_too_many_situations_without_a_context_are_an_error_too():
    states = {f"s{i}": {"on": {"N": f"s{i + 1}"}} for i in range(9)}

    with pytest.raises(ExplorationError, match=r"more than 5 situations\. Tell"):
        explore_chart({"initial": "s0", "states": {**states, "s9": {}}}, limit=5)


def test_a_function_that_raises_is_an_error_that_names_the_event():
    chart = {"on": {"SET": {"actions": assign({"n": lambda context, event: event["n"]})}}}

    with pytest.raises(ExplorationError, match=r"'SET'.* raised KeyError\('n'\); give such events what they need"):
        explore_chart(chart)


def test_a_step_without_end_is_an_error_that_says_so():
    again = send_to("#_internal", {"type": "AGAIN"})
    chart = {
        "on": {"AGAIN": {"actions": again}, "LOOP": {"actions": raise_({"type": "LOOP"})}},
        "options": {"maxIterations": 9},
    }

    with pytest.raises(ExplorationError, match="LoopError"):
        explore_chart(chart, events=["LOOP"])


def test_the_states_and_transitions_on_the_way_are_noted():
    graph = explore_chart({"initial": "a", "states": {"a": {"on": {"GO": "b"}}, "b": {"always": "c"}, "c": {}}})

    assert {node.key for node in graph.nodes} == {"m", "a", "b", "c"}
    assert len(graph.transitions) == 2


def test_snapshots_are_told_apart_by_status_and_output_at_their_end():
    states = {
        "a": {"on": {"ONE": "b", "TWO": "c"}},
        "b": {"type": "final", "output": 1},
        "c": {"type": "final", "output": 2},
    }
    chart = {"initial": "a", "states": states, "output": lambda context, event: event["output"]}

    graph = explore_chart(chart, serialize=lambda snapshot: serialize(snapshot).replace('"b"', '"c"'))

    assert len(graph) == 3


def test_a_context_may_have_keys_that_are_no_strings():
    assert explore_chart({"context": {"seen": {(1, 2): True}}}).start.state == "{'context': {'seen': {(1, 2): True}}}"


def test_a_context_may_hold_what_json_does_not_know():
    child = {"actions": {"adopt": assign({"child": lambda context, event, scope: scope.spawn("work", id="kid")})}}
    context = {"set": {2, 1}, "map": MappingProxyType({"k": 1}), "number": 1 + 2j}

    graph = explore_chart({"context": context, "entry": "adopt"}, {**child, "actors": WORK}, errors={"work": []})

    assert graph.start.state == (
        '{"context": {"child": {"actor": "kid"}, "map": {"k": 1}, "number": "(1+2j)", "set": ["1", "2"]}}'
    )
