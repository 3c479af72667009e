"""The machine of a chat: the chart `flow.json` bound to what can be done with a conversation."""

from collections.abc import Callable, Mapping
from typing import Any

from antiphon.chart.actions import (
    Action,
    Enqueue,
    assign,
    cancel,
    emit,
    enqueue_actions,
    send_parent,
    spawn_child,
    stop_child,
)
from antiphon.chart.machine import Machine, create_machine
from antiphon.chart.setup import setup
from antiphon.chat.machine import operations, replies
from antiphon.chat.machine.context import FlowContext
from antiphon.chat.machine.emitted import output
from antiphon.chat.machine.events import FlowEvent
from antiphon.chat.machine.settings import initial_context
from antiphon.chat.machine.validation import is_busy, refusal
from antiphon.threads.machine.charts import load_chart

Event = Mapping[str, Any]
REPLY, TOOLS, SUMMARISER, CRYSTALLIZER = "reply", "tools", "summariser", "crystallizer"
TIMEOUT = "turnTimeout"
# Stands where a composition puts an actor that does the work: it takes everything and does nothing.
inert: Machine[Any, Any] = create_machine({"id": "inert"})


def is_accepted(context: FlowContext, event: Event) -> bool:
    """Whether nothing speaks against an event."""
    return refusal(context, event) is None


def accepts_message(context: FlowContext, event: Event) -> bool:
    """Whether a message can be said now."""
    return not is_busy(context) and is_accepted(context, event)


def queues_message(context: FlowContext, event: Event) -> bool:
    """Whether a message waits for the reply in flight."""
    return context["config"]["onBusy"] == "queue" and is_accepted(context, event)


def starts_by_itself(context: FlowContext, event: Event) -> bool:
    """Whether the first message starts the conversation."""
    return context["config"]["autoStart"] and is_accepted(context, event)


def in_phase(phase: str) -> Callable[[FlowContext], bool]:
    """Whether the reply in flight is in a phase."""
    return lambda context: context["reply"] is not None and context["reply"]["phase"] == phase


def is_current_reply(context: FlowContext, event: Event) -> bool:
    """Whether an event is about the reply in flight, and not about one that is over."""
    reply = context["reply"]
    return reply is not None and reply["phase"] == "replying" and reply["requestId"] == event.get("requestId")


def must_report_end(context: FlowContext) -> bool:
    """Whether the parent waits to hear how its run ended."""
    return context["run"] is not None and context["reply"] is None


def crystallizes_plainly(context: FlowContext, event: Event) -> bool:
    """Whether the crystal is made by rules."""
    return (context["config"]["model"] is None or bool(event.get("plain"))) and is_accepted(context, event)


def is_waiting(context: FlowContext) -> bool:
    """Whether a person is asked."""
    return context["reply"] is not None and context["reply"]["waiting"]


def must_refuse_aloud(context: FlowContext, event: Event) -> bool:
    """Whether a parent waits for a message that this chat does not take."""
    return context["reportsToParent"] and event.get("runId") is not None


def cut_reply(context: FlowContext, event: Event, enqueue: Enqueue[FlowContext, Any]) -> None:
    """Ask the child to end, so that its words are kept; drop what has no words, or was asked before."""
    reply = replies.current(context)
    if reply["phase"] == "replying" and reply["cut"] is None:
        joins = event["type"] == "message" and context["config"]["onBusy"] == "merge"
        enqueue.assign({"reply": {**reply, "cut": "discard" if joins else "keep"}})
        enqueue.send_to(REPLY, {"type": "CANCEL", "requestId": reply["requestId"]})
        return
    enqueue("disarmTimeout")
    children = {"replying": REPLY, "compressing": SUMMARISER, "tools": TOOLS}
    if reply["phase"] in children:
        enqueue.stop_child(children[reply["phase"]])
    enqueue.assign(lambda context: replies.cut(context, {}))


