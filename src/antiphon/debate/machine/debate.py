"""The debate machine: several models, rounds, a judge and a budget, as the chart `debate.json` says.

1. Whoever is missing is asked, and nobody else: so going on after a pause, an error or a crash repeats nothing.
2. Every call is estimated before it is made and charged when it ends. No call is made that might break the limit.
3. Replies, the judge and the initialiser are actors that a composition provides. With the driver `events`
   none is started: everything they would say comes from outside.
4. Time comes with events: `at`, and the time of a reply's message.
"""

from collections.abc import Mapping
from typing import Any

from antiphon.chart.actions import Enqueue, assign, enqueue_actions, stop_child
from antiphon.chart.guards import and_
from antiphon.chart.machine import Machine, create_machine
from antiphon.chart.setup import setup
from antiphon.debate.machine import endings, ledger, replies, rounds
from antiphon.debate.machine.context import DebateContext, State, first_context
from antiphon.debate.machine.events import DebateEvent
from antiphon.debate.machine.transcript import judge_messages
from antiphon.threads.machine.charts import load_chart

Event = Mapping[str, Any]
Choice = Enqueue[DebateContext, Any]
JUDGE_TIMEOUT_MS = 180_000
MOST_RETRIES = 3
"""Number of times that a failed debate can be retried."""
# Stands where a composition puts an actor that does the work: it takes everything and does nothing.
inert: Machine[Any, Any] = create_machine({"id": "inert"})


def can_retry(context: DebateContext) -> bool:
    """Whether what went wrong is worth another try, and it was not tried too often."""
    error = context["lastError"]
    return error is not None and error["retryable"] and context["retryCount"] < MOST_RETRIES


def returns_to(target: str) -> Any:
    """Whether the debate was there before it was interrupted."""
    return lambda context, event: context["resumeTarget"] == target


def opens_debate(context: DebateContext, event: Event) -> bool:
    """Whether the debaters are ready, and nobody has spoken in rounds yet."""
    first = context["resumeTarget"] in (None, "awaitingArguments")
    return first and endings.all_participants_ready(context, event)


def is_out_of_money(context: DebateContext, event: Event) -> bool:
    """Whether the debate stands still because of its limit, and the event raises it."""
    error = context["lastError"]
    return error is not None and error["type"] == "cost_limit" and endings.raises_limit(context, event)


def is_new_warning(context: DebateContext, event: Event) -> bool:
    """Whether a warning is about a threshold of which nobody was told."""
    threshold = ledger.amount(event["warning"]["threshold"])
    known = [ledger.amount(one["threshold"]) for one in context["costTracker"]["warnings"]]
    return bool(context["config"]) and threshold not in known


def has_open_warning(context: DebateContext) -> bool:
    """Whether there is a warning to acknowledge."""
    return any(not one["acknowledged"] for one in context["costTracker"]["warnings"])


def acknowledge_warning(context: DebateContext) -> dict[str, Any]:
    """Mark the latest warning as seen."""
    tracker = context["costTracker"]
    seen = [*tracker["warnings"][:-1], {**tracker["warnings"][-1], "acknowledged": True}]
    return {"costTracker": {**tracker, "warnings": seen}}


def display_warning(context: DebateContext, warning: Event, enqueue: Choice) -> None:
    """Note a warning, and tell of it."""
    texts = {key: ledger.told(ledger.amount(warning[key])) for key in ("threshold", "currentCost")}
    noted = {"timestamp": context["lastAt"], **warning, **texts, "acknowledged": False}
    tracker = {**context["costTracker"], "warnings": [*context["costTracker"]["warnings"], noted]}
    enqueue.assign({"costTracker": tracker})
    enqueue.emit({"type": "cost_warning", "warning": noted})


