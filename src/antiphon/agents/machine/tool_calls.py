"""The tool calls of a reply: sorted, given to the tools or to a person, and answered."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from antiphon.agents.machine.agent_config import ASK_USER, UPDATE_PLAN, AgentConfig, ToolJson, refusal
from antiphon.agents.machine.agent_types import (
    AgentContext,
    AgentQuestion,
    AgentUpdate,
    AnswerGiven,
    AskedQuestion,
    ChildFailed,
    PlainEvent,
    ToolsDone,
)
from antiphon.agents.machine.plan import plan_of
from antiphon.agents.machine.results import Json, error_of, is_loss
from antiphon.chart.actions import Enqueue
from antiphon.threads.machine.call_problems import problem_with_call
from antiphon.threads.machine.content import PartJson, ResultPart, calls_of
from antiphon.threads.machine.permission_rules import CallRequest, consent_without
from antiphon.threads.machine.scopes import Override, add_overrides, without_permission
from antiphon.threads.machine.streaming_types import ReplyCompleted
from antiphon.threads.machine.tools import is_lost_request
from antiphon.threads.machine.tools_types import Revoke, Wait

AgentEnqueue = Enqueue[AgentContext, Any]
Refusal = Callable[[AgentConfig | None, CallRequest, Mapping[str, ToolJson]], str | None]
FindRisk = Callable[[CallRequest, Mapping[str, ToolJson]], str | None]
TOOLS = "tools"
OWN = (ASK_USER, UPDATE_PLAN)


def reply_parts(event: ReplyCompleted) -> list[PartJson]:
    """Return the parts of a reply."""
    message = event.get("message")
    return message.get("parts") or [] if message else []


def wants_tools(context: AgentContext, event: ReplyCompleted) -> bool:
    """Return whether a reply has tool calls."""
    return bool(calls_of(reply_parts(event)))


def sort_calls(context: AgentContext, event: ReplyCompleted) -> AgentUpdate:
    """Answer the agent's own tools, and calls that cannot be made or are forbidden; leave the others to `tools`."""
    return sort_calls_by(_refusal, _risk, context, event)


def sort_calls_by(
    find_refusal: Refusal, find_risk: FindRisk, context: AgentContext, event: ReplyCompleted
) -> AgentUpdate:
    """Sort the calls of a reply; `find_refusal` returns why a call is not made."""
    tools = {tool["name"]: tool for tool in context["tools"]}
    agent = context["agent"]
    calls: list[CallRequest] = []
    questions: list[AskedQuestion] = []
    updates = context["planUpdates"]
    results: dict[str, ResultPart] = {}
    for part in cast("list[CallRequest]", calls_of(reply_parts(event))):
        call: CallRequest = {**part, "risk": find_risk(part, tools)}
        arguments = _arguments(call)
        reason = find_refusal(agent, call, tools)
        if reason is not None:
            results[call["id"]] = _result(call["id"], reason, is_error=True)
        elif call["name"] == ASK_USER:
            question = str(arguments.get("question", ""))
            questions.append({"id": call["id"], "question": question, "options": arguments.get("options")})
        elif call["name"] == UPDATE_PLAN:
            is_plan = plan_of(arguments) is not None
            updates = arguments if is_plan else updates
            text = "The plan is changed." if is_plan else "That is no plan: it has no steps."
            results[call["id"]] = _result(call["id"], text, is_error=not is_plan)
        else:
            calls.append(call)
    return {"calls": calls, "questions": questions, "results": results, "planUpdates": updates}


def _risk(call: CallRequest, tools: Mapping[str, ToolJson]) -> str | None:
    tool = tools.get(call["name"])
    return tool.get("risk") if tool else None


def _refusal(agent: AgentConfig | None, call: CallRequest, tools: Mapping[str, ToolJson]) -> str | None:
    """Return why a call is not made, or None; the agent's own tools are answered in any case."""
    if call["name"] in OWN:
        return None
    return (refusal(agent, call) if agent is not None else None) or problem_with_call(call, tools)


