"""The orchestrator: an arbiter selects agents until a task is done.

1. Every cycle of states passes `executing`, which counts, or `error_handling`, which counts and waits: none is
   endless, and none runs without a delay.
2. AGENT_* and ARBITER_* from outside mean the same as the end of the invoked actors, so the machine also runs by hand.
   Unless others are provided, the arbiter is silent and the crew's agents have a silent model.
3. The loss of a process does not count as a failure: the run stays where it was until it is resumed.
"""

from collections.abc import Callable, Mapping
from typing import Any, cast

from antiphon.agents.machine import choices, inputs, limits, reports, work
from antiphon.agents.machine.context import (
    CHART,
    OrchestratorContext,
    OrchestratorEnqueue,
    OrchestratorUpdate,
    Question,
    first_context,
    fresh_task,
)
from antiphon.agents.machine.context import CREW as CREW
from antiphon.agents.machine.crew import crew_machine
from antiphon.agents.machine.events import (
    PUBLIC,
    AgentFields,
    AgentWaits,
    ErrorFields,
    ForceAgent,
    OrchestratorEvent,
    RunCommand,
    TaskFields,
)
from antiphon.agents.machine.results import Json, RunError, error_of, is_loss
from antiphon.chart.actions import BoundAction, assign, enqueue_actions
from antiphon.chart.machine import Machine, create_machine
from antiphon.chart.setup import setup

MOST_WORDS = 10
WALL_TIME = "wallTime"
GRACE = "grace"
INPUTS: Mapping[str, Callable[[OrchestratorContext], Mapping[str, object]]] = {
    "selecting": inputs.arbiter_input,
    "executing": inputs.crew_input,
    "evaluating": inputs.arbiter_input,
}
NO_AGENTS: RunError = {
    "name": "NoAgents",
    "code": "no_agents",
    "message": "there is no agent to choose",
    "recoverable": False,
}


def is_dry_run(context: OrchestratorContext) -> bool:
    """Return whether the run ends with its plan."""
    return context["dryRun"]


def is_lost(context: OrchestratorContext) -> bool:
    """Return whether an agent waits to be resumed after the loss of its process."""
    return bool(context["lostAgents"])


def is_lost_in(context: OrchestratorContext, event: RunCommand, params: Mapping[str, str]) -> bool:
    """Return whether the process was lost in the state that `params` names."""
    return context["lostIn"] == params["state"]


def is_waiting(context: OrchestratorContext) -> bool:
    """Return whether an agent waits for a person."""
    return bool(context["waiting"])


def is_cancelling(context: OrchestratorContext) -> bool:
    """Return whether the run ends as soon as its tools have."""
    return context["cancelling"]


def is_at_work(context: OrchestratorContext) -> bool:
    """Return whether the run has a task."""
    return bool(context["task"])


def may_finish_tool(context: OrchestratorContext) -> bool:
    """Return whether a running tool gets the grace time when the run is cancelled."""
    return (
        context["graceMs"] > 0 and context["toolsRunning"] > 0 and not context["waiting"] and not context["cancelling"]
    )


def is_loss_event(context: OrchestratorContext, event: ErrorFields) -> bool:
    """Return whether an error says that the process was lost."""
    return is_loss(event.get("error"))


def must_be_resumed(context: OrchestratorContext, event: ErrorFields) -> bool:
    """Return whether a person has to resume the run: the process was lost, or lacks a key."""
    return reports.lacks_key(event) or is_loss_event(context, event)


def note_loss(context: OrchestratorContext, event: ErrorFields) -> OrchestratorUpdate:
    """Note the state in which the process was lost; it does not count as a failure."""
    source = str(event.get("actorId") or event["type"])
    state = {"evaluateProgress": "evaluating", "executeAgent": "executing"}.get(source.rpartition(".")[2], "selecting")
    return {"lostIn": state, "lastError": error_of(event.get("error"))}


def note_lost_agent(context: OrchestratorContext, event: AgentFields) -> OrchestratorUpdate:
    """Note an agent that waits to be resumed."""
    return {"lostAgents": [*context["lostAgents"], event.get("agentId")]}


