"""The guards of the debate machine, by the names in its chart."""

from collections.abc import Callable
from typing import Any

from antiphon.chart.guards import Guard, and_
from antiphon.debate.machine import budget, failures, judging, ledger, preparation, replies, rounds, speakers
from antiphon.debate.machine.context import DebateContext, Target
from antiphon.debate.machine.events import Said


def returns_to(target: Target) -> Callable[[DebateContext], bool]:
    """Return a guard: the debate was in this state before it was interrupted."""
    return lambda context: context["resumeTarget"] == target


def is_interjection(context: DebateContext, event: Said) -> bool:
    """Return whether a person says something to a debate in progress."""
    return bool(context["config"]) and bool(preparation.text_in(event).strip())


GUARDS: dict[str, Guard[DebateContext, Any]] = {
    "isConfigValid": preparation.is_config_valid,
    "allParticipantsReady": preparation.all_participants_ready,
    "bringsDebaters": preparation.brings_debaters,
    "opensDebate": preparation.opens_debate,
    "returnsToOpenings": returns_to("awaitingArguments"),
    "returnsToRound": returns_to("debating"),
    "returnsToJudge": returns_to("judgeEvaluating"),
    "reopensRound": and_(["returnsToRound", "allParticipantsReady"]),
    "reopensJudge": and_(["returnsToJudge", "allParticipantsReady"]),
    "raisesToOpenings": and_(["returnsToOpenings", budget.is_out_of_money]),
    "raisesToRound": and_(["returnsToRound", budget.is_out_of_money]),
    "raisesToJudge": and_(["returnsToJudge", budget.is_out_of_money]),
    "allArgumentsReceived": rounds.all_arguments_received,
    "maxRoundsReached": rounds.max_rounds_reached,
    "endsThisRound": rounds.ends_this_round,
    "endsLastRound": and_(["endsThisRound", "maxRoundsReached"]),
    "stopsEarly": and_(["endsThisRound", rounds.stops_early]),
    "isRoundWhole": rounds.is_round_whole,
    "hasArguments": rounds.has_arguments,
    "lacksArguments": rounds.lacks_arguments,
    "costLimitExceeded": ledger.limit_reached,
    "shouldAutoStop": ledger.limit_reached,
    "prefersJudge": and_([budget.prefers_judge, "hasArguments"]),
    "judgesAtLimit": and_(["shouldAutoStop", "prefersJudge"]),
    "costWarningThreshold": ledger.crosses_warning,
    "isNewWarning": budget.is_new_warning,
    "hasOpenWarning": budget.has_open_warning,
    "raisesLimit": budget.raises_limit,
    "isInterjection": is_interjection,
    "canRetry": failures.can_retry,
    "isMissing": speakers.is_missing,
    "isActiveReply": speakers.is_active_reply,
    "isLostReply": replies.is_lost_reply,
    "leavesTooFew": replies.leaves_too_few,
    "timesOutTooMany": replies.times_out_too_many,
    "canGoOnWithoutMissing": replies.can_go_on_without_missing,
    "isOfJudge": speakers.is_of_judge,
    "hasVerdict": judging.has_verdict,
    "isLoss": failures.is_loss,
}
