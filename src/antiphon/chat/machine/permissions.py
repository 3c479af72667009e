"""Permissions that last: those of the settings of a chat, and those that a person gave; each can be taken back."""

from typing import Any

from antiphon.chart.actions import Enqueue
from antiphon.chat.machine.context import FlowContext
from antiphon.chat.machine.events import RevokePermission
from antiphon.threads.machine.permission_rules import consent_without
from antiphon.threads.machine.scopes import Override, without_permission

TOOLS = "tools"


def has_client_tools(context: FlowContext) -> bool:
    """Return whether the client calls the tools; chats of version 1 have no such setting."""
    return context["config"].get("clientTools", False)


def are_tools_running(context: FlowContext) -> bool:
    """Return whether the child that calls tools is at work."""
    reply = context["reply"]
    has_child = context["config"]["consent"] is not None and not has_client_tools(context)
    return has_child and reply is not None and reply["phase"] == "tools" and reply["called"]


def permissions(context: FlowContext) -> list[Override]:
    """Return the permissions that last: of the settings, and of a person."""
    consent = context["config"]["consent"] or {}
    overrides = [*consent.get("overrides", []), *context["overrides"]]
    return [override for override in overrides if override["decision"] == "allow"]


def revoke_permission(context: FlowContext, event: RevokePermission) -> FlowContext:
    """Remove a permission from the settings and from those that a person gave."""
    permission = event["permission"]
    config = context["config"]
    consent = config["consent"]
    left = None if consent is None else consent_without(consent, permission)
    overrides = without_permission(context["overrides"], permission)
    return {**context, "config": {**config, "consent": left}, "overrides": overrides}


def pass_revocation(context: FlowContext, event: RevokePermission, enqueue: Enqueue[FlowContext, Any]) -> None:
    """Tell the tools at work that a permission was taken back."""
    if are_tools_running(context):
        enqueue.send_to(TOOLS, {"type": "REVOKE", "permission": event["permission"]})