def arm_timeout(context: FlowContext, event: Event, enqueue: Enqueue[FlowContext, Any]) -> None:
    """Set the timer of a turn, if turns have one."""
    limit, reply = context["config"]["turnTimeoutMs"], context["reply"]
    if limit is not None and reply is not None:
        enqueue.raise_({"type": "turn_timeout", "requestId": reply["requestId"]}, delay=limit, id=TIMEOUT)


def report(context: FlowContext) -> dict[str, Any]:
    """What the parent is told about its run."""
    run = context["run"]
    assert run is not None
    spent = {"runId": run["runId"], "cost": run["cost"], "duration": run["duration"]}
    match run["outcome"]:
        case "completed":
            return {"type": "COMPLETE", **spent}
        case "failed":
            return {"type": "FAIL", "error": run["error"], **spent}
        case "cancelled":
            return {"type": "STOP", **spent}


def refused_aloud(context: FlowContext, event: Event) -> dict[str, Any]:
    """What the parent is told about a message that was not taken."""
    reason = refusal(context, event) or "the conversation is not open for messages"
    error = {"code": "message_refused", "message": reason, "recoverable": True}
    cost = context["metrics"]["costUsd"]
    return {"type": "FAIL", "runId": event["runId"], "error": error, "cost": cost, "duration": 0.0}


def waiting(context: FlowContext, reason: str | None, run_id: str | None) -> dict[str, Any]:
    """What the parent is told when a person is asked."""
    return {"type": "WAIT", "reason": reason, "runId": run_id, "cost": context["metrics"]["costUsd"]}


def run_of(context: FlowContext) -> str | None:
    """The run that the parent waits for."""
    return context["run"]["runId"] if context["run"] else None


def answer_permission(context: FlowContext, event: Event, enqueue: Enqueue[FlowContext, Any]) -> None:
    """Give a person's answer to the tools that wait for it."""
    answer: dict[str, Any] = {"type": "ALLOW" if event["decision"] == "allow" else "DENY"}
    answer |= {key: event[key] for key in ("id", "scope", "reason") if event.get(key) is not None}
    enqueue.assign(lambda context: replies.with_phase(operations.run_begun(context, event), "tools", waiting=False))
    enqueue.send_to(TOOLS, answer)


def go_on_if_waited(context: FlowContext, event: Event, enqueue: Enqueue[FlowContext, Any]) -> None:
    """Tell the parent that nobody is asked any more, if it does not know: what comes from it names a run."""
    # Of tools that were lost it hears when the run ends; until then the question is open.
    lost = event["type"] == "xstate.done.actor.tools" and event["output"]["lost"]
    if context["reportsToParent"] and is_waiting(context) and event.get("runId") is None and not lost:
        enqueue.send_parent({"type": "RESPOND", "runId": run_of(context)})


def told_to_wait(context: FlowContext, event: Event, enqueue: Enqueue[FlowContext, Any]) -> None:
    """Tell the parent, if there is one that listens."""
    if context["reportsToParent"]:
        enqueue.send_parent(waiting(context, event.get("reason"), run_of(context)))


