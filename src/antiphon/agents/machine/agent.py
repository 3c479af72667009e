"""The machine of an agent's turn: model, tools and questions to a person, until there is an answer.

1. The chat machine is a tree of branches for a person; a turn is one line that ends by itself, so it has a machine of
   its own. Its children `reply` (streaming) and `tools` (with permission) are the same.
2. `ask_user` and `update_plan` are answered here, all other calls by `tools`. Every call gets a result.
3. Its session with a model begins with the first request. When the model is given up, the next one is asked.
4. After the loss of its process the turn waits for RESUME, and continues with all results it has: no call is repeated.
"""

from collections.abc import Mapping
from typing import Any, cast

from antiphon.agents.machine import outcome, tool_calls, turn_session
from antiphon.agents.machine.agent_types import (
    AgentContext,
    AgentUpdate,
    AnswerGiven,
    ChildFailed,
    PlainEvent,
    ReplyInput,
    TurnEvent,
)
from antiphon.agents.machine.plan import plan_of
from antiphon.agents.machine.results import (
    EXHAUSTED,
    AgentResult,
    Json,
    add_usage,
    error_of,
    find_object,
    is_loss,
    summarize_calls,
)
from antiphon.agents.machine.tool_calls import TOOLS, AgentEnqueue, reply_parts
from antiphon.chart.actions import assign, enqueue_actions, spawn_child, stop_child
from antiphon.chart.machine import Machine, create_machine
from antiphon.chart.setup import setup
from antiphon.threads.machine.charts import load_chart
from antiphon.threads.machine.content import MessageJson, PartJson, is_key_missing, text_of
from antiphon.threads.machine.streaming_types import ReplyCompleted

REPLY = "reply"
GO_ON = "Go on where you stopped. When the work is done, say in a few words what you did."


def first_context(input: Mapping[str, object] | None = None) -> AgentContext:
    """Create the context of a turn; the input has any of its keys, and `prompt`, the task of the agent."""
    settings = {key: value for key, value in (input or {}).items() if value is not None}
    defaults: dict[str, object] = CHART["context"]
    context = cast(AgentContext, {key: settings.get(key, default) for key, default in defaults.items()})
    prompt = settings.get("prompt")
    messages = list(context["messages"])
    return {
        **context,
        "messages": [*messages, *([_user_message(str(prompt))] if prompt else [])],
        "fresh": len(messages),
    }


def _user_message(text: str) -> MessageJson:
    return {"role": "user", "parts": [{"type": "text", "text": text}]}


def reply_input(context: AgentContext) -> ReplyInput:
    """Return the input of the model: the agent's prompt and its conversation."""
    agent = context["agent"]
    prompt = agent.get("systemPrompt", "") if agent else ""
    system: MessageJson = {"role": "system", "parts": [{"type": "text", "text": prompt}]}
    budget = context["budgetUsd"]
    schema = agent.get("responseSchema") if agent else None
    answer: Json = {} if schema is None else {"responseSchema": schema}
    return {
        "requestId": f"{context['turnId']}{context['agentId']}-{context['turns']}",
        "model": context["model"],
        "prompt": None,
        "messages": [system, *context["messages"]],
        "options": {**context["options"], "tools": context["tools"], **answer},
        "budgetUsd": None if budget is None else max(0.0, budget - context["costUsd"]),
        "reportsToParent": True,
    }


def ask_model(context: AgentContext, event: PlainEvent, enqueue: AgentEnqueue) -> None:
    """Count the request, and ask the model in its session, which begins with the first request."""
    enqueue.assign(AgentUpdate(turns=context["turns"] + 1))
    turn_session.begin_session(context, enqueue)
    enqueue(spawn_child(REPLY, id=REPLY, input=session_reply_input))


def session_reply_input(context: AgentContext) -> ReplyInput:
    """Return the input of the model, with the id of the session."""
    session = context["session"]
    return {**reply_input(context), "sessionId": None if session is None else session["id"]}


def keep_reply(context: AgentContext, event: ReplyCompleted) -> AgentUpdate:
    """Append the reply to the conversation, and charge it."""
    message = event.get("message") or _empty_reply()
    parts = [cast(PartJson, {k: str(v) if k == "text" else v for k, v in part.items()}) for part in message["parts"]]
    messages = context["messages"]
    if parts:
        reply: MessageJson = {"role": message["role"], "parts": parts}
        if "source" in message:
            reply["source"] = message["source"]
        if "at" in message:
            reply["at"] = message["at"]
        messages = [*messages, reply]
    return {
        "messages": messages,
        "usage": add_usage(context["usage"], event.get("usage")),
        "costUsd": context["costUsd"] + (event.get("costUsd") or 0),
        "at": message.get("at", context["at"]),
        "summary": text_of(parts).strip() or context["summary"],
    }


def _empty_reply() -> MessageJson:
    return {"role": "assistant", "parts": []}