def warn_of_cost(context: DebateContext, event: Event, enqueue: Choice) -> None:
    """Warn once when the threshold is crossed."""
    if ledger.crosses_warning(context):
        tracker = context["costTracker"]
        display_warning(
            context, {"threshold": tracker["warningThreshold"], "currentCost": tracker["totalCost"]}, enqueue
        )


def is_interjection(context: DebateContext, event: Event) -> bool:
    """Whether somebody says something to a debate under way."""
    return bool(context["config"]) and bool(endings.said_in(event).strip())


def interject(context: DebateContext, event: Event, enqueue: Choice) -> None:
    """Keep what a person threw in; debaters hear it from now on."""
    text = endings.said_in(event).strip()
    if text:
        where = {"phase": context["phase"], "roundNumber": context["currentRound"], "at": event.get("at")}
        enqueue.assign({"interjections": [*context["interjections"], {"text": text, **where}]})
        enqueue.emit({"type": "interjection", "text": text, **where})


def tell_state(context: DebateContext, event: Event, enqueue: Choice) -> None:
    """Tell where the debate is."""
    facts = {"phase": context["phase"], "roundNumber": context["currentRound"], "maxRounds": context["maxRounds"]}
    enqueue.emit({"type": "state", **enqueue.params, **facts})


def initialize_participants(context: DebateContext, event: Event, enqueue: Choice) -> None:
    """Have the models opened and their prices looked up."""
    if context["driver"] == "actors":
        known = {key: context["config"][key] for key in ("participants", "judge", "costLimit")}
        enqueue.spawn_child("initialiser", id="initialiser", input=known)


def complete_init(context: DebateContext, event: Event, enqueue: Choice) -> None:
    """Say that everyone is ready, or what is in the way."""
    output = event["output"] or {}
    if output.get("error"):
        enqueue.raise_({"type": "ERROR", "error": output["error"]})
        return
    known = {"participants": context["config"]["participants"], "judge": context["config"]["judge"]}
    enqueue.raise_({"type": "INIT_COMPLETE", **known, "prices": output.get("prices") or {}})


def compile_transcript(context: DebateContext, event: Event, enqueue: Choice) -> None:
    """Tell what the judge is given."""
    last = context["rounds"][-1] if context["rounds"] else None
    if last is not None:
        enqueue.emit({"type": "round_recorded", "round": last})
    enqueue.emit({"type": "judging", "rounds": len(context["rounds"])})


def note_in_flight(context: DebateContext, event: Event, enqueue: Choice) -> None:
    """What is cut off without a report may cost up to its estimate."""
    enqueue.assign({"costTracker": ledger.abandoned(context, context["activeStreams"].values())})


def log_error(context: DebateContext, event: Event, enqueue: Choice) -> None:
    """Tell what went wrong, and what was spent until then."""
    enqueue.emit({"type": "error", "error": context["lastError"], "costTracker": context["costTracker"]})


def tell_verdict(context: DebateContext, event: Event, enqueue: Choice) -> None:
    """Tell what everything cost, and the verdict if there is one."""
    enqueue.emit({"type": "cost", **context["costTracker"]})
    if context["verdict"] is not None:
        enqueue.emit({"type": "verdict", "verdict": context["verdict"]})


def restore_state(context: DebateContext, event: Event, enqueue: Choice) -> None:
    """Go on where it was, without what is left of earlier replies."""
    enqueue("forgetStreams")
    endings.restore(context, event, enqueue)


def set_abandoned(context: DebateContext) -> dict[str, Any]:
    """Given up after an error, or for want of money."""
    error = context["lastError"]
    return {"outcome": "cost_limit" if error is not None and error["type"] == "cost_limit" else "abandoned"}


