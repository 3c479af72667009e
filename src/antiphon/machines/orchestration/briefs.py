"""What agents and the arbiter are told: bounded, the latest first to stay, long texts cut in the middle."""

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

from antiphon.machines.orchestration.plan import Plan, ready_steps

RECENT, RECENT_WHEN_FAILING, FAILING = 5, 10, 2
SHORT, LONG = 300, 2_000
RESULT = itemgetter("result")
MARKS = {"pending": " ", "in_progress": ">", "complete": "x", "failed": "!", "skipped": "-"}
ADVICE = {
    "1": "a fault that passes: trying again may help",
    "2": "a missing or wrong key: trying again does not help",
    "3": "a limit of the provider: waiting may help",
    "9": "a request that cannot be served: do something else",
}


def cut(text: str, limit: int) -> str:
    """A text of at most so many characters; what is left out is in the middle, and said."""
    if len(text) <= limit:
        return text
    half = (limit - 20) // 2
    return f"{text[:half]} […{len(text) - 2 * half} more…] {text[-half:]}"


def plan_lines(plan: Plan | None) -> list[str]:
    """A plan in words."""
    if plan is None:
        return ["There is no plan yet."]
    lines = [f"Plan, version {plan['version']}:"]
    for step in plan["steps"]:
        needs = f" (after {', '.join(map(str, step['dependsOn']))})" if step["dependsOn"] else ""
        who = f" by {step['agentUsed']}" if step.get("agentUsed") else ""
        lines.append(f"  [{MARKS[step['status']]}] {step['index']}. {cut(step['description'], SHORT)}{needs}{who}")
    return lines


def history_lines(history: Sequence[Mapping[str, Any]]) -> list[str]:
    """What was done lately: more of it when much failed, and the last at length."""
    shown = history[-RECENT_WHEN_FAILING:]
    if list(map(RESULT, shown)).count("failure") <= FAILING:
        shown = shown[-RECENT:]
    if not shown:
        return ["Nothing has been done yet."]
    lines = [f"{len(history) - len(shown)} earlier turns are not shown."] if len(shown) < len(history) else []
    last = shown[-1]
    for entry in shown:
        words = entry.get("error") or entry.get("output") or ""
        lines.append(f"- {entry['agent']} ({entry['result']}): {cut(words, LONG if entry is last else SHORT)}")
    return lines


def error_lines(error: Mapping[str, Any] | None) -> list[str]:
    """What went wrong last, and what that means."""
    if error is None:
        return []
    kind = ADVICE.get(str(error["code"])[:1])
    return [f"The last error: {cut(error['message'], SHORT)}" + (f" ({kind})" if kind else "")]


def agent_prompt(context: Mapping[str, Any], step: int | None) -> str:
    """What an agent is told when its turn begins."""
    plan: Plan | None = context["plan"]
    lines = [f"Task: {context['task']}", "", *plan_lines(plan)]
    own = step if step is not None else (plan["currentStepIndex"] if plan else None)
    if plan is not None and own is not None and own < len(plan["steps"]):
        lines.append(f"Your step is {own}: {plan['steps'][own]['description']}")
    if context["history"]:
        lines += ["", "What was done so far:", *history_lines(context["history"])]
    lines += error_lines(context["lastError"])
    lines += [f"The person adds: {cut(text, LONG)}" for text in context["guidance"]]
    return "\n".join(lines)


def arbiter_brief(input: Mapping[str, Any], question: str) -> str:
    """What the arbiter is told before it decides."""
    lines = [question, "", f"Task: {cut(input['task'], LONG)}", "", *plan_lines(input.get("plan"))]
    ready = ready_steps(input.get("plan"))
    if len(ready) > 1:
        lines.append(f"Steps that do not wait for others: {', '.join(str(step['index']) for step in ready)}")
    lines += ["", "What was done so far:", *history_lines(input.get("history") or [])]
    lines += error_lines(input.get("lastError"))
    lines += ["", "Agents:", *(f"- {name}: {use}" for name, use in (input.get("available") or {}).items())]
    limits = input.get("limits") or {}
    left = [f"{limits['iterations']} more turns"] if "iterations" in limits else []
    left += [f"{limits['costUsd']:.4f} USD"] if limits.get("costUsd") is not None else []
    return "\n".join([*lines, *([f"Left: {', '.join(left)}"] if left else [])])
