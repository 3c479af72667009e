"""The actions of the debate machine, by the names in its chart."""

from collections.abc import Mapping
from typing import Any

from antiphon.chart.actions import BoundAction, assign, enqueue_actions, stop_child
from antiphon.debate.machine import budget, failures, judging, preparation, replies, reports, rounds
from antiphon.debate.machine.context import DebateContext, DebateUpdate, Interjection, Outcome, Target
from antiphon.debate.machine.events import AnyEvent, InitialiserDone, Said
from antiphon.debate.machine.replies import DebateEnqueue


def remember_target(context: DebateContext, event: AnyEvent, params: Mapping[str, Target]) -> DebateUpdate:
    """Note the state to which an interrupted debate returns."""
    return {"resumeTarget": params["target"]}


def save_state_snapshot(context: DebateContext) -> DebateUpdate:
    """Keep the state to return to; the host stores the rest of the context."""
    return {"resumeTarget": context["resumeTarget"]}


def set_outcome(context: DebateContext, event: AnyEvent, params: Mapping[str, Outcome]) -> DebateUpdate:
    """Set the outcome that `params` has."""
    return {"outcome": params["outcome"]}


def set_abandoned(context: DebateContext) -> DebateUpdate:
    """Set the outcome of a debate that is given up after an error or at its limit."""
    error = context["lastError"]
    return {"outcome": "cost_limit" if error is not None and error["type"] == "cost_limit" else "abandoned"}


def interject(context: DebateContext, event: Said, enqueue: DebateEnqueue) -> None:
    """Keep a person's words; debaters hear them from now on."""
    text = preparation.text_in(event).strip()
    if text:
        interjection: Interjection = {
            "text": text,
            "phase": context["phase"],
            "roundNumber": context["currentRound"],
            "at": event.get("at"),
        }
        enqueue.assign(DebateUpdate(interjections=[*context["interjections"], interjection]))
        enqueue.emit({"type": "interjection", **interjection})


def tell_state(context: DebateContext, event: AnyEvent, enqueue: DebateEnqueue) -> None:
    """Report the state of the debate."""
    facts = {"phase": context["phase"], "roundNumber": context["currentRound"], "maxRounds": context["maxRounds"]}
    enqueue.emit({"type": "state", **enqueue.params, **facts})


def initialize_participants(context: DebateContext, event: AnyEvent, enqueue: DebateEnqueue) -> None:
    """Open the models and look their prices up, once the debaters are named."""
    config = context["config"]
    if context["driver"] == "actors" and config["participants"]:
        input = {"participants": config["participants"], "judge": config["judge"], "costLimit": config["costLimit"]}
        enqueue.spawn_child("initialiser", id="initialiser", input=input)


def complete_init(context: DebateContext, event: InitialiserDone, enqueue: DebateEnqueue) -> None:
    """Raise INIT_COMPLETE, or the error of the initialiser."""
    output = event["output"] or {}
    if output.get("error"):
        enqueue.raise_({"type": "ERROR", "error": output["error"]})
        return
    config = context["config"]
    facts = {"participants": config["participants"], "judge": config["judge"], "prices": output.get("prices") or {}}
    enqueue.raise_({"type": "INIT_COMPLETE", **facts})


ACTIONS: dict[str, BoundAction[DebateContext, Any]] = {
    "configure": assign(preparation.configure),
    "setConfigError": assign(preparation.set_config_error),
    "setupCostTracking": assign(budget.setup_cost_tracking),
    "initializeParticipants": enqueue_actions(initialize_participants),
    "completeInit": enqueue_actions(complete_init),
    "stopInitialiser": stop_child("initialiser"),
    "setParticipants": assign(preparation.set_participants),
    "setParticipantsError": assign(preparation.set_participants_error),
    "setError": assign(failures.set_error),
    "setNothingSaid": assign(failures.set_nothing_said),
    "setServiceError": assign(failures.set_service_error),
    "noteLoss": assign(failures.note_loss),
    "rememberTarget": assign(remember_target),
    "tellState": enqueue_actions(tell_state),
    "promptOpeningArguments": assign(rounds.prompt_opening_arguments),
    "startParticipantStreams": enqueue_actions(replies.start_participant_streams),
    "finishOpenings": enqueue_actions(rounds.finish_openings),
    "updateStreamingContent": assign(replies.update_streaming_content),
    "recordCompletedStream": assign(replies.record_completed_stream),
    "recordReply": assign(replies.record_reply),
    "keepLateReply": assign(replies.keep_late_reply),
    "chargeReply": assign(replies.charge_reply),
    "noteUnseen": assign(replies.charge_reply),
    "noteFirstWord": assign(replies.note_first_word),
    "letReplyGo": enqueue_actions(replies.let_reply_go),
    "askAgainOrFail": assign(replies.ask_again_or_fail),
    "dropLateDebater": enqueue_actions(replies.drop_late_debater),
    "failMissing": enqueue_actions(replies.fail_missing),
    "setReplyError": assign(failures.set_reply_error),
    "setDebaterTimeout": assign(failures.set_debater_timeout),
    "setRoundTimeout": assign(failures.set_round_timeout),
    "setJudgeTimeout": assign(failures.set_judge_timeout),
    "setCostLimitError": assign(failures.set_cost_limit_error),
    "disarmTimeouts": enqueue_actions(replies.disarm_timeouts),
    "recordOpenings": assign(rounds.record_openings),
    "startDebateRound": enqueue_actions(rounds.tell_round),
    "trackRoundCosts": enqueue_actions(rounds.tell_costs),
    "completeRound": enqueue_actions(rounds.complete_round),
    "recordRound": assign(rounds.record_round),
    "incrementRound": assign(rounds.increment_round),
    "recordPartialRound": assign(rounds.record_partial_round),
    "noteEarlyStop": assign(rounds.note_early_stop),
    "warnOfCost": enqueue_actions(budget.warn_of_cost),
    "displayCostWarning": enqueue_actions(budget.display_cost_warning),
    "acknowledgeWarning": assign(budget.acknowledge_warning),
    "raiseLimit": assign(budget.raise_limit),
    "interject": enqueue_actions(interject),
    "compileTranscript": enqueue_actions(judging.compile_transcript),
    "invokeJudge": enqueue_actions(judging.invoke_judge),
    "stopJudge": enqueue_actions(judging.stop_judge),
    "trackJudgeCosts": assign(judging.track_judge_costs),
    "keepVerdict": assign(judging.keep_verdict),
    "setJudgeError": assign(failures.set_judge_error),
    "setOutcome": assign(set_outcome),
    "setAbandoned": assign(set_abandoned),
    "noteInFlight": enqueue_actions(replies.note_in_flight),
    "calculateFinalCosts": enqueue_actions(reports.calculate_final_costs),
    "persistDebateResults": enqueue_actions(reports.persist_debate_results),
    "emitCompletion": enqueue_actions(reports.emit_completion),
    "saveStateSnapshot": assign(save_state_snapshot),
    "cancelActiveStreams": enqueue_actions(replies.cancel_active_streams),
    "cleanupConnections": enqueue_actions(replies.cancel_active_streams),
    "forgetStreams": enqueue_actions(replies.forget_streams),
    "restoreState": enqueue_actions(reports.restore_state),
    "countRetry": assign(failures.count_retry),
    "reportPause": enqueue_actions(reports.report_pause),
    "reportFailure": enqueue_actions(reports.report_failure),
    "logError": enqueue_actions(reports.log_error),
}
