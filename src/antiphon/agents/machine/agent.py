"""The machine of an agent's turn: the model speaks, tools are called, a person is asked, until there is an answer.

1. The chat machine is a tree of branches for a person; a turn is one line that ends by itself, so it has a machine of
   its own. It shares what does the work: `reply` (streaming) and `tools` (with permission) are the same children.
2. `ask_user` and `update_plan` are answered here, all other calls by `tools`. Every call gets a result.
3. After the loss of its process the turn waits for RESUME, and goes on with all results it has: none is made again.
"""

import json
from collections.abc import Mapping
from typing import Any

from antiphon.agents.machine.agent_config import ASK_USER, UPDATE_PLAN, refusal
from antiphon.agents.machine.plan import plan_of
from antiphon.agents.machine.results import EXHAUSTED, error_of, is_loss, misfit, object_in, tool_calls
from antiphon.chart.actions import Enqueue, assign, enqueue_actions, spawn_child, stop_child
from antiphon.chart.machine import Machine, create_machine
from antiphon.chart.setup import setup
from antiphon.threads.machine.charts import load_chart
from antiphon.threads.machine.content import calls_of, text_of
from antiphon.threads.machine.permission_rules import lasting_overrides
from antiphon.tools.risk import risk_of_call

Event = Mapping[str, Any]
Json = dict[str, Any]
Context = dict[str, Any]
REPLY, TOOLS = "reply", "tools"
GO_ON = "Go on where you stopped. When the work is done, say in a few words what you did."
OWN = (ASK_USER, UPDATE_PLAN)


def first_context(input: Mapping[str, Any] | None = None) -> Context:
    """The context of a turn: the input has any of its keys, and `prompt`, what the agent is told."""
    given = {key: value for key, value in (input or {}).items() if value is not None}
    context = {key: given.get(key, first) for key, first in CHART["context"].items()}
    prompt = given.get("prompt")
    before = list(context["messages"])
    return {**context, "messages": [*before, *([_said(prompt)] if prompt else [])], "fresh": len(before)}


def _said(text: str) -> Json:
    return {"role": "user", "parts": [{"type": "text", "text": text}]}


def reply_input(context: Context) -> Json:
    """What the model is asked with: who the agent is, and its conversation."""
    agent = context["agent"] or {}
    system = {"role": "system", "parts": [{"type": "text", "text": agent.get("systemPrompt", "")}]}
    budget = context["budgetUsd"]
    return {
        "requestId": f"{context['turnId']}{context['agentId']}-{context['turns']}",
        "model": context["model"],
        "prompt": None,
        "messages": [system, *context["messages"]],
        "options": {**context["options"], "tools": context["tools"]},
        "budgetUsd": None if budget is None else max(0.0, budget - context["costUsd"]),
        "reportsToParent": True,
    }


def ask_model(context: Context, event: Event, enqueue: Enqueue[Any, Any]) -> None:
    """Count the turn, and ask."""
    enqueue.assign({"turns": context["turns"] + 1})
    enqueue(spawn_child(REPLY, id=REPLY, input=reply_input))


def keep_reply(context: Context, event: Event) -> Json:
    """The conversation with the reply, and what it used."""
    message = event.get("message") or {"role": "assistant", "parts": []}
    parts = [{k: str(v) if k == "text" else v for k, v in part.items()} for part in message["parts"]]
    kept = {key: message[key] for key in ("role", "source", "at") if key in message}
    usage = dict(context["usage"])
    for key, value in (event.get("usage") or {}).items():
        if isinstance(value, int) and not isinstance(value, bool):
            usage[key] = usage.get(key, 0) + value
    return {
        "messages": [*context["messages"], {**kept, "parts": parts}] if parts else context["messages"],
        "usage": usage,
        "costUsd": context["costUsd"] + (event.get("costUsd") or 0),
        "at": message.get("at", context["at"]),
        "summary": text_of(parts).strip() or context["summary"],
    }


def _calls(event: Event) -> list[Mapping[str, Any]]:
    return calls_of((event.get("message") or {}).get("parts") or [])


