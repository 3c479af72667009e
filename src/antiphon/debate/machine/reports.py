"""The result of a debate, and reports to listeners and to the parent."""

from typing import TypedDict

from antiphon.debate.machine import ledger
from antiphon.debate.machine.context import DebateContext, DebateUpdate, Json
from antiphon.debate.machine.events import AnyEvent
from antiphon.debate.machine.failures import LOST
from antiphon.debate.machine.replies import DebateEnqueue


class SpeakerStatistics(TypedDict):
    """The responses of one debater in numbers."""

    turns: int
    words: int
    tokens: int
    cost: str
    averageLatencyMs: int


def result(context: DebateContext) -> Json:
    """Return the result of a debate, as far as it has come."""
    config = context["config"]
    return {
        "id": config.get("id"),
        "topic": config.get("topic"),
        "format": config.get("format"),
        "maxRounds": config.get("maxRounds"),
        "participants": context["participants"],
        "judge": context["judge"],
        "rounds": context["rounds"],
        "interjections": context["interjections"],
        "verdict": context["verdict"],
        "outcome": context["outcome"],
        "costTracker": context["costTracker"],
        "tokenUsage": context["tokenUsage"],
        "lastError": context["lastError"],
        "startedAt": context["startedAt"],
        "stoppedEarly": context["stoppedEarly"],
        "endedAt": context["lastAt"],
        "statistics": statistics(context),
    }


def statistics(context: DebateContext) -> dict[str, SpeakerStatistics]:
    """Return turns, words, tokens, cost and latency of each debater."""
    by_speaker: dict[str, SpeakerStatistics] = {}
    for participant in context["participants"]:
        responses = [
            response
            for past in context["rounds"]
            for response in past["responses"]
            if response["participantId"] == participant["id"] and not response.get("failed")
        ]
        latency = sum(response["latencyMs"] for response in responses)
        by_speaker[participant["id"]] = {
            "turns": len(responses),
            "words": sum(len(response["content"].split()) for response in responses),
            "tokens": sum(response["tokensUsed"] for response in responses),
            "cost": ledger.format_amount(ledger.total_cost(responses)),
            "averageLatencyMs": round(latency / len(responses)) if responses else 0,
        }
    return by_speaker


def spending(context: DebateContext) -> Json:
    """Return the run, cost and duration for the parent."""
    start = context["startedAt"]
    end = context["lastAt"]
    duration = 0 if start is None or end is None else max(0, end - start)
    cost = float(ledger.amount(context["costTracker"]["totalCost"]))
    return {"runId": context["runId"], "cost": cost, "duration": duration}


def log_error(context: DebateContext, event: AnyEvent, enqueue: DebateEnqueue) -> None:
    """Report the last error and the costs."""
    enqueue.emit({"type": "error", "error": context["lastError"], "costTracker": context["costTracker"]})


def calculate_final_costs(context: DebateContext, event: AnyEvent, enqueue: DebateEnqueue) -> None:
    """Report the costs, and the verdict if there is one."""
    enqueue.emit({"type": "cost", **context["costTracker"]})
    if context["verdict"] is not None:
        enqueue.emit({"type": "verdict", "verdict": context["verdict"]})


def persist_debate_results(context: DebateContext, event: AnyEvent, enqueue: DebateEnqueue) -> None:
    """Report the result, so that it is in the journal."""
    enqueue.emit({"type": "result", "result": result(context)})


def report_pause(context: DebateContext, event: AnyEvent, enqueue: DebateEnqueue) -> None:
    """Tell the parent that the debate is paused: by a person, or by the loss of the process."""
    if not context["reportsToParent"] or event["type"] == "cancel":
        return
    if context["lost"]:
        error = {"code": "interrupted", "message": LOST, "recoverable": True}
        enqueue.send_parent({"type": "FAIL", "error": error, **spending(context)})
    else:
        enqueue.send_parent({"type": "STOP", **spending(context)})


def report_failure(context: DebateContext, event: AnyEvent, enqueue: DebateEnqueue) -> None:
    """Tell the parent the last error."""
    error = context["lastError"]
    if context["reportsToParent"] and error is not None:
        report: Json = {
            "code": error.get("code") or error["type"],
            "message": error["message"],
            "recoverable": error["retryable"],
        }
        facts: Json = {**spending(context), "runId": event.get("runId") or context["runId"]}
        enqueue.send_parent({"type": "FAIL", "error": report, **facts})


def emit_completion(context: DebateContext, event: AnyEvent, enqueue: DebateEnqueue) -> None:
    """Report to listeners and to the parent that the debate is over."""
    enqueue.emit({"type": "completed", "outcome": context["outcome"], "costTracker": context["costTracker"]})
    if context["reportsToParent"]:
        ending = "COMPLETE" if context["outcome"] == "verdict" else "STOP"
        enqueue.send_parent({"type": ending, **spending(context)})


def restore_state(context: DebateContext, event: AnyEvent, enqueue: DebateEnqueue) -> None:
    """Continue without the remains of earlier replies; a parent that did not ask for it is told."""
    enqueue("forgetStreams")
    run = event.get("runId") or context["runId"]
    enqueue.assign(DebateUpdate(lost=False, lastError=None, runId=run))
    if context["reportsToParent"] and event["type"].isupper():
        enqueue.send_parent({"type": "RESTART", "runId": run})
