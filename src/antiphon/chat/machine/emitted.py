"""Events that a chat emits: one for each step, with the facts that a listener needs."""

from collections.abc import Callable, Mapping
from typing import Any, TypedDict

from antiphon.chat.machine.context import FlowContext
from antiphon.chat.machine.crystal import harvest
from antiphon.chat.machine.events import FlowFields
from antiphon.chat.machine.limits import limit_facts, reached_facts
from antiphon.chat.machine.merging import unresolved_conflicts
from antiphon.chat.machine.operations import checkpoint_id
from antiphon.chat.machine.tool_calls import awaited_facts
from antiphon.chat.machine.tree import head_of, turn_at

Facts = Mapping[str, object]


class OutputParams(TypedDict):
    """The type of the event to emit."""

    event: str


def output(context: FlowContext, event: FlowFields, params: OutputParams) -> dict[str, Any]:
    """Return the event to emit for a step."""
    type = params["event"]
    facts = FACTS.get(type, _position)
    return {"type": type, **facts(context, event)}


def _position(context: FlowContext, event: FlowFields) -> Facts:
    head = head_of(context)
    return {"branch": context["branch"], "head": head, "turns": turn_at(context["messages"], head)}


def _message(context: FlowContext, event: FlowFields) -> Facts:
    reply = context["reply"]
    # A queued message is appended when another event comes, which does not name the branch of the message.
    branch = reply["branch"] if reply else event.get("branch") or context["branch"]
    return {
        "message": head_of(context, branch),
        "branch": branch,
        "turns": turn_at(context["messages"], head_of(context, branch)),
        "requestId": reply["requestId"] if reply else None,
    }


def _checkpoint(context: FlowContext, event: FlowFields) -> Facts:
    return {**_position(context, event), "checkpointId": checkpoint_id(context)}


def _merge(context: FlowContext, event: FlowFields) -> Facts:
    merge = context["merge"]
    assert merge is not None
    conflicts = [conflict["id"] for conflict in unresolved_conflicts(merge)]
    return {"source": merge["source"], "target": merge["target"], "conflicts": conflicts}


def _proposal(context: FlowContext, event: FlowFields) -> Facts:
    merge = context["merge"]
    assert merge is not None
    proposal = merge["proposal"]
    ends = {"source": merge["source"], "target": merge["target"], "requestId": proposal["requestId"]}
    return {**ends, "text": proposal["text"], "error": proposal["error"]}


def _warning(context: FlowContext, event: FlowFields) -> Facts:
    return limit_facts(context, context["budget"]["warned"][-1])


FACTS: dict[str, Callable[[FlowContext, FlowFields], Facts]] = {
    "started": lambda context, event: {"ready": True},
    "configured": lambda context, event: {"config": dict(context["config"])},
    "message_processed": _message,
    "permission_asked": lambda context, event: {key: value for key, value in event.items() if key != "type"},
    "permission_answered": lambda context, event: {"id": event.get("id"), "decision": event.get("decision")},
    "limit_reached": lambda context, event: reached_facts(context),
    "results_awaited": lambda context, event: awaited_facts(context),
    "limit_warning": _warning,
    "limit_answered": lambda context, event: {"id": event["id"], "decision": event["decision"]},
    "permission_revoked": lambda context, event: {"permission": event["permission"]},
    "message_queued": lambda context, event: {"waiting": len(context["queue"])},
    "fork_initiated": lambda context, event: dict(context["fork"] or {}),
    "checkpointed": _checkpoint,
    "merge_initiated": _merge,
    "conflict_resolved": _merge,
    "proposal_requested": _proposal,
    "merge_proposed": _proposal,
    "proposal_failed": _proposal,
    "stopping": lambda context, event: {"waitsForReply": context["reply"] is not None},
    "crystallized": lambda context, event: {"crystal": context["crystal"]},
    "crystallize_failed": lambda context, event: {"error": context["lastError"]},
    "reply_failed": lambda context, event: {**_position(context, event), "error": context["lastError"]},
    "reset": lambda context, event: {},
    "harvested": lambda context, event: {"metrics": harvest(context), "crystal": context["crystal"]},
}
