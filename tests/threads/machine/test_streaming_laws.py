"""Laws of the streaming machine: every state and transition is reachable, and it survives being stored anywhere."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon import (
    SimulatedClock,
    create_actor,
    get_shortest_paths,
    get_transition_paths,
    reachable_states,
    unreachable_states,
)
from antiphon.chart.explore.labels import written_transitions
from antiphon.threads.machine.streaming import streaming_machine
from tests.fixtures.charts import load_chart
from tests.fixtures.streaming import CANCEL, COMPLETE, FATAL, FIRST, RESET, SEND, Talk
from tests.xstate.machines.walks_streaming import EVENTS, LIMITED


def is_explored(snapshot):
    context = snapshot.context
    return context["streamEvents"] > 2 or context["staleEvents"] > 1 or len(context["messages"]) > 2


@pytest.mark.requirement("X-11", "S0-T39", "E-19")
def test_every_state_can_be_reached_and_left():
    options = {"events": EVENTS, "stop_when": is_explored, "input": LIMITED, "limit": 20_000}

    assert unreachable_states(streaming_machine, **options) == []
    for node in streaming_machine.root.walk():
        assert [
            transition for transition in written_transitions(node) if transition.targets
        ] or node is streaming_machine.root
    assert len(reachable_states(streaming_machine, **options)) == 6


@pytest.mark.requirement("X-11", "S0-T39", "E-19", "S0-91")
def test_a_few_paths_take_every_transition():
    """Every transition is proven to work."""
    all_of_it = {"type": "USAGE", "usage": {}, "costUsd": LIMITED["budgetUsd"]}
    paths = get_transition_paths(
        streaming_machine,
        events=[*EVENTS, all_of_it],
        stop_when=is_explored,
        input={**LIMITED, "reportsToParent": True},
        limit=20_000,
    )

    assert {str(transition): reason for transition, reason in paths.unreached.items()} == {}


@pytest.mark.requirement("S0-T39", "E-19")
def test_paths_come_in_the_same_order_every_time():
    events = [SEND, FIRST, COMPLETE, FATAL, RESET, CANCEL]

    def walk():
        paths = get_shortest_paths(streaming_machine, events=events, stop_when=is_explored)
        return [str(path) for path in paths]

    assert walk() == walk()
    assert len(walk()) > 5


def test_every_state_is_described():
    chart = load_chart("streaming")

    assert [key for key, state in chart["states"].items() if not state.get("description")] == []
    assert chart["description"]


def test_the_chart_is_plain_data_and_every_name_in_it_is_bound():
    chart = load_chart("streaming")
    names = set(re.findall(r'"([a-z][A-Za-z]+)"', json.dumps([chart["states"], chart["on"], chart["entry"]])))
    bound = {
        *streaming_machine.implementations.actions,
        *streaming_machine.implementations.guards,
        *streaming_machine.implementations.delays,
    }

    assert bound <= names


@pytest.mark.requirement("S0-79")
def test_the_chart_uses_only_what_xstate_documents():
    chart = load_chart("streaming")
    states = chart["states"].values()
    transitions = [
        transition for state in states for declared in state["on"].values() for transition in _listed(declared)
    ]

    assert chart.keys() <= {"id", "version", "description", "initial", "entry", "on", "states"}
    assert {key for state in states for key in state} <= {"description", "tags", "entry", "on", "after"}
    assert {key for transition in transitions for key in transition} <= {"guard", "target", "actions"}


def _listed(declared):
    return declared if isinstance(declared, list) else [declared]


walks = st.lists(st.sampled_from([*EVENTS, 500, 60_000, 300_000]), max_size=30)
configurations = st.sampled_from([{}, LIMITED, {"retryAfterDelta": True}, {"prompt": "Hi", "requestId": "r1"}])
quick = settings(max_examples=150, deadline=None)


def to_saved(talk):
    return json.loads(json.dumps(talk.actor.get_persisted_snapshot(timers=True)))


@pytest.mark.requirement("E-17", "S0-47")
@quick
@given(walks, configurations)
def test_any_walk_keeps_a_legal_state_and_a_context_that_json_can_hold(walk, input):
    talk = Talk(*walk, **input)

    assert talk.state in ("idle", "sending", "streaming", "complete", "error")
    assert talk.actor.get_snapshot().status == "active"
    assert to_saved(talk)["context"]["text"] == str(talk.context["text"])


@pytest.mark.requirement("S0-15")
@quick
@given(walks, configurations)
def test_what_a_context_says_fits_its_state(walk, input):
    """An error has a reason, other states have none; a call runs exactly while loading."""
    talk = Talk(*walk, **input)
    loading = talk.state in ("sending", "streaming")

    assert (talk.context["error"] is not None) == (talk.state == "error")
    assert bool(talk.actor.get_snapshot().children) == loading
    assert talk.actor.get_snapshot().has_tag("loading") == loading
    if talk.state in ("idle", "error"):
        assert all(transition["status"] != "running" for transition in talk.context["tools"].values())


@pytest.mark.requirement("E-17")
@quick
@given(walks, walks, configurations)
def test_a_stored_conversation_goes_on_as_if_nothing_had_happened(walk, rest, input):
    talk = Talk(*walk, **input)
    copy = Talk()
    copy.clock = SimulatedClock(talk.clock.now())
    copy.actor = create_actor(streaming_machine, snapshot=to_saved(talk), clock=copy.clock).start()

    talk.send(*rest)
    copy.send(*rest)

    assert to_saved(copy) == to_saved(talk)
