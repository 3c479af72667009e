"""Random walks of threads; see `walks.py`."""

from antiphon.threads.machine.thread import KINDS, STATUSES, thread_machine
from tests.xstate.machines.walks import recorder

LOST = {"code": "interrupted", "message": "gone"}
# Two agents wait at once, and then only one of them.
REQUESTS = [
    {
        "id": f"r{number}",
        "address": f"executeAgent/agent-{number}/tools/permission",
        "reason": "permission",
        "calls": [],
    }
    for number in (1, 2)
]
STARTS = [
    {"type": type, **payload}
    for type in ("START", "RESTART", "RESPOND", "FOLLOW_UP")
    for payload in (
        {},
        {"runId": "mine"},
        {"message": {"text": "hello"}},
        {"message": {"text": "/clear", "type": "stop"}},
        {"message": "hello"},
        {"message": {"text": 3}},
        {"requestId": "wait-1"},
        {"requestId": "wait-2", "message": {"text": "yes"}},
        {"requestId": "r1"},
        {"retry": True, "postMerge": True},
    )
]
REPORTS = [
    {"type": type, **payload}
    for type in ("COMPLETE", "FAIL", "WAIT", "STOP", "INTERRUPT")
    for payload in (
        {},
        {"runId": "run-1", "cost": 0.25, "duration": 40},
        {"runId": "run-2", "cost": 0.5, "error": LOST, "at": 9},
        {"runId": "mine", "cost": 0, "error": "broken", "at": 8},
        {"error": LOST, "reason": "permission"},
        {"reason": "question", "cost": 3},
        {"reason": "permission", "requests": REQUESTS},
        {"requests": REQUESTS[1:], "runId": "run-1"},
        {"requests": [], "error": LOST},
    )
]
CHILDREN = [
    {"type": f"xstate.{word}.actor.chat", "actorId": "chat", **facts}
    for word, facts in (("done", {"output": None}), ("error", {"error": LOST}), ("error", {"error": {"code": "9001"}}))
]
GOING_ON = [{"type": "GO_ON", **payload} for payload in ({}, {"runId": "run-1"}, {"runId": "run-2"})]
KNOWN = [{"type": "SET_STATUS", "status": status, "reason": "plan"} for status in STATUSES]
MACHINE = thread_machine.provide(actors=dict.fromkeys(KINDS, recorder))
POOL = [*STARTS, *REPORTS, *GOING_ON, *CHILDREN, *KNOWN, {"type": "MERGED"}]
INPUTS = [
    None,
    {"threadId": "t", "kind": "chat"},
    {"threadId": "t", "kind": "chat", "config": {"onBusy": "queue", "model": "scripted:chat"}},
    {"threadId": "t", "kind": "debate", "cost": 2},
]
# Values at the borders of two languages: empty texts and null beside nothing, and values of the wrong type.
EDGES = [
    *({"type": "RENAME", "title": title} for title in ("New", "", None, 3)),
    {"type": "ARCHIVE"},
    {"type": "UNARCHIVE", "at": 4},
    {"type": "START", "runId": "", "message": None, "retry": False},
    {"type": "RESPOND", "message": ""},
    {"type": "RESPOND", "message": {"text": None}, "requestId": ""},
    {"type": "FOLLOW_UP", "message": {"text": "/"}},
    {"type": "RESTART", "runId": None, "message": {"text": " /clear"}},
    {"type": "COMPLETE", "cost": None, "duration": None, "error": None, "at": None},
    {"type": "FAIL", "error": "interrupted"},
    {"type": "FAIL", "error": {}, "cost": 0.1 + 0.2},
    {"type": "FAIL", "error": [], "runId": "run-1"},
    {"type": "WAIT", "reason": "", "requests": None},
    {"type": "WAIT", "requests": [{"id": "r3", "address": "", "reason": "question", "options": ["a"]}]},
    *({"type": type, "runId": None} for type in ("COMPLETE", "FAIL", "WAIT", "STOP")),
    {"type": "SET_STATUS", "status": "unheard-of"},
    {"type": "SET_STATUS", "status": None},
    5_000,
]
EDGE_INPUTS = [{"config": {"onBusy": "queue"}}, {"kind": "run", "title": "", "owner": "ann", "merged": True}]
