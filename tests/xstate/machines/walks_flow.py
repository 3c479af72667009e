"""Random walks of chats; see `walks.py`."""

from antiphon.chat.machine.flow import flow_machine
from antiphon.threads.machine.tools import PROCESS_LOST
from tests.chat.machine.test_flow import WALKS
from tests.xstate.machines.walks import recorder

MODEL = "scripted:demo"
CHILDREN = ("reply", "tools", "summariser", "crystallizer", "reconciler")
USAGE = {"input": 10, "output": 5}


def text(words):
    return [{"type": "text", "text": words}]


def call(number, name="look", arguments='{"path": "a"}'):
    return {"type": "toolCall", "id": f"t{number}", "name": name, "arguments": arguments}


def result(number, words="found"):
    return {"type": "toolResult", "callId": f"t{number}", "parts": text(words)}


def event(type, /, **payload):
    return {"type": type, **payload}


WORDS = "We will see what is to be done about it, and by whom, and when. "
CODE = "Décidé? 👩‍👧\n```python\nx = 1\n```\nLet's go.\n```\n\n```"
MESSAGES = [
    event("message"),
    event("message", text="Why?", runId="n1"),
    event("message", text="  why?\n", runId="n2", resumeNote="[Note.]\n\n", at=7),
    event(
        "message", parts=[*text("one"), {"type": "image", "mediaType": "image/png", "data": "AA=="}], tags=["PRESERVED"]
    ),
    event("message", text=WORDS * 3),
    event("message", text=WORDS, pinned=True, branch="main"),
    event("message", text="Agreed: tabs.", id="mine", tags=["REQUIRED"]),
    event("message", text="I counted.", id="m3", branch="branch-1", runId="n3"),
    event("message", text=CODE, role="assistant"),
    event("message", text="note", role="system"),
    event("message", parts=[result(1)], role="tool", at=6),
    event("message", text=3, runId="n4"),
    event("message", role="robot", runId="n4"),
    event("message", text="x", tags=["NEVER"], runId="n4"),
    event("message", text="x", branch="nowhere", runId="n4"),
    event("message", text="x", id="m1", runId="n4"),
    event("inject_context", text="The sky is blue.", key="sky"),
    event("inject_context", text="The sky is grey.", key="sky", tags=["DROPPABLE"], pinned=True),
]
TREE = [
    event("start"),
    event("configure", config={"system": "Be brief."}, maxTurns=4),
    event("configure", onBusy="sometimes"),
    event("checkpoint"),
    event("checkpoint", name="here", at=3),
    event("rewind"),
    event("rewind", turns=2),
    event("rewind", turns=0),
    event("rewind", checkpointId="c0000000000000000"),
    *(event("rewind", message=id) for id in ("m2", "m5", "m9")),
    event("fork"),
    event("fork", name="side", turn=1),
    event("fork", turn=0),
    *(event("fork", **{"from": id}) for id in ("m1", "m4", "m9")),
    *(event(type) for type in ("confirm_fork", "cancel_fork", "confirm_merge", "cancel_merge", "merge")),
    event("confirm_fork"),
    event("confirm_merge"),
    *(event("merge", strategy=strategy) for strategy in ("sequential", "interleave", "manual", "consensus", "none")),
    *[event("merge", strategy="consensus")] * 3,
    event("merge", source="main", strategy="interleave"),
    event("resolve_conflict"),
    *(event("resolve_conflict", pick=pick) for pick in ("theirs", "both", "neither", "none")),
    event("resolve_conflict", conflict="x2", pick="theirs"),
    event("propose"),
    event("propose", text="Both are right.", at=8),
    event("propose", text=" "),
    event("resolve_conflict", turns=["m1"]),
    event("resolve_conflict", turns=["m5", "m3"]),
    *(event(type, branch=name) for type in ("switch", "close") for name in ("main", "branch-1", "branch-2", "side")),
    *(event("pin", message=id, pinned=pinned) for id in ("m1", "m2", "m5") for pinned in (True, False)),
]
ENDING = [
    event("stop"),
    event("flush"),
    event("crystallize"),
    event("crystallize", plain=True, trigger="goal"),
    event("crystallize", trigger="whim"),
    event("harvest"),
    event("reset"),
    event("xstate.done.actor.crystallizer", output={"title": "T", "decisions": [], "costUsd": 0.5, "usage": USAGE}),
    event("xstate.done.actor.crystallizer", output=None),
    event("xstate.error.actor.crystallizer", error={"code": "x", "message": "no"}),
]
REPLIES = [
    event(type, requestId=f"r{number}", **facts)
    for number in range(1, 9)
    for type, facts in (
        ("REPLY.STARTED", {}),
        (
            "REPLY.COMPLETED",
            {"message": {"parts": text(WORDS)}, "usage": USAGE, "costUsd": 0.25, "durationMs": 80, "at": 9},
        ),
        ("REPLY.COMPLETED", {"message": {"parts": text(CODE), "source": MODEL}, "usage": USAGE}),
        ("REPLY.COMPLETED", {"message": {"parts": [call(number), call(0, "edit")]}, "costUsd": 0.1, "durationMs": 5.5}),
        ("REPLY.COMPLETED", {"message": {"parts": [*text("x"), call(number, "look", "no json")]}}),
        ("REPLY.FAILED", {"error": {"code": "3001", "message": "no", "recoverable": False}, "text": "so far"}),
        ("REPLY.FAILED", {"error": "broken", "costUsd": 0.05}),
        ("REPLY.FAILED", {"error": {"code": "3002", "message": "dear"}, "costUsd": 0.5, "text": "so far", "at": 30}),
        ("REPLY.CANCELLED", {"text": "so far", "at": 4}),
        ("REPLY.CANCELLED", {}),
        ("turn_timeout", {}),
    )
]
JUDGED = [
    {**call(1, "edit"), "risk": "write", "text": "edit(x)"},
    {**call(2, "shell", '{"command": "ls *"}'), "risk": "write", "text": "shell(ls *)"},
    {**call(3, "drop"), "risk": "destructive", "text": "drop()"},
]
SETTLED = {"decision": "allow", "pattern": "look"}
OVERRIDES = [{"decision": "allow", "scope": "tool", "tool": "edit", "value": "edit"}]
PERMISSIONS = [
    None,
    {"decision": "allowed", "reason": None, "scope": "tool", "calls": JUDGED},
    {"decision": "allowed", "reason": None, "scope": "once", "calls": JUDGED},
    {"decision": "expired", "reason": "nobody answered in time", "id": "r1", "scope": None, "calls": JUDGED},
    {"decision": "expired", "reason": PROCESS_LOST, "id": "r1", "scope": None, "calls": JUDGED},
    {"decision": "expired", "reason": PROCESS_LOST, "id": "r1-again", "scope": None, "calls": JUDGED},
]
TOOLS = [
    event("wait", reason="permission", id="r1", address="permission", calls=JUDGED, timeoutMs=9),
    event("wait"),
    event("tool_results", results=[result(1), result(0)]),
    event("tool_results", results=[result(1, WORDS)], id="given", at=5),
    event("tool_results", results=[]),
    event("tool_results", results=text("no")),
    *(event("go_on", id="r1", decision=decision) for decision in ("allowed", "denied", "expired")),
    event("message", text="no", branch="nowhere", runId="n1"),
    event("ANSWER", id="limit-1", decision="allow"),
    event("ANSWER", id="limit-2", decision="allow", at=30),
    event("ANSWER", id="limit-1", decision="allow", limit=4, at=40),
    event("ANSWER", id="limit-2", decision="allow", limit=0.75),
    event("ANSWER", id="limit-1", decision="deny", at=60),
    event("ANSWER", id="limit-2", decision="deny"),
    event("ANSWER", id="limit-0", decision="allow"),
    event("ANSWER", id="limit-1", decision="perhaps"),
    event("raise_limit", maxToolRounds=2, maxCostUsd=None),
    event("raise_limit", maxWallMs=90, at=70),
    event("raise_limit"),
    event("raise_limit", maxTurns=3),
    event("raise_limit", maxThreadCostUsd=0),
    *(event("revoke", permission=one) for one in (*OVERRIDES, SETTLED)),
    *(
        event(
            "xstate.done.actor.tools",
            output={"results": [result(1), result(0)], "permission": one, "overrides": OVERRIDES, "lost": lost},
        )
        for one in PERMISSIONS
        for lost in (False, True)
    ),
    event("xstate.error.actor.tools", error={"code": "interrupted", "message": "gone"}),
]
OTHERS = [
    event("cancel"),
    event("resume"),
    event("resume", runId="n6", resumeNote="[Go on.]\n\n"),
    event("retry"),
    event("retry", runId="n7"),
    event("use_model", model="scripted:other"),
    event("use_model", system="x"),
    event("xstate.error.actor.reply", error="lost"),
    event("xstate.done.actor.summariser", output={"text": "It was about the weather. " * 9, "usage": USAGE}),
    event("xstate.done.actor.summariser", output={"text": "Short.", "costUsd": 0.01, "durationMs": 3}),
    event("xstate.error.actor.summariser", error="x"),
    event("xstate.error.actor.reconciler", error={"code": "1002", "message": "busy"}),
]
PROPOSALS = [
    event(
        "xstate.done.actor.reconciler",
        output={"text": "Both.", "source": MODEL, "usage": USAGE, "costUsd": 0.25, "durationMs": 7},
    ),
    event("xstate.done.actor.reconciler", output={"text": "", "costUsd": 0.1}),
    event("xstate.done.actor.reconciler", output=None),
]
MACHINE = flow_machine.provide(actors=dict.fromkeys(CHILDREN, recorder))
# What is seldom possible is likely when it is, or else nobody would answer the tools.
SELDOM = [one for one in TOOLS if one["type"] in ("wait", "go_on", "ANSWER") and "runId" not in one]
MERGING = [one for one in TREE if one["type"] in ("merge", "confirm_merge", "resolve_conflict", "propose")]
POOL = [
    *MESSAGES, *MESSAGES, *TREE, *MERGING, *ENDING, *REPLIES, *REPLIES, *TOOLS, *OTHERS, *PROPOSALS * 5, *SELDOM * 30,
    10, 1_000,
]  # fmt: skip
LOOK = {"required": ["path"], "properties": {"path": {"type": "string"}}}
OPTIONS = {
    "options": {
        "tools": [
            {
                "name": "look",
                "risk": "read",
                "parameters": LOOK,
            },
            {"name": "edit", "risk": "write", "parameters": {"additionalProperties": False}},
        ]
    },
    "temperature": 0,
}
PAID = {"maxCostUsd": 0.3, "maxThreadCostUsd": 0.8, "warnAt": 0.5}
INPUTS = [
    None,
    {"autoStart": True, "maxBranches": 4},
    {"reportsToParent": True, "config": {"model": MODEL, "settings": OPTIONS}},
    *[{"reportsToParent": True, "model": MODEL, "consent": {}, "settings": OPTIONS}] * 3,
    {
        "reportsToParent": True,
        "model": MODEL,
        "consent": {"mode": "auto", "timeoutMs": 9, "overrides": [SETTLED, {"decision": "deny", "pattern": "drop"}]},
        "onBusy": "queue",
        "maxQueue": 2,
    },
    *[{"reportsToParent": True, "model": MODEL, "clientTools": True, "maxToolRounds": 2, "settings": OPTIONS}] * 2,
    {"autoStart": True, "model": MODEL, "clientTools": True, "consent": {}},
    {"reportsToParent": True, "model": MODEL, "onBusy": "interrupt", "turnTimeoutMs": 500, "system": "Be kind."},
    {
        "autoStart": True,
        "model": MODEL,
        "onBusy": "merge",
        "onStop": "cut",
        "system": "Be.",
        "systemPlacement": "inject",
    },
    {"autoStart": True, "model": MODEL, "strategy": "sliding", "contextLimit": 60},
    {"autoStart": True, "model": MODEL, "strategy": "forget", "contextLimit": 80, "onBusy": "queue"},
    {"autoStart": True, "model": MODEL, "strategy": "summarise", "contextLimit": 90, "onBusy": "interrupt"},
    {"reportsToParent": True, "model": MODEL, "strategy": "summarise", "summaries": "plain", "contextLimit": 120},
    {"autoStart": True, "model": MODEL, "strategy": "none", "contextLimit": 30, "maxTurns": 3},
    *[{"reportsToParent": True, "model": MODEL, "consent": {}, "maxToolRounds": 0, "maxThreadToolRounds": 2}] * 3,
    *[{"reportsToParent": True, "model": MODEL, "consent": {}, "settings": {**OPTIONS, "budgetUsd": 0.5}, **PAID}] * 3,
    {"autoStart": True, "model": MODEL, "onBusy": "interrupt", **PAID},
    *[{"reportsToParent": True, "model": MODEL, "consent": {}, "maxWallMs": 20, "maxThreadWallMs": 45}] * 2,
]
# These take every transition of the chart; a test says so.
STORIES = [(input, [event(step) if isinstance(step, str) else step for step in walk]) for input, walk in WALKS]
