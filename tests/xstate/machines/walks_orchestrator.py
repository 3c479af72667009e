"""Random walks of orchestrators; see `recorded.py`."""

from antiphon.agents.machine.orchestrator import orchestrator_machine
from tests.agents.machine.test_orchestrator_laws import BUSY, CALL, ENDS, EVENTS, INPUT, LOST, RULED
from tests.fixtures.orchestrator import AGAIN, AGENTS, BROKEN, FAILED, PLAN, START, agent, select

MACHINE = orchestrator_machine
LENGTH = 25
# What ends a run is seldom done, or the walks would be short.
RELUCTANCE = dict.fromkeys(("CANCEL", "cancel", "RESET", "WALL_TIME", "START_TASK"), 0.8)
# Who is evaluated has worked, so there always is a current agent.
UNASKED = ("hasCurrentAgent?no",)
UNREACHED = ()
INVOKED = {"arbiterSelectAgent": "selectAgent", "arbiterEvaluate": "evaluateProgress", "agentExecutor": "executeAgent"}


def event_of(step, snapshot):
    return step


def end(id, output):
    return {"to": id, "event": {"type": "END", "output": output}}


PARALLEL = {
    "type": "SELECT_MODE",
    "mode": "developer",
    "parallel": [{"mode": "developer", "step": 0}, {"mode": "reviewer", "step": 1}],
    "completed": [2],
}
MANY = {"results": [{"agent": "developer", "step": 0, "success": True}, {"agent": "reviewer", "step": 1}], "at": 2_000}
OUTPUTS = [end(INVOKED[src], output) for src, outputs in ENDS["outputs"].items() for output in outputs]
ERRORS = [
    {"type": f"xstate.error.actor.{id}", "error": error, "actorId": id}
    for id in INVOKED.values()
    for error in (BUSY, BROKEN, LOST)
]
WAITING = [
    {"type": "AGENT_WAITS", "agentId": id, "reason": "permission", "id": f"p{id}", "address": f"{id}/tools/permission"}
    for id in ("agent-0", "agent-1")
]
ALLOWED = {"decision": "allow", "scope": "tool", "tool": "edit", "value": "edit"}
PERSON = [
    {"type": "message", "text": "begin", "runId": "n1", "agentName": "reviewer", "at": 5},
    {"type": "message", "parts": [{"type": "text", "text": "and this"}], "runId": "n2"},
    *({"type": "REVOKE", "permission": {**ALLOWED, "tool": tool}} for tool in ("edit", "look")),
    *WAITING,
    *({"type": "AGENT_GOES_ON", "agentId": one["agentId"], "id": one["id"]} for one in WAITING),
]
POOL = [
    *EVENTS,
    *OUTPUTS,
    *ERRORS,
    *PERSON,
    end("selectAgent", {"decision": PARALLEL, "costUsd": 0.25, "usage": {"input": 3}}),
    end("executeAgent", MANY),
    end("executeAgent", {"success": True, "overrides": [ALLOWED]}),
    select("nobody"),
    *(10, 1_500, 60_000),
]
PLANNED = {
    "agents": AGENTS,
    "plan": PLAN,
    "consent": {"overrides": [ALLOWED]},
    "maxWallMs": 300_000,
    "reportsToParent": True,
    "threadId": "t",
}
# Whole numbers would be written without their point by one engine, and shown so.
LIMITED = {**INPUT, "maxCostUsd": 0.75}
CANCELLING = [START, select("developer"), CALL, {"type": "cancel"}]
DEAR = [START, select("developer"), {"type": "AGENT_MESSAGE", "message": {"role": "assistant"}, "costUsd": 1.5}]
STARTS = [
    (None, []),
    ({"agents": AGENTS}, [{"type": "WALL_TIME"}]),
    ({"agents": AGENTS, "plan": PLAN}, []),
    *[(LIMITED, [START])] * 2,
    (LIMITED, DEAR),
    (LIMITED, [*DEAR, end("executeAgent", {"success": True})]),
    (LIMITED, CANCELLING),
    ({**LIMITED, "graceMs": 5_000}, [*CANCELLING[:3], {"type": "CANCEL"}]),
    (PLANNED, [{**START, "runId": "n0"}]),
    ({**PLANNED, "maxFailures": 2, "graceMs": 500, "backoffMs": 10}, [START, select("developer")]),
    # Two agents wait at once; then one of them goes on, and then the other.
    (PLANNED, [{**START, "runId": "n0"}, select("developer"), *WAITING, *PERSON[-2:]]),
    (PLANNED, [{**START, "runId": "n0"}, select("developer"), *WAITING, {"type": "RETRY"}]),
    ({**PLANNED, "agents": RULED, "maxCostUsd": 3.5}, [START, select("developer")]),
    ({**LIMITED, "dryRun": True, "defaultAgent": "reviewer"}, [START]),
    ({"agents": AGENTS, "maxFailures": 1}, [START, select("developer"), FAILED, AGAIN]),
    ({"agents": AGENTS}, [START, {"type": "SKIP_STEP"}]),
    ({"agents": {}}, [START, {"type": "REVOKE", "permission": ALLOWED}]),
    ({"agents": {"only": agent("only", completesStep=True)}, "plan": PLAN, "maxFailures": 1}, [START]),
    ({**PLANNED, "maxIterations": 1}, [START, select("developer"), end("executeAgent", {"success": True})]),
]
