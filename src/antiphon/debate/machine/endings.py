"""How a debate begins, breaks and ends: configuration, errors, the verdict, and what the parent is told."""

from collections.abc import Callable, Mapping
from typing import Any

from antiphon.chart.actions import Enqueue
from antiphon.debate.machine import ledger
from antiphon.debate.machine.config import complete, problems_with, reference
from antiphon.debate.machine.context import NO_COSTS, DebateContext
from antiphon.debate.machine.replies import code_of, error_type, missing, speaker_of, usage_of

Event = Mapping[str, Any]
Choice = Enqueue[DebateContext, Any]
# It has told what it used, or was never asked.
JUDGE_TOLD = ("xstate.done.actor.judge", "COST_LIMIT")
LOST = "the process that ran the debate was lost"


def merged_config(context: DebateContext, event: Event) -> dict[str, Any]:
    """The configuration as far as it is known: from the beginning, from the event, and the topic from a message."""
    given = {**context["given"], **(event.get("config") or {})}
    given |= {key: event[key] for key in ("participants", "judge") if event.get(key) is not None}
    text = said_in(event)
    return {**given, "topic": text} if event["type"] == "message" and text else given


def said_in(event: Event) -> str:
    """The words of a person."""
    if event.get("text"):
        return str(event["text"])
    return "".join(part.get("text", "") for part in event.get("parts") or [])


def is_config_valid(context: DebateContext, event: Event) -> bool:
    """Whether a debate can be held so."""
    return not problems_with(merged_config(context, event))


def configure(context: DebateContext, event: Event) -> dict[str, Any]:
    """Take the configuration over."""
    config = complete(merged_config(context, event))
    return {
        "config": config,
        "participants": config["participants"],
        "judge": config["judge"],
        "maxRounds": config["maxRounds"],
        "retryCount": 0,
        "startedAt": event.get("at"),
        "lastAt": event.get("at"),
        "runId": event.get("runId"),
        "costTracker": NO_COSTS,
    }


def failure(type: str, message: str, *, retryable: bool, at: Any = None, **more: Any) -> dict[str, Any]:
    """An error of a debate; what is not known is left out."""
    known = {key: value for key, value in more.items() if value is not None}
    return {"type": type, "message": message, "retryable": retryable, "timestamp": at, **known}


def set_config_error(context: DebateContext, event: Event) -> dict[str, Any]:
    """Say which field is wrong."""
    first = problems_with(merged_config(context, event))[0]
    message = f"{first.field}: {first.message}"
    error = failure("validation", message, retryable=False, at=event.get("at"), field=first.field)
    return {"lastError": error, "runId": event.get("runId")}


def all_participants_ready(context: DebateContext, event: Event) -> bool:
    """Whether there are two to four debaters with models, and no id twice."""
    given = event.get("participants") or []
    ids = [one.get("id") for one in given]
    return 2 <= len(given) <= 4 and len(set(ids)) == len(ids) and all(one.get("model") for one in given)


def set_participants(context: DebateContext, event: Event) -> dict[str, Any]:
    """Who takes part, and what their models cost."""
    prices = {**context["prices"], **(event.get("prices") or {})}
    ids = [one["id"] for one in event["participants"]]
    return {
        "participants": event["participants"],
        "judge": event.get("judge") or context["judge"],
        "prices": prices,
        # Who takes part no more has not spoken in the round that is still open.
        "responses": [one for one in context["responses"] if one["participantId"] in ids],
    }


def set_error(context: DebateContext, event: Event) -> dict[str, Any]:
    """The error that an event brings."""
    return {"lastError": {"timestamp": event.get("at", context["lastAt"]), **event["error"]}}


def set_service_error(context: DebateContext, event: Event) -> dict[str, Any]:
    """The error that a service ended with."""
    error, code = event["error"], code_of(event["error"])
    message = error.get("message") if isinstance(error, Mapping) else str(error)
    recoverable = error.get("recoverable", True) if isinstance(error, Mapping) else getattr(error, "recoverable", True)
    found = failure(error_type(code), str(message), retryable=bool(recoverable), at=context["lastAt"], code=code)
    return {"lastError": found}


def is_loss(context: DebateContext, event: Event) -> bool:
    """Whether a service ended with its process."""
    return code_of(event.get("error")) in ("interrupted", "unknown")


def note_loss(context: DebateContext, event: Event) -> dict[str, Any]:
    """The process is gone: somebody has to resume the debate."""
    return {"lost": True, "lastError": failure("network", LOST, retryable=True, code="interrupted")}


