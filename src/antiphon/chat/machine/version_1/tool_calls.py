"""The tool calls of version 1 of the chat: rated by the machine, and allowed for the whole thread."""

from typing import Any

from antiphon.chat.machine.tool_calls import keep_answers_by, tools_input
from antiphon.threads.machine.former import Context, Event, Json
from antiphon.threads.machine.version_1.permission_rules import lasting_overrides
from antiphon.threads.machine.version_1.risk import risk_of_call


def tools_input_1(context: Context) -> Json:
    """Return the input of the tools, with the risks that the machine rated itself."""
    # Calls that cannot be made were left to the tools.
    input = tools_input(context)
    calls = [{key: value for key, value in call.items() if key != "problem"} for call in input["calls"]]
    return {**input, "calls": [{**call, "risk": risk_of_call(call["risk"], call["arguments"])} for call in calls]}


def keep_answers_1(context: Context, event: Event) -> Context:
    """Append the results of the tools, and remember what was allowed for the thread."""
    permission = event["output"]["permission"]
    lasts = permission and permission["decision"] == "allowed" and permission["scope"] == "thread"
    overrides: Any = lasting_overrides(permission["calls"]) if lasts else ()
    return keep_answers_by(overrides, context, event)
