"""What holds for a debate whatever happens to it, and what its chart must be."""

import json
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon import SimulatedClock, create_actor, initial_transition, transition
from antiphon.chart.persist import to_json_value
from antiphon.debate.machine.debate import debate_machine
from tests.fixtures.charts import load_chart
from tests.fixtures.debate_machine import PRICES, START, VERDICT, Table, begun, config, replies, round_of

CHART = load_chart("debate")
STATES = tuple(CHART["states"])
ERROR = {"type": "ERROR", "error": {"type": "timeout", "message": "late", "retryable": True}}
LOST = {"code": "interrupted", "message": "gone", "recoverable": True}
ACTIVE = ("initializing", "awaitingArguments", "debating", "judgeEvaluating")


@pytest.mark.requirement("X-11")
def test_every_state_is_described():
    inner = [state for outer in CHART["states"].values() for state in outer.get("states", {}).values()]

    assert CHART["description"]
    assert all(state["description"] for state in [*CHART["states"].values(), *inner])


@pytest.mark.requirement("S4-117", "E-17")
def test_the_chart_is_data_and_names_nothing_that_is_not_bound():
    """It loads unchanged in another engine."""
    assert json.loads(json.dumps(CHART)) == CHART
    assert Table().now.value == CHART["initial"]


ROUTES = {
    "idle": [],
    "initializing": [START],
    "awaitingArguments": [START, {"type": "INIT_COMPLETE", "participants": begun().context["participants"]}],
}
ROUTES["debating"] = [*ROUTES["awaitingArguments"], {"type": "ARGUMENTS_READY", "responses": replies()}]
ROUTES["judgeEvaluating"] = [*ROUTES["debating"], {"type": "STOP"}]
ROUTES["completed"] = [*ROUTES["judgeEvaluating"], VERDICT]
ROUTES["paused"] = [*ROUTES["debating"], {"type": "PAUSE"}]
ROUTES["error"] = [*ROUTES["debating"], ERROR]


@pytest.mark.requirement("X-11", "S4-121", "S4-01..S4-14")
@pytest.mark.parametrize("state", STATES)
def test_every_state_can_be_reached_and_all_but_the_last_left(state):
    table = Table().send(*ROUTES[state])

    assert table.state == state
    leaving = [START, ERROR, {"type": "STOP"}]
    left = [Table(snapshot=table.now).send(event).state != state for event in leaving]
    assert any(left) == (state != "completed")


@pytest.mark.requirement("S4-67", "S4-73", "S4-B11", "S4-B27")
@pytest.mark.parametrize("state", ACTIVE)
def test_every_active_state_can_be_paused_broken_and_stopped(state):
    for event, found in (({"type": "PAUSE"}, "paused"), (ERROR, "error")):
        assert Table().send(*ROUTES[state], event).state == found
    assert Table().send(*ROUTES[state], "STOP").state != state


# -- random lives ----------------------------------------------------------------------------------------------------

IDS = st.sampled_from(["for", "against", "judge", "stranger"])
COSTS = st.sampled_from([None, 0.01, 0.1, 1.5])
NAMED = [
    START, {**START, "config": config(costLimit=2.0, warnAtCost=0.5, maxRounds=1)},
    {**START, "config": config(costLimit=0.2, onCostLimit="judge", format="lincoln-douglas")},
    {"type": "START_DEBATE", "config": {}}, {"type": "message", "text": "And the children?"},
    {"type": "INIT_COMPLETE", "participants": begun().context["participants"], "prices": PRICES},
    {"type": "INIT_COMPLETE", "participants": []},
    {"type": "ARGUMENTS_READY", "responses": replies()}, round_of(), VERDICT, ERROR,
    {"type": "RAISE_LIMIT", "costLimit": 9.0}, {"type": "answer", "costLimit": 99.0},
    {"type": "COST_WARNING", "warning": {"threshold": 1, "currentCost": 2}},
    {"type": "xstate.done.actor.judge", "output": {"verdict": None, "usage": {"input": 1}, "costUsd": 0.1}},
    {"type": "xstate.error.actor.judge", "error": LOST},
    {"type": "xstate.done.actor.initialiser", "output": {"prices": PRICES}},
    {"type": "xstate.error.actor.initialiser", "error": {"message": "x"}},
    *({"type": type} for type in (
        "PAUSE", "RESUME", "STOP", "RETRY", "JUDGE_NOW", "ALL_ROUNDS_COMPLETE", "ACKNOWLEDGE_WARNING", "cancel",
        "resume", "retry", "COST_LIMIT",
    )),
]  # fmt: skip
OUTSIDE = st.one_of(
    st.sampled_from(NAMED),
    st.sampled_from(NAMED),
    st.builds(
        lambda who, chunk: {"type": "STREAM_CHUNK", "participantId": who, "chunk": chunk}, IDS, st.text(max_size=3)
    ),
    st.builds(
        lambda who, cost: {"type": "STREAM_COMPLETE", "participantId": who, "costUsd": cost, "tokensUsed": 5},
        IDS,
        COSTS,
    ),
    st.builds(lambda who: {"type": "DEBATER_TIMEOUT", "participantId": who}, IDS),
)
# Events about replies name a debater, and get the request that is on its way.
INSIDE = st.builds(lambda *facts: facts, st.sampled_from(
    ["REPLY.STARTED", "REPLY.COMPLETED", "REPLY.COMPLETED", "REPLY.FAILED", "REPLY.CANCELLED"]
), st.sampled_from(["for", "against"]), COSTS, st.sampled_from(["1002", "9002", "interrupted"]))  # fmt: skip
WALK = st.lists(st.one_of(OUTSIDE, INSIDE, INSIDE), max_size=25)
DRIVER = st.sampled_from(["actors", "events"])


