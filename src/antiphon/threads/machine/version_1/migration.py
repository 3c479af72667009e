"""Migration of the thread and the tools from version 1: open requests get addresses."""

from typing import Any

from antiphon.threads.machine.former import Changes, Snapshot, child_of
from antiphon.threads.machine.thread_requests import own_request
from antiphon.threads.machine.tools import PERMISSION


def migrate_thread(snapshot: Snapshot) -> None:
    """List the open requests of the content, or that of a thread that waits without one."""
    context = snapshot["context"]
    if snapshot["value"] != "waiting":
        return
    content = context["content"]
    child = None if content is None else child_of(snapshot, content)
    requests = [] if child is None else _requests_of(child["context"])
    context["requests"] = [{**request, "address": f"{content}/{request['address']}"} for request in requests]
    if not requests and not context["processLost"]:
        context["requests"] = [own_request(1, context["waitingReason"])]
        context["waits"] = 1


def _requests_of(content: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the open requests of a chat, which has at most one, or of a run."""
    reply = content.get("reply")
    if reply is not None:
        return [reply["request"]] if reply["waiting"] and reply.get("request") else []
    return [request for request in content.get("waiting") or () if "address" in request]


def migrate_tools(snapshot: Snapshot) -> None:
    """Keep the request for permission of tools that wait for a person."""
    permission = child_of(snapshot, PERMISSION)
    snapshot["context"]["asked"] = [f"call-{number}" for number in range(len(snapshot["context"]["calls"]))]
    if snapshot["value"] == "asking" and permission is not None and "process" in snapshot["children"]:
        asked = permission["context"]
        request = {"id": asked["id"], "calls": asked["verdict"]["calls"], "timeoutMs": asked["timeoutMs"]}
        snapshot["context"]["request"] = request


def migrate_permission(snapshot: Snapshot) -> None:
    """Let the calls of a request offer nothing but to be made once, with no access."""
    offers: dict[str, Any] = {"kind": "other", "access": None, "scopes": [], "outside": False, "sandbox": False}
    for call in snapshot["context"]["verdict"]["calls"]:
        call |= {**offers, "network": [], "protected": []}


CHANGES: Changes = {"thread": migrate_thread, "tools": migrate_tools, "permission": migrate_permission}
