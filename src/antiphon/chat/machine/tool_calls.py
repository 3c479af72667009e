"""The tool calls of a chat: given to the child that makes them, refused, and answered."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from antiphon.chat.machine.context import ErrorInfo, FlowContext, MessageDraft, Parts
from antiphon.chat.machine.events import RepeatEvent, ToolResults, ToolsEnded
from antiphon.chat.machine.limits import add_spent, continue_at
from antiphon.chat.machine.operations import begin_run, request_reply, resume_reply
from antiphon.chat.machine.permissions import has_client_tools
from antiphon.chat.machine.replies import current_reply, end_reply
from antiphon.chat.machine.tree import append, head_of
from antiphon.threads.machine.call_problems import problem_with_call
from antiphon.threads.machine.content import PartJson, calls_of
from antiphon.threads.machine.scopes import Override, add_overrides
from antiphon.threads.machine.thread_events import RequestJson
from antiphon.threads.machine.tools import is_lost_request

INTERRUPTED: ErrorInfo = {
    "code": "interrupted",
    "message": "the process was lost while tools were called",
    "recoverable": True,
}
REQUEST_LOST: ErrorInfo = {
    "code": "interrupted",
    "message": "the process was lost while it asked for permission",
    "recoverable": True,
}
NO_CONSENT: ErrorInfo = {
    "code": "no_consent",
    "message": "the model called tools, and the chat has no permissions for them; "
    "create it with consent, for example {'mode': 'ask'}",
    "recoverable": False,
}


def begin_tools(context: FlowContext) -> FlowContext:
    """Record that the tools of the reply were called."""
    return {**context, "reply": {**current_reply(context), "phase": "tools", "called": True}}


def must_call_tools(context: FlowContext) -> bool:
    """Return whether the reply waits for tools that this machine calls."""
    reply = context["reply"]
    return (
        context["config"]["consent"] is not None
        and not has_client_tools(context)
        and reply is not None
        and reply["phase"] == "tools"
        and not (reply["called"] or reply["waiting"])
    )


def must_await_results(context: FlowContext) -> bool:
    """Return whether the reply waits for results of the client that were not asked for yet."""
    reply = context["reply"]
    return has_client_tools(context) and reply is not None and reply["phase"] == "tools" and not reply["waiting"]


def await_results(context: FlowContext) -> FlowContext:
    """Record the request to the client: the calls whose results the reply waits for."""
    reply = current_reply(context)
    request: RequestJson = {
        "id": reply["requestId"],
        "address": "",
        "reason": "tools",
        "calls": _calls(context, reply["branch"]),
    }
    return {**context, "reply": {**reply, "called": True, "waiting": True, "request": request}}


def awaited_facts(context: FlowContext) -> dict[str, object]:
    """Return the calls whose results the reply waits for, with the id and the address of the request."""
    request = current_reply(context).get("request")
    assert request is not None
    return {"id": request["id"], "address": request["address"], "calls": request["calls"]}


def _calls(context: FlowContext, branch: str) -> list[Mapping[str, Any]]:
    head = head_of(context, branch)
    return [] if head is None else [*calls_of(context["messages"][head]["parts"])]


def tools_input(context: FlowContext) -> dict[str, Any]:
    """Return the input of the child that calls tools: the calls, and the permissions."""
    reply = current_reply(context)
    config = context["config"]
    tools = {tool["name"]: tool for tool in config["settings"].get("options", {}).get("tools", ())}
    calls = [_with_problem(call, tools) for call in _calls(context, reply["branch"])]
    consent = config["consent"] or {}
    # The latest decision counts, and a person decides after the settings.
    overrides = [*consent.get("overrides", []), *context["overrides"]]
    input = {"requestId": reply["requestId"], "calls": calls, "consent": {**consent, "overrides": overrides}}
    timeout_ms = consent.get("timeoutMs")
    return input if timeout_ms is None else {**input, "timeoutMs": timeout_ms}


def _with_problem(call: Mapping[str, Any], tools: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return a call with the risk of its tool, and with its problem if it cannot be made."""
    problem = problem_with_call(call, tools)
    risk = tools.get(call["name"], {}).get("risk")
    return {**call, "risk": risk, **({"problem": problem} if problem else {})}


