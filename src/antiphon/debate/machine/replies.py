"""Debaters who speak: asked, heard, failed, asked again; each reply is charged once."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from antiphon.chart.actions import Enqueue
from antiphon.chart.text import Text
from antiphon.debate.machine import ledger
from antiphon.debate.machine.config import reference
from antiphon.debate.machine.context import DebateContext, Response, Stream
from antiphon.debate.machine.formats import FEWEST
from antiphon.debate.machine.transcript import current_groups, judge_messages, messages_for
from antiphon.errors import Code

Event = Mapping[str, Any]
Choice = Enqueue[DebateContext, Any]
OPENING_TIMEOUT_MS = 120_000
MOST_ATTEMPTS = 2
UNSEEN = ("interrupted", "unknown")
UNREACHABLE = frozenset({Code.NETWORK, Code.OVERLOADED, Code.TRUNCATED})


def speaker_of(context: DebateContext, event: Event) -> str | None:
    """Who an event is about: named, or known by the request."""
    if event.get("participantId") is not None:
        return str(event["participantId"])
    request = event.get("requestId")
    found = (id for id, stream in context["activeStreams"].items() if stream["requestId"] == request)
    return next(found, None) if request is not None else None


def answered(context: DebateContext) -> set[str]:
    """Who has spoken in this round, or failed to."""
    return {one["participantId"] for one in context["responses"]}


def missing(context: DebateContext) -> list[str]:
    """Who has not spoken in this round yet."""
    return [one["id"] for one in context["participants"] if one["id"] not in answered(context)]


def is_missing(context: DebateContext, event: Event) -> bool:
    """Whether an event is about a debater who has not spoken in this round: nobody speaks twice."""
    return event.get("participantId") in missing(context)


def is_active_reply(context: DebateContext, event: Event) -> bool:
    """Whether an event is about a reply that is on its way, and not about one that is over."""
    return event.get("requestId") is not None and speaker_of(context, event) is not None


def is_lost_reply(context: DebateContext, event: Event) -> bool:
    """Whether a reply ended with its process, so that nobody saw its end."""
    return is_active_reply(context, event) and code_of(event.get("error")) in UNSEEN


def code_of(error: Any) -> str | None:
    """The code of an error, which may be JSON or an exception."""
    found = error.get("code") if isinstance(error, Mapping) else getattr(error, "code", None)
    return None if found is None else str(found)


def may_ask_again(context: DebateContext, event: Event) -> bool:
    """Whether a debater who failed is worth another try, alone."""
    speaker = speaker_of(context, event) or ""
    recoverable = event["type"] == "DEBATER_TIMEOUT" or bool((event.get("error") or {}).get("recoverable"))
    return recoverable and context["attempts"].get(speaker, 1) < MOST_ATTEMPTS


def would_leave_too_few(context: DebateContext) -> bool:
    """Whether without one more debater there is no debate."""
    failed = sum(bool(one.get("failed")) for one in context["responses"])
    return len(context["participants"]) - failed - 1 < FEWEST


def leaves_too_few(context: DebateContext, event: Event) -> bool:
    """Whether a reply has failed for good, and with it the round."""
    return is_active_reply(context, event) and not may_ask_again(context, event) and would_leave_too_few(context)


def times_out_too_many(context: DebateContext, event: Event) -> bool:
    """Whether a debater is late for good, and with it the round."""
    return is_missing(context, event) and not may_ask_again(context, event) and would_leave_too_few(context)


def can_go_on_without_missing(context: DebateContext) -> bool:
    """Whether enough have spoken when the time of a round is up."""
    return sum(not one.get("failed") for one in context["responses"]) >= FEWEST


def start_participant_streams(context: DebateContext, event: Event, enqueue: Choice) -> None:
    """Ask everyone whose turn it is, and who is missing, unless it might cost too much."""
    waiting = next((group for group in current_groups(context) if set(group) & set(missing(context))), [])
    asked = [id for id in waiting if id in missing(context) and id not in context["activeStreams"]]
    if context["phase"] == "opening":
        for id in asked:
            timeout = {"type": "DEBATER_TIMEOUT", "participantId": id}
            enqueue.cancel(f"timeout-{id}")
            enqueue.raise_(timeout, delay=OPENING_TIMEOUT_MS, id=f"timeout-{id}")
    if context["driver"] != "actors":
        return
    who, streams = {one["id"]: one for one in context["participants"]}, dict(context["activeStreams"])
    reserve: list[Decimal] = []
    for number, id in enumerate(asked, start=context["requests"] + 1):
        model, messages = who[id]["model"], messages_for(context, id)
        cost = ledger.estimate(context, model, messages)
        if ledger.limit_reached(context) or ledger.breaks_limit(context, *reserve, cost, _for_the_judge(context)):
            enqueue.raise_({"type": "COST_LIMIT", "participantId": id, "estimate": ledger.told(cost)})
            break
        reserve.append(cost)
        request = f"{context['phase']}-{round_number(context)}-{id}-{number}"
        streams[id] = _stream(request, reference(model), ledger.told(cost))
        enqueue.spawn_child("reply", id=f"reply-{id}", input=_reply_input(context, request, model, messages))
        told = {"participantId": id, "requestId": request, "phase": context["phase"]}
        enqueue.emit({"type": "turn_started", **told, "roundNumber": round_number(context)})
    enqueue.assign({"activeStreams": streams, "requests": context["requests"] + len(asked)})


def round_number(context: DebateContext) -> int:
    """The number of the round within its phase: there is one round of openings."""
    return max(1, context["currentRound"])


def _for_the_judge(context: DebateContext) -> Decimal:
    # When the limit leads to a verdict, the verdict must be paid for too.
    if context["config"]["onCostLimit"] != "judge" or context["judge"] is None:
        return ledger.amount(0)
    return ledger.estimate(context, context["judge"]["model"], judge_messages(context))


def _stream(request: str | None, model: str, estimate: str) -> Stream:
    return {"requestId": request, "model": model, "text": "", "estimate": estimate, "started": False}


def _reply_input(context: DebateContext, request: str, model: Any, messages: list[Any]) -> dict[str, Any]:
    options = {"maxTokens": model["maxTokens"]}
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


def update_streaming_content(context: DebateContext, event: Event) -> dict[str, Any]:
    """More words of a stream that is told from outside."""
    id = event["participantId"]
    known = context["activeStreams"].get(id) or _stream(None, model_of(context, id), "0")
    grown: Stream = {**known, "text": Text(known["text"]) + event["chunk"], "started": True}
    return {"activeStreams": {**context["activeStreams"], id: grown}}


def model_of(context: DebateContext, id: str) -> str:
    """The model of a debater, or of the judge."""
    everyone: list[Any] = [*context["participants"], *([context["judge"]] if context["judge"] else [])]
    return next((reference(one["model"]) for one in everyone if one["id"] == id), id)


def usage_of(event: Event) -> dict[str, Any]:
    """What an event says was used; a bare total is counted as output, and marked."""
    if event.get("usage") is not None:
        return dict(event["usage"])
    total = event.get("tokensUsed") or 0
    return {"input": 0, "output": total, "estimated": True} if total else {}


def responded(context: DebateContext, id: str, said: Event) -> dict[str, Any]:
    """The context with a response in it, and paid for."""
    model, usage = model_of(context, id), usage_of(said)
    cost = ledger.cost_of(context, model, usage, said.get("costUsd"))
    response: Response = {
        "participantId": id,
        "content": str(said.get("content") or ""),
        "tokensUsed": said.get("tokensUsed") or usage.get("input", 0) + usage.get("output", 0),
        "latencyMs": said.get("latencyMs") or 0,
        "timestamp": said.get("timestamp"),
        "usage": usage,
        "cost": ledger.told(cost or ledger.amount(0)),
    }
    streams = {key: stream for key, stream in context["activeStreams"].items() if key != id}
    paid = ledger.charged(context, model, usage, said.get("costUsd"))
    at = {"lastAt": said["timestamp"]} if said.get("timestamp") is not None else {}
    return {**paid, **at, "responses": [*context["responses"], response], "activeStreams": streams}


def record_completed_stream(context: DebateContext, event: Event) -> dict[str, Any]:
    """What a stream told from outside has said."""
    id = event["participantId"]
    stream = context["activeStreams"].get(id)
    content = event.get("content") or (str(stream["text"]) if stream else "")
    return responded(context, id, {**event, "content": content, "timestamp": event.get("at")})


def record_reply(context: DebateContext, event: Event) -> dict[str, Any]:
    """What a debater has said."""
    id = speaker_of(context, event)
    assert id is not None
    content = "".join(part.get("text", "") for part in event["message"]["parts"] if part["type"] == "text")
    facts = {"content": content, "timestamp": event["message"].get("at"), "latencyMs": event.get("durationMs")}
    known = {"usage": event.get("usage"), "costUsd": event.get("costUsd"), "tokensUsed": event.get("totalTokens")}
    return responded(context, id, {**known, **facts})


def keep_late_reply(context: DebateContext, event: Event) -> dict[str, Any]:
    """A reply that was whole before it could be cancelled: it counts if its round is still open."""
    id = speaker_of(context, event)
    open_round = id in missing(context) and context["resumeTarget"] != "judgeEvaluating"
    if open_round:
        return record_reply(context, event)
    return charge_reply(context, event)


def charge_reply(context: DebateContext, event: Event) -> dict[str, Any]:
    """What a reply cost that did not end well, as far as it is known."""
    id, usage = speaker_of(context, event) or "", event.get("usage") or {}
    streams = {key: stream for key, stream in context["activeStreams"].items() if key != id}
    # With a process all its calls are lost, also those that are cancelled before their loss is told.
    if context["lost"] or code_of(event.get("error")) in UNSEEN:
        most = max(ledger.amount(event.get("costUsd")), ledger.amount(context["activeStreams"][id]["estimate"]))
        return {"activeStreams": streams, "costTracker": ledger.unseen(context, most)}
    paid = ledger.charged(context, model_of(context, id), usage, event.get("costUsd")) if usage else {}
    return {**paid, "activeStreams": streams}


def let_reply_go(context: DebateContext, event: Event, enqueue: Choice) -> None:
    """Drop the actor behind a reply, and its timer; its name is free again."""
    # The request is the only place that still knows who it was.
    id = event["requestId"].split("-", 2)[2].rsplit("-", 1)[0]
    enqueue.cancel(f"timeout-{id}")
    enqueue.stop_child(f"reply-{id}")
    outcome = {"REPLY.COMPLETED": "whole", "REPLY.FAILED": "failed", "REPLY.CANCELLED": "cancelled"}[event["type"]]
    enqueue.emit({"type": "turn_ended", "participantId": id, "requestId": event["requestId"], "end": outcome})
    enqueue.emit({"type": "cost", **context["costTracker"]})


def ask_again_or_fail(context: DebateContext, event: Event) -> dict[str, Any]:
    """Another try for a debater who failed, or a response that says so."""
    id = event.get("participantId") or event["requestId"].split("-", 2)[2].rsplit("-", 1)[0]
    attempts = context["attempts"].get(id, 1)
    recoverable = event["type"] == "DEBATER_TIMEOUT" or bool((event.get("error") or {}).get("recoverable"))
    if recoverable and attempts < MOST_ATTEMPTS:
        return {"attempts": {**context["attempts"], id: attempts + 1}}
    return {"responses": [*context["responses"], failed_response(id, event.get("error"))]}


def failed_response(id: str, error: Any) -> Response:
    """The place of a response that never came."""
    return {
        "participantId": id,
        "content": "",
        "tokensUsed": 0,
        "latencyMs": 0,
        "timestamp": None,
        "usage": {},
        "cost": "0",
        "failed": True,
        "error": dict(error) if isinstance(error, Mapping) else {"message": "nothing came in time"},
    }


def drop_late_debater(context: DebateContext, event: Event, enqueue: Choice) -> None:
    """Give up a reply that takes too long, and try again or go on without."""
    id = event["participantId"]
    _give_up(context, [id], enqueue)
    enqueue.assign(ask_again_or_fail(context, event))


def fail_missing(context: DebateContext, event: Event, enqueue: Choice) -> None:
    """Go on without those who have not spoken in time."""
    _give_up(context, list(context["activeStreams"]), enqueue)
    late = [failed_response(id, None) for id in missing(context)]
    enqueue.assign({"responses": [*context["responses"], *late]})


def _give_up(context: DebateContext, ids: Sequence[str], enqueue: Choice) -> None:
    """Drop replies on their way; what they used nobody will tell."""
    streams = context["activeStreams"]
    asked = [id for id in ids if id in streams and streams[id]["requestId"] is not None]
    for id in asked:
        enqueue.stop_child(f"reply-{id}")
    tracker = ledger.abandoned(context, [streams[id] for id in asked])
    left = {id: stream for id, stream in streams.items() if id not in ids}
    enqueue.assign({"activeStreams": left, "costTracker": tracker})


def cancel_active_streams(context: DebateContext, event: Event, enqueue: Choice) -> None:
    """Ask the replies on their way to end; they tell what they used."""
    streams = {}
    for id, stream in context["activeStreams"].items():
        enqueue.cancel(f"timeout-{id}")
        if stream["requestId"] is not None:
            streams[id] = stream
            enqueue.send_to(f"reply-{id}", {"type": "CANCEL", "requestId": stream["requestId"]})
    enqueue.assign({"activeStreams": streams})


def forget_streams(context: DebateContext, event: Event, enqueue: Choice) -> None:
    """Drop whatever is left of earlier replies, before others are asked for."""
    _give_up(context, list(context["activeStreams"]), enqueue)
    kept = [one for one in context["responses"] if not one.get("failed")]
    enqueue.assign({"attempts": {}, "responses": kept})


def disarm_timeouts(context: DebateContext, event: Event, enqueue: Choice) -> None:
    """Forget the timers of the openings."""
    for one in context["participants"]:
        enqueue.cancel(f"timeout-{one['id']}")


def error_type(code: str | None) -> str:
    """The type of an error, from its code."""
    if code == Code.TIMEOUT:
        return "timeout"
    return "network" if code in UNREACHABLE or code in UNSEEN else "model_error"
