"""The crew: agents that work side by side, and their results in the order of the plan."""

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict, cast

from antiphon.agents.machine.agent import agent_machine
from antiphon.agents.machine.agent_config import AgentConfig
from antiphon.agents.machine.agent_types import AgentCommand
from antiphon.agents.machine.briefs import PromptInput, agent_prompt
from antiphon.agents.machine.events import AgentReport
from antiphon.agents.machine.results import AgentResult, CrewResult, error_of, join_results
from antiphon.chart.actions import Enqueue, assign, enqueue_actions
from antiphon.chart.machine import Machine
from antiphon.chart.setup import setup
from antiphon.threads.machine.charts import load_chart
from antiphon.threads.machine.scopes import Override, without_permission
from antiphon.threads.machine.tools_types import Revoke

AGENT = "agent"


class CrewAssignment(TypedDict, total=False):
    """The input of one agent; the crew reads only these keys, and passes on all others."""

    agent: AgentConfig | None
    step: int | None
    prompt: str


class CrewContext(TypedDict):
    """The agents at work, and the results so far."""

    assignments: list[CrewAssignment]
    pending: list[str]
    results: dict[str, AgentResult]


class CrewUpdate(TypedDict, total=False):
    """Some keys of the context: what an action changes."""

    assignments: list[CrewAssignment]
    pending: list[str]
    results: dict[str, AgentResult]


class AgentDone(TypedDict):
    """An agent has ended its turn."""

    type: str
    actorId: str
    output: AgentResult


class AgentBroke(TypedDict):
    """An agent has ended with an error."""

    type: str
    actorId: str
    error: NotRequired[object]


class CrewFields(TypedDict):
    """An event for one agent, or for all without an `agentId`."""

    type: str
    agentId: NotRequired[str | None]


CrewEnqueue = Enqueue[CrewContext, Any]


def first_context(input: Mapping[str, object] | None = None) -> CrewContext:
    """Create the context; `assignments` has the input of every agent, in the order of the plan.

    If the input has a task, its other facts become the prompt of every agent.
    """
    facts = input or {}
    listed = cast("list[Mapping[str, object]]", facts.get("assignments") or [])
    assignments = [cast(CrewAssignment, dict(assignment)) for assignment in listed]
    if "task" in facts:
        prompt_input = cast(PromptInput, facts)
        for assignment in assignments:
            assignment["prompt"] = agent_prompt(prompt_input, assignment.get("step"))
    return {"assignments": assignments, "pending": [], "results": {}}


def start_agents(context: CrewContext, event: CrewFields, enqueue: CrewEnqueue) -> None:
    """Start every agent."""
    ids = [f"agent-{number}" for number in range(len(context["assignments"]))]
    for id, assignment in zip(ids, context["assignments"], strict=True):
        enqueue.spawn_child(AGENT, id=id, input={**assignment, "agentId": id})
    enqueue.assign(CrewUpdate(pending=ids))


def is_pending(context: CrewContext, event: AgentDone | AgentBroke) -> bool:
    """Return whether the agent of an event has not ended before."""
    return event["actorId"] in context["pending"]


def is_all_done(context: CrewContext) -> bool:
    """Return whether every agent has ended."""
    return not context["pending"]


def _add_result(context: CrewContext, id: str, result: AgentResult) -> CrewUpdate:
    return {
        "results": {**context["results"], id: result},
        "pending": [pending for pending in context["pending"] if pending != id],
    }


def keep_result(context: CrewContext, event: AgentDone) -> CrewUpdate:
    """Keep the result of an agent."""
    return _add_result(context, event["actorId"], cast(AgentResult, dict(event["output"])))


def keep_failure(context: CrewContext, event: AgentBroke) -> CrewUpdate:
    """Keep the error of an agent as its result."""
    assignment = context["assignments"][int(event["actorId"].removeprefix("agent-"))]
    agent = assignment.get("agent")
    result: AgentResult = {
        "agent": agent.get("name") if agent else None,
        "step": assignment.get("step"),
        "success": False,
        "error": error_of(event.get("error")),
    }
    return _add_result(context, event["actorId"], result)


def let_go(context: CrewContext, event: AgentDone | AgentBroke, enqueue: CrewEnqueue) -> None:
    """Stop the actor of an agent that has ended."""
    enqueue.stop_child(event["actorId"])


def tell_parent(context: CrewContext, event: CrewFields, enqueue: CrewEnqueue) -> None:
    """Forward an agent's event to the parent."""
    enqueue.send_parent(dict(event))


def revoke_permission(context: CrewContext, event: Revoke) -> CrewUpdate:
    """Remove a permission that was taken back from the results of agents that have ended."""
    permission = event["permission"]
    return {"results": {id: _without_permission(result, permission) for id, result in context["results"].items()}}


def _without_permission(result: AgentResult, permission: Override) -> AgentResult:
    left = result.copy()
    if "overrides" in result:
        left["overrides"] = without_permission(result["overrides"], permission)
    if "granted" in result:
        left["granted"] = without_permission(result["granted"], permission)
    return left


def tell_agents(context: CrewContext, event: CrewFields, enqueue: CrewEnqueue) -> None:
    """Forward an event to the agent that it names, or to all."""
    for id in context["pending"]:
        if event.get("agentId") in (None, id):
            enqueue.send_to(id, dict(event))


def output(context: CrewContext) -> CrewResult:
    """Return the joined results, in the order of the plan."""
    return join_results([context["results"][f"agent-{number}"] for number in range(len(context["assignments"]))])


CHART = load_chart(__name__)
crew_machine: Machine[CrewContext, Any] = (
    setup[CrewContext, Any](
        guards={"isPending": is_pending, "isAllDone": is_all_done},
        actions={
            "startAgents": enqueue_actions(start_agents),
            "keepResult": assign(keep_result),
            "keepFailure": assign(keep_failure),
            "letGo": enqueue_actions(let_go),
            "revokePermission": assign(revoke_permission),
            "tellParent": enqueue_actions(tell_parent),
            "tellAgents": enqueue_actions(tell_agents),
        },
        actors={AGENT: agent_machine},
        events=AgentReport | AgentCommand | Revoke,
        public=[],
    )
).create_machine({**CHART, "context": first_context, "output": output})
"""Machine of agents that work side by side."""