def _schema_problem(context: Context, event: Event) -> str | None:
    schema = (context["agent"] or {}).get("responseSchema")
    if not schema:
        return None
    return misfit(text_of((event.get("message") or {}).get("parts") or []), schema)


def sort_calls(context: Context, event: Event) -> Json:
    """What is done with every call: refused by the agent's own rules, answered here, or given to the tools."""
    risks = {tool["name"]: tool.get("risk") for tool in context["tools"]}
    calls, questions, updates = [], [], context["planUpdates"]
    results: dict[str, Json] = {}
    for call in _calls(event):
        risked: Any = {**call, "risk": risk_of_call(risks.get(call["name"]), call["arguments"])}
        given = _arguments(call)
        is_ruled = context["agent"] is not None and call["name"] not in OWN
        reason = refusal(context["agent"], risked) if is_ruled else None
        if reason is not None:
            results[call["id"]] = _result(call, reason, is_error=True)
        elif call["name"] == ASK_USER:
            questions.append(
                {"id": call["id"], "question": str(given.get("question", "")), "options": given.get("options")}
            )
        elif call["name"] == UPDATE_PLAN:
            taken = plan_of(given) is not None
            updates = given if taken else updates
            results[call["id"]] = _result(
                call, "The plan is changed." if taken else "That is no plan: it has no steps.", is_error=not taken
            )
        else:
            calls.append(risked)
    return {"calls": calls, "questions": questions, "results": results, "planUpdates": updates}


