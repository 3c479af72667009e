r"""Random walks of the streaming machine, to be taken on this engine and on XState.

python -m tests.machines.walks 150 7 | node conformance/machines/walk.cjs | gzip -9n > tests/machines/golden.jsonl.gz
"""

import json
import random
import sys
from typing import Any

from antiphon import SimulatedClock, create_actor
from antiphon.chart.persist import to_json_value
from antiphon.machines.streaming import streaming_machine
from tests.machines.streamed import (
    CANCEL,
    COMPLETE,
    ERROR,
    FATAL,
    FIRST,
    RESET,
    RETRY,
    SEND,
    text,
    thinking,
    tool,
    tool_end,
)

STARTED = {"type": "REQUEST_STARTED", "requestId": "r1", "at": 12}
DEAR = {"type": "USAGE", "usage": {"input": 1}, "costUsd": 2}
CHEAP = {**DEAR, "costUsd": 0.1}
LOST = {"type": "xstate.error.actor.stream", "error": {"code": "interrupted", "message": "gone", "recoverable": True}}
STREAM = [STARTED, FIRST, text("x"), thinking("y"), tool("t"), tool_end("t"), DEAR, CHEAP, COMPLETE, ERROR]
STALE = [{**event, "requestId": "other"} for event in STREAM]
BARE = {"type": "xstate.error.actor.stream", "error": {"message": ""}}
EVENTS: list[Any] = [
    {**SEND, "requestId": "r1", "at": 10}, SEND, *STREAM, *STALE, FATAL, CANCEL, RETRY, RESET, LOST, BARE,
    {"type": "xstate.done.actor.stream"},
]  # fmt: skip
RARE: list[Any] = [
    {**SEND, "sessionId": None, "at": 5},
    {"type": "SEND", "prompt": None, "sessionId": "s9", "requestId": "r2"},
    {**RETRY, "requestId": "r7"},
    {**FIRST, "at": 77, "requestId": "r1"},
    text("é👩‍👧", requestId="r1"),
    {**tool("u"), "input": {"a": 1}},
    {**tool_end("u", is_error=True), "result": [1]},
    {**ERROR, "code": "3001", "retryAfterMs": 700, "jitter": 0.3},
    {**ERROR, "jitter": 0.77, "costUsd": 0.3},
    {
        **COMPLETE, "costUsd": None, "stop": "end", "usage": {"input": 3}, "at": 99,
        "message": {"role": "assistant", "parts": [{"type": "text", "text": "m"}], "source": "s"},
    },
]  # fmt: skip
PAUSES = [1, 500, 1_000, 2_000, 60_000, 120_000, 300_000]
LIMITED = {"budgetUsd": 1, "maxAttempts": 1}
INPUTS = [
    None,
    LIMITED,
    {"retryAfterDelta": True},
    {"prompt": "Hi", "requestId": "r1"},
    {"budgetUsd": 0.5, "backoffMs": 30_000, "maxAttempts": 5},
    {"prompt": "Hi", "reportsToParent": False, "budgetUsd": 0},
    {"sessionId": "s", "messages": [{"role": "user", "parts": []}], "inactivityMs": 1_000},
]


def taken(input: Any, walk: list[Any]) -> dict[str, Any]:
    """What happens on a walk."""
    clock = SimulatedClock()
    emitted: list[Any] = []
    trace: list[Any] = []
    actor = create_actor(streaming_machine, input=input, clock=clock)
    actor.on("*", emitted.append)

    def note() -> None:
        now = actor.get_snapshot()
        context = to_json_value(now.context, "context")
        trace.append({"value": now.value, "context": context, "children": list(now.children), "status": now.status})

    actor.start()
    note()
    for step in walk:
        if isinstance(step, int):
            clock.increment(step)
        else:
            actor.send(step)
        note()
    return {"trace": trace, "emitted": emitted}


def main(count: int, seed: int) -> None:
    """Print walks."""
    dice = random.Random(seed)
    pool = [*EVENTS, *RARE, *RARE, *PAUSES]
    for _ in range(count):
        walk = [dice.choice(pool) for _ in range(dice.randint(1, 40))]
        print(json.dumps({"machine": "streaming", "input": dice.choice(INPUTS), "walk": walk}))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
