"""The request of the tools to a person, while the reply waits for it."""

from typing import cast

from antiphon.chat.machine.context import FlowContext, PendingReply
from antiphon.chat.machine.replies import current_reply
from antiphon.threads.machine.thread_events import RequestJson
from antiphon.threads.machine.tools import Wait

TOOLS = "tools"


def keep_request(context: FlowContext, event: Wait) -> FlowContext:
    """Record that the tools wait for a person, and their request; other tools may wait without one."""
    reply: PendingReply = {**current_reply(context), "waiting": True, "request": None}
    if "address" in event:
        request = {key: value for key, value in event.items() if key != "type"}
        reply["request"] = cast(RequestJson, {**request, "address": f"{TOOLS}/{event['address']}"})
    return {**context, "reply": reply}


def forget_request(context: FlowContext) -> FlowContext:
    """Record that the tools wait for nobody any more."""
    return {**context, "reply": {**current_reply(context), "waiting": False, "request": None}}
