"""Plans: steps with a status and dependencies; a new version keeps the finished steps.

1. A plan is always complete: an update by an agent is completed here, or rejected.
2. A step that is complete or skipped stays so, whatever a later version contains.
3. `currentStepIndex` is the first step that is not finished; `isComplete` holds when there is none.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, NotRequired, TypedDict, get_args

StepStatus = Literal["pending", "in_progress", "complete", "failed", "skipped"]
PlanStatus = Literal["draft", "in_progress", "complete", "failed"]
STATUSES: tuple[StepStatus, ...] = get_args(StepStatus)
FINISHED: tuple[StepStatus, ...] = ("complete", "skipped")
MOST_STEPS = 100
LOW_CONFIDENCE = 0.5
NUMBER = (int, float)


class PlanStep(TypedDict):
    """One step of a plan."""

    index: int
    description: str
    status: StepStatus
    dependsOn: list[int]
    agent: NotRequired[str]
    agentUsed: NotRequired[str]


class TaskPlan(TypedDict):
    """The steps of a task, in order."""

    version: int
    status: PlanStatus
    steps: list[PlanStep]
    currentStepIndex: int
    isComplete: bool
    confidence: NotRequired[float]


class PlanReview(TypedDict):
    """The plan of a dry run, with its problems and a confidence from 0 to 1."""

    plan: TaskPlan | None
    warnings: list[str]
    confidence: float
    isSure: bool


def plan_of(updates: object, before: TaskPlan | None = None) -> TaskPlan | None:
    """Return the plan after an agent's update, or the plan before if the update is not a plan."""
    if updates is None or not isinstance(updates, Mapping):
        return before
    steps = _steps(updates.get("steps"))
    if not steps:
        return before
    if before is not None and updates.get("partial"):
        return _with_statuses(before, steps)
    finished = [] if before is None else [step for step in before["steps"] if step["status"] in FINISHED]
    by_description = {step["description"]: step for step in finished}
    new = [by_description.get(step["description"], step) for step in steps]
    if before is not None:
        descriptions = {step["description"] for step in new}
        left_out = [step for step in finished if step["description"] not in descriptions]
        new = [*left_out, *(_shift_step(step, len(left_out)) for step in new)]
    plan: TaskPlan = {
        "version": before["version"] + 1 if before else 1,
        "status": "draft",
        "steps": [],
        "currentStepIndex": 0,
        "isComplete": False,
    }
    confidence: object = updates.get("confidence")
    if isinstance(confidence, NUMBER) and not isinstance(confidence, bool) and 0 <= confidence <= 1:
        plan["confidence"] = float(confidence)
    return _with_steps(plan, new)


def _shift_step(step: PlanStep, by: int) -> PlanStep:
    shifted: PlanStep = {**step, "dependsOn": [index + by for index in step["dependsOn"]]}
    return shifted if step["status"] not in FINISHED else {**shifted, "dependsOn": []}


def _with_statuses(plan: TaskPlan, steps: Sequence[PlanStep]) -> TaskPlan:
    """Change the status of some steps, which are identified by their index."""
    for step in steps:
        plan = with_step(plan, step["index"], step["status"])
    return plan


def _steps(values: object) -> list[PlanStep]:
    if not isinstance(values, Sequence) or isinstance(values, str):
        return []
    return [step for index, value in enumerate(values[:MOST_STEPS]) if (step := _step(value, index)) is not None]


def _step(value: object, position: int) -> PlanStep | None:
    fields: object = {"description": value} if isinstance(value, str) else value
    if not isinstance(fields, Mapping):
        return None
    own_index: object = fields.get("index")
    index = own_index if isinstance(own_index, int) and not isinstance(own_index, bool) else position
    status: object = fields.get("status")
    depends_on: object = fields.get("dependsOn")
    step: PlanStep = {
        "index": index,
        "description": str(fields.get("description") or f"Step {index + 1}").strip(),
        "status": next((known for known in STATUSES if known == status), "pending"),
        "dependsOn": [need for need in depends_on if isinstance(need, int)] if isinstance(depends_on, list) else [],
    }
    agent: object = fields.get("agent")
    if isinstance(agent, str):
        step["agent"] = agent
    agent_used: object = fields.get("agentUsed")
    if isinstance(agent_used, str):
        step["agentUsed"] = agent_used
    return step


def _with_steps(plan: TaskPlan, steps: Sequence[PlanStep]) -> TaskPlan:
    """Replace the steps of a plan, and derive its status, current step and completeness from them."""
    numbered: list[PlanStep] = [{**step, "index": index} for index, step in enumerate(steps)]
    current = next((step["index"] for step in numbered if step["status"] not in FINISHED), len(numbered))
    is_complete = bool(numbered) and current == len(numbered)
    failed = any(step["status"] == "failed" for step in numbered)
    begun = any(step["status"] != "pending" for step in numbered)
    status: PlanStatus = (
        "complete" if is_complete else "failed" if failed else "in_progress" if begun else plan["status"]
    )
    return {**plan, "steps": numbered, "currentStepIndex": current, "isComplete": is_complete, "status": status}


def with_step(plan: TaskPlan, index: int | None, status: StepStatus, agent: str | None = None) -> TaskPlan:
    """Change the status of a step; a finished step stays as it is."""
    steps: list[PlanStep] = []
    for step in plan["steps"]:
        if step["index"] == index and step["status"] not in FINISHED:
            step = {**step, "status": status}
            if agent:
                step["agentUsed"] = agent
        steps.append(step)
    return _with_steps(plan, steps)


def current_step(plan: TaskPlan | None) -> PlanStep | None:
    """Return the first step that is not finished."""
    if plan is None or plan["currentStepIndex"] >= len(plan["steps"]):
        return None
    return plan["steps"][plan["currentStepIndex"]]


def ready_steps(plan: TaskPlan | None) -> list[PlanStep]:
    """Return the unfinished steps whose dependencies are finished."""
    if plan is None:
        return []
    finished = {step["index"] for step in plan["steps"] if step["status"] in FINISHED}
    return [step for step in plan["steps"] if step["status"] not in FINISHED and finished.issuperset(step["dependsOn"])]


def problems_with(plan: TaskPlan | None, agents: Sequence[str] = ()) -> list[str]:
    """Return the problems of a plan, in words."""
    if plan is None:
        return ["there is no plan"]
    indexes = range(len(plan["steps"]))
    problems = [
        f"step {step['index']} depends on {need}, which is no step"
        for step in plan["steps"]
        for need in step["dependsOn"]
        if need not in indexes
    ]
    problems += [f"step {index} depends on itself" for index in _circular_steps(plan)]
    if agents:
        problems += [
            f"step {step['index']} is for {step['agent']!r}, which is no agent"
            for step in plan["steps"]
            if step.get("agent") not in (None, *agents)
        ]
    return problems


def _circular_steps(plan: TaskPlan) -> list[int]:
    needs = {step["index"]: set(step["dependsOn"]) for step in plan["steps"]}
    while free := [index for index, dependencies in needs.items() if not dependencies & needs.keys()]:
        for index in free:
            del needs[index]
    return sorted(needs)


def review_plan(plan: TaskPlan | None, agents: Sequence[str] = ()) -> PlanReview:
    """Review the plan of a dry run: list its problems, and lower its confidence for each."""
    warnings = problems_with(plan, agents)
    own_confidence = 0.0 if plan is None else plan.get("confidence", 1.0)
    confidence = round(own_confidence * 0.5 ** len(warnings), 3)
    return {"plan": plan, "warnings": warnings, "confidence": confidence, "isSure": confidence >= LOW_CONFIDENCE}
