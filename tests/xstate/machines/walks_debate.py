"""Random walks of debates; see `recorded.py`."""

from antiphon.debate.machine.debate import debate_machine
from tests.debate.machine import test_coverage as coverage
from tests.debate.machine.test_laws import event_of as reply_of
from tests.fixtures.debate_machine import START, config, replies

MACHINE = debate_machine
LENGTH = 25
# What ends a debate is seldom done, or the walks would be short.
RELUCTANCE = {"STOP": 0.7, "VERDICT_READY": 0.7, "xstate.done.actor.judge": 0.5, "ERROR": 0.3}
# Nobody asks `costWarningThreshold`: the action `warnOfCost` looks for itself, so that it can be put anywhere.
UNASKED = ("costWarningThreshold?yes", "costWarningThreshold?no")
UNREACHED = ()


def event_of(step, snapshot):
    return reply_of(step, snapshot.context) if isinstance(step, tuple) else step


def end(child, **output):
    return {"to": child, "event": {"type": "END", "output": output}}


ENDS = [
    end("judge", verdict={"scores": {"for": 1, "against": 2}, "reasoning": "x"}, costUsd=0.25),
    end("judge", verdict=None, usage={"input": 1}, costUsd=0.1),
    end("initialiser", prices=coverage.PRICES),
    end("initialiser", error={"type": "validation", "message": "no such model", "retryable": True}),
]


def timed(step):
    """A timer by the time it takes: this clock fires it."""
    return 61_000 if isinstance(step, dict) and step["type"].startswith("xstate.after.") else step


POOL = [
    *map(timed, coverage.POOL),
    *coverage.REPLIES,
    *coverage.REPLIES,
    *ENDS,
    *(10, 1_000, 190_000),
]
# What is said too early, too late or wrongly, and is not taken.
REFUSED = [
    {"type": "RAISE_LIMIT", "costLimit": 0},
    {"type": "INTERJECT", "text": " "},
    {"type": "ACKNOWLEDGE_WARNING"},
    {"type": "ARGUMENTS_READY", "responses": []},
    {"type": "ROUND_COMPLETE", "round": {"responses": []}},
    {"type": "RETRY"},
    {"type": "JUDGE_NOW"},
    {"type": "REPLY.STARTED", "requestId": "nobody's"},
    {"type": "STREAM_CHUNK", "participantId": "stranger", "chunk": "x"},
    {"type": "COST_WARNING", "warning": {"threshold": 1, "currentCost": 2}},
    {"type": "COST_WARNING", "warning": {"threshold": 1, "currentCost": 2}},
]
PAID = [("REPLY.COMPLETED", who, cost, "") for cost in (0.01, 1.5) for who in ("for", "against")]
ROUND = [START, coverage.READY, {"type": "ARGUMENTS_READY", "responses": replies()}]
STARTS = [
    ({}, [{**START, "config": config(costLimit=2.0)}, coverage.READY, *PAID]),
    ({}, [*ROUND[:2], {"type": "PAUSE"}, *REFUSED]),
    *(({"driver": "events"}, [*ROUND[:count], *REFUSED]) for count in range(4)),
    *(
        ({**known, "driver": driver, "reportsToParent": told}, [*map(timed, steps)])
        for driver in ("actors", "events")
        for known, told in (({}, True), (config(), False))
        for steps in coverage.STARTS
    ),
]
