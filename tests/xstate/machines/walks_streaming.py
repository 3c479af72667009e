"""Random walks of streaming machines; see `walks.py`."""

from antiphon.threads.machine.streaming import streaming_machine
from tests.fixtures.streaming import (
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
from tests.xstate.machines.walks import recorder

STARTED = {"type": "REQUEST_STARTED", "requestId": "r1", "at": 12}
DEAR = {"type": "USAGE", "usage": {"input": 1}, "costUsd": 2}
CHEAP = {**DEAR, "costUsd": 0.1}
LOST = {"type": "xstate.error.actor.stream", "error": {"code": "interrupted", "message": "gone", "recoverable": True}}
STREAM = [STARTED, FIRST, text("x"), thinking("y"), tool("t"), tool_end("t"), DEAR, CHEAP, COMPLETE, ERROR]
STALE = [{**event, "requestId": "other"} for event in STREAM]
BARE = {"type": "xstate.error.actor.stream", "error": {"message": ""}}
EVENTS = [
    {**SEND, "requestId": "r1", "at": 10}, SEND, *STREAM, *STALE, FATAL, CANCEL, RETRY, RESET, LOST, BARE,
    {"type": "xstate.done.actor.stream"},
]  # fmt: skip
RARE = [
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
        "problems": ["$ is not an object"],
    },
]  # fmt: skip
PAUSES = [1, 500, 1_000, 2_000, 60_000, 120_000, 300_000]
LIMITED = {"budgetUsd": 1, "maxAttempts": 1}
INPUTS = [
    None,
    LIMITED,
    {"retryAfterDelta": True},
    {"prompt": "Hi", "requestId": "r1"},
    {"prompt": "Hi", "requestId": "r1", "reportsToParent": True, "maxAttempts": 1},
    {"prompt": "Hi", "reportsToParent": True, "budgetUsd": 0},
    {"budgetUsd": 0.5, "backoffMs": 30_000, "maxAttempts": 5},
    {"prompt": "Hi", "reportsToParent": False, "budgetUsd": 0},
    {"sessionId": "s", "messages": [{"role": "user", "parts": []}], "inactivityMs": 1_000},
]
MACHINE = streaming_machine.provide(actors={"streamReply": recorder})
POOL = [*EVENTS, *RARE, *RARE, *PAUSES]
# Values at the borders of two languages: names that objects of JavaScript inherit, null beside nothing, characters
# beyond 16 bits, sums of floats, and amounts and delays that are exactly their limits.
EDGES = [
    *(tool(id) for id in ("constructor", "__proto__", "")),
    *(tool_end(id) for id in ("constructor", "toString", "__proto__")),
    {**STARTED, "at": None},
    {**STARTED, "at": 0},
    {**SEND, "prompt": "", "requestId": "", "at": 0},
    {**SEND, "sessionId": "", "at": None},
    {**RETRY, "requestId": ""},
    {**DEAR, "usage": None, "costUsd": None},
    {**CHEAP, "usage": {}, "costUsd": 0},
    {**COMPLETE, "costUsd": 0.1 + 0.2, "message": {"role": "assistant", "parts": []}, "at": None},
    {**tool("u"), "input": None},
    {**tool_end("u"), "result": None},
    {**ERROR, "retryAfterMs": 0},
    {**ERROR, "retryAfterMs": None, "jitter": 1},
    {**ERROR, "code": "unknown"},
    {"type": "xstate.error.actor.stream", "error": {"code": "", "recoverable": False}},
    {**CHEAP, "costUsd": 0.5},
    {**CHEAP, "costUsd": 1},
    {**ERROR, "retryAfterMs": 60_000},
    {**ERROR, "retryAfterMs": 60_001},
    {**ERROR, "retryAfterMs": 10, "costUsd": 1},
    {"type": "COMPLETE", "costUsd": None},
    text("", at=50),
    text("\ud83d"),
    thinking("\U0001f469\u200d\U0001f467"),
]
EDGE_INPUTS = [{"prompt": "Hi", "requestId": "r1", "at": 3}, {"prompt": None, "at": None, "sessionId": ""}]
