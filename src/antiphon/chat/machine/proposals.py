"""Proposals for merges by consensus: requested from a model, kept, written by a person, failed or cancelled."""

from collections.abc import Callable, Mapping
from typing import Any, cast

from antiphon.chart.actions import Action, assign, spawn_child, stop_child
from antiphon.chat.machine.consensus import change_proposal, is_in_phase, proposal_input, request_proposal
from antiphon.chat.machine.context import ErrorInfo, FlowContext
from antiphon.chat.machine.events import FlowRequest, ProposalEnded, ProposalOutput, Propose
from antiphon.chat.machine.limits import describe_limit, reached_spending
from antiphon.chat.machine.replies import add_spending, error_to_json
from antiphon.chat.machine.validation import refusal

RECONCILER = "reconciler"
NO_TEXT: ErrorInfo = {"code": "no_proposal", "message": "the model answered without a text", "recoverable": True}


def must_propose(context: FlowContext) -> bool:
    """Return whether the model has to be asked for a proposal."""
    return is_in_phase(context, "wanted")


def is_proposal_limited(context: FlowContext) -> bool:
    """Return whether a limit keeps the model from being asked for a proposal."""
    return must_propose(context) and reached_spending(context) is not None


def is_proposing(context: FlowContext) -> bool:
    """Return whether the model is asked for a proposal."""
    return is_in_phase(context, "asked")


def has_proposal(context: FlowContext, event: ProposalEnded) -> bool:
    """Return whether the model that was asked for a proposal gave one."""
    return is_proposing(context) and bool(_output(event).get("text"))


def gives_proposal(context: FlowContext, event: FlowRequest) -> bool:
    """Return whether a person writes the proposal."""
    return event.get("text") is not None and refusal(context, event) is None


def _output(event: ProposalEnded) -> ProposalOutput:
    output: object = event.get("output")
    return cast(ProposalOutput, output) if isinstance(output, Mapping) else {}


def begin_proposal(context: FlowContext) -> FlowContext:
    """Record that the model is asked."""
    return change_proposal(context, phase="asked")


def limit_proposal(context: FlowContext) -> FlowContext:
    """Record that the model is not asked because of a limit."""
    name = reached_spending(context)
    assert name is not None
    error: ErrorInfo = {"code": "limit_reached", "message": describe_limit(context, name), "recoverable": True}
    return {**change_proposal(context, phase="missing", error=error), "lastError": error}


def keep_proposal(context: FlowContext, event: ProposalEnded) -> FlowContext:
    """Keep the proposal of the model."""
    output = _output(event)
    facts = {key: output.get(key) for key in ("text", "source", "usage", "costUsd")}
    ready = change_proposal({**context, "lastError": None}, phase="ready", error=None, **facts)
    return add_spending(ready, output)


def fail_proposal(context: FlowContext, event: ProposalEnded) -> FlowContext:
    """Record why there is no proposal; the model can be asked again."""
    error = error_to_json(event.get("error") or NO_TEXT)
    failed = change_proposal({**context, "lastError": error}, phase="missing", error=error)
    return add_spending(failed, _output(event))


def set_proposal(context: FlowContext, event: Propose) -> FlowContext:
    """Take the text of a person as the proposal."""
    return change_proposal(
        context, phase="ready", text=event.get("text"), source=None, usage=None, costUsd=None, error=None
    )


def cancel_proposal(context: FlowContext) -> FlowContext:
    """Record that the model is not asked any more."""
    return change_proposal(context, phase="missing")


# Each function takes the events that the chart gives it.
ACTIONS: dict[str, Action[FlowContext, Any]] = {
    "requestProposal": assign(request_proposal),
    "beginProposal": assign(begin_proposal),
    "spawnReconciler": spawn_child(RECONCILER, id=RECONCILER, input=proposal_input),
    "stopReconciler": stop_child(RECONCILER),
    "limitProposal": assign(limit_proposal),
    "keepProposal": assign(keep_proposal),
    "failProposal": assign(fail_proposal),
    "setProposal": assign(set_proposal),
    "cancelProposal": assign(cancel_proposal),
}
GUARDS: dict[str, Callable[..., bool]] = {
    "mustPropose": must_propose,
    "isProposalLimited": is_proposal_limited,
    "isProposing": is_proposing,
    "hasProposal": has_proposal,
    "givesProposal": gives_proposal,
}