def go_on(context: OrchestratorContext, event: RunCommand) -> OrchestratorUpdate:
    """Continue after a loss, possibly as another run of the parent."""
    return {"lostIn": None, "runId": run_of(context, event)}


def remember_forced_agent(context: OrchestratorContext, event: ForceAgent) -> OrchestratorUpdate:
    """Keep the agent that a person selected until a task begins."""
    return {"forcedAgent": event["agentName"]}


def fail_without_agents(context: OrchestratorContext) -> OrchestratorUpdate:
    """Count as a failure that there is no agent to choose."""
    return {**choices.count_failure(context), "lastError": NO_AGENTS}


def count_tool_call(context: OrchestratorContext) -> OrchestratorUpdate:
    """Count a tool that runs."""
    return {"toolsRunning": context["toolsRunning"] + 1}


def count_tool_result(context: OrchestratorContext) -> OrchestratorUpdate:
    """Count a tool that has ended."""
    return {"toolsRunning": max(0, context["toolsRunning"] - 1)}


def end_early(context: OrchestratorContext, event: RunCommand, params: Mapping[str, str]) -> OrchestratorUpdate:
    """End the run at a limit, with the task not done."""
    return {
        "lastArbiterDecision": {"type": "COMPLETE", "summary": params["summary"]},
        "summary": params["summary"],
        "reason": params["reason"],
    }


def note_waiting(context: OrchestratorContext, event: AgentWaits) -> OrchestratorUpdate:
    """Note that an agent waits for a person, instead of its earlier question."""
    question = cast(Question, {key: value for key, value in event.items() if key != "type"})
    if "address" in event:
        question["address"] = f"{CREW}/{event['address']}"
    waiting = [earlier for earlier in context["waiting"] if earlier.get("agentId") != event.get("agentId")]
    return {"waiting": [*waiting, question]}


def forget_waiting(context: OrchestratorContext, event: AgentFields) -> OrchestratorUpdate:
    """Note that the request of an agent is closed."""
    return {"waiting": [question for question in context["waiting"] if question.get("agentId") != event.get("agentId")]}


def resume_agents(context: OrchestratorContext, event: RunCommand, enqueue: OrchestratorEnqueue) -> None:
    """Resume the agents whose process was lost."""
    enqueue.assign(OrchestratorUpdate(lostAgents=[], runId=run_of(context, event)))
    enqueue.send_to(CREW, {"type": "RESUME"})


def run_of(context: OrchestratorContext, event: RunCommand | TaskFields) -> str | None:
    """Return the parent's run from now on: continuing may have begun another one."""
    return event.get("runId") or context["runId"]


def begin_cancelling(context: OrchestratorContext, event: RunCommand, enqueue: OrchestratorEnqueue) -> None:
    """Let the running tools end, and start nothing else."""
    enqueue.assign(OrchestratorUpdate(cancelling=True))
    enqueue.send_to(CREW, {"type": "CANCEL"})


def arm_wall_time(context: OrchestratorContext, event: RunCommand, enqueue: OrchestratorEnqueue) -> None:
    """Start the timer of the run, if it has a time limit."""
    if context["maxWallMs"]:
        enqueue.raise_({"type": "WALL_TIME"}, delay=context["maxWallMs"], id=WALL_TIME)


def arm_grace(context: OrchestratorContext, event: RunCommand, enqueue: OrchestratorEnqueue) -> None:
    """Start the timer of the grace time, if there is one."""
    if context["graceMs"]:
        enqueue.raise_({"type": "GRACE_OVER"}, delay=context["graceMs"], id=GRACE)


def disarm_timers(context: OrchestratorContext, event: RunCommand, enqueue: OrchestratorEnqueue) -> None:
    """Cancel the timers of a task that is over."""
    enqueue.cancel(WALL_TIME)
    enqueue.cancel(GRACE)


def note_guidance(context: OrchestratorContext, event: TaskFields) -> OrchestratorUpdate:
    """Keep a person's message for the prompts of the next agents."""
    text = choices.task_of(event)
    guidance = context["guidance"]
    if text:
        heard = context.get("heard", 0)  # a context of version 1 has no such key
        guidance = [*guidance[:heard], *[*guidance[heard:], text][-MOST_WORDS:]]
    return {"guidance": guidance, "runId": run_of(context, event)}


