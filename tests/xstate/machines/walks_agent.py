"""Random walks of turns of agents; see `recorded.py`."""

from antiphon.agents.machine.agent import agent_machine
from antiphon.threads.machine.tools import PROCESS_LOST
from tests.agents.machine.test_agent_turn import LOST, TOOLS, answered, call, replied
from tests.fixtures.orchestrator import agent

MACHINE = agent_machine
LENGTH = 20
RELUCTANCE = {"CANCEL": 0.6}
UNASKED = ()
UNREACHED = ()


# Answers to the open question, to the one before it, and to that of another agent.
OPEN = {"type": "ANSWER", "id": "open", "text": "this", "at": 9}
STALE = {"type": "ANSWER", "id": "t1-agent-0-question-0-0", "text": "that"}
OTHER = {"type": "ANSWER", "id": "t1-agent-1-question-1-0", "text": "that"}


def event_of(step, snapshot):
    waiting = snapshot.context["waiting"]
    return {**step, "id": waiting["id"]} if step is OPEN and waiting is not None else step


PLAN = '{"steps": ["one", "two"]}'
REPLIES = [
    replied("Done."),
    replied("Half", stop="length", costUsd=0.25, usage={"input": 5, "output": 2, "kind": True}),
    replied("Whole", stop="refusal"),
    replied("Hm.", problems=["there is no JSON in the reply"]),
    replied('{"verdict": "yes"}'),
    replied(PLAN),
    replied("", stop="pause"),
    replied("", call("write", path="a"), call("shell", command="ls")),
    replied("Wait.", call("ask_user", question="Which?", options=["a", "b"]), call("write")),
    replied("", call("ask_user", question="Why?")),
    replied("", call("update_plan", steps=["one"]), call("write")),
    replied("", call("update_plan")),
    replied("", call("nothing")),
]
JUDGED = [{**call("write", path="a"), "risk": "write", "text": "write(a)"}]
ALLOWED = [{"decision": "allow", "scope": "tool", "tool": "write", "value": "write"}]
DENIED = {"decision": "denied", "scope": None, "calls": JUDGED}
GONE = {"decision": "expired", "reason": PROCESS_LOST, "scope": None, "calls": JUDGED}
DONE = [answered("c-write", "c-shell"), answered("c-write", lost=True)]
FAILURES = ("REPLY.FAILED", "xstate.error.actor.reply", "xstate.error.actor.tools")
POOL = [
    *REPLIES * 2,
    *DONE * 3,
    *({"to": "tools", "event": {"type": "END", "output": one["output"]}} for one in DONE),
    {"to": "tools", "event": {"type": "END", "output": {**DONE[0]["output"], "overrides": ALLOWED}}},
    {"to": "tools", "event": {"type": "END", "output": {**DONE[0]["output"], "permission": DENIED}}},
    *(
        {"to": "tools", "event": {"type": "END", "output": {**DONE[1]["output"], "permission": {**GONE, "id": id}}}}
        for id in ("t1-agent-0-tools-1", "t1-agent-0-tools-1", "t1-agent-0-tools-1-again")
    ),
    *({"type": type, "error": error} for type in FAILURES for error in (LOST, {"code": "9001", "message": "no"})),
    *({"type": type} for type in ("REPLY.STARTED", "REPLY.CANCELLED", "CANCEL", "RESUME", "RESUME", "NOTHING")),
    *[{"type": "wait", "id": "r1", "address": "permission", "calls": JUDGED, "timeoutMs": 9}] * 3,
    *({"type": "go_on", "id": "r1", "decision": decision} for decision in ("allowed", "denied", "expired")),
    *[OPEN, STALE, OTHER] * 3,
    *[{"type": "REVOKE", "permission": ALLOWED[0]}] * 2,
    7,
]  # fmt: skip
SESSION = {"models": ["m", "b:two"], "sessionId": "t-run-1-developer", "sessionName": "developer"}
FAILED = {"type": "REPLY.FAILED", "error": {"code": "1002", "message": "overloaded"}, "costUsd": 0.25}
SCHEMA = {"type": "object", "properties": {"verdict": {"type": "string"}}, "required": ["verdict"]}
GIVEN = {"agentId": "agent-0", "turnId": "t1-", "prompt": "Task: write", "model": "m", "tools": TOOLS}
STARTS = [
    (None, [{"type": "REPLY.STARTED"}]),
    *[({**GIVEN, "agent": agent("developer")}, [])] * 3,
    ({**GIVEN, "agent": agent("judge", responseSchema=SCHEMA), "consent": {"timeoutMs": 50}}, []),
    ({**GIVEN, "agent": agent("planner", plans=True), "budgetUsd": 1.0, "options": {"temperature": 0}}, []),
    ({**GIVEN, "agent": agent("hasty"), "maxTurns": 2, "consent": {"overrides": ALLOWED}}, []),
    ({**GIVEN, "agent": agent("curious")}, [replied("", call("ask_user", question="Why?")), STALE, OPEN]),
    ({**GIVEN, **SESSION, "agent": agent("developer")}, []),
    ({**GIVEN, **SESSION, "agent": agent("developer"), "budgetUsd": 1.5}, [FAILED, FAILED]),
]