def set_reply_error(context: DebateContext, event: Event) -> dict[str, Any]:
    """The error of a debater without whom there is no debate."""
    id = event["requestId"].split("-", 2)[2].rsplit("-", 1)[0]
    error = event["error"]
    found = failure(
        error_type(error["code"]), error["message"], retryable=bool(error["recoverable"]), at=context["lastAt"],
        participantId=id, code=error["code"],
    )  # fmt: skip
    return {"lastError": found}


def set_debater_timeout(context: DebateContext, event: Event) -> dict[str, Any]:
    """A debater said nothing in time."""
    id = speaker_of(context, event)
    message = f"{id} did not answer in time"
    return {"lastError": failure("timeout", message, retryable=True, at=context["lastAt"], participantId=id)}


def set_round_timeout(context: DebateContext) -> dict[str, Any]:
    """A round was not over in time."""
    id = next(iter(missing(context)), None)
    message = f"round {context['currentRound']} was not over after {context['config']['timeoutPerRound']} s"
    return {"lastError": failure("timeout", message, retryable=True, at=context["lastAt"], participantId=id)}


def set_judge_timeout(context: DebateContext) -> dict[str, Any]:
    """The judge said nothing in time."""
    error = failure("timeout", "the judge did not answer in time", retryable=True, at=context["lastAt"])
    return {"lastError": {**error, "participantId": context["judge"]["id"] if context["judge"] else "judge"}}


def set_judge_error(context: DebateContext, event: Event) -> dict[str, Any]:
    """The judge gave no verdict that can be used; it may be asked again."""
    error = event["output"].get("error") or {}
    code = error.get("code")
    message = error.get("message") or "the judge gave no verdict"
    return {"lastError": failure(error_type(code), message, retryable=True, at=context["lastAt"], code=code)}


def set_cost_limit_error(context: DebateContext, event: Event) -> dict[str, Any]:
    """The money is spent, or would be by the next call."""
    error = failure("cost_limit", "Cost limit exceeded", retryable=False, at=context["lastAt"])
    estimate = event.get("estimate") if event["type"] == "COST_LIMIT" else None
    return {"lastError": {**error, **({"estimate": estimate} if estimate else {})}}


def raises_limit(context: DebateContext, event: Event) -> bool:
    """Whether a limit is above what was spent."""
    limit = event.get("costLimit")
    number = isinstance(limit, int | float) and not isinstance(limit, bool)
    return (
        number and bool(context["config"]) and ledger.amount(limit) > ledger.amount(context["costTracker"]["totalCost"])
    )


def raise_limit(context: DebateContext, event: Event) -> dict[str, Any]:
    """More may be spent."""
    config = {**context["config"], "costLimit": event["costLimit"]}
    tracker = {**ledger.tracked(config, context["costTracker"]), "overshoot": "0"}
    return {"config": config, "costTracker": tracker}


def invoke_judge(context: DebateContext, event: Event, enqueue: Choice, messages: list[Any]) -> None:
    """Ask the judge, unless it might cost too much and the limit is to stop the debate."""
    judge = context["judge"]
    if context["driver"] != "actors" or judge is None:
        return
    cost = ledger.estimate(context, judge["model"], messages)
    if context["config"]["onCostLimit"] == "error" and ledger.breaks_limit(context, cost):
        enqueue.raise_({"type": "COST_LIMIT", "participantId": judge["id"], "estimate": ledger.told(cost)})
        return
    ids = [one["id"] for one in context["participants"]]
    given = {"model": reference(judge["model"]), "messages": messages, "participants": ids}
    options = {"maxTokens": judge["model"]["maxTokens"], "temperature": judge["model"]["temperature"]}
    enqueue.spawn_child(
        "judge", id="judge", input={**given, "criteria": judge["evaluationCriteria"], "options": options}
    )


def stop_judge(
    context: DebateContext, event: Event, enqueue: Choice, ask: Callable[[DebateContext], list[Any]]
) -> None:
    """Let the judge go; what a call used that has not told so may be up to its estimate."""
    enqueue.stop_child("judge")
    judge = context["judge"]
    if context["driver"] == "actors" and judge is not None and event["type"] not in JUDGE_TOLD:
        cost = ledger.estimate(context, judge["model"], ask(context))
        enqueue.assign({"costTracker": ledger.unseen(context, cost)})


def has_verdict(context: DebateContext, event: Event) -> bool:
    """Whether the judge's answer is a verdict."""
    return (event.get("output") or {}).get("verdict") is not None


