"""Merges by consensus: a model joins both sides of a merge into one message, which is confirmed or cancelled.

1. A model is asked only if both sides have something new; otherwise there is nothing to reconcile.
2. Both sides are sent whole as long as they fit; then the oldest turns are left out, of the shared beginning first.
3. Without a proposal the merge stays planned: the model can be asked again, a person can write the text, or the merge
   is cancelled. At a limit of cost or time the model is not asked.
"""

from collections.abc import Sequence
from itertools import chain
from typing import Any, cast

from antiphon.chat.machine.context import FlowContext, MergeProposal, PlannedMerge, StoredMessage
from antiphon.chat.machine.limits import remaining_cost
from antiphon.chat.machine.merging import sides
from antiphon.chat.machine.repair import repair_messages
from antiphon.chat.machine.tree import Messages, Turn, path, size_of, turns_of

# The share of the window for the turns of each branch; the rest is for the shared beginning and the proposal.
SIDE_SHARE = 0.3
SHARED_SHARE = 0.2


def current_merge(context: FlowContext) -> PlannedMerge:
    """Return the planned merge; there must be one."""
    merge = context["merge"]
    assert merge is not None
    return merge


def needs_proposal(context: FlowContext) -> bool:
    """Return whether the planned merge is by consensus, and both sides have something new."""
    merge = current_merge(context)
    return merge["strategy"] == "consensus" and all(sides(context, merge))


def request_proposal(context: FlowContext) -> FlowContext:
    """Request a proposal, if there is a model to ask."""
    proposal: MergeProposal = {
        "requestId": f"r{context['nextRequest']}",
        "phase": "missing" if context["config"]["model"] is None else "wanted",
        "text": None,
        "source": None,
        "usage": None,
        "costUsd": None,
        "error": None,
    }
    merge: PlannedMerge = {**current_merge(context), "proposal": proposal}
    return {**context, "merge": merge, "nextRequest": context["nextRequest"] + 1}


def is_in_phase(context: FlowContext, phase: str) -> bool:
    """Return whether the proposal of the planned merge is in a phase."""
    merge = context["merge"]
    return merge is not None and "proposal" in merge and merge["proposal"]["phase"] == phase


def change_proposal(context: FlowContext, **changes: Any) -> FlowContext:
    """Change some keys of the proposal."""
    merge = current_merge(context)
    proposal = cast(MergeProposal, {**merge["proposal"], **changes})
    return {**context, "merge": {**merge, "proposal": proposal}}


def proposal_input(context: FlowContext) -> dict[str, Any]:
    """Return the input of the reconciler: the shared beginning and both sides, as far as they fit."""
    merge = current_merge(context)
    messages = context["messages"]
    config = context["config"]
    ours, theirs = sides(context, merge)
    side_room = config["contextLimit"] * SIDE_SHARE
    shared = turns_of(path(messages, merge["base"]))
    branches = [(merge["target"], ours), (merge["source"], theirs)]
    return {
        "requestId": merge["proposal"]["requestId"],
        "model": config["model"],
        "system": config["system"],
        "budgetUsd": remaining_cost(context),
        "messages": repair_messages(_messages(_newest(messages, shared, config["contextLimit"] * SHARED_SHARE))),
        "branches": [
            {"name": name, "messages": _messages(_newest(messages, turns, side_room))} for name, turns in branches
        ],
    }


def _newest(messages: Messages, turns: Sequence[Turn], room: float) -> list[Turn]:
    """Return the newest turns that fit, at least one."""
    chosen: list[Turn] = []
    for turn in reversed(turns):
        room -= sum(size_of(messages, message) for message in turn)
        if room < 0 and chosen:
            break
        chosen.append(turn)
    return chosen[::-1]


def _messages(turns: Sequence[Turn]) -> list[dict[str, Any]]:
    return [_message(message) for message in chain.from_iterable(turns)]


def _message(message: StoredMessage) -> dict[str, Any]:
    return {"role": message["role"], "parts": message["parts"]}