def must_go_on(context: AgentContext, event: ReplyCompleted) -> bool:
    """Return whether a reply was cut off and may be continued."""
    return event.get("stop") in ("length", "pause") and context["turns"] < context["maxTurns"]


def must_answer_again(context: AgentContext, event: ReplyCompleted) -> bool:
    """Return whether an answer violates the agent's schema, for the first time."""
    return not context["reasked"] and bool(event.get("problems"))


def is_waiting(context: AgentContext) -> bool:
    """Return whether the agent waits for a person."""
    return context["waiting"] is not None


def is_answer(context: AgentContext, event: AnswerGiven) -> bool:
    """Return whether an answer is for the open question, and not for an earlier one."""
    waiting = context["waiting"]
    return waiting is not None and waiting.get("id") == event["id"]


def is_cancelled(context: AgentContext) -> bool:
    """Return whether the turn was cancelled."""
    return context["cancelled"]


def is_lost(context: AgentContext) -> bool:
    """Return whether the tools were lost with their process."""
    return context["lost"]


def is_exhausted(context: AgentContext) -> bool:
    """Return whether the model may not be asked again."""
    return tool_calls.is_all_answered(context) and context["turns"] >= context["maxTurns"]


def is_loss_event(context: AgentContext, event: ChildFailed) -> bool:
    """Return whether a child was lost with its process."""
    return is_loss(event.get("error"))


def must_be_resumed(context: AgentContext, event: ChildFailed) -> bool:
    """Return whether a child was lost with its process, or has no key and no other model to ask."""
    lacks_key = is_key_missing(event.get("error")) and not turn_session.has_fallback(context, event)
    return lacks_key or is_loss_event(context, event)


def tell_waiting(context: AgentContext, event: PlainEvent, enqueue: AgentEnqueue) -> None:
    """Tell the parent that the agent waits for a person."""
    waiting: Json = {**(context["waiting"] or {})}
    enqueue.send_parent({"type": "AGENT_WAITS", "agentId": context["agentId"], **waiting})


def tell_going_on(context: AgentContext, event: PlainEvent | ChildFailed, enqueue: AgentEnqueue) -> None:
    """Tell the parent that the request is closed."""
    waiting = context["waiting"]
    assert waiting is not None
    enqueue.send_parent({"type": "AGENT_GOES_ON", "agentId": context["agentId"], "id": waiting.get("id")})


def go_on_if_waited(context: AgentContext, event: ChildFailed, enqueue: AgentEnqueue) -> None:
    """Tell the parent that the request is closed, if the tools failed while it was open and were not lost."""
    if context["waiting"] is not None and not is_loss(event.get("error")):
        tell_going_on(context, event, enqueue)


def tell_message(context: AgentContext, event: ReplyCompleted, enqueue: AgentEnqueue) -> None:
    """Tell the parent the text of a reply and its cost."""
    message = {"role": "assistant", "content": text_of(reply_parts(event))}
    facts: Json = {"at": context["at"], "usage": event.get("usage"), "costUsd": event.get("costUsd")}
    enqueue.send_parent({"type": "AGENT_MESSAGE", "agentId": context["agentId"], "message": message, **facts})


def tell_lost(context: AgentContext, event: PlainEvent | ChildFailed, enqueue: AgentEnqueue) -> None:
    """Tell the parent that the process was lost, or which key is missing."""
    error: object = event.get("error")
    reason: Json = {"error": error} if is_key_missing(error) else {}
    enqueue.send_parent({"type": "AGENT_LOST", "agentId": context["agentId"], **reason})


def prompt_again(context: AgentContext) -> AgentUpdate:
    """Ask the model to continue a reply that was cut off."""
    return {"messages": [*context["messages"], _user_message(GO_ON)]}


def complain(context: AgentContext, event: ReplyCompleted) -> AgentUpdate:
    """Tell the model how its answer violates the schema."""
    return complain_about("; ".join(event.get("problems") or ()), context)


def complain_about(problem: str, context: AgentContext) -> AgentUpdate:
    """Ask the model for another answer."""
    complaint = f"That does not fit: {problem}."
    return {"reasked": True, "messages": [*context["messages"], _user_message(complaint)]}


def fail(context: AgentContext, event: ChildFailed) -> AgentUpdate:
    """End the turn with the error of the model."""
    return {"outcome": "failed", "error": error_of(event.get("error"))}


def conclude(context: AgentContext, event: ReplyCompleted) -> AgentUpdate:
    """End the turn: as a success, unless a plan or a schema is required and missing."""
    return conclude_with("; ".join(event.get("problems") or ()) or None, context, event)


