"""Permissions of a run that a person takes back: from the run, and from agents at work and their results."""

from collections.abc import Sequence
from typing import Any

from antiphon.agents.machine.context import CREW, OrchestratorContext, OrchestratorEnqueue, OrchestratorUpdate
from antiphon.agents.machine.log import line, write_line
from antiphon.agents.machine.results import AgentResult
from antiphon.chart.actions import BoundAction, assign, enqueue_actions
from antiphon.threads.machine.permission_rules import ConsentSettings, consent_without
from antiphon.threads.machine.scopes import Override, add_overrides, describe_override
from antiphon.threads.machine.tools_types import Revoke


def has_permission(context: OrchestratorContext, event: Revoke) -> bool:
    """Return whether a permission of the run is taken back."""
    return event["permission"] in context["consent"].get("overrides", ())


def revoke_permission(context: OrchestratorContext, event: Revoke) -> OrchestratorUpdate:
    """Remove a permission that was taken back, and remember that for the results of the turn at work."""
    permission = event["permission"]
    return {
        "consent": consent_without(context["consent"], permission),
        "revoked": add_overrides(context["revoked"], [permission]),
    }


def pass_revocation(context: OrchestratorContext, event: Revoke, enqueue: OrchestratorEnqueue) -> None:
    """Tell the agents at work that a permission was taken back."""
    enqueue.send_to(CREW, {"type": event["type"], "permission": event["permission"]})


def revocation(context: OrchestratorContext, event: Revoke, enqueue: OrchestratorEnqueue) -> None:
    """Report that a person takes back a permission."""
    permission = event["permission"]
    text = f"Permission taken back: {describe_override(permission)}"
    write_line(context, enqueue, line("permission_revoked", text, permission=permission))


def consent_after(consent: ConsentSettings, result: AgentResult, revoked: Sequence[Override]) -> ConsentSettings:
    """Return the consent with the permissions of an agent, but those that were taken back and not given again."""
    overrides = consent.get("overrides", [])
    stale = [override for override in revoked if override not in result.get("granted", ())]
    new = [
        override for override in result.get("overrides") or () if override not in overrides and override not in stale
    ]
    return {**consent, "overrides": [*overrides, *new]} if new else consent


ACTIONS: dict[str, BoundAction[OrchestratorContext, Any]] = {
    "revokePermission": assign(revoke_permission),
    "passRevocation": enqueue_actions(pass_revocation),
    "logRevocation": enqueue_actions(revocation),
}
