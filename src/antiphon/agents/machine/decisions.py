"""Decisions of an arbiter: the agent that works next, or the end of the task."""

from collections.abc import Mapping, Sequence
from typing import Literal, NotRequired, TypedDict, cast

DecisionType = Literal["SELECT_MODE", "CONTINUE", "COMPLETE", "RETRY"]
MAPPING = (dict, Mapping)  # most are dicts, for which the check is faster
MOST_PARALLEL = 4
LONGEST_REASON = 2_000


class Assignment(TypedDict):
    """An agent, and the step that it is assigned, if any."""

    mode: str
    step: NotRequired[int | None]


class ArbiterDecision(TypedDict):
    """A decision; `parallel` names agents that work side by side, `completed` the steps that are done."""

    type: DecisionType
    mode: NotRequired[str]
    reason: NotRequired[str]
    summary: NotRequired[str]
    parallel: NotRequired[list[Assignment]]
    completed: NotRequired[list[int]]


class PartialDecision(TypedDict, total=False):
    """A decision as an event brings it: unchecked, and possibly incomplete."""

    type: DecisionType
    mode: str
    reason: str
    summary: str
    parallel: list[Assignment]
    completed: list[int]


class DecisionEvent(TypedDict):
    """An event that may bring a decision: itself from outside, in `output` from an arbiter."""

    type: str
    decision: NotRequired[object]
    output: NotRequired[object]


def decision_schema(agents: Sequence[str], *, is_first: bool = False) -> dict[str, object]:
    """Return the JSON Schema of a decision among some agents; flat, so that small models can follow it.

    The first decision of a task selects an agent: there is nothing yet to continue, to repeat or to complete.
    """
    types = ["SELECT_MODE"] if is_first and agents else ["SELECT_MODE", "CONTINUE", "COMPLETE", "RETRY"]
    mode: dict[str, object] = {"type": "string", "enum": list(agents)} if agents else {"type": "string"}
    assignment = {
        "type": "object",
        "properties": {"mode": mode, "step": {"type": "integer", "minimum": 0}},
        "required": ["mode"],
    }
    words = {"type": "string", "maxLength": LONGEST_REASON}
    return {
        "type": "object",
        "properties": {
            "type": {"type": "string", "enum": types},
            "mode": mode,
            "reason": words,
            "summary": words,
            "parallel": {"type": "array", "items": assignment, "maxItems": MOST_PARALLEL},
            "completed": {"type": "array", "items": {"type": "integer", "minimum": 0}, "maxItems": 100},
        },
        "required": ["type", "mode"] if is_first and agents else ["type"],
        "allOf": [
            {"anyOf": [{"properties": {"type": {"enum": ["CONTINUE", "RETRY", "COMPLETE"]}}}, {"required": ["mode"]}]}
        ],
    }


def assignments_of(decision: PartialDecision | ArbiterDecision, steps: Sequence[int] | None = None) -> list[Assignment]:
    """Return the assignments of a decision, each step once; without steps of their own, a single agent."""
    assignments: list[Assignment] = []
    assigned: set[int] = set()
    for assignment in decision.get("parallel") or ():
        step = assignment.get("step")
        if step is None or step in assigned or (steps is not None and step not in steps):
            continue
        assigned.add(step)
        assignments.append({"mode": assignment["mode"], "step": step})
    if len(assignments) > 1:
        return sorted(assignments, key=lambda assignment: assignment.get("step") or 0)
    return [{"mode": str(decision.get("mode") or ""), "step": None}]


def is_too_wide(decision: PartialDecision) -> bool:
    """Return whether a decision selects more agents than can work side by side."""
    return len(decision.get("parallel") or ()) > MOST_PARALLEL


def decision_of(event: DecisionEvent) -> PartialDecision:
    """Return the decision in an event: from the end of an arbiter, or from outside."""
    # Guards call this many times a turn, and `isinstance(None, Mapping)` is slow.
    decision = event.get("decision")
    if decision is None or not isinstance(decision, MAPPING):
        output = event.get("output")
        if output is None or not isinstance(output, MAPPING):
            return {}
        decision = output.get("decision")
        if decision is None or not isinstance(decision, MAPPING):
            decision = output
    return cast(PartialDecision, decision)