def with_inputs(chart: Json, inputs: Mapping[str, object] = INPUTS) -> Json:
    """Add the inputs of the invoked actors to the chart; JSON has no functions."""
    states: Any = chart["states"]
    return {
        **chart,
        "states": {
            name: {**state, "invoke": {**state["invoke"], "input": inputs[name]}} if name in inputs else state
            for name, state in states.items()
        },
    }


ACTIONS: dict[str, BoundAction[OrchestratorContext, Any]] = {
    **work.ACTIONS,
    **reports.ACTIONS,
    "startTask": assign(choices.start_task),
    "armWallTime": enqueue_actions(arm_wall_time),
    "armGrace": enqueue_actions(arm_grace),
    "disarmTimers": enqueue_actions(disarm_timers),
    "takeForcedAgent": assign(choices.choose_forced),
    "chooseForcedAgent": assign(choices.choose_forced),
    "rememberForcedAgent": assign(remember_forced_agent),
    "noteDecision": assign(choices.note_decision),
    "chooseAgent": assign(choices.choose_agent),
    "chooseDefaultAgent": assign(choices.choose_default),
    "chooseSameAgent": assign(choices.choose_same),
    "chooseByRule": assign(choices.choose_by_rule),
    "decideByRule": assign(choices.decide_by_rule),
    "failUnknownAgent": assign(choices.fail_unknown_agent),
    "failWithoutAgents": assign(fail_without_agents),
    "countFailure": assign(choices.count_failure),
    "noteLoss": assign(note_loss),
    "goOn": assign(go_on),
    "countToolCall": assign(count_tool_call),
    "countToolResult": assign(count_tool_result),
    "endEarly": assign(end_early),
    "endDryRun": assign(OrchestratorUpdate(reason="dry_run")),
    "noteFailed": assign(OrchestratorUpdate(reason="failed")),
    "noteCancelledRun": assign(OrchestratorUpdate(reason="cancelled")),
    "noteWaiting": assign(note_waiting),
    "forgetWaiting": assign(forget_waiting),
    "noteLostAgent": assign(note_lost_agent),
    "resumeAgents": enqueue_actions(resume_agents),
    "beginCancelling": enqueue_actions(begin_cancelling),
    "noteGuidance": assign(note_guidance),
    "resetRun": assign(fresh_task),
}
_SILENT = create_machine({"id": "silent"})

orchestrator_machine: Machine[OrchestratorContext, Any] = (
    setup[OrchestratorContext, Any](
        guards={
            "isComplete": choices.is_complete,
            "shouldRetry": choices.should_retry,
            "shouldContinue": choices.should_continue,
            "maxIterationsReached": limits.max_iterations_reached,
            "maxFailuresReached": limits.max_failures_reached,
            "costLimitReached": limits.cost_limit_reached,
            "isRecoverableError": limits.is_recoverable_error,
            "hasAgent": choices.has_agent,
            "isUnknownAgent": choices.is_unknown_agent,
            "hasDefaultAgent": choices.has_default_agent,
            "hasCurrentAgent": choices.has_current_agent,
            "hasTask": choices.has_task,
            "startsForced": choices.starts_forced,
            **work.GUARDS,
            "isDryRun": is_dry_run,
            "isCompletedByRule": choices.is_completed_by_rule,
            "isDecidedByRule": choices.is_decided_by_rule,
            "isLoss": must_be_resumed,
            "isLost": is_lost,
            "isLostIn": is_lost_in,
            "isFatal": limits.is_fatal,
            "isWaiting": is_waiting,
            "isCancelling": is_cancelling,
            "mayFinishTool": may_finish_tool,
            "isAtWork": is_at_work,
        },
        actions=ACTIONS,
        delays={"backoff": limits.backoff},
        actors={"arbiterSelectAgent": _SILENT, "arbiterEvaluate": _SILENT, "agentExecutor": crew_machine},
        events=OrchestratorEvent,
        public=PUBLIC,
    )
).create_machine({**with_inputs(CHART), "context": first_context, "output": reports.output})
"""Machine of a run: an arbiter picks agents until the task is done."""
