"""An arbiter without a model: it goes through the plan, tries again what failed, and knows when all is done."""

from collections.abc import Mapping
from typing import Any

from antiphon.agents.machine.agent_config import default_agent
from antiphon.agents.machine.decisions import Decision
from antiphon.agents.machine.plan import Plan, current_step


def select_by_rules(input: Mapping[str, Any]) -> Decision:
    """Who works next: a planner while there is no plan, else whom the step names, else the default agent."""
    agents, plan = input["agents"], input.get("plan")
    if not agents:
        return {"type": "COMPLETE", "summary": "There is no agent."}
    planner = next((name for name, agent in agents.items() if agent.get("plans")), None)
    if plan is None and planner is not None:
        return {"type": "SELECT_MODE", "mode": planner, "reason": "There is no plan yet."}
    if plan is not None and plan["isComplete"]:
        return {"type": "COMPLETE", "summary": "Every step of the plan is done."}
    return {"type": "SELECT_MODE", "mode": _worker(input, plan), "reason": "The next step."}


def evaluate_by_rules(input: Mapping[str, Any]) -> Decision:
    """What comes after an agent's turn."""
    last, plan = input.get("lastExecution"), input.get("plan")
    if last is None or last["result"] != "success":
        return {"type": "RETRY", "reason": "The last turn did not succeed."}
    if input["agents"].get(last["agent"], {}).get("plans"):
        return {"type": "SELECT_MODE", "mode": _worker(input, plan), "reason": "The plan stands."}
    step = current_step(plan)
    if plan is None or step is None:
        return {"type": "COMPLETE", "summary": str(last.get("output") or "Done.")}
    is_last = step["index"] == len(plan["steps"]) - 1
    if is_last:
        return {"type": "COMPLETE", "summary": str(last.get("output") or "Done."), "completed": [step["index"]]}
    after = plan["steps"][step["index"] + 1]
    worker = after.get("agent") or _worker(input, None)
    reason = f"Step {step['index']} is done."
    return {"type": "SELECT_MODE", "mode": worker, "reason": reason, "completed": [step["index"]]}


def _worker(input: Mapping[str, Any], plan: Plan | None) -> str:
    step = current_step(plan)
    wanted = step.get("agent") if step else None
    return default_agent(input["agents"], wanted or input.get("defaultAgent")) or ""