def _arguments(call: CallRequest) -> Json:
    arguments = call.get("arguments") or "{}"
    if not isinstance(arguments, str):
        return dict(arguments)
    try:
        value: object = json.loads(arguments)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _result(call_id: str, text: str, *, is_error: bool = False) -> ResultPart:
    result: ResultPart = {"type": "toolResult", "callId": call_id, "parts": [{"type": "text", "text": text}]}
    if is_error:
        result["isError"] = True
    return result


def call_tools(context: AgentContext, event: PlainEvent, enqueue: AgentEnqueue) -> None:
    """Start the calls together; tell the parent of each, and of a changed plan, unless it was told before."""
    repeats = _repeats(context)
    if not repeats:
        _tell_calls(context, enqueue)
    if context["calls"]:
        consent = context["consent"]
        request = f"{context['turnId']}{context['agentId']}-tools-{context['turns']}"
        request += f"-{repeats + 1}" if repeats else ""
        input: Json = {"requestId": request, "calls": context["calls"], "consent": consent}
        timeout_ms = consent.get("timeoutMs")
        if timeout_ms is not None:
            input["timeoutMs"] = timeout_ms
        agent = context["agent"]
        if agent is not None and agent.get("shell"):
            input["shell"] = {**agent["shell"], "agent": agent["name"]}
        enqueue.spawn_child(TOOLS, id=TOOLS, input=input)


def _tell_calls(context: AgentContext, enqueue: AgentEnqueue) -> None:
    if context["planUpdates"] is not None:
        enqueue.send_parent(
            {"type": "AGENT_PLAN", "agentId": context["agentId"], "planUpdates": context["planUpdates"]}
        )
    for call in context["calls"]:
        notice = {"id": call["id"], "name": call["name"], "arguments": call["arguments"]}
        enqueue.send_parent({"type": "AGENT_TOOL_CALL", "agentId": context["agentId"], "toolCall": notice})


def is_request_lost(context: AgentContext, event: ToolsDone) -> bool:
    """Return whether the process was lost while a person was asked about the calls, so that none was made."""
    output = event["output"]
    return bool(output.get("lost")) and is_lost_request(output.get("permission"))


def has_calls(context: AgentContext) -> bool:
    """Return whether calls of the last reply wait for permission."""
    return bool(context["calls"])


def ask_again(context: AgentContext) -> AgentUpdate:
    """Count a repeated request for permission, which gets an id of its own."""
    return {"lost": False, "asks": {"turn": context["turns"], "times": _repeats(context) + 1}}


def _repeats(context: AgentContext) -> int:
    """Return how often permission for the calls of this reply was asked for again."""
    asks = context.get("asks")
    return asks["times"] if asks is not None and asks["turn"] == context["turns"] else 0


def keep_results(context: AgentContext, event: ToolsDone) -> AgentUpdate:
    """Keep the results of the tools, and the permissions that last."""
    overrides = event["output"].get("overrides") or ()
    granted = add_overrides(context["granted"], overrides)
    return {**keep_results_by(overrides, context, event), "granted": granted}


def keep_results_by(overrides: Sequence[Override], context: AgentContext, event: ToolsDone) -> AgentUpdate:
    """Keep the results of the tools, and remember what a person allowed beyond these calls."""
    output = event["output"]
    results = {result["callId"]: result for result in output["results"]}
    consent = context["consent"]
    if overrides:
        consent = {**consent, "overrides": add_overrides(consent.get("overrides", []), overrides)}
    return {
        "results": {**context["results"], **results},
        "lost": bool(output.get("lost")),
        "consent": consent,
        "waiting": None,
    }


def revoke_permission(context: AgentContext, event: Revoke) -> AgentUpdate:
    """Remove a permission that was taken back."""
    permission = event["permission"]
    return {
        "consent": consent_without(context["consent"], permission),
        "granted": without_permission(context["granted"], permission),
    }


