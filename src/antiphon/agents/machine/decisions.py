"""What an arbiter decides: who works next, or that the task is done."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict

DecisionType = Literal["SELECT_MODE", "CONTINUE", "COMPLETE", "RETRY"]
MAPPING = (dict, Mapping)  # most are dicts, which is quicker to see
MOST_PARALLEL = 4
LONGEST_REASON = 2_000


class Assignment(TypedDict):
    """An agent, and the step it is given, if it is given one."""

    mode: str
    step: NotRequired[int | None]


class Decision(TypedDict):
    """A decision; `parallel` names agents that work side by side, `completed` the steps that are done."""

    type: DecisionType
    mode: NotRequired[str]
    reason: NotRequired[str]
    summary: NotRequired[str]
    parallel: NotRequired[list[Assignment]]
    completed: NotRequired[list[int]]


def decision_schema(agents: Sequence[str]) -> dict[str, Any]:
    """The JSON Schema of a decision among some agents; flat, so that small models can be held to it."""
    mode: dict[str, Any] = {"type": "string", "enum": list(agents)} if agents else {"type": "string"}
    assignment = {
        "type": "object",
        "properties": {"mode": mode, "step": {"type": "integer", "minimum": 0}},
        "required": ["mode"],
    }
    words = {"type": "string", "maxLength": LONGEST_REASON}
    return {
        "type": "object",
        "properties": {
            "type": {"type": "string", "enum": ["SELECT_MODE", "CONTINUE", "COMPLETE", "RETRY"]},
            "mode": {"type": "string"},
            "reason": words,
            "summary": words,
            "parallel": {"type": "array", "items": assignment, "maxItems": MOST_PARALLEL},
            "completed": {"type": "array", "items": {"type": "integer", "minimum": 0}, "maxItems": 100},
        },
        "required": ["type"],
        "allOf": [
            # A mode that is no agent is not asked for again: the machine handles that, and counts it.
            {"anyOf": [{"properties": {"type": {"enum": ["CONTINUE", "RETRY", "COMPLETE"]}}}, {"required": ["mode"]}]}
        ],
    }


def assignments_of(decision: Mapping[str, Any], steps: Sequence[int] | None = None) -> list[Assignment]:
    """The agents that work next, each step once; without steps of their own there is one agent."""
    chosen: list[Assignment] = []
    taken: set[int] = set()
    for one in decision.get("parallel") or ():
        step = one.get("step")
        if step is None or step in taken or (steps is not None and step not in steps):
            continue
        taken.add(step)
        chosen.append({"mode": one["mode"], "step": step})
    if len(chosen) > 1:
        return sorted(chosen, key=lambda one: one.get("step") or 0)
    return [{"mode": str(decision.get("mode") or ""), "step": None}]


def is_too_wide(decision: Mapping[str, Any]) -> bool:
    """Whether a decision has more agents work side by side than can."""
    return len(decision.get("parallel") or ()) > MOST_PARALLEL


def decision_of(event: Mapping[str, Any]) -> Mapping[str, Any]:
    """The decision that an event brings: from an arbiter's end, or from outside."""
    # Guards ask this many times a turn, and to ask whether nothing is a mapping is slow.
    found: Mapping[str, Any] | None = event.get("decision")
    if found is None or not isinstance(found, MAPPING):
        output: Mapping[str, Any] | None = event.get("output")
        if output is None or not isinstance(output, MAPPING):
            return {}
        found = output.get("decision")
        if found is None or not isinstance(found, MAPPING):
            return output
    return found
