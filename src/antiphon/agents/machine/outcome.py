"""The outcome of a task that an arbiter calls complete: it is not done if changes were denied, or steps are open.

A tool counts as denied if its last call that would have changed something was denied. An agent that is denied one file
and writes another has done its work; one that may write nothing has not.
"""

from collections.abc import Mapping, Sequence

from antiphon.agents.machine.agent_types import AgentContext, AgentUpdate, ToolsDone
from antiphon.agents.machine.context import OrchestratorContext, OrchestratorEnqueue, OrchestratorUpdate
from antiphon.agents.machine.log import line, write_line
from antiphon.agents.machine.plan import FINISHED
from antiphon.agents.machine.results import AgentResult

DENIED = "denied"
OPEN_STEPS = "open_steps"


def note_denials(context: AgentContext, event: ToolsDone) -> AgentUpdate:
    """Note for each tool of the calls whether its last change was denied, or was made."""
    output = event["output"]
    permission = output.get("permission")
    if permission is None or output.get("lost"):
        return {}
    failed = {result["callId"] for result in output["results"] if result.get("isError")}
    changing = [call for call in permission["calls"] if call["risk"] != "read"]
    if permission["decision"] == "allowed":
        names = [call["name"] for call in changing if call["id"] not in failed]
        return {"changed": _add(context["changed"], names), "denied": _remove(context["denied"], names)}
    names = [call["name"] for call in changing]
    return {"changed": _remove(context["changed"], names), "denied": _add(context["denied"], names)}


def denied_after(denied: Sequence[str], results: Sequence[AgentResult]) -> list[str]:
    """Return the tools that are denied after the turns of some agents."""
    tools = list(denied)
    for result in results:
        tools = _add(_remove(tools, result.get("changed") or ()), result.get("denied") or ())
    return tools


def _add(names: Sequence[str], more: Sequence[str]) -> list[str]:
    return list(dict.fromkeys([*names, *more]))


def _remove(names: Sequence[str], others: Sequence[str]) -> list[str]:
    return [name for name in names if name not in others]


def judge_outcome(context: OrchestratorContext, event: Mapping[str, object], enqueue: OrchestratorEnqueue) -> None:
    """Find out whether a completed task is done, and say so if it is not."""
    reason = reason_not_done(context) if context["reason"] == "completed" else None
    if reason is not None:
        text = f"Not done: {describe_rest(context, reason)}"
        write_line(context, enqueue, line("not_done", text, "warning", reason=reason))
        enqueue.assign(OrchestratorUpdate(reason=reason))


def reason_not_done(context: OrchestratorContext) -> str | None:
    """Return why a task that was called complete is not done, or None if it is."""
    if context["denied"]:
        return DENIED
    plan = context["plan"]
    return OPEN_STEPS if plan is not None and not plan["isComplete"] else None


def describe_rest(context: OrchestratorContext, reason: str) -> str:
    """Describe what is not done."""
    if reason == DENIED:
        return f"changes were denied ({', '.join(context['denied'])})"
    steps = context["plan"]["steps"] if context["plan"] is not None else []
    rest = sum(step["status"] not in FINISHED for step in steps)
    return f"{rest} of {len(steps)} steps of the plan {'is' if rest == 1 else 'are'} open"
