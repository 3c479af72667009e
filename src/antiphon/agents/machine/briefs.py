"""What agents and the arbiter are told: bounded, the latest first to stay, long texts cut in the middle."""

from collections.abc import Mapping, Sequence
from typing import Any

from antiphon.agents.machine.plan import Plan, ready_steps

RECENT, RECENT_WHEN_FAILING, FAILING = 5, 10, 2
SHORT, LONG = 300, 2_000
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


def recent(history: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """As much of a history as is told at most."""
    return history[-RECENT_WHEN_FAILING:]


def history_lines(history: Sequence[Mapping[str, Any]], before: int = 0) -> list[str]:
    """What was done lately, after so many turns before: more of it when much failed, and the last at length."""
    shown = recent(history)
    if [entry["result"] for entry in shown].count("failure") <= FAILING:
        shown = shown[-RECENT:]
    if not shown:
        return ["Nothing has been done yet."]
    left_out = before + len(history) - len(shown)
    lines = [f"{left_out} earlier turns are not shown."] if left_out else []
    return [*lines, *[_turn(entry, SHORT) for entry in shown[:-1]], _turn(shown[-1], LONG)]


def _turn(entry: Mapping[str, Any], limit: int) -> str:
    words = entry.get("error") or entry.get("output") or ""
    return f"- {entry['agent']} ({entry['result']}): {words if len(words) <= limit else cut(words, limit)}"


def error_lines(error: Mapping[str, Any] | None) -> list[str]:
    """What went wrong last, and what that means."""
    if error is None:
        return []
    kind = ADVICE.get(str(error["code"])[:1])
    return [f"The last error: {cut(error['message'], SHORT)}" + (f" ({kind})" if kind else "")]


def agent_prompt(input: Mapping[str, Any], step: int | None) -> str:
    """What an agent of a crew is told when its turn begins."""
    plan: Plan | None = input["plan"]
    lines = [f"Task: {input['task']}", "", *plan_lines(plan)]
    own = step if step is not None else (plan["currentStepIndex"] if plan else None)
    if plan is not None and own is not None and own < len(plan["steps"]):
        lines.append(f"Your step is {own}: {plan['steps'][own]['description']}")
    if input["history"]:
        lines += ["", "What was done so far:", *history_lines(input["history"], input["turnsBefore"])]
    lines += error_lines(input["lastError"])
    lines += [f"The person adds: {cut(text, LONG)}" for text in input["guidance"]]
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
