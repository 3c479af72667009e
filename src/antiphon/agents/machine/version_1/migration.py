"""Migration of a run from version 1: open requests get ids and addresses, replies the schema of their answer."""

from antiphon.agents.machine.agent import REPLY
from antiphon.agents.machine.orchestrator import CREW
from antiphon.agents.machine.tool_calls import TOOLS, question_id
from antiphon.threads.machine.former import Changes, Snapshot, child_of
from antiphon.threads.machine.tools import PERMISSION


def migrate_agent(snapshot: Snapshot) -> None:
    """Give the request of an agent its id and address, and a reply in flight the schema of its answer."""
    context = snapshot["context"]
    waiting = context["waiting"]
    agent_id = context["agentId"]
    if waiting is not None and waiting["reason"] == "permission":
        waiting["address"] = f"{agent_id}/{TOOLS}/{PERMISSION}"
    elif waiting is not None:
        waiting["callId"] = waiting["id"]
        waiting["id"] = question_id(context)
        waiting["address"] = agent_id
    reply = child_of(snapshot, REPLY)
    schema = (context["agent"] or {}).get("responseSchema")
    if reply is not None and schema is not None:
        reply["context"]["settings"]["options"]["responseSchema"] = schema


def migrate_run(snapshot: Snapshot) -> None:
    """Give the requests of agents their ids and addresses."""
    crew = child_of(snapshot, CREW)
    agents = {} if crew is None else {id: child["snapshot"]["context"] for id, child in crew["children"].items()}
    for request in snapshot["context"]["waiting"]:
        waiting = (agents.get(request.get("agentId")) or {}).get("waiting")
        if waiting is not None:
            request |= {**waiting, "address": f"{CREW}/{waiting['address']}"}


CHANGES: Changes = {"agent": migrate_agent, "rawko": migrate_run}
