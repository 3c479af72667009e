"""What a chat says when it has done something: one event a step, named as what happened."""

from collections.abc import Callable, Mapping
from typing import Any

from antiphon.chat.machine.context import FlowContext
from antiphon.chat.machine.crystal import harvest
from antiphon.chat.machine.merging import unresolved
from antiphon.chat.machine.operations import checkpoint_id
from antiphon.chat.machine.tree import head_of, turn_at

Event = Mapping[str, Any]
Facts = Mapping[str, Any]


def output(context: FlowContext, event: Event, params: Mapping[str, Any]) -> dict[str, Any]:
    """The event that says what happened, with the facts a listener needs."""
    name = params["event"]
    facts = FACTS.get(name, _where)
    return {"type": name, **facts(context, event)}


def _where(context: FlowContext, event: Event) -> Facts:
    head = head_of(context)
    return {"branch": context["branch"], "head": head, "turns": turn_at(context["messages"], head)}


def _said(context: FlowContext, event: Event) -> Facts:
    reply = context["reply"]
    # A message that waited is said when another event comes, which knows nothing of its branch.
    branch = reply["branch"] if reply else event.get("branch") or context["branch"]
    return {
        "message": head_of(context, branch),
        "branch": branch,
        "turns": turn_at(context["messages"], head_of(context, branch)),
        "requestId": reply["requestId"] if reply else None,
    }


def _checkpointed(context: FlowContext, event: Event) -> Facts:
    return {**_where(context, event), "checkpointId": checkpoint_id(context)}


def _converging(context: FlowContext, event: Event) -> Facts:
    merge = context["merge"]
    assert merge is not None
    waiting = [conflict["id"] for conflict in unresolved(merge)]
    return {"source": merge["source"], "target": merge["target"], "conflicts": waiting}


FACTS: dict[str, Callable[[FlowContext, Event], Facts]] = {
    "started": lambda context, event: {"ready": True},
    "configured": lambda context, event: {"config": dict(context["config"])},
    "message_processed": _said,
    "permission_asked": lambda context, event: {key: event[key] for key in event if key != "type"},
    "permission_answered": lambda context, event: {"decision": event["decision"]},
    "message_queued": lambda context, event: {"waiting": len(context["queue"])},
    "fork_initiated": lambda context, event: dict(context["fork"] or {}),
    "checkpointed": _checkpointed,
    "merge_initiated": _converging,
    "conflict_resolved": _converging,
    "stopping": lambda context, event: {"waitsForReply": context["reply"] is not None},
    "crystallized": lambda context, event: {"crystal": context["crystal"]},
    "crystallize_failed": lambda context, event: {"error": context["lastError"]},
    "reply_failed": lambda context, event: {**_where(context, event), "error": context["lastError"]},
    "reset": lambda context, event: {},
    "harvested": lambda context, event: {"metrics": harvest(context), "crystal": context["crystal"]},
}
