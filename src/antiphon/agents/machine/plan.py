"""Plans as data: steps with a status and what they depend on; a new version keeps what is finished.

1. A plan is always whole: what an agent says of it is made whole here, or is not taken.
2. A step that is complete or skipped stays so, whatever a later version says.
3. `currentStepIndex` is the first step that is not finished; `isComplete` holds when there is none.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict, cast, get_args

StepStatus = Literal["pending", "in_progress", "complete", "failed", "skipped"]
PlanStatus = Literal["draft", "in_progress", "complete", "failed"]
STATUSES: tuple[StepStatus, ...] = get_args(StepStatus)
FINISHED: tuple[StepStatus, ...] = ("complete", "skipped")
MOST_STEPS = 100
LOW_CONFIDENCE = 0.5


class PlanStep(TypedDict):
    """One step of a plan."""

    index: int
    description: str
    status: StepStatus
    dependsOn: list[int]
    agent: NotRequired[str]
    agentUsed: NotRequired[str]


class Plan(TypedDict):
    """What is to be done, in order."""

    version: int
    status: PlanStatus
    steps: list[PlanStep]
    currentStepIndex: int
    isComplete: bool
    confidence: NotRequired[float]


def plan_of(updates: Any, before: Plan | None = None) -> Plan | None:
    """The plan after what an agent said of it; nothing, or the plan before, if that is no plan."""
    if updates is None or not isinstance(updates, Mapping):
        return before
    steps = _steps(updates.get("steps"))
    if not steps:
        return before
    if before is not None and updates.get("partial"):
        return _with_statuses(before, steps)
    kept = [] if before is None else [step for step in before["steps"] if step["status"] in FINISHED]
    same = {step["description"]: step for step in kept}
    fresh = [same.get(step["description"], step) for step in steps]
    if before is not None:
        mentioned = {step["description"] for step in fresh}
        left_out = [step for step in kept if step["description"] not in mentioned]
        fresh = [*left_out, *(_moved(step, len(left_out)) for step in fresh)]
    plan = {"version": before["version"] + 1 if before else 1, "status": "draft"}
    return _settled(cast(Plan, {**plan, **_confidence(updates)}), fresh)


def _moved(step: PlanStep, by: int) -> PlanStep:
    moved: PlanStep = {**step, "dependsOn": [index + by for index in step["dependsOn"]]}
    return moved if step["status"] not in FINISHED else {**moved, "dependsOn": []}


def _with_statuses(plan: Plan, steps: Sequence[PlanStep]) -> Plan:
    """The plan with the status of some steps changed; which step is meant, its index says."""
    for step in steps:
        plan = with_step(plan, step["index"], step["status"])
    return plan


def _steps(given: Any) -> list[PlanStep]:
    if not isinstance(given, Sequence) or isinstance(given, str):
        return []
    return [step for index, one in enumerate(given[:MOST_STEPS]) if (step := _step(one, index)) is not None]


def _step(given: Any, index: int) -> PlanStep | None:
    known = {"description": given} if isinstance(given, str) else given
    if not isinstance(known, Mapping):
        return None
    said = known.get("index")
    place = said if isinstance(said, int) and not isinstance(said, bool) else index
    status = known.get("status")
    needs = known.get("dependsOn")
    step: PlanStep = {
        "index": place,
        "description": str(known.get("description") or f"Step {place + 1}").strip(),
        "status": status if status in STATUSES else "pending",
        "dependsOn": [one for one in needs if isinstance(one, int)] if isinstance(needs, list) else [],
    }
    for key in ("agent", "agentUsed"):
        if isinstance(known.get(key), str):
            step[key] = known[key]
    return step


def _confidence(updates: Mapping[str, Any]) -> dict[str, float]:
    given = updates.get("confidence")
    is_share = isinstance(given, int | float) and not isinstance(given, bool) and 0 <= given <= 1
    return {"confidence": float(given)} if is_share and given is not None else {}


def _settled(plan: Plan, steps: Sequence[PlanStep]) -> Plan:
    """The plan with these steps, and everything that follows from them."""
    numbered: list[PlanStep] = [{**step, "index": index} for index, step in enumerate(steps)]
    current = next((step["index"] for step in numbered if step["status"] not in FINISHED), len(numbered))
    is_complete = bool(numbered) and current == len(numbered)
    failed = any(step["status"] == "failed" for step in numbered)
    begun = any(step["status"] != "pending" for step in numbered)
    status: PlanStatus = (
        "complete" if is_complete else "failed" if failed else "in_progress" if begun else plan["status"]
    )
    return {**plan, "steps": numbered, "currentStepIndex": current, "isComplete": is_complete, "status": status}


def with_step(plan: Plan, index: int | None, status: StepStatus, agent: str | None = None) -> Plan:
    """The plan with the status of a step changed; a finished step stays as it is."""
    used = {"agentUsed": agent} if agent else {}
    steps: list[Any] = [
        {**step, "status": status, **used} if step["index"] == index and step["status"] not in FINISHED else step
        for step in plan["steps"]
    ]
    return _settled(plan, steps)


def current_step(plan: Plan | None) -> PlanStep | None:
    """The first step that is not finished."""
    if plan is None or plan["currentStepIndex"] >= len(plan["steps"]):
        return None
    return plan["steps"][plan["currentStepIndex"]]


def ready_steps(plan: Plan | None) -> list[PlanStep]:
    """The steps that can be begun now: not finished, and everything they depend on is."""
    if plan is None:
        return []
    finished = {step["index"] for step in plan["steps"] if step["status"] in FINISHED}
    return [step for step in plan["steps"] if step["status"] not in FINISHED and finished.issuperset(step["dependsOn"])]


def problems_with(plan: Plan | None, agents: Sequence[str] = ()) -> list[str]:
    """What is wrong with a plan, in words."""
    if plan is None:
        return ["there is no plan"]
    known = range(len(plan["steps"]))
    found = [
        f"step {step['index']} depends on {need}, which is no step"
        for step in plan["steps"]
        for need in step["dependsOn"]
        if need not in known
    ]
    found += [f"step {index} depends on itself" for index in _in_circles(plan)]
    if agents:
        found += [
            f"step {step['index']} is for {step['agent']!r}, which is no agent"
            for step in plan["steps"]
            if step.get("agent") not in (None, *agents)
        ]
    return found


def _in_circles(plan: Plan) -> list[int]:
    needs = {step["index"]: set(step["dependsOn"]) for step in plan["steps"]}
    while free := [index for index, wanted in needs.items() if not wanted & needs.keys()]:
        for index in free:
            del needs[index]
    return sorted(needs)


def checked(plan: Plan | None, agents: Sequence[str] = ()) -> dict[str, Any]:
    """A plan as a dry run gives it: with what is wrong with it, and how sure one can be of it."""
    warnings = problems_with(plan, agents)
    given = 0.0 if plan is None else plan.get("confidence", 1.0)
    confidence = round(given * 0.5 ** len(warnings), 3)
    return {"plan": plan, "warnings": warnings, "confidence": confidence, "isSure": confidence >= LOW_CONFIDENCE}
