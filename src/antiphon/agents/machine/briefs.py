"""Prompts of agents and of the arbiter: bounded, recent turns first to stay, long texts cut in the middle."""

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

from antiphon.agents.machine.plan import TaskPlan, ready_steps
from antiphon.agents.machine.results import ExecutionEntry, RunError

RECENT = 5
RECENT_WHEN_FAILING = 10
FAILING = 2
SHORT = 300
LONG = 2_000
MARKS = {"pending": " ", "in_progress": ">", "complete": "x", "failed": "!", "skipped": "-"}
ADVICE = {
    "1": "a fault that passes: trying again may help",
    "2": "a missing or wrong key: trying again does not help",
    "3": "a limit of the provider: waiting may help",
    "9": "a request that cannot be served: do something else",
}


class PromptInput(TypedDict):
    """The facts in the prompt of an agent."""

    task: str
    plan: TaskPlan | None
    history: Sequence[ExecutionEntry]
    turnsBefore: int
    lastError: RunError | None
    guidance: Sequence[str]


class BriefLimits(TypedDict, total=False):
    """The remaining limits of a run, as the arbiter sees them."""

    iterations: int
    costUsd: float | None


class BriefInput(TypedDict):
    """The facts in the prompt of the arbiter; `available` has the use of every agent."""

    task: str
    plan: NotRequired[TaskPlan | None]
    history: NotRequired[Sequence[ExecutionEntry] | None]
    lastError: NotRequired[RunError | None]
    available: NotRequired[Mapping[str, str] | None]
    limits: NotRequired[BriefLimits | None]


def cut(text: str, limit: int) -> str:
    """Shorten a text to at most `limit` characters by replacing its middle with a note."""
    if len(text) <= limit:
        return text
    half = (limit - 20) // 2
    return f"{text[:half]} […{len(text) - 2 * half} more…] {text[-half:]}"


def plan_lines(plan: TaskPlan | None) -> list[str]:
    """Describe a plan, one line for each step."""
    if plan is None:
        return ["There is no plan yet."]
    lines = [f"Plan, version {plan['version']}:"]
    for step in plan["steps"]:
        needs = f" (after {', '.join(map(str, step['dependsOn']))})" if step["dependsOn"] else ""
        agent = f" by {step['agentUsed']}" if step.get("agentUsed") else ""
        lines.append(f"  [{MARKS[step['status']]}] {step['index']}. {cut(step['description'], SHORT)}{needs}{agent}")
    return lines


def recent(history: Sequence[ExecutionEntry]) -> Sequence[ExecutionEntry]:
    """Return the longest part of a history that a prompt shows."""
    return history[-RECENT_WHEN_FAILING:]


def history_lines(history: Sequence[ExecutionEntry], before: int = 0) -> list[str]:
    """Describe the recent turns: more of them when many failed, the last one at length.

    `before` is the number of turns before the history.
    """
    entries = recent(history)
    if [entry["result"] for entry in entries].count("failure") <= FAILING:
        entries = entries[-RECENT:]
    if not entries:
        return ["Nothing has been done yet."]
    left_out = before + len(history) - len(entries)
    lines = [f"{left_out} earlier turns are not shown."] if left_out else []
    return [*lines, *[_turn(entry, SHORT) for entry in entries[:-1]], _turn(entries[-1], LONG)]


def _turn(entry: ExecutionEntry, limit: int) -> str:
    words = entry.get("error") or entry.get("output") or ""
    return f"- {entry['agent']} ({entry['result']}): {words if len(words) <= limit else cut(words, limit)}"


def error_lines(error: RunError | None) -> list[str]:
    """Describe the last error, with advice that follows from its code."""
    if error is None:
        return []
    advice = ADVICE.get(str(error["code"])[:1])
    return [f"The last error: {cut(error['message'], SHORT)}" + (f" ({advice})" if advice else "")]


def agent_prompt(input: PromptInput, step: int | None) -> str:
    """Write the prompt of an agent of a crew."""
    plan = input["plan"]
    lines = [f"Task: {input['task']}", "", *plan_lines(plan)]
    own = step if step is not None else (plan["currentStepIndex"] if plan else None)
    if plan is not None and own is not None and own < len(plan["steps"]):
        lines.append(f"Your step is {own}: {plan['steps'][own]['description']}")
    if input["history"]:
        lines += ["", "What was done so far:", *history_lines(input["history"], input["turnsBefore"])]
    lines += error_lines(input["lastError"])
    lines += [f"The person adds: {cut(text, LONG)}" for text in input["guidance"]]
    return "\n".join(lines)


def arbiter_brief(input: BriefInput, question: str) -> str:
    """Write the prompt of the arbiter."""
    lines = [question, "", f"Task: {cut(input['task'], LONG)}", "", *plan_lines(input.get("plan"))]
    ready = ready_steps(input.get("plan"))
    if len(ready) > 1:
        lines.append(f"Steps that do not wait for others: {', '.join(str(step['index']) for step in ready)}")
    lines += ["", "What was done so far:", *history_lines(input.get("history") or [])]
    lines += error_lines(input.get("lastError"))
    lines += ["", "Agents:", *(f"- {name}: {use}" for name, use in (input.get("available") or {}).items())]
    limits = input.get("limits") or {}
    remaining = [f"{limits['iterations']} more turns"] if "iterations" in limits else []
    cost = limits.get("costUsd")
    if cost is not None:
        remaining.append(f"{cost:.4f} USD")
    return "\n".join([*lines, *([f"Left: {', '.join(remaining)}"] if remaining else [])])
