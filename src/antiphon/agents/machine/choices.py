"""Who works next: what a decision, a rule or a person chooses."""

from collections.abc import Mapping
from typing import Any

from antiphon.agents.machine.agent_config import default_agent, has_output_rule, next_by_rule
from antiphon.agents.machine.context import OrchestratorContext, fresh_task, now_of
from antiphon.agents.machine.decisions import (
    MAPPING,
    MOST_PARALLEL,
    Assignment,
    assignments_of,
    decision_of,
    is_too_wide,
)
from antiphon.agents.machine.limits import has_room
from antiphon.agents.machine.plan import Plan, current_step, plan_of, ready_steps, with_step
from antiphon.agents.machine.results import error_of, results_of

Event = Mapping[str, Any]
Json = dict[str, Any]


def task_of(event: Event) -> str:
    """The task that an event brings."""
    parts = event.get("parts") or ()
    words = "".join(part.get("text", "") for part in parts if part.get("type") == "text")
    return str(event.get("task") or event.get("text") or words).strip()


def start_task(context: OrchestratorContext, event: Event) -> Json:
    """A new task, and nothing known of the one before."""
    return {
        **fresh_task(),
        "task": task_of(event),
        "startedAt": event.get("at"),
        "now": event.get("at"),
        "runId": event.get("runId"),
        "plan": plan_of(event.get("plan")) or (context["plan"] if not context["task"] else None),
        "forcedAgent": event.get("agentName") or context["forcedAgent"],
    }


def name_of(event: Event) -> str:
    """The agent that an event names: a person's, an arbiter's, or one given whole."""
    named = event.get("agentName") or event.get("agent")
    if not named and isinstance(output := event.get("output"), MAPPING):
        named = output.get("agent")
    if named and isinstance(named, MAPPING):
        named = named.get("name")
    if not named:
        decision = decision_of(event)
        named = decision.get("mode") if decision.get("type", "SELECT_MODE") == "SELECT_MODE" else None
    return str(named or "")


def has_agent(context: OrchestratorContext, event: Event, params: Mapping[str, str] | None = None) -> bool:
    """Whether there is an agent of the name that the event, or the place of use, gives, and no more than can work."""
    name = (params or {}).get("name") or name_of(event)
    return name in context["agents"] and not is_too_wide(decision_of(event))


def is_unknown_agent(context: OrchestratorContext, event: Event) -> bool:
    """Whether a choice cannot be: of an agent that does not exist, or of more than can work side by side."""
    return bool(name_of(event)) and not has_agent(context, event)


def starts_forced(context: OrchestratorContext, event: Event) -> bool:
    """Whether a task begins with an agent that a person chose."""
    return bool(task_of(event)) and (event.get("agentName") or context["forcedAgent"]) in context["agents"]


def chosen(context: OrchestratorContext, crew: list[Assignment]) -> Json:
    """The context with these at work next; the first of them is the current agent."""
    name = crew[0]["mode"]
    agent = context["agents"][name]
    conversation = context["conversations"].get(name, [])
    return {"currentAgent": agent, "currentMode": name, "crew": crew, "messages": conversation}


def choose_agent(context: OrchestratorContext, event: Event) -> Json:
    """Whom the arbiter chose: one agent, or up to four for steps that do not wait for each other."""
    decision = context["lastArbiterDecision"]  # as noted before
    known: list[Assignment] = []
    if decision is not None and decision.get("parallel"):
        ready = [step["index"] for step in ready_steps(context["plan"])]
        known = [one for one in assignments_of(decision, ready) if one["mode"] in context["agents"]]
    return chosen(context, known if len(known) > 1 else [{"mode": name_of(event), "step": None}])


def choose_default(context: OrchestratorContext) -> Json:
    """The agent that works when nobody was chosen: the current one, else the default."""
    name = context["currentMode"] if context["currentMode"] in context["agents"] else None
    name = name or default_agent(context["agents"], context["defaultAgent"])
    return chosen(context, [{"mode": name or "", "step": None}])


def choose_same(context: OrchestratorContext) -> Json:
    """The same agent again, alone."""
    return chosen(context, [{"mode": context["currentMode"], "step": None}])


def choose_forced(context: OrchestratorContext, event: Event) -> Json:
    """Whom a person chose."""
    name = event.get("agentName") or context["forcedAgent"]
    return {**chosen(context, [{"mode": str(name), "step": None}]), "forcedAgent": None}