def event_of(step, context):
    if isinstance(step, dict):
        return step
    type, id, cost, code = step
    stream = context["activeStreams"].get(id) or {}
    message = {"role": "assistant", "parts": [{"type": "text", "text": f"I am {id}."}], "at": 7}
    error = {"code": code, "message": "broken", "recoverable": code != "9002"}
    facts = {"message": message, "error": error, "usage": {"input": 10, "output": 5}, "costUsd": cost, "durationMs": 1}
    return {"type": type, "requestId": stream.get("requestId") or "opening-1-for-99", **facts}


def walk(driver, steps):
    snapshot, _ = initial_transition(debate_machine, {"driver": driver, "reportsToParent": True})
    yield snapshot
    for step in [START, NAMED[5], *steps]:
        if snapshot.status != "active":
            return
        snapshot, _ = transition(debate_machine, snapshot, event_of(step, snapshot.context))
        yield snapshot


@pytest.mark.requirement("S4-B6", "S4-B19", "S4-112", "S4-122", "X-6")
@settings(max_examples=200, deadline=None)
@given(DRIVER, WALK)
def test_whatever_happens_a_debate_is_json_and_its_books_are_right(driver, steps):
    """Rounds unique, one response each, the total is the sum of the models."""
    for snapshot in walk(driver, steps):
        context = snapshot.context
        kept = to_json_value(context, "context")
        assert json.loads(json.dumps(kept)) == kept
        keys = [(one["phase"], one["roundNumber"]) for one in context["rounds"]]
        assert len(set(keys)) == len(keys)
        for responses in (context["responses"], *(one["responses"] for one in context["rounds"])):
            speakers = [one["participantId"] for one in responses]
            assert len(set(speakers)) == len(speakers)
        tracker = context["costTracker"]
        assert Decimal(tracker["totalCost"]) == sum(map(Decimal, tracker["costByModel"].values()), Decimal(0))
        limit = tracker["limitThreshold"]
        if limit is not None:
            over = max(Decimal(0), Decimal(tracker["totalCost"]) - Decimal(limit))
            assert Decimal(tracker["overshoot"]) == over
        thresholds = [one["threshold"] for one in tracker["warnings"]]
        assert len(set(thresholds)) == len(thresholds)
        assert context["retryCount"] <= 3
        if snapshot.status == "done":
            assert context["outcome"] is not None


@pytest.mark.requirement("S4-B12")
@settings(max_examples=200, deadline=None)
@given(WALK)
def test_no_reply_is_asked_for_beyond_the_limit(steps):
    """Whenever actors start, the limit has room for what they may cost."""
    snapshot, _ = initial_transition(debate_machine, {"driver": "actors"})
    for step in [NAMED[1], NAMED[5], *steps]:
        if snapshot.status != "active":
            break
        snapshot, effects = transition(debate_machine, snapshot, event_of(step, snapshot.context))
        tracker = snapshot.context["costTracker"]
        if any(one.type == "xstate.spawnChild" and one.params["id"].startswith("reply-") for one in effects):
            assert Decimal(tracker["totalCost"]) < Decimal(tracker["limitThreshold"])


def tell(actor, event):
    """Send an event; the error of a child that nobody has is no event but the end of an actor."""
    if not event["type"].startswith("xstate.error") or actor.get_snapshot().can(event):
        actor.send(event)


@pytest.mark.requirement("E-17", "X-6", "S4-100", "S4-112")
@settings(max_examples=100, deadline=None)
@given(DRIVER, WALK, st.lists(OUTSIDE, max_size=5))
def test_a_restored_debate_takes_the_same_next_step(driver, steps, onward):
    actor = create_actor(debate_machine, input={"driver": driver}, clock=SimulatedClock()).start()
    for step in [START, NAMED[5], *steps]:
        tell(actor, event_of(step, actor.get_snapshot().context))
    assert actor.get_snapshot().status != "error"
    saved = json.loads(json.dumps(actor.get_persisted_snapshot()))
    again = create_actor(debate_machine, snapshot=saved, clock=SimulatedClock()).start()

    for event in onward:
        tell(actor, event)
        tell(again, event)
        assert json.loads(json.dumps(again.get_persisted_snapshot())) == json.loads(
            json.dumps(actor.get_persisted_snapshot())
        )
