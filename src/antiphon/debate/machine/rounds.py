"""Rounds: identified by phase and number, recorded once, counted by one action only."""

from typing import cast

from antiphon.debate.machine import ledger
from antiphon.debate.machine.context import DebateContext, DebateUpdate, Response, Round
from antiphon.debate.machine.events import AnyEvent, ArgumentsReady, OutsideResponse, ResponseFacts, RoundComplete
from antiphon.debate.machine.formats import phase_of
from antiphon.debate.machine.quality import quality_of, reason_to_stop
from antiphon.debate.machine.replies import DebateEnqueue, add_response, failed_response, usage_of
from antiphon.debate.machine.speakers import missing_speakers, round_number
from antiphon.debate.machine.transcript import current_groups


def all_arguments_received(context: DebateContext, event: ArgumentsReady) -> bool:
    """Return whether there is exactly one opening of each debater, and none is in progress."""
    speakers = sorted(response["participantId"] for response in event.get("responses") or [])
    ids = sorted(participant["id"] for participant in context["participants"])
    return not context["activeStreams"] and speakers == ids


def is_round_whole(context: DebateContext) -> bool:
    """Return whether every debater has answered or failed."""
    return bool(context["participants"]) and not missing_speakers(context) and not context["activeStreams"]


def is_recorded(context: DebateContext, phase: str, number: int) -> bool:
    """Return whether a round is recorded already."""
    return any((past["phase"], past["roundNumber"]) == (phase, number) for past in context["rounds"])


def ends_this_round(context: DebateContext, event: RoundComplete) -> bool:
    """Return whether a round is the current one, not recorded, with one response of each and none in progress."""
    ended = event.get("round") or {}
    number = ended.get("roundNumber", context["currentRound"])
    phase = ended.get("phase", context["phase"])
    speakers = [response["participantId"] for response in ended.get("responses") or []]
    ids = {participant["id"] for participant in context["participants"]}
    is_whole = len(set(speakers)) == len(speakers) and set(speakers) == ids
    is_current = (phase, number) == (context["phase"], context["currentRound"])
    return is_current and is_whole and not context["activeStreams"] and not is_recorded(context, phase, number)


def max_rounds_reached(context: DebateContext) -> bool:
    """Return whether the current round is the last."""
    return context["currentRound"] >= context["maxRounds"]


def stops_early(context: DebateContext, event: RoundComplete) -> bool:
    """Return whether the debate stops early and the round brought nothing new."""
    return bool(context["config"].get("earlyStop")) and early_reason(context, event) is not None


def early_reason(context: DebateContext, event: RoundComplete) -> str | None:
    """Return why a round may be the last, or None."""
    responses = cast("list[Response]", (event.get("round") or {}).get("responses") or [])
    before = [past for past in context["rounds"] if (past["phase"], past["roundNumber"]) != _current(context)]
    return reason_to_stop(context["currentRound"], quality_of(before, responses))


def note_early_stop(context: DebateContext) -> DebateUpdate:
    """Note why the debate ends early, from the quality of the last recorded round."""
    return {"stoppedEarly": reason_to_stop(context["currentRound"], context["rounds"][-1]["quality"])}


def _current(context: DebateContext) -> tuple[str, int]:
    return context["phase"], context["currentRound"]


def build_round(context: DebateContext, *, partial: bool = False) -> Round:
    """Build the current round from its responses, in the order of the speakers."""
    order = [id for group in current_groups(context) for id in group]
    responses = sorted(context["responses"], key=lambda response: order.index(response["participantId"]))
    current: Round = {
        "phase": context["phase"],
        "roundNumber": round_number(context),
        "timestamp": context["lastAt"],
        "responses": responses,
        "tokensUsed": sum(response["tokensUsed"] for response in responses),
        "costThisRound": ledger.format_amount(ledger.total_cost(responses)),
        "quality": quality_of(context["rounds"], responses),
    }
    if partial:
        current["partial"] = True
    return current