def note_decision(context: OrchestratorContext, event: Event) -> Json:
    """What the arbiter decided, what that cost, and which steps it holds to be done."""
    decision = decision_of(event)
    known = dict(decision)
    if not known.get("type"):
        known = {"type": "SELECT_MODE", "mode": name_of(event), "reason": "given"}
    output = event.get("output")
    spent = output if isinstance(output, MAPPING) else {}
    plan = context["plan"]
    if plan is not None:
        for index in decision.get("completed") or ():
            plan = with_step(plan, index, "complete")
    return {
        "lastArbiterDecision": known,
        "plan": plan,
        "costUsd": context["costUsd"] + (spent.get("costUsd") or 0),
        "usage": added(context["usage"], spent.get("usage")),
        "now": now_of(context, event),
        "summary": str(known.get("summary") or context["summary"]),
        "reason": "completed" if known["type"] == "COMPLETE" else None,
    }


def added(usage: Mapping[str, int], more: Any) -> dict[str, int]:
    """What was used, with more of it."""
    found = dict(usage)
    for key, value in (more or {}).items():
        if isinstance(value, int) and not isinstance(value, bool):
            found[key] = found.get(key, 0) + value
    return found


def rule_of(context: OrchestratorContext, event: Event) -> str | None:
    """Who comes next without asking the arbiter, if an agent that worked alone says so and there is room."""
    agent = context["currentAgent"]
    if agent is None or not agent.get("transitions") or len(context["crew"]) > 1:
        return None
    results = results_of(event, context["currentMode"])
    if len(results) != 1:
        return None
    [result] = results
    failures = 0 if result.get("success") else context["consecutiveFailures"] + 1
    cost = context["costUsd"] - context["executionCostUsd"] + (result.get("costUsd") or context["executionCostUsd"])
    after: OrchestratorContext = {**context, "consecutiveFailures": failures, "costUsd": cost}
    said = next_by_rule(
        agent,
        success=bool(result.get("success")),
        exhausted=bool(result.get("exhausted")),
        output=str(result.get("summary") or ""),
    )
    if said == "COMPLETE":
        return said
    known = said in context["agents"] or said in ("CONTINUE", "RETRY")
    return said if known and has_room(after) else None


def decide_by_rule(context: OrchestratorContext, event: Event) -> Json:
    """The decision that an agent's own rule makes."""
    said = rule_of({**context, "consecutiveFailures": 0, "costUsd": 0}, event)
    if said == "COMPLETE":
        summary = context["summary"]
        return {"lastArbiterDecision": {"type": "COMPLETE", "summary": summary}, "reason": "completed"}
    mode = said if said in context["agents"] else context["currentMode"]
    reason = f"rule of {context['currentMode']}"
    return {"lastArbiterDecision": {"type": "SELECT_MODE", "mode": mode, "reason": reason}}


def choose_by_rule(context: OrchestratorContext) -> Json:
    """Whom the rule chose."""
    decision = context["lastArbiterDecision"] or {}
    return chosen(context, [{"mode": decision.get("mode") or context["currentMode"], "step": None}])


def completes_step(context: OrchestratorContext, plan: Plan | None, result: Json) -> int | None:
    """The step that a successful turn has completed: its own, or the current one if its agent completes steps."""
    if not result.get("success"):
        return None
    if result.get("step") is not None:
        step: int = result["step"]
        return step
    agent = context["agents"].get(str(result.get("agent")))
    now = current_step(plan)
    if agent is None or now is None or not agent.get("completesStep"):
        return None
    return None if has_output_rule(agent, str(result.get("summary") or "")) else now["index"]


def fail_unknown_agent(context: OrchestratorContext, event: Event) -> Json:
    """The error of a choice that cannot be; it is counted, and another choice may be better."""
    decision = decision_of(event)
    if is_too_wide(decision):
        message = (
            f"Arbiter selected {len(decision['parallel'])} agents at once; at most {MOST_PARALLEL} work in parallel"
        )
        error = {"name": "TooManyAgents", "code": "too_many_agents", "message": message, "recoverable": True}
    else:
        message = f"Arbiter selected unknown agent: {name_of(event)}"
        error = {"name": "UnknownAgent", "code": "unknown_agent", "message": message, "recoverable": True}
    return {**counted(context), "lastError": error_of(error)}


def counted(context: OrchestratorContext) -> Json:
    """One more failure."""
    return {
        "consecutiveFailures": context["consecutiveFailures"] + 1,
        "totalFailures": context["totalFailures"] + 1,
    }
