"""Version 1 of the agent: it checked answers by their schema itself, and answers of people came from its parent."""

from typing import Any

from antiphon.agents.machine import agent, tool_calls
from antiphon.agents.machine.agent_config import SHELL, refusal
from antiphon.agents.machine.version_1.answer_schema import schema_problem
from antiphon.chart.actions import assign, enqueue_actions, spawn_child
from antiphon.threads.machine.charts import load_chart
from antiphon.threads.machine.content import text_of
from antiphon.threads.machine.former import AnyMachine, Context, Event, Json, Queue, bind_former
from antiphon.threads.machine.version_1.permission_rules import lasting_overrides
from antiphon.threads.machine.version_1.risk import risk_of_call
from antiphon.threads.machine.version_1.shell_syntax import FormerFilter
from antiphon.tools.risks import command_in


def _reply_input(context: Context) -> Json:
    input: Json = {**agent.reply_input(context)}
    return {**input, "options": {**context["options"], "tools": context["tools"]}}


def _ask_model(context: Context, event: Event, enqueue: Queue) -> None:
    enqueue.assign({"turns": context["turns"] + 1})
    enqueue(spawn_child(agent.REPLY, id=agent.REPLY, input=_reply_input))


def _problem(context: Context, event: Event) -> str | None:
    schema = context["agent"].get("responseSchema") if context["agent"] else None
    return schema_problem(text_of(tool_calls.reply_parts(event)), schema) if schema else None


def _must_answer_again(context: Context, event: Event) -> bool:
    return not context["reasked"] and _problem(context, event) is not None


def _complain(context: Context, event: Event) -> Context:
    return agent.complain_about(str(_problem(context, event)), context)


def _conclude(context: Context, event: Event) -> Context:
    return agent.conclude_with(_problem(context, event), context, event)


def _refusal(agent: Any, call: Any, tools: Any) -> str | None:
    if agent is None or call["name"] in tool_calls.OWN:
        return None
    return refusal(agent, call) or _command_refusal(agent, call)


def _command_refusal(agent: Any, call: Any) -> str | None:
    shell = agent.get("shell") or {}
    if call["name"] != SHELL:
        return None
    command = command_in(call["arguments"])
    if command is None:
        return None if not shell else f"the agent {agent['name']!r} may not run a command that cannot be read"
    problem = FormerFilter(shell.get("allowed"), shell.get("blocked", ())).problem(command)
    return None if problem is None else f"the agent {agent['name']!r} may not run this: {problem}"


def _risk(call: Any, tools: Any) -> str:
    tool = tools.get(call["name"])
    return risk_of_call(tool.get("risk") if tool else None, call["arguments"])


def _sort_calls(context: Context, event: Event) -> Any:
    return tool_calls.sort_calls_by(_refusal, _risk, context, event)


def _call_tools(context: Context, event: Event, enqueue: Queue) -> None:
    # The filter of commands was applied before.
    former: Any = {**context, "agent": None}
    tool_calls.call_tools(former, event, enqueue)


def _keep_results(context: Context, event: Event) -> Any:
    permission = event["output"].get("permission")
    lasts = permission and permission["decision"] == "allowed" and permission["scope"] == "thread"
    overrides: Any = lasting_overrides(permission["calls"]) if lasts else ()
    return tool_calls.keep_results_by(overrides, context, event)


def _ask_person(context: Context, event: Event, enqueue: Queue) -> None:
    unanswered = [question for question in context["questions"] if question["id"] not in context["results"]]
    if unanswered and not context["cancelled"] and not context["lost"]:
        waiting = {"reason": "question", **unanswered[0]}
        enqueue.assign({"waiting": waiting})
        enqueue.send_parent({"type": "AGENT_WAITS", "agentId": context["agentId"], **waiting})


def _keep_answer(context: Context, event: Event) -> Context:
    text = event.get("text") or event.get("reason") or event.get("decision") or ""
    return tool_calls.keep_text(str(text), context["waiting"]["id"], context, event)


def _answer_permission(context: Context, event: Event, enqueue: Queue) -> None:
    answer = {key: event[key] for key in ("id", "scope", "reason") if event.get(key) is not None}
    enqueue.send_to(tool_calls.TOOLS, {"type": "ALLOW" if event.get("decision") == "allow" else "DENY", **answer})


def _go_on_if_waited(context: Context, event: Event, enqueue: Queue) -> None:
    if context["waiting"] is not None and not event["output"].get("lost"):
        enqueue.send_parent({"type": "AGENT_GOES_ON", "agentId": context["agentId"]})


agent_machine_1: AnyMachine = bind_former(
    agent.agent_machine,
    load_chart(__name__),
    actions={
        "askModel": enqueue_actions(_ask_model),
        "complain": assign(_complain),
        "conclude": assign(_conclude),
        "askPerson": enqueue_actions(_ask_person),
        "sortCalls": assign(_sort_calls),
        "callTools": enqueue_actions(_call_tools),
        "keepResults": assign(_keep_results),
        "keepAnswer": assign(_keep_answer),
        "answerPermission": enqueue_actions(_answer_permission),
        "goOnIfWaited": enqueue_actions(_go_on_if_waited),
    },
    guards={"isLoss": agent.is_loss_event, "mustAnswerAgain": _must_answer_again},
    output=agent.turn_result,
)
