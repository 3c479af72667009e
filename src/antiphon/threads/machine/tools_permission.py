"""Permission for the calls of a reply: the request for it, and what a permission that is taken back changes."""

from typing import Any, cast

from antiphon.chart.actions import Enqueue
from antiphon.threads.machine.permission_rules import CallRequest, Mode, Rules, consent_without, decide
from antiphon.threads.machine.scopes import Override, without_permission
from antiphon.threads.machine.tools_types import Json, Revoke, ToolsChanges, ToolsContext

WITHDRAWN = "permissions given before this thread was imported or restored no longer hold"
REVOKED = "-revoked"  # the end of the id of a request in place of one whose calls need more answers


def permission_input(context: ToolsContext) -> Json:
    """Return the input of the permission machine, for the calls that are asked about."""
    consent = context["consent"]
    consents = context["consents"]
    rules: Rules = {
        "blocked": consent.get("blocked", []),
        "tripped": consent.get("tripped", []),
        "overrides": [override for override in consent.get("overrides", []) if _holds(override, context)],
        "autoAllow": consent.get("autoAllow", []) if consents else [],
    }
    if not consents and context["mode"] is None:
        rules["notice"] = WITHDRAWN
    return {
        "id": context["requestId"],
        "calls": [call_of(context, id) for id in context["asked"]],
        "mode": mode_of(context),
        "rules": rules,
        "timeoutMs": context["timeoutMs"],
        "reportsToParent": True,
    }


def mode_of(context: ToolsContext) -> Mode:
    """Return the mode that holds: given in this process, or in the settings, if these belong to this history."""
    mode = context["consent"].get("mode", "ask")
    if context["mode"] is not None:
        return context["mode"]
    return mode if context["consents"] or mode == "plan" else "ask"


def _holds(override: Override, context: ToolsContext) -> bool:
    """Return whether a decision counts: a refusal always, an allowance in the history in which it was given."""
    if override["decision"] != "allow":
        return True
    if "scope" in override:
        return override.get("history") == continued_history(context["history"])
    return context["consents"]


def must_ask_anew(context: ToolsContext, event: Revoke) -> bool:
    """Return whether a permission that is taken back has allowed one of the calls that are asked about."""
    return _decisions(context) != _decisions(cast(ToolsContext, {**context, **revoke(context, event)}))


def _decisions(context: ToolsContext) -> list[str]:
    request = permission_input(context)
    return [call["decision"] for call in decide(request["calls"], request["mode"], request["rules"])["calls"]]


def revoke(context: ToolsContext, event: Revoke) -> ToolsChanges:
    """Remove a permission that was taken back."""
    permission = event["permission"]
    return {
        "consent": consent_without(context["consent"], permission),
        "overrides": without_permission(context["overrides"], permission),
    }


def close_request(context: ToolsContext, event: Revoke, enqueue: Enqueue[ToolsContext, Any]) -> None:
    """Report to the parent that the open request has expired, if a person was asked."""
    if context["request"] is not None:
        enqueue.send_parent({"type": "go_on", "id": context["requestId"], "decision": "expired"})


def renew_request(context: ToolsContext) -> ToolsChanges:
    """Give the request another id: an answer to the earlier one was for fewer calls."""
    id = context["requestId"]
    return {"requestId": None if id is None else f"{id}{REVOKED}", "request": None}


def continued_history(history: str | None) -> str | None:
    """Return a history that continues a past from a file; it has a suffix, which nobody can guess."""
    return history if history is not None and "." in history else None


def place_of(id: str) -> int:
    """Return the place of a call by the id of its child."""
    return int(id.removeprefix("call-"))


def call_of(context: ToolsContext, id: str) -> CallRequest:
    """Return a call by the id of its child."""
    return context["calls"][place_of(id)]
