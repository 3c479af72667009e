"""Replies of debaters: started, recorded, failed, retried; each is charged once."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, cast

from antiphon.chart.actions import Enqueue
from antiphon.chart.text import GrowingText
from antiphon.debate.machine import ledger
from antiphon.debate.machine.config import reference
from antiphon.debate.machine.context import (
    DebateContext,
    DebateUpdate,
    Json,
    LLMModel,
    Response,
    ResponseError,
    Stream,
)
from antiphon.debate.machine.events import (
    AnyEvent,
    DebaterFields,
    ReplyEnded,
    ResponseFacts,
    Streamed,
    StreamEnded,
)
from antiphon.debate.machine.failures import UNSEEN, code_of
from antiphon.debate.machine.formats import FEWEST
from antiphon.debate.machine.speakers import (
    is_active_reply,
    is_missing,
    missing_speakers,
    round_number,
    speaker_of,
    speaker_of_request,
)
from antiphon.debate.machine.transcript import PromptMessage, current_groups, judge_messages, messages_for
from antiphon.threads.machine.content import UsageJson
from antiphon.threads.machine.streaming_types import ReplyCompleted

DebateEnqueue = Enqueue[DebateContext, Any]
OPENING_TIMEOUT_MS = 120_000
MOST_ATTEMPTS = 2
NO_RESPONSE = "nothing came in time"
OUTCOMES = {"REPLY.COMPLETED": "whole", "REPLY.FAILED": "failed", "REPLY.CANCELLED": "cancelled"}


def is_lost_reply(context: DebateContext, event: DebaterFields) -> bool:
    """Return whether a reply was lost with its process."""
    return is_active_reply(context, event) and code_of(event.get("error")) in UNSEEN


def is_recoverable(event: DebaterFields) -> bool:
    """Return whether a failed reply is worth another attempt."""
    error = event.get("error")
    return event["type"] == "DEBATER_TIMEOUT" or (error is not None and bool(error.get("recoverable")))


def may_ask_again(context: DebateContext, event: DebaterFields) -> bool:
    """Return whether a debater that failed may be asked again."""
    speaker = speaker_of(context, event) or ""
    return is_recoverable(event) and context["attempts"].get(speaker, 1) < MOST_ATTEMPTS


def would_leave_too_few(context: DebateContext) -> bool:
    """Return whether the failure of one more debater ends the debate."""
    failed = sum(bool(response.get("failed")) for response in context["responses"])
    return len(context["participants"]) - failed - 1 < FEWEST


def leaves_too_few(context: DebateContext, event: DebaterFields) -> bool:
    """Return whether a reply has finally failed, and with it the round."""
    return is_active_reply(context, event) and not may_ask_again(context, event) and would_leave_too_few(context)


def times_out_too_many(context: DebateContext, event: DebaterFields) -> bool:
    """Return whether a debater has finally timed out, and with it the round."""
    return is_missing(context, event) and not may_ask_again(context, event) and would_leave_too_few(context)


def can_go_on_without_missing(context: DebateContext) -> bool:
    """Return whether there are enough responses when the time of a round is up."""
    return sum(not response.get("failed") for response in context["responses"]) >= FEWEST


def start_participant_streams(context: DebateContext, event: AnyEvent, enqueue: DebateEnqueue) -> None:
    """Ask the missing debaters of the current group, unless that might exceed the limit."""
    missing = missing_speakers(context)
    group = next((group for group in current_groups(context) if set(group) & set(missing)), [])
    ids = [id for id in group if id in missing and id not in context["activeStreams"]]
    if context["phase"] == "opening":
        for id in ids:
            timeout = {"type": "DEBATER_TIMEOUT", "participantId": id}
            enqueue.cancel(f"timeout-{id}")
            enqueue.raise_(timeout, delay=OPENING_TIMEOUT_MS, id=f"timeout-{id}")
    if context["driver"] != "actors":
        return
    models = {participant["id"]: participant["model"] for participant in context["participants"]}
    streams = dict(context["activeStreams"])
    reserve: list[Decimal] = []
    for number, id in enumerate(ids, start=context["requests"] + 1):
        messages = messages_for(context, id)
        cost = ledger.estimate(context, models[id], messages)
        if ledger.limit_reached(context) or ledger.breaks_limit(context, *reserve, cost, _judge_reserve(context)):
            estimate = ledger.format_amount(cost)
            enqueue.raise_({"type": "COST_LIMIT", "participantId": id, "estimate": estimate})
            break
        reserve.append(cost)
        request = f"{context['phase']}-{round_number(context)}-{id}-{number}"
        streams[id] = _stream(request, reference(models[id]), ledger.format_amount(cost))
        enqueue.spawn_child("reply", id=f"reply-{id}", input=_reply_input(context, request, models[id], messages))
        facts = {"participantId": id, "requestId": request, "phase": context["phase"]}
        enqueue.emit({"type": "turn_started", **facts, "roundNumber": round_number(context)})
    enqueue.assign(DebateUpdate(activeStreams=streams, requests=context["requests"] + len(ids)))


def _judge_reserve(context: DebateContext) -> Decimal:
    # If the judge decides at the limit, the verdict has to be affordable, too.
    if context["config"]["onCostLimit"] != "judge" or context["judge"] is None:
        return ledger.amount(0)
    return ledger.estimate(context, context["judge"]["model"], judge_messages(context))


def _stream(request: str | None, model: str, estimate: str) -> Stream:
    return {"requestId": request, "model": model, "text": "", "estimate": estimate, "started": False}


def _reply_input(context: DebateContext, request: str, model: LLMModel, messages: Sequence[PromptMessage]) -> Json:
    options: Json = {"maxTokens": model["maxTokens"]}
    if model["temperature"] is not None:
        options["temperature"] = model["temperature"]
    return {
        "requestId": request,
        "sessionId": context["threadId"],
        "model": reference(model),
        "prompt": None,
        "messages": messages,
        "reportsToParent": True,
        "options": options,
    }


def note_first_word(context: DebateContext, event: ReplyEnded) -> DebateUpdate:
    """Mark the stream of a reply as started."""
    streams: dict[str, Stream] = {
        id: {**stream, "started": stream["started"] or stream["requestId"] == event["requestId"]}
        for id, stream in context["activeStreams"].items()
    }
    return {"activeStreams": streams}


def update_streaming_content(context: DebateContext, event: Streamed) -> DebateUpdate:
    """Append a chunk to a stream from outside."""
    id = event["participantId"]
    stream = context["activeStreams"].get(id) or _stream(None, model_of(context, id), "0")
    longer: Stream = {**stream, "text": GrowingText(stream["text"]) + event["chunk"], "started": True}
    return {"activeStreams": {**context["activeStreams"], id: longer}}


def model_of(context: DebateContext, id: str) -> str:
    """Return the model of a debater or of the judge."""
    models = {participant["id"]: participant["model"] for participant in reversed(context["participants"])}
    judge = context["judge"]
    if id not in models and judge is not None and judge["id"] == id:
        return reference(judge["model"])
    return reference(models[id]) if id in models else id


def usage_of(usage: UsageJson | None, total: int | None) -> UsageJson:
    """Return a reported usage; a bare total counts as output, and is marked as estimated."""
    if usage is not None:
        return usage.copy()
    return {"input": 0, "output": total, "estimated": True} if total else {}


def add_response(context: DebateContext, id: str, facts: ResponseFacts) -> DebateUpdate:
    """Append a response to the round, and charge it."""
    model = model_of(context, id)
    usage = usage_of(facts.get("usage"), facts.get("tokensUsed"))
    cost = ledger.cost_of(context, model, usage, facts.get("costUsd"))
    at = facts.get("timestamp")
    response: Response = {
        "participantId": id,
        "content": str(facts.get("content") or ""),
        "tokensUsed": facts.get("tokensUsed") or usage.get("input", 0) + usage.get("output", 0),
        "latencyMs": facts.get("latencyMs") or 0,
        "timestamp": at,
        "usage": usage,
        "cost": ledger.format_amount(cost or ledger.amount(0)),
    }
    update = ledger.charge(context, model, usage, facts.get("costUsd"))
    if at is not None:
        update["lastAt"] = at
    update["responses"] = [*context["responses"], response]
    update["activeStreams"] = {key: stream for key, stream in context["activeStreams"].items() if key != id}
    return update


def record_completed_stream(context: DebateContext, event: StreamEnded) -> DebateUpdate:
    """Record a response that was streamed from outside."""
    id = event["participantId"]
    stream = context["activeStreams"].get(id)
    facts: ResponseFacts = {
        "content": event.get("content") or (str(stream["text"]) if stream else ""),
        "timestamp": event.get("at"),
        "tokensUsed": event.get("tokensUsed"),
        "latencyMs": event.get("latencyMs"),
        "usage": event.get("usage"),
        "costUsd": event.get("costUsd"),
    }
    return add_response(context, id, facts)


def record_reply(context: DebateContext, event: ReplyCompleted) -> DebateUpdate:
    """Record the response of a debater."""
    id = speaker_of(context, event)
    assert id is not None
    parts = event["message"]["parts"]
    facts: ResponseFacts = {
        "content": "".join(part["text"] for part in parts if part["type"] == "text"),
        "timestamp": event["message"].get("at"),
        "latencyMs": event.get("durationMs"),
        "usage": event.get("usage"),
        "costUsd": event.get("costUsd"),
        "tokensUsed": event.get("totalTokens"),
    }
    return add_response(context, id, facts)


def keep_late_reply(context: DebateContext, event: ReplyCompleted) -> DebateUpdate:
    """Record a reply that was complete before it could be cancelled, if its round is still open; else charge it."""
    is_open = speaker_of(context, event) in missing_speakers(context) and context["resumeTarget"] != "judgeEvaluating"
    return record_reply(context, event) if is_open else charge_reply(context, event)


def charge_reply(context: DebateContext, event: DebaterFields | ReplyCompleted) -> DebateUpdate:
    """Charge a reply that is not recorded, as far as its usage is known."""
    id = speaker_of(context, event) or ""
    streams = {key: stream for key, stream in context["activeStreams"].items() if key != id}
    # All calls of a lost process are lost, also those that are cancelled before their loss is reported.
    if context["lost"] or code_of(event.get("error")) in UNSEEN:
        most = max(ledger.amount(event.get("costUsd")), ledger.amount(context["activeStreams"][id]["estimate"]))
        return {"activeStreams": streams, "costTracker": ledger.add_unseen(context, most)}
    usage = event.get("usage")
    update: DebateUpdate = {}
    if usage:
        update = ledger.charge(context, model_of(context, id), usage, event.get("costUsd"))
    update["activeStreams"] = streams
    return update


def let_reply_go(context: DebateContext, event: ReplyEnded, enqueue: DebateEnqueue) -> None:
    """Stop the actor of a reply and its timer, so that its name is free again."""
    # The stream is gone: only the request still names the debater.
    request = event["requestId"]
    id = speaker_of_request(request)
    enqueue.cancel(f"timeout-{id}")
    enqueue.stop_child(f"reply-{id}")
    enqueue.emit({"type": "turn_ended", "participantId": id, "requestId": request, "end": OUTCOMES[event["type"]]})
    enqueue.emit({"type": "cost", **context["costTracker"]})


def ask_again_or_fail(context: DebateContext, event: DebaterFields) -> DebateUpdate:
    """Count another attempt of a debater that failed, or record the failure."""
    id = event.get("participantId") or speaker_of_request(event.get("requestId") or "")
    attempts = context["attempts"].get(id, 1)
    if is_recoverable(event) and attempts < MOST_ATTEMPTS:
        return {"attempts": {**context["attempts"], id: attempts + 1}}
    return {"responses": [*context["responses"], failed_response(id, event.get("error"))]}


def failed_response(id: str, error: object) -> Response:
    """Return the response of a debater that failed."""
    return {
        "participantId": id,
        "content": "",
        "tokensUsed": 0,
        "latencyMs": 0,
        "timestamp": None,
        "usage": {},
        "cost": "0",
        "failed": True,
        "error": cast(ResponseError, dict(error)) if isinstance(error, Mapping) else {"message": NO_RESPONSE},
    }


def drop_late_debater(context: DebateContext, event: DebaterFields, enqueue: DebateEnqueue) -> None:
    """Stop a reply that takes too long, and try again or continue without it."""
    _give_up(context, [event.get("participantId") or ""], enqueue)
    enqueue.assign(ask_again_or_fail(context, event))


def fail_missing(context: DebateContext, event: AnyEvent, enqueue: DebateEnqueue) -> None:
    """Continue without the debaters that did not answer in time."""
    _give_up(context, list(context["activeStreams"]), enqueue)
    failed = [failed_response(id, None) for id in missing_speakers(context)]
    enqueue.assign(DebateUpdate(responses=[*context["responses"], *failed]))


def _give_up(context: DebateContext, ids: Sequence[str], enqueue: DebateEnqueue) -> None:
    """Stop replies in progress, whose usage stays unknown."""
    streams = context["activeStreams"]
    requested = [id for id in ids if id in streams and streams[id]["requestId"] is not None]
    for id in requested:
        enqueue.stop_child(f"reply-{id}")
    tracker = ledger.add_abandoned(context, [streams[id] for id in requested])
    remaining = {id: stream for id, stream in streams.items() if id not in ids}
    enqueue.assign(DebateUpdate(activeStreams=remaining, costTracker=tracker))


def cancel_active_streams(context: DebateContext, event: AnyEvent, enqueue: DebateEnqueue) -> None:
    """Cancel the replies in progress; they report their usage."""
    streams: dict[str, Stream] = {}
    for id, stream in context["activeStreams"].items():
        enqueue.cancel(f"timeout-{id}")
        if stream["requestId"] is not None:
            streams[id] = stream
            enqueue.send_to(f"reply-{id}", {"type": "CANCEL", "requestId": stream["requestId"]})
    enqueue.assign(DebateUpdate(activeStreams=streams))


def forget_streams(context: DebateContext, event: AnyEvent, enqueue: DebateEnqueue) -> None:
    """Stop the remains of earlier replies, and forget failures."""
    _give_up(context, list(context["activeStreams"]), enqueue)
    responses = [response for response in context["responses"] if not response.get("failed")]
    enqueue.assign(DebateUpdate(attempts={}, responses=responses))


def note_in_flight(context: DebateContext, event: AnyEvent, enqueue: DebateEnqueue) -> None:
    """Count the replies in progress up to their estimates: they end without a report."""
    tracker = ledger.add_abandoned(context, context["activeStreams"].values())
    enqueue.assign(DebateUpdate(costTracker=tracker))


def disarm_timeouts(context: DebateContext, event: AnyEvent, enqueue: DebateEnqueue) -> None:
    """Cancel the timers of the openings."""
    for participant in context["participants"]:
        enqueue.cancel(f"timeout-{participant['id']}")
