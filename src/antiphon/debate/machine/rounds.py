"""Rounds: known by phase and number, recorded once, counted by one action only."""

from collections.abc import Mapping
from typing import Any

from antiphon.chart.actions import Enqueue
from antiphon.debate.machine import ledger
from antiphon.debate.machine.context import DebateContext
from antiphon.debate.machine.formats import phase_of
from antiphon.debate.machine.quality import quality_of, reason_to_stop
from antiphon.debate.machine.replies import failed_response, missing, responded, round_number, usage_of
from antiphon.debate.machine.transcript import current_groups

Event = Mapping[str, Any]
Choice = Enqueue[DebateContext, Any]


def all_arguments_received(context: DebateContext, event: Event) -> bool:
    """Whether there is exactly one opening of each debater, and none on its way."""
    speakers = sorted(one["participantId"] for one in event.get("responses") or [])
    return not context["activeStreams"] and speakers == sorted(one["id"] for one in context["participants"])


def is_round_whole(context: DebateContext) -> bool:
    """Whether everyone has spoken, or failed to."""
    return bool(context["participants"]) and not missing(context) and not context["activeStreams"]


def is_recorded(context: DebateContext, phase: str, number: int) -> bool:
    """Whether there is such a round already."""
    return any((one["phase"], one["roundNumber"]) == (phase, number) for one in context["rounds"])


def ends_this_round(context: DebateContext, event: Event) -> bool:
    """Whether a round is the current one, not recorded yet, with one response of each and none on its way."""
    given = event.get("round") or {}
    number, phase = given.get("roundNumber", context["currentRound"]), given.get("phase", context["phase"])
    speakers = [one["participantId"] for one in given.get("responses") or []]
    whole = len(set(speakers)) == len(speakers) and set(speakers) == {one["id"] for one in context["participants"]}
    current = (phase, number) == (context["phase"], context["currentRound"])
    return current and whole and not context["activeStreams"] and not is_recorded(context, phase, number)


def max_rounds_reached(context: DebateContext) -> bool:
    """Whether the current round is the last."""
    return context["currentRound"] >= context["maxRounds"]


def stops_early(context: DebateContext, event: Event) -> bool:
    """Whether nothing new comes any more, and the debate is to stop then."""
    return bool(context["config"].get("earlyStop")) and early_reason(context, event) is not None


def early_reason(context: DebateContext, event: Event) -> str | None:
    """Why a round may be the last."""
    said = (event.get("round") or {}).get("responses") or []
    before = [one for one in context["rounds"] if (one["phase"], one["roundNumber"]) != _current(context)]
    return reason_to_stop(context["currentRound"], quality_of(before, said))


def early_stop(context: DebateContext) -> str | None:
    """Why the debate ends before its last round, from the quality of the round that was recorded."""
    return reason_to_stop(context["currentRound"], context["rounds"][-1]["quality"])


def _current(context: DebateContext) -> tuple[str, int]:
    return context["phase"], context["currentRound"]


def made_round(context: DebateContext, *, partial: bool = False) -> dict[str, Any]:
    """The current round out of what was said in it."""
    order = [id for group in current_groups(context) for id in group]
    said = sorted(context["responses"], key=lambda one: order.index(one["participantId"]))
    found = {
        "phase": context["phase"],
        "roundNumber": round_number(context),
        "timestamp": context["lastAt"],
        "responses": said,
        "tokensUsed": sum(one["tokensUsed"] for one in said),
        "costThisRound": ledger.told(ledger.round_cost(context, said)),
        "quality": quality_of(context["rounds"], said),
    }
    return {**found, "partial": True} if partial else found


def _taken_from(context: DebateContext, given: Any) -> DebateContext:
    """The context with responses that came from outside and were not counted yet; each is paid for once."""
    have = {one["participantId"] for one in context["responses"]}
    for one in given or []:
        id = one["participantId"]
        if id in have:
            continue
        if one.get("failed"):
            more: Any = {"responses": [*context["responses"], failed_response(id, one.get("error"))]}
        else:
            more = responded(context, id, {**one, "usage": usage_of(one)})
        context = {**context, **more}
        have.add(id)
    return context


def _recorded(context: DebateContext, *, partial: bool = False) -> dict[str, Any]:
    made = made_round(context, partial=partial)
    kept = ("costTracker", "tokenUsage", "lastAt")
    facts = {key: value for key, value in context.items() if key in kept}
    return {**facts, "rounds": [*context["rounds"], made], "responses": [], "attempts": {}, "retryCount": 0}


def record_openings(context: DebateContext, event: Event) -> dict[str, Any]:
    """The openings are round 1 of their phase; the debate begins with round 1."""
    after = _taken_from(context, event.get("responses"))
    phase = phase_of(context["config"]["format"], 1, context["maxRounds"])
    return {**_recorded(after), "currentRound": 1, "phase": phase}


def record_round(context: DebateContext, event: Event) -> dict[str, Any]:
    """The round is over."""
    return _recorded(_taken_from(context, (event.get("round") or {}).get("responses")))


def increment_round(context: DebateContext) -> dict[str, Any]:
    """The next round: the only place that counts."""
    number = context["currentRound"] + 1
    return {"currentRound": number, "phase": phase_of(context["config"]["format"], number, context["maxRounds"])}


def record_partial_round(context: DebateContext) -> dict[str, Any]:
    """What was said in a round that is cut short is kept, and marked."""
    said = any(not one.get("failed") for one in context["responses"])
    if not said or is_recorded(context, context["phase"], round_number(context)):
        return {"responses": [], "attempts": {}}
    return _recorded(context, partial=bool(missing(context)))


def finish_openings(context: DebateContext, event: Event, enqueue: Choice) -> None:
    """Say that all openings are there."""
    if is_round_whole(context):
        enqueue.raise_({"type": "ARGUMENTS_READY", "responses": context["responses"]})


def complete_round(context: DebateContext, event: Event, enqueue: Choice) -> None:
    """Say that the round is over; a driver from outside says so itself."""
    if context["driver"] == "actors":
        facts = {"phase": context["phase"], "roundNumber": context["currentRound"]}
        enqueue.raise_({"type": "ROUND_COMPLETE", "round": {**facts, "responses": context["responses"]}})


def tell_round(context: DebateContext, event: Event, enqueue: Choice) -> None:
    """Tell which round begins."""
    facts = {"phase": context["phase"], "roundNumber": context["currentRound"], "maxRounds": context["maxRounds"]}
    enqueue.emit({"type": "round_started", **facts})


def tell_costs(context: DebateContext, event: Event, enqueue: Choice) -> None:
    """Tell what was spent when a round begins, and the rounds so far by their last."""
    last = context["rounds"][-1] if context["rounds"] else None
    if last is not None and not context["responses"]:
        enqueue.emit({"type": "round_recorded", "round": last})
    enqueue.emit({"type": "cost", **context["costTracker"]})
