"""The orchestrator: an arbiter picks among agents until a task is done.

1. Every circle of states passes `executing`, which counts, or `error_handling`, which counts and waits: none is
   endless, and none runs hot.
2. AGENT_* and ARBITER_* from outside mean the same as the end of the invoked actors, so the machine also runs by hand.
   Unless others are provided, the arbiter is silent and the crew's agents have a silent model.
3. The loss of a process is no failure of anybody: the run stays where it was until it is resumed.
"""

from collections.abc import Mapping
from typing import Any

from antiphon.agents.machine import choices, limits, reports, work
from antiphon.agents.machine.agent_config import default_agent
from antiphon.agents.machine.context import CHART, OrchestratorContext, first_context, fresh_task, now_of
from antiphon.agents.machine.crew import crew_machine
from antiphon.agents.machine.decisions import decision_of
from antiphon.agents.machine.results import error_of, is_loss
from antiphon.chart.actions import Enqueue, assign, cancel, emit, enqueue_actions
from antiphon.chart.machine import Machine, create_machine
from antiphon.chart.setup import setup

Event = Mapping[str, Any]
Json = dict[str, Any]
Choice = Enqueue[Any, Any]
CREW, WALL_TIME, GRACE = "executeAgent", "wallTime", "grace"
INPUTS = {"selecting": work.arbiter_input, "executing": work.crew_input, "evaluating": work.arbiter_input}
NO_AGENTS = {"name": "NoAgents", "code": "no_agents", "message": "there is no agent to choose", "recoverable": False}


def decides(type: str) -> Any:
    """Whether an event brings a decision of a type."""
    return lambda context, event: decision_of(event).get("type") == type


def note_loss(context: OrchestratorContext, event: Event) -> Json:
    """Which state the process was lost in; it counts as nobody's failure."""
    source = str(event.get("actorId") or event["type"])
    state = {"evaluateProgress": "evaluating", "executeAgent": "executing"}.get(source.rpartition(".")[2], "selecting")
    return {"lostIn": state, "lastError": error_of(event.get("error"))}


def end_early(context: OrchestratorContext, event: Event, params: Mapping[str, str]) -> Json:
    """A limit was reached: the run is over, and the task is not done."""
    decision = {"type": "COMPLETE", "summary": params["summary"]}
    return {"lastArbiterDecision": decision, "summary": params["summary"], "reason": params["reason"]}


def note_waiting(context: OrchestratorContext, event: Event) -> Json:
    """A person is asked by an agent."""
    asked = {key: value for key, value in event.items() if key != "type"}
    others = [one for one in context["waiting"] if one["agentId"] != event.get("agentId")]
    return {"waiting": [*others, asked]}


def forget_waiting(context: OrchestratorContext, event: Event) -> Json:
    """An agent goes on without an answer."""
    return {"waiting": [one for one in context["waiting"] if one["agentId"] != event.get("agentId")]}


def give_answer(context: OrchestratorContext, event: Event, enqueue: Choice) -> None:
    """Give a person's answer to the agent that is named, or to the one that asked first."""
    asked = [one for one in context["waiting"] if event.get("agentId") in (None, one["agentId"])]
    if not asked:
        return
    agent = asked[0]["agentId"]
    answer = {**event, "text": choices.task_of(event) or None, "type": "ANSWER", "agentId": agent}
    waiting = [one for one in context["waiting"] if one["agentId"] != agent]
    enqueue.assign({"waiting": waiting, "runId": run_of(context, event)})
    enqueue.send_to(CREW, {key: value for key, value in answer.items() if value is not None})


def resume_agents(context: OrchestratorContext, event: Event, enqueue: Choice) -> None:
    """Let the agents go on whose process was lost."""
    enqueue.assign({"lostAgents": [], "runId": run_of(context, event)})
    enqueue.send_to(CREW, {"type": "RESUME"})


def run_of(context: OrchestratorContext, event: Event) -> str | None:
    """Which run of the parent this is from now on: whoever lets it go on may have begun another."""
    return event.get("runId") or context["runId"]


def begin_cancelling(context: OrchestratorContext, event: Event, enqueue: Choice) -> None:
    """Let the tools that run come to their end, and nothing else."""
    enqueue.assign({"cancelling": True})
    enqueue.send_to(CREW, {"type": "CANCEL"})


