"""Random walks of crews; see `recorded.py`."""

from antiphon.agents.machine.crew import crew_machine

MACHINE = crew_machine
LENGTH = 20
RELUCTANCE = {}
UNASKED = ()
UNREACHED = ()


def event_of(step, snapshot):
    return step


def ended(number, **facts):
    output = {"agent": f"a{number}", "step": f"s{number}", "success": True, "summary": "did it", **facts}
    return {"type": "END", "output": output}


ALLOWED = {"decision": "allow", "scope": "tool", "tool": "edit", "value": "edit"}


def lines(number):
    id = f"agent-{number}"
    outcome = {"type": f"xstate.done.actor.{id}", "actorId": id, "output": ended(number)["output"]}
    failure = {"type": f"xstate.error.actor.{id}", "actorId": id, "error": {"code": "9001", "message": "no"}}
    return [
        {"to": id, "event": ended(number)},
        {"to": id, "event": ended(number, success=False, costUsd=0.5)},
        outcome,
        failure,
        {"type": "CANCEL", "agentId": id},
        {"type": "AGENT_LOST", "agentId": id},
        {"to": id, "event": ended(number, overrides=[ALLOWED], granted=[ALLOWED])},
    ]


TOLD = (
    "AGENT_MESSAGE", "AGENT_TOOL_CALL", "AGENT_TOOL_RESULT", "AGENT_PLAN", "AGENT_WAITS", "AGENT_GOES_ON",
    "AGENT_SESSION", "AGENT_FALLBACK",
)  # fmt: skip
POOL = [
    *(line for number in range(3) for line in lines(number)),
    *({"type": type, "agentId": "agent-0", "facts": [1, None]} for type in TOLD),
    *({"type": type} for type in ("RESUME", "CANCEL", "NOTHING")),
    {"type": "REVOKE", "permission": ALLOWED},
    5,
]
ASSIGNMENTS = [{"agent": {"name": f"a{number}"}, "step": f"s{number}", "prompt": "Do it."} for number in range(3)]
STRANGER = lines(2)[2]
STARTS = [
    (None, []),
    ({"assignments": ASSIGNMENTS[:2]}, [STRANGER]),
    *(({"assignments": ASSIGNMENTS[:count]}, []) for count in (1, 2, 3)),
]
