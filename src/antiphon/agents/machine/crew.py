"""The crew: agents that work side by side, and what they did, joined in the order of the plan."""

from collections.abc import Mapping
from typing import Any, TypedDict

from antiphon.agents.machine.agent import agent_machine
from antiphon.agents.machine.briefs import agent_prompt
from antiphon.agents.machine.results import error_of, joined
from antiphon.chart.actions import Enqueue, assign, enqueue_actions
from antiphon.chart.machine import Machine
from antiphon.chart.setup import setup
from antiphon.threads.machine.charts import load_chart

Event = Mapping[str, Any]
Json = dict[str, Any]
AGENT = "agent"


class CrewContext(TypedDict):
    """Who works, and what was done so far."""

    assignments: list[Json]
    pending: list[str]
    results: dict[str, Json]


def first_context(input: Mapping[str, Any] | None = None) -> CrewContext:
    """The context of a crew: the input has `assignments`, each the input of an agent, in the order of the plan.

    Agents are told what the rest of the input says of a task, if it does.
    """
    given = input or {}
    assignments = [dict(one) for one in given.get("assignments") or []]
    if "task" in given:
        assignments = [{**one, "prompt": agent_prompt(given, one.get("step"))} for one in assignments]
    return {"assignments": assignments, "pending": [], "results": {}}


def start_agents(context: CrewContext, event: Event, enqueue: Enqueue[Any, Any]) -> None:
    """Start every agent."""
    ids = [f"agent-{number}" for number in range(len(context["assignments"]))]
    for id, assignment in zip(ids, context["assignments"], strict=True):
        enqueue.spawn_child(AGENT, id=id, input={**assignment, "agentId": id})
    enqueue.assign({"pending": ids})


def _kept(context: CrewContext, event: Event, result: Json) -> Json:
    id = event["actorId"]
    return {
        "results": {**context["results"], id: result},
        "pending": [other for other in context["pending"] if other != id],
    }


def keep_result(context: CrewContext, event: Event) -> Json:
    """What an agent did."""
    return _kept(context, event, dict(event["output"]))


def keep_failure(context: CrewContext, event: Event) -> Json:
    """Why an agent did nothing."""
    number = int(event["actorId"].removeprefix("agent-"))
    agent = context["assignments"][number].get("agent") or {}
    step = context["assignments"][number].get("step")
    error = error_of(event.get("error"))
    return _kept(context, event, {"agent": agent.get("name"), "step": step, "success": False, "error": error})


def tell_agents(context: CrewContext, event: Event, enqueue: Enqueue[Any, Any]) -> None:
    """Pass on what was said to an agent, or to all of them."""
    for id in context["pending"]:
        if event.get("agentId") in (None, id):
            enqueue.send_to(id, dict(event))


def output(context: CrewContext) -> Json:
    """What was done, in the order of the plan."""
    return joined([context["results"][f"agent-{number}"] for number in range(len(context["assignments"]))])


CHART = load_chart(__name__)
crew_machine: Machine[CrewContext, Any] = (
    setup[CrewContext, Any](
        guards={
            "isPending": lambda context, event: event["actorId"] in context["pending"],
            "isAllDone": lambda context: not context["pending"],
        },
        actions={
            "startAgents": enqueue_actions(start_agents),
            "keepResult": assign(keep_result),
            "keepFailure": assign(keep_failure),
            "letGo": enqueue_actions(lambda context, event, enqueue: enqueue.stop_child(event["actorId"])),
            "tellParent": enqueue_actions(lambda context, event, enqueue: enqueue.send_parent(dict(event))),
            "tellAgents": enqueue_actions(tell_agents),
        },
        actors={AGENT: agent_machine},
    )
).create_machine({**CHART, "context": first_context, "output": output})
"""Machine of agents that work side by side."""