def track_judge_costs(context: DebateContext, event: Event) -> dict[str, Any]:
    """What the judge used."""
    said = event.get("output") or event.get("verdict") or event
    usage, judge = usage_of(said), context["judge"]
    own = judge["id"] if judge else None
    streams = {key: one for key, one in context["activeStreams"].items() if key != own}
    paid = ledger.charged(context, reference(judge["model"]), usage, said.get("costUsd")) if judge and usage else {}
    at = {"lastAt": said["at"]} if said.get("at") is not None else {}
    return {**paid, **at, "activeStreams": streams}


def keep_verdict(context: DebateContext, event: Event) -> dict[str, Any]:
    """The verdict: the highest score wins, and equal ones are a tie."""
    output = event.get("output") or {}
    given = output.get("verdict") or event["verdict"]
    best = max(given["scores"].values(), default=0)
    first = [id for id, score in given["scores"].items() if score == best]
    used = output.get("usage") or {}
    facts = {
        "winner": first[0] if len(first) == 1 else None,
        "tie": len(first) > 1,
        "criteria": given.get("criteria") or {},
        "references": given.get("references") or [],
        "tokensUsed": given.get("tokensUsed") or used.get("input", 0) + used.get("output", 0),
        "timestamp": given.get("timestamp") or output.get("at") or event.get("at"),
    }
    return {"verdict": {**given, **facts}, "lastError": None, "retryCount": 0}


def result(context: DebateContext) -> dict[str, Any]:
    """Everything that remains of a debate."""
    config, kept = context["config"], ("participants", "judge", "rounds", "interjections", "verdict", "outcome")
    facts = {key: value for key, value in context.items() if key in kept}
    known = {key: config.get(key) for key in ("id", "topic", "format", "maxRounds")}
    more = ("costTracker", "tokenUsage", "lastError", "startedAt", "stoppedEarly")
    costs = {key: value for key, value in context.items() if key in more}
    return {**known, **facts, **costs, "endedAt": context["lastAt"], "statistics": statistics(context)}


def statistics(context: DebateContext) -> dict[str, Any]:
    """What each debater said, and what it took."""
    found: dict[str, Any] = {}
    for one in context["participants"]:
        said = [
            said
            for each in context["rounds"]
            for said in each["responses"]
            if said["participantId"] == one["id"] and not said.get("failed")
        ]
        found[one["id"]] = {
            "turns": len(said),
            "words": sum(len(each["content"].split()) for each in said),
            "tokens": sum(each["tokensUsed"] for each in said),
            "cost": ledger.told(ledger.round_cost(context, said)),
            "averageLatencyMs": round(sum(each["latencyMs"] for each in said) / len(said)) if said else 0,
        }
    return found


def spent(context: DebateContext) -> dict[str, Any]:
    """What the parent is told with every end."""
    start, end = context["startedAt"], context["lastAt"]
    duration = 0 if start is None or end is None else max(0, end - start)
    cost = float(ledger.amount(context["costTracker"]["totalCost"]))
    return {"runId": context["runId"], "cost": cost, "duration": duration}


def report_pause(context: DebateContext, event: Event, enqueue: Choice) -> None:
    """Tell the parent that nobody speaks: stopped by a person, or lost with its process."""
    if not context["reportsToParent"] or event["type"] == "cancel":
        return
    if context["lost"]:
        error = {"code": "interrupted", "message": LOST, "recoverable": True}
        enqueue.send_parent({"type": "FAIL", "error": error, **spent(context)})
    else:
        enqueue.send_parent({"type": "STOP", **spent(context)})


def report_failure(context: DebateContext, event: Event, enqueue: Choice) -> None:
    """Tell the parent what went wrong."""
    error = context["lastError"]
    if context["reportsToParent"] and error is not None:
        told = {"code": error.get("code") or error["type"], "message": error["message"]}
        about = {**spent(context), "runId": event.get("runId") or context["runId"]}
        enqueue.send_parent({"type": "FAIL", "error": {**told, "recoverable": error["retryable"]}, **about})


def report_end(context: DebateContext, event: Event, enqueue: Choice) -> None:
    """Tell who listens, and the parent, that the debate is over."""
    enqueue.emit({"type": "completed", "outcome": context["outcome"], "costTracker": context["costTracker"]})
    if context["reportsToParent"]:
        ending = "COMPLETE" if context["outcome"] == "verdict" else "STOP"
        enqueue.send_parent({"type": ending, **spent(context)})


def restore(context: DebateContext, event: Event, enqueue: Choice) -> None:
    """Go on where it was; the parent is told unless it said so itself."""
    run = event.get("runId") or context["runId"]
    enqueue.assign({"lost": False, "lastError": None, "runId": run})
    if context["reportsToParent"] and event["type"].isupper():
        enqueue.send_parent({"type": "RESTART", "runId": run})