def stream_message(context: OrchestratorContext, event: Event, enqueue: Choice) -> None:
    """Show what an agent said; only what it said itself."""
    if event["message"].get("role") == "assistant":
        facts = {key: event.get(key) for key in ("agentId", "message", "costUsd")}
        enqueue.emit({"type": "agent_message", **facts})


def arm(event: str, id: str, key: str) -> Any:
    """Set a timer, if its limit is set."""

    def collect(context: Mapping[str, Any], _: Event, enqueue: Choice) -> None:
        if context[key]:
            enqueue.raise_({"type": event}, delay=context[key], id=id)

    return enqueue_actions(collect)


def disarm_timers(context: OrchestratorContext, event: Event, enqueue: Choice) -> None:
    """Forget the limits of a task that is over."""
    enqueue(cancel(WALL_TIME))
    enqueue(cancel(GRACE))


def note_guidance(context: OrchestratorContext, event: Event) -> Json:
    """What a person says meanwhile: the next agent is told."""
    text = choices.task_of(event)
    guidance = [*context["guidance"], text][-10:] if text else context["guidance"]
    return {"guidance": guidance, "runId": run_of(context, event)}


def with_inputs(chart: Json) -> Json:
    """The chart with what its invoked actors are given; JSON has no functions."""
    states = {
        name: {**state, "invoke": {**state["invoke"], "input": INPUTS[name]}} if name in INPUTS else state
        for name, state in chart["states"].items()
    }
    return {**chart, "states": states}


