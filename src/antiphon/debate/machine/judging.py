"""The judge: asked, stopped, charged, and its verdict."""

from typing import cast

from antiphon.debate.machine import ledger
from antiphon.debate.machine.config import reference
from antiphon.debate.machine.context import DebateContext, DebateUpdate, JudgeVerdict
from antiphon.debate.machine.events import AnyEvent, GivenVerdict, JudgeEvent, JudgeOutput
from antiphon.debate.machine.replies import DebateEnqueue, usage_of
from antiphon.debate.machine.rounds import has_arguments
from antiphon.debate.machine.transcript import judge_messages

# Events after which the judge's usage is already counted, or with which it was never asked.
COUNTED = ("xstate.done.actor.judge", "COST_LIMIT")


def compile_transcript(context: DebateContext, event: AnyEvent, enqueue: DebateEnqueue) -> None:
    """Report the last round, and that the judge decides if there is anything to judge."""
    report_last_round(context, enqueue)
    if has_arguments(context):
        report_judging(context, enqueue)


def report_last_round(context: DebateContext, enqueue: DebateEnqueue) -> None:
    """Report the last round, if there is one."""
    last = context["rounds"][-1] if context["rounds"] else None
    if last is not None:
        enqueue.emit({"type": "round_recorded", "round": last})


def report_judging(context: DebateContext, enqueue: DebateEnqueue) -> None:
    """Report that the judge decides."""
    enqueue.emit({"type": "judging", "rounds": len(context["rounds"])})


def invoke_judge(context: DebateContext, event: AnyEvent, enqueue: DebateEnqueue) -> None:
    """Ask the judge if there is anything to judge."""
    if has_arguments(context):
        ask_judge(context, event, enqueue)


def ask_judge(context: DebateContext, event: AnyEvent, enqueue: DebateEnqueue) -> None:
    """Ask the judge, unless it might exceed the limit and the limit ends the debate."""
    judge = context["judge"]
    if context["driver"] != "actors" or judge is None:
        return
    messages = judge_messages(context)
    model = judge["model"]
    cost = ledger.estimate(context, model, messages)
    if context["config"]["onCostLimit"] == "error" and ledger.breaks_limit(context, cost):
        estimate = ledger.format_amount(cost)
        enqueue.raise_({"type": "COST_LIMIT", "participantId": judge["id"], "estimate": estimate})
        return
    input = {
        "model": reference(model),
        "messages": messages,
        "participants": [participant["id"] for participant in context["participants"]],
        "criteria": judge["evaluationCriteria"],
        "options": {"maxTokens": model["maxTokens"], "temperature": model["temperature"]},
    }
    enqueue.spawn_child("judge", id="judge", input=input)


def stop_judge(context: DebateContext, event: AnyEvent, enqueue: DebateEnqueue) -> None:
    """Stop the judge, if it was asked."""
    enqueue.stop_child("judge")
    if has_arguments(context):
        charge_unreported(context, event, enqueue)


def charge_unreported(context: DebateContext, event: AnyEvent, enqueue: DebateEnqueue) -> None:
    """Charge a call of the judge that has no report: it may have cost up to its estimate."""
    judge = context["judge"]
    if context["driver"] == "actors" and judge is not None and event["type"] not in COUNTED:
        cost = ledger.estimate(context, judge["model"], judge_messages(context))
        enqueue.assign(DebateUpdate(costTracker=ledger.add_unseen(context, cost)))


def has_verdict(context: DebateContext, event: JudgeEvent) -> bool:
    """Return whether the judge gave a verdict."""
    return (event.get("output") or {}).get("verdict") is not None


def track_judge_costs(context: DebateContext, event: JudgeEvent) -> DebateUpdate:
    """Charge the call of the judge."""
    report: JudgeOutput | GivenVerdict | JudgeEvent = event.get("output") or event.get("verdict") or event
    usage = usage_of(report.get("usage"), report.get("tokensUsed"))
    judge = context["judge"]
    update: DebateUpdate = {}
    if judge and usage:
        update = ledger.charge(context, reference(judge["model"]), usage, report.get("costUsd"))
    at = report.get("at")
    if at is not None:
        update["lastAt"] = at
    own = judge["id"] if judge else None
    update["activeStreams"] = {id: stream for id, stream in context["activeStreams"].items() if id != own}
    return update


def keep_verdict(context: DebateContext, event: JudgeEvent) -> DebateUpdate:
    """Set the verdict: the highest score wins, and equal ones are a tie."""
    output = event.get("output") or {}
    verdict = output.get("verdict") or event["verdict"]
    assert verdict is not None
    best = max(verdict["scores"].values(), default=0)
    winners = [id for id, score in verdict["scores"].items() if score == best]
    usage = output.get("usage") or {}
    facts = {
        "winner": winners[0] if len(winners) == 1 else None,
        "tie": len(winners) > 1,
        "criteria": verdict.get("criteria") or {},
        "references": verdict.get("references") or [],
        "tokensUsed": verdict.get("tokensUsed") or usage.get("input", 0) + usage.get("output", 0),
        "timestamp": verdict.get("timestamp") or output.get("at") or event.get("at"),
    }
    return {"verdict": cast(JudgeVerdict, {**verdict, **facts}), "lastError": None, "retryCount": 0}