ACTIONS: dict[str, Action[FlowContext, Any]] = {
    "emitOutput": emit(output),
    "configure": assign(operations.configured),
    "appendMessage": assign(operations.say),
    "queueMessage": assign(operations.queued),
    "sendNext": assign(operations.next_said),
    "injectContext": assign(operations.injected),
    "markCheckpoint": assign(operations.marked),
    "rewind": assign(operations.rewound),
    "planFork": assign(operations.fork_planned),
    "confirmFork": assign(operations.forked),
    "cancelFork": assign({"fork": None}),
    "planMerge": assign(operations.merge_planned),
    "resolveConflict": assign(operations.conflict_resolved),
    "confirmMerge": assign(operations.merge_done),
    "cancelMerge": assign({"merge": None}),
    "switchBranch": assign(operations.switched),
    "closeBranch": assign(operations.closed),
    "pinMessage": assign(operations.pinned),
    "flush": assign(operations.flushed),
    "crystallizePlainly": assign(operations.crystallized_plainly),
    "reset": assign(operations.emptied_again),
    "beginSummary": assign(lambda context: replies.with_phase(context, "compressing")),
    "spawnSummariser": spawn_child(SUMMARISER, id=SUMMARISER, input=replies.summary_input),
    "applySummary": assign(replies.summarised),
    "beginReply": assign(replies.begun),
    "spawnReply": spawn_child(REPLY, id=REPLY, input=replies.reply_input),
    "stopReply": stop_child(REPLY),
    "armTimeout": enqueue_actions(arm_timeout),
    "disarmTimeout": cancel(TIMEOUT),
    "noteTimeout": assign({"reply": lambda context: {**replies.current(context), "error": replies.TIMED_OUT}}),
    "cutReply": enqueue_actions(cut_reply),
    "keepReply": assign(replies.completed),
    "keepFailure": assign(replies.failed),
    "keepCut": assign(replies.cut),
    "appendResults": assign(replies.answered),
    "beginTools": assign(lambda context: replies.with_phase(context, "tools", called=True)),
    "spawnTools": spawn_child(TOOLS, id=TOOLS, input=replies.tools_input),
    "stopTools": stop_child(TOOLS),
    "goOnIfWaited": enqueue_actions(go_on_if_waited),
    "keepAnswers": assign(replies.tools_done),
    "answerPermission": enqueue_actions(answer_permission),
    "resumeReply": assign(operations.resumed),
    "retryReply": assign(operations.retried),
    "noteWaiting": assign(lambda context: replies.with_phase(context, "tools", waiting=True)),
    "reportWaiting": enqueue_actions(told_to_wait),
    "reportAgain": send_parent(lambda context, event: waiting(context, "permission", event["runId"])),
    "reportToParent": send_parent(report),
    "endRun": assign({"run": None}),
    "refuseAloud": send_parent(refused_aloud),
    "beginCrystal": assign({"crystallizing": lambda context, event: event.get("trigger") or "close"}),
    "spawnCrystallizer": spawn_child(CRYSTALLIZER, id=CRYSTALLIZER, input=replies.crystal_input),
    "stopCrystallizer": stop_child(CRYSTALLIZER),
    "keepCrystal": assign(replies.crystallized),
    "failCrystal": assign(replies.crystal_failed),
    "cancelCrystal": assign({"crystallizing": None}),
}
GUARDS: dict[str, Callable[..., bool]] = {
    "isAccepted": is_accepted,
    "acceptsMessage": accepts_message,
    "queuesMessage": queues_message,
    "interruptsReply": is_accepted,
    "startsByItself": starts_by_itself,
    "mustSendNext": lambda context: context["reply"] is None and bool(context["queue"]),
    "mustSummarise": lambda context: replies.summary_wanted(context) is not None,
    "mustReply": in_phase("wanted"),
    "mustReport": lambda context: must_report_end(context) and not context["queue"],
    "mustReportEnd": must_report_end,
    "mustRefuseAloud": must_refuse_aloud,
    "isReplyInFlight": lambda context: context["reply"] is not None,
    "isReplying": in_phase("replying"),
    "isCompressing": in_phase("compressing"),
    "isAwaitingTool": in_phase("tools"),
    "mustCallTools": replies.tools_wanted,
    "mustAskAgain": lambda context, event: is_waiting(context) and must_refuse_aloud(context, event),
    "isCurrentReply": is_current_reply,
    "cutsOnStop": lambda context: context["reply"] is not None and context["config"]["onStop"] == "cut",
    "crystallizesPlainly": crystallizes_plainly,
    "isCrystallizing": lambda context: context["crystallizing"] is not None,
}

flow_machine: Machine[FlowContext, FlowEvent] = setup[FlowContext, FlowEvent](
    actions=ACTIONS, guards=GUARDS, actors={REPLY: inert, TOOLS: inert, SUMMARISER: inert, CRYSTALLIZER: inert}
).create_machine({**load_chart(__name__), "context": initial_context})
"""Machine of a chat: messages, branches, replies, tools."""