GUARDS: dict[str, Any] = {
    "isComplete": decides("COMPLETE"),
    "shouldRetry": decides("RETRY"),
    "shouldContinue": lambda context, event: (
        decision_of(event).get("type") == "CONTINUE" and context["currentMode"] in context["agents"]
    ),
    "maxIterationsReached": limits.max_iterations_reached,
    "maxFailuresReached": limits.max_failures_reached,
    "costLimitReached": limits.cost_limit_reached,
    "isRecoverableError": limits.is_recoverable_error,
    "hasAgent": choices.has_agent,
    "isUnknownAgent": choices.is_unknown_agent,
    "hasDefaultAgent": lambda context: default_agent(context["agents"], context["defaultAgent"]) is not None,
    "hasCurrentAgent": lambda context: context["currentMode"] in context["agents"],
    "hasTask": lambda context, event: bool(choices.task_of(event)),
    "startsForced": choices.starts_forced,
    "hasOpenStep": work.has_open_step,
    "hasFailedOutright": work.has_failed_outright,
    "isDryRun": lambda context: context["dryRun"],
    "isCompletedByRule": lambda context, event: choices.rule_of(context, event) == "COMPLETE",
    "isDecidedByRule": lambda context, event: choices.rule_of(context, event) is not None,
    "isLoss": lambda context, event: is_loss(event.get("error")),
    "isLost": lambda context: bool(context["lostAgents"]),
    "isLostIn": lambda context, event, params: context["lostIn"] == params["state"],
    "isFatal": lambda context: context["lostIn"] is None and not limits.is_recoverable_error(context),
    "isWaiting": lambda context: bool(context["waiting"]),
    "isCancelling": lambda context: context["cancelling"],
    "mayFinishTool": lambda context: (
        context["graceMs"] > 0 and context["toolsRunning"] > 0 and not context["waiting"] and not context["cancelling"]
    ),
    "isAtWork": lambda context: bool(context["task"]),
}
ACTIONS: dict[str, Any] = {
    "startTask": assign(choices.start_task),
    "armWallTime": arm("WALL_TIME", WALL_TIME, "maxWallMs"),
    "armGrace": arm("GRACE_OVER", GRACE, "graceMs"),
    "disarmTimers": enqueue_actions(disarm_timers),
    "takeForcedAgent": assign(choices.choose_forced),
    "chooseForcedAgent": assign(choices.choose_forced),
    "rememberForcedAgent": assign({"forcedAgent": lambda context, event: event["agentName"]}),
    "noteDecision": assign(choices.note_decision),
    "chooseAgent": assign(choices.choose_agent),
    "chooseDefaultAgent": assign(choices.choose_default),
    "chooseSameAgent": assign(choices.choose_same),
    "chooseByRule": assign(choices.choose_by_rule),
    "decideByRule": assign(choices.decide_by_rule),
    "failUnknownAgent": assign(choices.fail_unknown_agent),
    "failWithoutAgents": assign(lambda context: {**choices.counted(context), "lastError": error_of(NO_AGENTS)}),
    "noteError": assign({"lastError": lambda context, event: work.failure_of(event), "now": now_of}),
    "countFailure": assign(choices.counted),
    "noteLoss": assign(note_loss),
    "goOn": assign({"lostIn": None, "runId": run_of}),
    "beginExecution": assign(work.begin_execution),
    "endExecution": assign(work.end_execution),
    "noteSpent": assign(work.note_spent),
    "countToolCall": assign({"toolsRunning": lambda context: context["toolsRunning"] + 1}),
    "countToolResult": assign({"toolsRunning": lambda context: max(0, context["toolsRunning"] - 1)}),
    "updatePlan": assign(work.update_plan),
    "keepResult": assign(work.keep_result),
    "recordExecution": assign(work.record_execution),
    "recordFailure": assign(work.record_failure),
    "recordCancelled": assign(work.record_cancelled),
    "skipStep": assign(work.skip_step),
    "finishPlan": assign(work.finish_plan),
    "endEarly": assign(end_early),
    "endDryRun": assign({"reason": "dry_run"}),
    "noteFailed": assign({"reason": "failed"}),
    "noteCancelledRun": assign({"reason": "cancelled"}),
    "noteWaiting": assign(note_waiting),
    "forgetWaiting": assign(forget_waiting),
    "giveAnswer": enqueue_actions(give_answer),
    "noteLostAgent": assign({"lostAgents": lambda context, event: [*context["lostAgents"], event.get("agentId")]}),
    "resumeAgents": enqueue_actions(resume_agents),
    "beginCancelling": enqueue_actions(begin_cancelling),
    "noteGuidance": assign(note_guidance),
    "resetRun": assign(lambda context: fresh_task()),
    # A session that was given from outside is let go with the run; whoever opened it closes it.
    "cleanupSession": assign({"session": None}),
    "streamMessage": enqueue_actions(stream_message),
    "logTaskStart": emit(reports.task_started),
    "logAgentStart": emit(reports.agent_started),
    "logAgentComplete": emit(reports.agent_completed),
    "logAgentError": emit(reports.agent_failed),
    "logToolCall": emit(reports.tool_called),
    "logToolResult": emit(lambda context, event: {**event, "type": "tool_answered"}),
    "logCompletion": emit(reports.completed),
    "logFailure": emit(reports.failed),
    "logCancellation": emit(reports.cancelled),
    "logMaxIterations": emit(reports.max_iterations),
    "logMaxFailures": emit(reports.max_failures),
    "logCostLimit": emit(
        lambda context: reports.line("limit_reached", f"Cost limit ({context['maxCostUsd']} USD) reached")
    ),
    "logWallTime": emit(
        lambda context: reports.line("limit_reached", f"Time limit ({context['maxWallMs']} ms) reached")
    ),
    "logRecovery": emit(reports.recovering),
    "tellPlan": emit(lambda context: {"type": "plan_changed", "plan": context["plan"]}),
    "tellWaiting": emit(lambda context, event: {**event, "type": "agent_waits"}),
    "tellLoss": enqueue_actions(reports.tell_loss),
    "reportEnd": enqueue_actions(reports.report_end),
    "reportWaiting": enqueue_actions(reports.report_waiting),
    "reportWaitingAgain": enqueue_actions(reports.report_waiting),
    "reportGoingOn": enqueue_actions(reports.report_going_on),
    "reportReset": enqueue_actions(reports.report_reset),
    "refuseAloud": enqueue_actions(reports.refuse_aloud),
}
_SILENT = create_machine({"id": "silent"})

orchestrator_machine: Machine[OrchestratorContext, Any] = (
    setup[OrchestratorContext, Any](
        guards=GUARDS,
        actions=ACTIONS,
        delays={"backoff": limits.backoff},
        actors={"arbiterSelectAgent": _SILENT, "arbiterEvaluate": _SILENT, "agentExecutor": crew_machine},
    )
).create_machine({**with_inputs(CHART), "context": first_context, "output": reports.output})
"""Machine of a run: an arbiter picks agents until the task is done."""