def pass_revocation(context: AgentContext, event: Revoke, enqueue: AgentEnqueue) -> None:
    """Tell the tools at work that a permission was taken back."""
    enqueue.send_to(TOOLS, dict(event))


def fail_calls(context: AgentContext, event: ChildFailed) -> AgentUpdate:
    """Give every call the error of the tools as its result."""
    text = f"failed: {error_of(event.get('error'))['message']}"
    failed = {call["id"]: _result(call["id"], text, is_error=True) for call in context["calls"]}
    return {"results": {**context["results"], **failed}, "lost": is_loss(event.get("error")), "waiting": None}


def tell_results(context: AgentContext, event: PlainEvent, enqueue: AgentEnqueue) -> None:
    """Tell the parent of every result."""
    for call in context["calls"]:
        result = context["results"].get(call["id"])
        is_error = result is not None and bool(result.get("isError"))
        notice = {"id": call["id"], "name": call["name"], "isError": is_error}
        enqueue.send_parent({"type": "AGENT_TOOL_RESULT", "agentId": context["agentId"], "toolResult": notice})


def ask_person(context: AgentContext, event: PlainEvent, enqueue: AgentEnqueue) -> None:
    """Ask the first question without an answer."""
    unanswered = [question for question in context["questions"] if question["id"] not in context["results"]]
    if unanswered and not context["cancelled"] and not context["lost"]:
        question = unanswered[0]
        waiting: AgentQuestion = {
            "reason": "question",
            "id": question_id(context),
            "address": context["agentId"],
            "callId": question["id"],
            "question": question["question"],
            "options": question["options"],
        }
        enqueue.assign(AgentUpdate(waiting=waiting))
        enqueue.send_parent({"type": "AGENT_WAITS", "agentId": context["agentId"], **waiting})


def question_id(context: AgentContext) -> str:
    """Return the id of the request for the next answer; a model may give the same id to calls of several replies."""
    number = sum(question["id"] in context["results"] for question in context["questions"])
    return f"{context['turnId']}{context['agentId']}-question-{context['turns']}-{number}"


def keep_answer(context: AgentContext, event: AnswerGiven) -> AgentUpdate:
    """Keep a person's answer as the result of the question's call."""
    assert context["waiting"] is not None
    return keep_text(event["text"], context["waiting"]["callId"], context, event)


def keep_text(text: str, id: str, context: AgentContext, event: AnswerGiven) -> AgentUpdate:
    """Keep a text as the result of a call."""
    return {
        "results": {**context["results"], id: _result(id, text)},
        "at": event.get("at", context["at"]),
        "waiting": None,
    }


def is_answered(context: AgentContext) -> bool:
    """Return whether no call is left to the tools."""
    return not context["calls"]


def is_all_answered(context: AgentContext) -> bool:
    """Return whether every question has its answer."""
    return all(question["id"] in context["results"] for question in context["questions"])


def answer_calls(context: AgentContext) -> AgentUpdate:
    """Append a result for every call of the last reply to the conversation, in order."""
    last = context["messages"][-1]
    results: list[PartJson] = [
        context["results"].get(call["id"]) or _result(call["id"], "cancelled", is_error=True)
        for call in cast("list[CallRequest]", calls_of(last["parts"]))
    ]
    messages = context["messages"]
    if results:
        messages = [*messages, {"role": "tool", "parts": results}]
    return {"messages": messages, "calls": [], "questions": [], "results": {}}


def note_waiting(context: AgentContext, event: Wait) -> AgentUpdate:
    """Note that the tools wait for permission."""
    waiting: AgentQuestion = {"reason": "permission"}
    if "id" in event:
        waiting["id"] = event["id"]
    if "address" in event:
        waiting["address"] = f"{context['agentId']}/{TOOLS}/{event['address']}"
    if "calls" in event:
        waiting["calls"] = event["calls"]
    if "timeoutMs" in event:
        waiting["timeoutMs"] = event["timeoutMs"]
    return {"waiting": waiting}