def _with_responses(context: DebateContext, responses: list[OutsideResponse] | None) -> DebateContext:
    """Add responses from outside to the context, except those it has already; each is charged once."""
    speakers = {response["participantId"] for response in context["responses"]}
    for response in responses or []:
        id = response["participantId"]
        if id in speakers:
            continue
        update: DebateUpdate
        if response.get("failed"):
            update = {"responses": [*context["responses"], failed_response(id, response.get("error"))]}
        else:
            usage = usage_of(response.get("usage"), response.get("tokensUsed"))
            facts: ResponseFacts = {
                "content": response.get("content"),
                "tokensUsed": response.get("tokensUsed"),
                "latencyMs": response.get("latencyMs"),
                "timestamp": response.get("timestamp"),
                "costUsd": response.get("costUsd"),
                "usage": usage,
            }
            update = add_response(context, id, facts)
        context = cast(DebateContext, {**context, **update})
        speakers.add(id)
    return context


def _record(context: DebateContext, *, partial: bool = False) -> DebateUpdate:
    return {
        "costTracker": context["costTracker"],
        "tokenUsage": context["tokenUsage"],
        "lastAt": context["lastAt"],
        "rounds": [*context["rounds"], build_round(context, partial=partial)],
        "responses": [],
        "attempts": {},
        "retryCount": 0,
    }


def record_openings(context: DebateContext, event: ArgumentsReady) -> DebateUpdate:
    """Record the openings as round 1 of their phase, and begin round 1 of the debate."""
    after = _with_responses(context, event.get("responses"))
    phase = phase_of(context["config"]["format"], 1, context["maxRounds"])
    return {**_record(after), "currentRound": 1, "phase": phase}


def record_round(context: DebateContext, event: RoundComplete) -> DebateUpdate:
    """Record the round."""
    return _record(_with_responses(context, (event.get("round") or {}).get("responses")))


def increment_round(context: DebateContext) -> DebateUpdate:
    """Begin the next round; nothing else counts rounds."""
    number = context["currentRound"] + 1
    return {"currentRound": number, "phase": phase_of(context["config"]["format"], number, context["maxRounds"])}


def record_partial_round(context: DebateContext) -> DebateUpdate:
    """Record the responses of an interrupted round, marked as partial."""
    has_responses = any(not response.get("failed") for response in context["responses"])
    if not has_responses or is_recorded(context, context["phase"], round_number(context)):
        return {"responses": [], "attempts": {}}
    return _record(context, partial=bool(missing_speakers(context)))


def finish_openings(context: DebateContext, event: AnyEvent, enqueue: DebateEnqueue) -> None:
    """Raise ARGUMENTS_READY when all openings are complete."""
    if is_round_whole(context):
        enqueue.raise_({"type": "ARGUMENTS_READY", "responses": context["responses"]})


def complete_round(context: DebateContext, event: AnyEvent, enqueue: DebateEnqueue) -> None:
    """Raise ROUND_COMPLETE; a driver from outside sends it itself."""
    if context["driver"] == "actors":
        facts = {"phase": context["phase"], "roundNumber": context["currentRound"]}
        enqueue.raise_({"type": "ROUND_COMPLETE", "round": {**facts, "responses": context["responses"]}})


def tell_round(context: DebateContext, event: AnyEvent, enqueue: DebateEnqueue) -> None:
    """Report the round that begins."""
    facts = {"phase": context["phase"], "roundNumber": context["currentRound"], "maxRounds": context["maxRounds"]}
    enqueue.emit({"type": "round_started", **facts})


def tell_costs(context: DebateContext, event: AnyEvent, enqueue: DebateEnqueue) -> None:
    """Report the costs when a round begins, and the round before."""
    last = context["rounds"][-1] if context["rounds"] else None
    if last is not None and not context["responses"]:
        enqueue.emit({"type": "round_recorded", "round": last})
    enqueue.emit({"type": "cost", **context["costTracker"]})


def prompt_opening_arguments(context: DebateContext) -> DebateUpdate:
    """Begin the openings: round 1 of their own phase, before the rounds of the debate are counted."""
    return {"phase": "opening"}


def has_arguments(context: DebateContext) -> bool:
    """Return whether a debater has said anything."""
    recorded = [response for past in context["rounds"] for response in past["responses"]]
    return any(response["content"].strip() for response in (*recorded, *context["responses"]))


def lacks_arguments(context: DebateContext) -> bool:
    """Return whether there is nothing to judge."""
    return not has_arguments(context)