def append_results(context: FlowContext, event: ToolResults) -> FlowContext:
    """Append the results of tools, which ends a round, and request the next reply."""
    reply = current_reply(context)
    if has_client_tools(context):
        context = continue_at(context, event.get("at"))  # the client was waited for until now
    parts = cast(Parts, event["results"])
    draft: MessageDraft = {"role": "tool", "parts": parts, "at": event.get("at"), "id": event.get("id")}
    context = add_spent(append(context, reply["branch"], draft), "toolRounds", 1)
    return request_reply(context, reply["branch"])


def keep_answers(context: FlowContext, event: ToolsEnded) -> FlowContext:
    """Append the results of the tools, and request the next reply, unless the effects of the tools are unknown."""
    return keep_answers_by(event["output"].get("overrides") or (), context, event)


def keep_answers_by(overrides: Sequence[Override], context: FlowContext, event: ToolsEnded) -> FlowContext:
    """Append the results of the tools, and remember what a person allowed beyond these calls."""
    output = event["output"]
    if current_reply(context)["waiting"]:
        context = continue_at(context, None)  # a person was asked until now
    context = {**context, "overrides": add_overrides(context["overrides"], overrides)}
    context = append_results(context, {"type": "tool_results", "results": cast("list[PartJson]", output["results"])})
    if not output["lost"]:
        return context
    return end_reply({**context, "lastError": INTERRUPTED}, "failed", INTERRUPTED)


def is_request_lost(context: FlowContext, event: ToolsEnded) -> bool:
    """Return whether the process was lost while a person was asked about the calls, so that none was made."""
    reply = context["reply"]
    is_awaited = reply is not None and reply["phase"] == "tools"
    return is_awaited and event["output"]["lost"] and is_lost_request(event["output"]["permission"])


def lose_request(context: FlowContext) -> FlowContext:
    """End the reply without results of its calls, so that permission is asked for again when it is resumed."""
    if current_reply(context)["waiting"]:
        context = continue_at(context, None)  # a person was asked until now
    return end_reply({**context, "lastError": REQUEST_LOST}, "failed", REQUEST_LOST)


def resume_turn(context: FlowContext, event: RepeatEvent) -> FlowContext:
    """Continue a reply that was lost; calls that nobody was asked about to the end are asked about again."""
    branch = context["branch"]
    if context["lastError"] != REQUEST_LOST or not _calls(context, branch):
        return resume_reply(context, event)
    context = continue_at(begin_run(context, event), event.get("at"))
    context = request_reply({**context, "lastError": None}, branch)
    return {**context, "reply": {**current_reply(context), "phase": "tools"}}


def refuse_calls(context: FlowContext, error: ErrorInfo) -> FlowContext:
    """Answer the calls of the reply, if there are any, with an error, and end the turn with it."""
    branch = current_reply(context)["branch"]
    calls = _calls(context, branch)
    if calls:
        text = [{"type": "text", "text": f"not called: {error['message']}"}]
        parts = [{"type": "toolResult", "callId": call["id"], "parts": text, "isError": True} for call in calls]
        context = append(context, branch, {"role": "tool", "parts": parts})
    return end_reply({**context, "lastError": error}, "failed", error)


def refuse_tools(context: FlowContext) -> FlowContext:
    """End a turn whose model called tools without any permissions."""
    return refuse_calls(context, NO_CONSENT)


def must_refuse_tools(context: FlowContext) -> bool:
    """Return whether tools were called that neither this machine nor a person will call."""
    reply = context["reply"]
    has_caller = context["config"]["consent"] is not None or has_client_tools(context)
    return context["reportsToParent"] and not has_caller and reply is not None and reply["phase"] == "tools"