_GUARDS: dict[str, Any] = {
    "isConfigValid": endings.is_config_valid,
    "allParticipantsReady": endings.all_participants_ready,
    "opensDebate": opens_debate,
    "returnsToOpenings": returns_to("awaitingArguments"),
    "returnsToRound": returns_to("debating"),
    "returnsToJudge": returns_to("judgeEvaluating"),
    "reopensRound": and_(["returnsToRound", "allParticipantsReady"]),
    "reopensJudge": and_(["returnsToJudge", "allParticipantsReady"]),
    "raisesToOpenings": and_(["returnsToOpenings", is_out_of_money]),
    "raisesToRound": and_(["returnsToRound", is_out_of_money]),
    "raisesToJudge": and_(["returnsToJudge", is_out_of_money]),
    "allArgumentsReceived": rounds.all_arguments_received,
    "maxRoundsReached": rounds.max_rounds_reached,
    "endsThisRound": rounds.ends_this_round,
    "endsLastRound": and_(["endsThisRound", "maxRoundsReached"]),
    "stopsEarly": and_(["endsThisRound", rounds.stops_early]),
    "isRoundWhole": rounds.is_round_whole,
    "hasRounds": lambda context: bool(context["rounds"] or context["responses"]),
    "costLimitExceeded": ledger.limit_reached,
    "shouldAutoStop": ledger.limit_reached,
    "prefersJudge": lambda context: context["config"]["onCostLimit"] == "judge",
    "judgesAtLimit": and_(["shouldAutoStop", "prefersJudge"]),
    "costWarningThreshold": ledger.crosses_warning,
    "isNewWarning": is_new_warning,
    "hasOpenWarning": has_open_warning,
    "raisesLimit": endings.raises_limit,
    "isInterjection": is_interjection,
    "canRetry": can_retry,
    "isMissing": replies.is_missing,
    "isActiveReply": replies.is_active_reply,
    "isLostReply": replies.is_lost_reply,
    "leavesTooFew": replies.leaves_too_few,
    "timesOutTooMany": replies.times_out_too_many,
    "canGoOnWithoutMissing": replies.can_go_on_without_missing,
    "isOfJudge": lambda context, event: bool(context["judge"]) and event.get("participantId") == context["judge"]["id"],
    "hasVerdict": endings.has_verdict,
    "isLoss": endings.is_loss,
}
_ACTIONS: dict[str, Any] = {
    "configure": assign(endings.configure),
    "setConfigError": assign(endings.set_config_error),
    "setupCostTracking": assign(
        {"costTracker": lambda context: ledger.tracked(context["config"], context["costTracker"])}
    ),
    "initializeParticipants": enqueue_actions(initialize_participants),
    "completeInit": enqueue_actions(complete_init),
    "stopInitialiser": stop_child("initialiser"),
    "setParticipants": assign(endings.set_participants),
    "setParticipantsError": assign(
        {"lastError": endings.failure("validation", "the participants are not ready", retryable=False)}
    ),
    "setError": assign(endings.set_error),
    "setServiceError": assign(endings.set_service_error),
    "noteLoss": assign(endings.note_loss),
    "rememberTarget": assign({"resumeTarget": lambda context, event, params: params["target"]}),
    "tellState": enqueue_actions(tell_state),
    # The openings are round 1 of their own phase, and the debate has not begun to count.
    "promptOpeningArguments": assign({"phase": "opening"}),
    "startParticipantStreams": enqueue_actions(replies.start_participant_streams),
    "finishOpenings": enqueue_actions(rounds.finish_openings),
    "updateStreamingContent": assign(replies.update_streaming_content),
    "recordCompletedStream": assign(replies.record_completed_stream),
    "recordReply": assign(replies.record_reply),
    "keepLateReply": assign(replies.keep_late_reply),
    "chargeReply": assign(replies.charge_reply),
    "noteUnseen": assign(replies.charge_reply),
    "noteFirstWord": assign(
        lambda context, event: {
            "activeStreams": {
                id: {**stream, "started": stream["started"] or stream["requestId"] == event["requestId"]}
                for id, stream in context["activeStreams"].items()
            }
        }
    ),
    "letReplyGo": enqueue_actions(replies.let_reply_go),
    "askAgainOrFail": assign(replies.ask_again_or_fail),
    "dropLateDebater": enqueue_actions(replies.drop_late_debater),
    "failMissing": enqueue_actions(replies.fail_missing),
    "setReplyError": assign(endings.set_reply_error),
    "setDebaterTimeout": assign(endings.set_debater_timeout),
    "setRoundTimeout": assign(endings.set_round_timeout),
    "setJudgeTimeout": assign(endings.set_judge_timeout),
    "setCostLimitError": assign(endings.set_cost_limit_error),
    "disarmTimeouts": enqueue_actions(replies.disarm_timeouts),
    "recordOpenings": assign(rounds.record_openings),
    "startDebateRound": enqueue_actions(rounds.tell_round),
    "trackRoundCosts": enqueue_actions(rounds.tell_costs),
    "completeRound": enqueue_actions(rounds.complete_round),
    "recordRound": assign(rounds.record_round),
    "incrementRound": assign(rounds.increment_round),
    "recordPartialRound": assign(rounds.record_partial_round),
    "noteEarlyStop": assign({"stoppedEarly": rounds.early_stop}),
    "warnOfCost": enqueue_actions(warn_of_cost),
    "displayCostWarning": enqueue_actions(
        lambda context, event, enqueue: display_warning(context, event["warning"], enqueue)
    ),
    "acknowledgeWarning": assign(acknowledge_warning),
    "raiseLimit": assign(endings.raise_limit),
    "interject": enqueue_actions(interject),
    "compileTranscript": enqueue_actions(compile_transcript),
    "invokeJudge": enqueue_actions(
        lambda context, event, enqueue: endings.invoke_judge(context, event, enqueue, judge_messages(context))
    ),
    "stopJudge": enqueue_actions(
        lambda context, event, enqueue: endings.stop_judge(context, event, enqueue, judge_messages)
    ),
    "trackJudgeCosts": assign(endings.track_judge_costs),
    "keepVerdict": assign(endings.keep_verdict),
    "setJudgeError": assign(endings.set_judge_error),
    "setOutcome": assign({"outcome": lambda context, event, params: params["outcome"]}),
    "setAbandoned": assign(set_abandoned),
    "noteInFlight": enqueue_actions(note_in_flight),
    "calculateFinalCosts": enqueue_actions(tell_verdict),
    "persistDebateResults": enqueue_actions(
        lambda context, event, enqueue: enqueue.emit({"type": "result", "result": endings.result(context)})
    ),
    "emitCompletion": enqueue_actions(endings.report_end),
    # What is saved is the context itself, by whoever hosts the machine; the place to return to is all it lacks.
    "saveStateSnapshot": assign({"resumeTarget": lambda context: context["resumeTarget"]}),
    "cancelActiveStreams": enqueue_actions(replies.cancel_active_streams),
    "cleanupConnections": enqueue_actions(replies.cancel_active_streams),
    "forgetStreams": enqueue_actions(replies.forget_streams),
    "restoreState": enqueue_actions(restore_state),
    "countRetry": assign({"retryCount": lambda context: context["retryCount"] + 1}),
    "reportPause": enqueue_actions(endings.report_pause),
    "reportFailure": enqueue_actions(endings.report_failure),
    "logError": enqueue_actions(log_error),
}

_debates = setup[DebateContext, DebateEvent, State](
    guards=_GUARDS,
    actions=_ACTIONS,
    delays={
        "roundTimeout": lambda context: context["config"]["timeoutPerRound"] * 1_000,
        "judgeTimeout": JUDGE_TIMEOUT_MS,
    },
    actors={"reply": inert, "judge": inert, "initialiser": inert},
)
debate_machine: Machine[DebateContext, DebateEvent, State] = _debates.create_machine(
    {**load_chart(__name__), "context": first_context, "output": endings.result}
)
"""Machine of a debate: openings, rounds, closings, verdict."""