def conclude_with(problem: str | None, context: AgentContext, event: ReplyCompleted) -> AgentUpdate:
    """End the turn; `problem` says why the answer violates its schema."""
    agent = context["agent"]
    found_plan = find_object(context["summary"])
    updates = context["planUpdates"] or (found_plan if plan_of(found_plan) is not None else None)
    if event.get("stop") not in (None, "end", "stop_sequence", "tool_calls"):
        return {"outcome": "exhausted", "summary": EXHAUSTED, "planUpdates": updates}
    if problem is None and agent and agent.get("plans") and updates is None:
        problem = "it gave no valid plan"
    if problem is None:
        return {"outcome": "done", "planUpdates": updates}
    return {
        "outcome": "failed",
        "error": {"name": "InvalidOutput", "code": "invalid_output", "message": problem, "recoverable": True},
        "planUpdates": updates,
    }


def turn_result(context: AgentContext) -> AgentResult:
    """Return the result of the turn."""
    end = context["outcome"]
    agent = context["agent"]
    result: AgentResult = {
        "agent": agent.get("name") if agent else None,
        "step": context["step"],
        "success": end == "done",
        "summary": context["summary"],
        "output": context["summary"],
        "usage": context["usage"],
        "costUsd": context["costUsd"],
        "turns": context["turns"],
        "at": context["at"],
        "messages": context["messages"],
        "toolCalls": summarize_calls(context["messages"][context["fresh"] :]),
        "overrides": context["consent"].get("overrides", []),
    }
    if context["planUpdates"] is not None:
        result["planUpdates"] = context["planUpdates"]
    if context["cancelled"]:
        result["cancelled"] = True
    if end == "exhausted":
        result["exhausted"] = True
    if context["error"] is not None:
        result["error"] = context["error"]
        # A turn whose model could not be asked has failed outright; one that gave a bad answer has not.
        result["failedOutright"] = context["error"]["code"] != "invalid_output"
    return result


def output(context: AgentContext) -> AgentResult:
    """Return the result of the turn, with fallbacks, permissions, and tools that changed something or were denied."""
    result = turn_result(context)
    for key in ("fallbacks", "denied", "changed", "granted"):
        if context[key]:
            result[key] = context[key]
    return result


CHART = load_chart(__name__)
_agents = setup[AgentContext, Any](
    guards={
        "wantsTools": tool_calls.wants_tools,
        "mustGoOn": must_go_on,
        "mustAnswerAgain": must_answer_again,
        "isLoss": must_be_resumed,
        "hasFallback": turn_session.has_fallback,
        "isAnswered": tool_calls.is_answered,
        "hasCalls": tool_calls.has_calls,
        "isRequestLost": tool_calls.is_request_lost,
        "isWaiting": is_waiting,
        "isAnswer": is_answer,
        "isCancelled": is_cancelled,
        "isLost": is_lost,
        "isExhausted": is_exhausted,
        "isAllAnswered": tool_calls.is_all_answered,
    },
    actions={
        "askModel": enqueue_actions(ask_model),
        "stopReply": stop_child(REPLY),
        "keepReply": assign(keep_reply),
        "tellMessage": enqueue_actions(tell_message),
        "sortCalls": assign(tool_calls.sort_calls),
        "promptAgain": assign(prompt_again),
        "complain": assign(complain),
        "conclude": assign(conclude),
        "fail": assign(fail),
        "fallBack": enqueue_actions(turn_session.fall_back),
        "noteDenials": assign(outcome.note_denials),
        "noteCancelled": assign(AgentUpdate(cancelled=True)),
        "exhaust": assign(AgentUpdate(outcome="exhausted", summary=EXHAUSTED)),
        "callTools": enqueue_actions(tool_calls.call_tools),
        "stopTools": stop_child(TOOLS),
        "noteWaiting": assign(tool_calls.note_waiting),
        "tellWaiting": enqueue_actions(tell_waiting),
        "forgetWaiting": assign(AgentUpdate(waiting=None)),
        "tellGoingOn": enqueue_actions(tell_going_on),
        "goOnIfWaited": enqueue_actions(go_on_if_waited),
        "keepResults": assign(tool_calls.keep_results),
        "failCalls": assign(tool_calls.fail_calls),
        "tellResults": enqueue_actions(tool_calls.tell_results),
        "askPerson": enqueue_actions(tool_calls.ask_person),
        "keepAnswer": assign(tool_calls.keep_answer),
        "revokePermission": assign(tool_calls.revoke_permission),
        "passRevocation": enqueue_actions(tool_calls.pass_revocation),
        "answerCalls": assign(tool_calls.answer_calls),
        "tellLost": enqueue_actions(tell_lost),
        "comeBack": assign(AgentUpdate(lost=False)),
        "askAgain": assign(tool_calls.ask_again),
    },
    # A composition provides the actors that ask the model and call the tools.
    actors={REPLY: create_machine({"id": "silence"}), TOOLS: create_machine({"id": "idle"})},
    events=TurnEvent,
    public=["ANSWER"],
)
agent_machine: Machine[AgentContext, Any] = _agents.create_machine(
    {**CHART, "context": first_context, "output": output}
)
"""Machine of one agent at work."""