def _arguments(call: Mapping[str, Any]) -> Json:
    try:
        found = json.loads(call.get("arguments") or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _result(call: Mapping[str, Any], text: str, *, is_error: bool = False) -> Json:
    found = {"type": "toolResult", "callId": call["id"], "parts": [{"type": "text", "text": text}]}
    return {**found, "isError": True} if is_error else found


def call_tools(context: Context, event: Event, enqueue: Enqueue[Any, Any]) -> None:
    """Start the calls together, and tell of each; and tell of a plan that was changed."""
    if context["planUpdates"] is not None:
        enqueue.send_parent(
            {"type": "AGENT_PLAN", "agentId": context["agentId"], "planUpdates": context["planUpdates"]}
        )
    for call in context["calls"]:
        told = {"id": call["id"], "name": call["name"], "arguments": call["arguments"]}
        enqueue.send_parent({"type": "AGENT_TOOL_CALL", "agentId": context["agentId"], "toolCall": told})
    if context["calls"]:
        consent = context["consent"]
        request = f"{context['turnId']}{context['agentId']}-tools-{context['turns']}"
        input = {"requestId": request, "calls": context["calls"], "consent": consent}
        limit = consent.get("timeoutMs")
        enqueue.spawn_child(TOOLS, id=TOOLS, input=input if limit is None else {**input, "timeoutMs": limit})


def keep_results(context: Context, event: Event) -> Json:
    """What the tools gave, and what a person allowed from now on."""
    output = event["output"]
    found = {result["callId"]: result for result in output["results"]}
    permission, consent = output.get("permission"), context["consent"]
    if permission and permission["decision"] == "allowed" and permission["scope"] == "thread":
        known = consent.get("overrides", [])
        new = [one for one in lasting_overrides(permission["calls"]) if one not in known]
        consent = {**consent, "overrides": [*known, *new]}
    results = {**context["results"], **found}
    return {"results": results, "lost": bool(output.get("lost")), "consent": consent, "waiting": None}


def fail_calls(context: Context, event: Event) -> Json:
    """Why no tool gave anything."""
    text = f"failed: {error_of(event.get('error'))['message']}"
    failed = {call["id"]: _result(call, text, is_error=True) for call in context["calls"]}
    return {"results": {**context["results"], **failed}, "lost": is_loss(event.get("error")), "waiting": None}


def tell_results(context: Context, event: Event, enqueue: Enqueue[Any, Any]) -> None:
    """Tell of every result."""
    for call in context["calls"]:
        result = context["results"].get(call["id"]) or {}
        told = {"id": call["id"], "name": call["name"], "isError": bool(result.get("isError"))}
        enqueue.send_parent({"type": "AGENT_TOOL_RESULT", "agentId": context["agentId"], "toolResult": told})


def ask_person(context: Context, event: Event, enqueue: Enqueue[Any, Any]) -> None:
    """Ask the first question that has no answer."""
    open_ = [one for one in context["questions"] if one["id"] not in context["results"]]
    if open_ and not context["cancelled"] and not context["lost"]:
        asked = {"reason": "question", **open_[0]}
        enqueue.assign({"waiting": asked})
        enqueue.send_parent({"type": "AGENT_WAITS", "agentId": context["agentId"], **asked})


def keep_answer(context: Context, event: Event) -> Json:
    """What the person said."""
    text = event.get("text") or event.get("reason") or event.get("decision") or ""
    asked = context["waiting"]
    return {
        "results": {**context["results"], asked["id"]: _result(asked, str(text))},
        "at": event.get("at", context["at"]),
        "waiting": None,
    }


def is_all_answered(context: Context) -> bool:
    """Whether every question has its answer."""
    return all(one["id"] in context["results"] for one in context["questions"])


def answer_calls(context: Context) -> Json:
    """The conversation with a result for every call of the last reply, in order."""
    last = context["messages"][-1]
    results = [
        context["results"].get(call["id"]) or _result(call, "cancelled", is_error=True)
        for call in calls_of(last["parts"])
    ]
    messages = [*context["messages"], {"role": "tool", "parts": results}] if results else context["messages"]
    return {"messages": messages, "calls": [], "questions": [], "results": {}}


def answer_permission(context: Context, event: Event, enqueue: Enqueue[Any, Any]) -> None:
    """Give a person's answer to the tools that wait for it."""
    answer: Json = {"type": "ALLOW" if event.get("decision") == "allow" else "DENY"}
    answer |= {key: event[key] for key in ("id", "scope", "reason") if event.get(key) is not None}
    enqueue.send_to(TOOLS, answer)


def note_waiting(context: Context, event: Event) -> Json:
    """A person is asked for permission."""
    asked = {key: event[key] for key in ("id", "calls", "timeoutMs") if key in event}
    return {"waiting": {"reason": "permission", **asked}}


def tell_waiting(context: Context, event: Event, enqueue: Enqueue[Any, Any]) -> None:
    """Tell that a person is asked."""
    enqueue.send_parent({"type": "AGENT_WAITS", "agentId": context["agentId"], **(context["waiting"] or {})})


def go_on_if_waited(context: Context, event: Event, enqueue: Enqueue[Any, Any]) -> None:
    """Tell that nobody is asked any more, if the tools went on without an answer."""
    if context["waiting"] is not None and not event["output"].get("lost"):
        enqueue.send_parent({"type": "AGENT_GOES_ON", "agentId": context["agentId"]})


def tell_message(context: Context, event: Event, enqueue: Enqueue[Any, Any]) -> None:
    """Tell what the model said, and what that cost."""
    parts = (event.get("message") or {}).get("parts") or []
    message = {"role": "assistant", "content": text_of(parts)}
    facts = {key: event.get(key) for key in ("usage", "costUsd")}
    told = {"type": "AGENT_MESSAGE", "agentId": context["agentId"], "message": message, "at": context["at"], **facts}
    enqueue.send_parent(told)


def conclude(context: Context, event: Event) -> Json:
    """How the turn ended: well, unless a plan or a form was wanted and did not come."""
    agent = context["agent"] or {}
    found = object_in(context["summary"])
    updates = context["planUpdates"] or (found if plan_of(found) is not None else None)
    if event.get("stop") not in (None, "end", "stop_sequence", "tool_calls"):
        return {"outcome": "exhausted", "summary": EXHAUSTED, "planUpdates": updates}
    wrong = _schema_problem(context, event)
    if wrong is None and agent.get("plans") and updates is None:
        wrong = "it gave no valid plan"
    if wrong is not None:
        error = {"name": "InvalidOutput", "code": "invalid_output", "message": wrong, "recoverable": True}
        return {"outcome": "failed", "error": error, "planUpdates": updates}
    return {"outcome": "done", "planUpdates": updates}


def output(context: Context) -> Json:
    """What the turn was good for."""
    outcome, agent = context["outcome"], context["agent"] or {}
    found: Json = {
        "agent": agent.get("name"),
        "step": context["step"],
        "success": outcome == "done",
        "summary": context["summary"],
        "output": context["summary"],
        "usage": context["usage"],
        "costUsd": context["costUsd"],
        "turns": context["turns"],
        "at": context["at"],
        "messages": context["messages"],
        "toolCalls": tool_calls(context["messages"][context["fresh"] :]),
        "overrides": context["consent"].get("overrides", []),
    }
    if context["planUpdates"] is not None:
        found["planUpdates"] = context["planUpdates"]
    if context["cancelled"]:
        found["cancelled"] = True
    if outcome == "exhausted":
        found["exhausted"] = True
    if context["error"] is not None:
        found["error"] = context["error"]
        # A turn whose model could not be asked has failed outright; one that gave a bad answer has not.
        found["failedOutright"] = context["error"]["code"] != "invalid_output"
    return found


CHART = load_chart(__name__)
_agents = setup[Context, Any](
    guards={
        "wantsTools": lambda context, event: bool(_calls(event)),
        "mustGoOn": lambda context, event: (
            event.get("stop") in ("length", "pause") and context["turns"] < context["maxTurns"]
        ),
        "mustAnswerAgain": lambda context, event: (
            not context["reasked"] and _schema_problem(context, event) is not None
        ),
        "isLoss": lambda context, event: is_loss(event.get("error")),
        "isAnswered": lambda context: not context["calls"],
        "isWaiting": lambda context: context["waiting"] is not None,
        "isCancelled": lambda context: context["cancelled"],
        "isLost": lambda context: context["lost"],
        "isExhausted": lambda context: is_all_answered(context) and context["turns"] >= context["maxTurns"],
        "isAllAnswered": is_all_answered,
    },
    actions={
        "askModel": enqueue_actions(ask_model),
        "stopReply": stop_child(REPLY),
        "keepReply": assign(keep_reply),
        "tellMessage": enqueue_actions(tell_message),
        "sortCalls": assign(sort_calls),
        "promptAgain": assign({"messages": lambda context: [*context["messages"], _said(GO_ON)]}),
        "complain": assign(
            lambda context, event: {
                "reasked": True,
                "messages": [*context["messages"], _said(f"That does not fit: {_schema_problem(context, event)}.")],
            }
        ),
        "conclude": assign(conclude),
        "fail": assign(lambda context, event: {"outcome": "failed", "error": error_of(event.get("error"))}),
        "noteCancelled": assign({"cancelled": True}),
        "exhaust": assign({"outcome": "exhausted", "summary": EXHAUSTED}),
        "callTools": enqueue_actions(call_tools),
        "stopTools": stop_child(TOOLS),
        "noteWaiting": assign(note_waiting),
        "tellWaiting": enqueue_actions(tell_waiting),
        "forgetWaiting": assign({"waiting": None}),
        "goOnIfWaited": enqueue_actions(go_on_if_waited),
        "answerPermission": enqueue_actions(answer_permission),
        "keepResults": assign(keep_results),
        "failCalls": assign(fail_calls),
        "tellResults": enqueue_actions(tell_results),
        "askPerson": enqueue_actions(ask_person),
        "keepAnswer": assign(keep_answer),
        "answerCalls": assign(answer_calls),
        "tellLost": enqueue_actions(
            lambda context, event, enqueue: enqueue.send_parent({"type": "AGENT_LOST", "agentId": context["agentId"]})
        ),
        "comeBack": assign({"lost": False}),
    },
    # Who speaks and who calls tools are provided by a composition.
    actors={REPLY: create_machine({"id": "silence"}), TOOLS: create_machine({"id": "idle"})},
)
agent_machine: Machine[Context, Any] = _agents.create_machine({**CHART, "context": first_context, "output": output})
"""Machine of one agent at work."""
