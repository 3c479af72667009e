"""Version 1 of the chat: answers of people came from the thread, and were passed on to the tools."""

from typing import Any

from antiphon.chart.actions import assign, emit, enqueue_actions, spawn_child
from antiphon.chat.machine import operations, replies
from antiphon.chat.machine.emitted import output
from antiphon.chat.machine.flow import flow_machine, is_accepted
from antiphon.chat.machine.pauses import is_waiting, run_of
from antiphon.chat.machine.permissions import TOOLS
from antiphon.chat.machine.settings import initial_context
from antiphon.chat.machine.version_1 import plans, tool_calls
from antiphon.threads.machine.charts import load_chart
from antiphon.threads.machine.former import AnyMachine, Context, Event, Json, Queue, bind_former

# The keys of a context, which the chart does not name, and the settings.
CONTEXT = (
    "config", "reportsToParent", "messages", "branches", "closed", "branch", "checkpoints", "pinned", "fork", "merge",
    "reply", "queue", "overrides", "run", "lastError", "crystallizing", "crystal", "metrics", "nextMessage",
    "nextRequest",
)  # fmt: skip
SETTINGS = (
    "model", "system", "systemPlacement", "settings", "strategy", "summaries", "contextLimit", "compressAt", "resumeAt",
    "onBusy", "onStop", "maxBranches", "maxTurns", "maxQueue", "turnTimeoutMs", "autoStart", "consent",
)  # fmt: skip


def _is_accepted(context: Context, event: Event) -> bool:
    match event["type"]:
        case "answer":
            return _accepts_answer(context, event)
        case "merge" if event.get("strategy") == "consensus":
            return False
        case "switch" if event.get("branch") not in context["branches"]:
            return False
        case "rewind":
            return is_accepted(context, plans.without_message(event))
        case _:
            return is_accepted(context, event)


def _accepts_answer(context: Context, event: Event) -> bool:
    reply = context["reply"]
    return (
        reply is not None
        and reply["called"]
        and reply["waiting"]
        and event.get("decision") in ("allow", "deny")
        and event.get("scope") in (None, "once", "thread")
        and event.get("id") in (None, reply["requestId"])
        and isinstance(event.get("reason") or "", str)
    )


def _answer_permission(context: Context, event: Event, enqueue: Queue) -> None:
    answer = {key: event[key] for key in ("id", "scope", "reason") if event.get(key) is not None}

    def note_answer(context: Context) -> Context:
        return _set_waiting(operations.begin_run(context, event), waiting=False)

    enqueue.assign(note_answer)
    enqueue.send_to(TOOLS, {"type": "ALLOW" if event["decision"] == "allow" else "DENY", **answer})


def _set_waiting(context: Context, *, waiting: bool) -> Context:
    return {**context, "reply": {**replies.current_reply(context), "phase": "tools", "waiting": waiting}}


def _note_waiting(context: Context) -> Context:
    return _set_waiting(context, waiting=True)


def _go_on_if_waited(context: Context, event: Event, enqueue: Queue) -> None:
    lost = event["type"] == "xstate.done.actor.tools" and event["output"]["lost"]
    if context["reportsToParent"] and is_waiting(context) and event.get("runId") is None and not lost:
        enqueue.send_parent({"type": "RESPOND", "runId": run_of(context)})


def _output(context: Context, event: Event, params: Any) -> Json:
    if params["event"] == "permission_answered":
        return {"type": "permission_answered", "decision": event["decision"]}
    return output(context, event, params)


def _context(input: Any = None) -> Json:
    context: Json = {**initial_context(input)}
    config = {key: value for key, value in context["config"].items() if key in SETTINGS}
    return {**{key: context[key] for key in CONTEXT}, "config": config}


flow_machine_1: AnyMachine = bind_former(
    flow_machine,
    load_chart(__name__),
    context=_context,
    actions={
        "emitOutput": emit(_output),
        "appendMessage": assign(plans.append_message),
        "sendNext": assign(plans.send_next),
        "rewind": assign(plans.rewind),
        "planFork": assign(plans.plan_fork),
        "planMerge": assign(plans.plan_merge),
        "keepReply": assign(replies.keep_reply),
        "keepFailure": assign(replies.keep_failure),
        "keepCut": assign(replies.keep_cut),
        "keepRest": assign(replies.keep_rest),
        "spawnTools": spawn_child(TOOLS, id=TOOLS, input=tool_calls.tools_input_1),
        "keepAnswers": assign(tool_calls.keep_answers_1),
        "resumeReply": assign(operations.resume_reply),
        "noteWaiting": assign(_note_waiting),
        "goOnIfWaited": enqueue_actions(_go_on_if_waited),
        "answerPermission": enqueue_actions(_answer_permission),
    },
    guards={"isAccepted": _is_accepted},
)
