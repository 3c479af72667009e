"""Walks through the debate machine that together take every transition of its chart."""

import random

import pytest

from antiphon import get_microsteps, initial_transition
from antiphon.chart.explore.labels import transition_label, written_transitions
from antiphon.debate.machine.debate import debate_machine
from tests.debate.machine.test_laws import LOST, NAMED, VERDICT, event_of
from tests.fixtures.debate_machine import PRICES, SONNET, START, TOPIC, begun, config, round_of, seats

READY = NAMED[5]
THREE = {**START, "config": config(format="roundtable", participants=seats("for", "against", "neutral"))}
MANY = begun(format="roundtable", participants=seats("for", "against", "neutral")).context["participants"]
SEEDS, STEPS = 900, 30
POOL = [
    *NAMED,
    round_of(roundNumber=1),
    VERDICT,
    {"type": "INTERJECT", "text": "Louder!"},
    {"type": "xstate.after.roundTimeout.debate.debating.collectingResponses"},
    {"type": "xstate.after.judgeTimeout.debate.judgeEvaluating"},
    {"type": "xstate.done.actor.judge", "output": {"verdict": {"scores": {"for": 1, "against": 2}, "reasoning": "x"}}},
    {"type": "xstate.error.actor.judge", "error": {"message": "x", "code": "9001", "recoverable": False}},
    {"type": "xstate.error.actor.initialiser", "error": LOST},
    *({"type": "STREAM_CHUNK", "participantId": who, "chunk": "x"} for who in ("for", "judge")),
    *({"type": "STREAM_COMPLETE", "participantId": who, "tokensUsed": 5} for who in ("for", "against", "judge")),
    *({"type": "DEBATER_TIMEOUT", "participantId": who} for who in ("for", "against")),
]
REPLIES = [
    (type, who, cost, code)
    for type in ("REPLY.STARTED", "REPLY.COMPLETED", "REPLY.FAILED", "REPLY.CANCELLED")
    for who in ("for", "against", "neutral")
    for cost, code in ((0.01, "1002"), (1.5, "9002"), (None, "interrupted"))
]
DEAR = {"model": {**SONNET, "maxTokens": 7000}}
JUDGED = begun(judge=DEAR).context
STARTS = [
    [],
    [
        {**START, "config": config(costLimit=0.11, judge=DEAR)},
        {"type": "INIT_COMPLETE", "participants": JUDGED["participants"], "prices": PRICES},
        ("REPLY.COMPLETED", "for", 0.01, ""),
        ("REPLY.COMPLETED", "against", 0.01, ""),
        {"type": "JUDGE_NOW"},
    ],
    [START, READY],
    [
        {"type": "START_DEBATE", "config": {"topic": TOPIC}},
        {"type": "INIT_COMPLETE", "participants": JUDGED["participants"]},
    ],
    [{**START, "config": config(earlyStop=True, maxRounds=4)}, READY],
    [{**START, "config": config(costLimit=2.0, warnAtCost=0.5)}, READY],
    [{**START, "config": config(costLimit=2.0, onCostLimit="judge")}, READY],
    [
        {**START, "config": config(costLimit=2.0, onCostLimit="judge")},
        READY,
        ("REPLY.COMPLETED", "for", 0.01, ""),
        ("REPLY.COMPLETED", "against", 0.01, ""),
    ],
    [THREE, {"type": "INIT_COMPLETE", "participants": MANY, "prices": PRICES}],
    [
        THREE,
        {"type": "INIT_COMPLETE", "participants": MANY, "prices": PRICES},
        *(("REPLY.COMPLETED", who, 0.01, "") for who in ("for", "against", "neutral", "for", "against")),
        {"type": "xstate.after.roundTimeout.debate.debating.collectingResponses"},
    ],
]


def next_event(snapshot, dice):
    """Something that can happen, if a few throws find it."""
    for _ in range(8):
        event = event_of(dice.choice(dice.choice([POOL, POOL, REPLIES])), snapshot.context)
        last = event["type"] in ("STOP", "VERDICT_READY") and dice.random() < 0.7
        stray = event["type"].startswith("xstate.error") and not snapshot.can(event)
        if not last and not stray and snapshot.can(event):
            return event
    return {"type": "INTERJECT", "text": "Louder!"}


def taken(seed):
    """The transitions of a random walk."""
    dice = random.Random(seed)
    driver = dice.choice(["actors", "events"])
    known = dice.choice([{}, config()])
    snapshot, _ = initial_transition(debate_machine, {**known, "driver": driver})
    steps = dice.choice(STARTS)
    for number in range(STEPS):
        if snapshot.status != "active":
            break
        event = event_of(steps[number], snapshot.context) if number < len(steps) else next_event(snapshot, dice)
        for micro in get_microsteps(debate_machine, snapshot, event):
            snapshot = micro.snapshot
            yield from micro.transitions


@pytest.mark.requirement("X-11", "S4-121")
def test_random_walks_take_every_transition():
    wanted = {transition for node in debate_machine.root.walk() for transition in written_transitions(node)}
    for seed in range(SEEDS):
        wanted -= set(taken(seed))

    assert [f"{one.source.id}: {transition_label(one)}" for one in wanted] == []
