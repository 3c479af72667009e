"""The children of a chat under the names of the chart: replies, tools, summaries, proposals and crystals."""

from collections.abc import Callable
from typing import Any, cast

from antiphon.chart.actions import Action, Enqueue, assign, cancel, enqueue_actions, spawn_child, stop_child
from antiphon.chart.machine import Machine, create_machine
from antiphon.chat.machine import pauses, permissions, proposals, replies
from antiphon.chat.machine.context import FlowChanges, FlowContext, Phase
from antiphon.chat.machine.events import FailureEvent, FlowFields
from antiphon.threads.machine.times import with_time

REPLY = "reply"
TOOLS = permissions.TOOLS
SUMMARISER = "summariser"
CRYSTALLIZER = "crystallizer"
TIMEOUT = "turnTimeout"
# Takes the place of the actors that a composition provides, and ignores every event.
inert: Machine[Any, Any] = create_machine({"id": "inert"})
ACTORS = dict.fromkeys((REPLY, TOOLS, SUMMARISER, CRYSTALLIZER, proposals.RECONCILER), inert)
_Enqueue = Enqueue[FlowContext, Any]


def is_in_phase(phase: Phase) -> Callable[[FlowContext], bool]:
    """Return a guard for a phase of the reply in flight."""

    def guard(context: FlowContext) -> bool:
        return context["reply"] is not None and context["reply"]["phase"] == phase

    return guard


def is_current_reply(context: FlowContext, event: FlowFields) -> bool:
    """Return whether an event is about the reply in flight, and not about an earlier one."""
    reply = context["reply"]
    return reply is not None and reply["phase"] == "replying" and reply["requestId"] == event.get("requestId")


def costs_too_much(context: FlowContext, event: FailureEvent) -> bool:
    """Return whether the reply in flight failed because it reached the limit of cost."""
    return is_current_reply(context, cast(FlowFields, event)) and replies.costs_too_much(context, event)


def is_reply_in_flight(context: FlowContext) -> bool:
    """Return whether a reply is in flight."""
    return context["reply"] is not None


def cuts_on_stop(context: FlowContext) -> bool:
    """Return whether stopping the conversation cuts the reply in flight."""
    return context["reply"] is not None and context["config"]["onStop"] == "cut"


def must_summarise(context: FlowContext) -> bool:
    """Return whether a model has to summarise the window before the reply."""
    return replies.summary_shift(context) is not None


def must_reply(context: FlowContext) -> bool:
    """Return whether a reply can be requested now."""
    reply = context["reply"]
    return reply is not None and reply["phase"] == "wanted" and not reply["waiting"]


def is_crystallizing(context: FlowContext) -> bool:
    """Return whether a model builds the crystal."""
    return context["crystallizing"] is not None


def cut_reply(context: FlowContext, event: FlowFields, enqueue: _Enqueue) -> None:
    """Ask the child to end, so that its text is kept; drop a reply that has no text or was cut before."""
    reply = replies.current_reply(context)
    if reply["phase"] == "replying" and reply["cut"] is None:
        joins = event["type"] == "message" and context["config"]["onBusy"] == "merge"
        changes: FlowChanges = {"reply": {**reply, "cut": "discard" if joins else "keep"}}
        enqueue.assign(lambda: changes)
        enqueue.send_to(REPLY, {"type": "CANCEL", "requestId": reply["requestId"]})
        return
    enqueue("disarmTimeout")
    children = {"replying": REPLY, "compressing": SUMMARISER, "tools": TOOLS}
    if reply["phase"] in children:
        enqueue.stop_child(children[reply["phase"]])
    enqueue.assign(replies.drop_reply)


def arm_timeout(context: FlowContext, event: FlowFields, enqueue: _Enqueue) -> None:
    """Set the timer of a turn, if turns have a time limit."""
    limit_ms = context["config"]["turnTimeoutMs"]
    reply = context["reply"]
    if limit_ms is not None and reply is not None:
        enqueue.raise_({"type": "turn_timeout", "requestId": reply["requestId"]}, delay=limit_ms, id=TIMEOUT)


# Each function takes the events that the chart gives it.
ACTIONS: dict[str, Action[FlowContext, Any]] = {
    **pauses.ACTIONS,
    **proposals.ACTIONS,
    "beginSummary": assign(replies.begin_summary),
    "spawnSummariser": spawn_child(SUMMARISER, id=SUMMARISER, input=replies.summary_input),
    "applySummary": assign(replies.apply_summary),
    "beginReply": assign(replies.begin_reply),
    "spawnReply": spawn_child(REPLY, id=REPLY, input=replies.reply_input),
    "stopReply": stop_child(REPLY),
    "armTimeout": enqueue_actions(arm_timeout),
    "disarmTimeout": cancel(TIMEOUT),
    "noteTimeout": assign(replies.note_timeout),
    "cutReply": enqueue_actions(cut_reply),
    "keepReply": assign(with_time(replies.keep_reply)),
    "keepFailure": assign(with_time(replies.keep_failure)),
    "keepCut": assign(with_time(replies.keep_cut)),
    "keepRest": assign(with_time(replies.keep_rest)),
    "spawnCrystallizer": spawn_child(CRYSTALLIZER, id=CRYSTALLIZER, input=replies.crystal_input),
    "stopCrystallizer": stop_child(CRYSTALLIZER),
    "keepCrystal": assign(replies.keep_crystal),
    "failCrystal": assign(replies.fail_crystal),
}
GUARDS: dict[str, Callable[..., bool]] = {
    **pauses.GUARDS,
    **proposals.GUARDS,
    "mustSummarise": must_summarise,
    "mustReply": must_reply,
    "isReplyInFlight": is_reply_in_flight,
    "isReplying": is_in_phase("replying"),
    "isCompressing": is_in_phase("compressing"),
    "isAwaitingTool": is_in_phase("tools"),
    "costsTooMuch": costs_too_much,
    "isCurrentReply": is_current_reply,
    "cutsOnStop": cuts_on_stop,
    "isCrystallizing": is_crystallizing,
}
