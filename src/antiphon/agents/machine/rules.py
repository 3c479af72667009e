"""An arbiter without a model: it follows the plan, retries failed turns, and ends when every step is done."""

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

from antiphon.agents.machine.agent_config import AgentConfig, default_agent
from antiphon.agents.machine.decisions import ArbiterDecision
from antiphon.agents.machine.plan import TaskPlan, current_step
from antiphon.agents.machine.results import ExecutionEntry


class RulesInput(TypedDict):
    """The part of the arbiter's input that rules read."""

    agents: Mapping[str, AgentConfig]
    history: NotRequired[Sequence[ExecutionEntry]]
    plan: NotRequired[TaskPlan | None]
    lastExecution: NotRequired[ExecutionEntry | None]
    defaultAgent: NotRequired[str | None]


MOST_FAILED_PLANS = 2


def offered_agents(
    agents: Mapping[str, AgentConfig], history: Sequence[ExecutionEntry] = ()
) -> Mapping[str, AgentConfig]:
    """Return the agents to choose from: after two turns that gave no plan, the others work without one."""
    planners = [name for name, agent in agents.items() if agent.get("plans")]
    last = history[-MOST_FAILED_PLANS:]
    has_failed = [entry["agent"] in planners and entry["result"] == "failure" for entry in last]
    if has_failed != [True] * MOST_FAILED_PLANS or len(planners) == len(agents):
        return agents
    return {name: agent for name, agent in agents.items() if name not in planners}


def select_by_rules(input: RulesInput) -> ArbiterDecision:
    """Select a planner while there is no plan, else the agent of the step, else the default agent."""
    agents = offered_agents(input["agents"], input.get("history", ()))
    plan = input.get("plan")
    if not agents:
        return {"type": "COMPLETE", "summary": "There is no agent."}
    planner = next((name for name, agent in agents.items() if agent.get("plans")), None)
    if plan is None and planner is not None:
        return {"type": "SELECT_MODE", "mode": planner, "reason": "There is no plan yet."}
    if plan is not None and plan["isComplete"]:
        return {"type": "COMPLETE", "summary": "Every step of the plan is done."}
    return {"type": "SELECT_MODE", "mode": _worker(input, plan), "reason": "The next step."}


def evaluate_by_rules(input: RulesInput) -> ArbiterDecision:
    """Decide what follows an agent's turn."""
    last = input.get("lastExecution")
    plan = input.get("plan")
    if last is None or last["result"] != "success":
        return {"type": "RETRY", "reason": "The last turn did not succeed."}
    agent = input["agents"].get(last["agent"])
    if agent is not None and agent.get("plans"):
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


def _worker(input: RulesInput, plan: TaskPlan | None) -> str:
    step = current_step(plan)
    agent = step.get("agent") if step else None
    return default_agent(input["agents"], agent or input.get("defaultAgent")) or ""
