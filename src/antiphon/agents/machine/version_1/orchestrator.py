"""Version 1 of the crew and the orchestrator: answers of people came from the thread, and were passed on to agents.

Its lines had no severity and were not kept, it knew nothing of sessions, and patterns of agents had all of `re`.
"""

from collections.abc import Callable
from typing import Any

from antiphon.agents.machine import choices, inputs, orchestrator, reports, work
from antiphon.agents.machine.crew import crew_machine
from antiphon.agents.machine.log import line
from antiphon.agents.machine.version_1.former_patterns import search_former
from antiphon.chart.actions import assign, emit, enqueue_actions
from antiphon.threads.machine.charts import load_chart
from antiphon.threads.machine.former import AnyMachine, Context, Event, Queue, bind_former

FOLDER = __name__.rpartition(".")[0]


def _crew_input(context: Context) -> Context:
    return inputs.crew_input_for(context, f"{context['iterationCount']}-")


def _give_answer(context: Context, event: Event, enqueue: Queue) -> None:
    questions = [item for item in context["waiting"] if event.get("agentId") in (None, item.get("agentId"))]
    if not questions:
        return
    agent = questions[0].get("agentId")
    answer = {**event, "text": choices.task_of(event) or None, "type": "ANSWER", "agentId": agent}
    waiting = [question for question in context["waiting"] if question.get("agentId") != agent]
    enqueue.assign({"waiting": waiting, "runId": orchestrator.run_of(context, event)})
    enqueue.send_to(orchestrator.CREW, {key: value for key, value in answer.items() if value is not None})


def _report_going_on(context: Context, event: Event, enqueue: Queue) -> None:
    if context["reportsToParent"] and not context["waiting"]:
        enqueue.send_parent({"type": "RESPOND", "runId": context["runId"]})


def _without_severity(event: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in event.items() if key != "severity"}


def _log(report: Callable[..., Any]) -> Any:
    return emit(lambda context: _without_severity(report(context)))


def _tool_call(context: Context, event: Event) -> Any:
    return _without_severity(reports.tool_call(context, event))


def _tell_loss(context: Context, event: Event, enqueue: Queue) -> None:
    enqueue.emit(_without_severity(line("interrupted", "Interrupted: the process was lost")))
    reports.send_loss(context, enqueue)


def _report_end(context: Context, event: Event, enqueue: Queue) -> None:
    reports.report_result(reports.result_of(context), context, enqueue)


def _keep_result(context: Context, event: Event) -> Any:
    return work.keep_result_by(search_former, context, event)


def _decide_by_rule(context: Context, event: Event) -> Any:
    return choices.decide_with(search_former, context, event)


def _is_decided_by_rule(context: Context, event: Event) -> bool:
    return choices.rule_by(search_former, context, event) is not None


def _is_completed_by_rule(context: Context, event: Event) -> bool:
    return choices.rule_by(search_former, context, event) == "COMPLETE"


crew_machine_1: AnyMachine = bind_former(crew_machine, load_chart(f"{FOLDER}.crew"))
orchestrator_machine_1: AnyMachine = bind_former(
    orchestrator.orchestrator_machine,
    orchestrator.with_inputs(
        load_chart(__name__),
        {"selecting": inputs.arbiter_facts, "executing": _crew_input, "evaluating": inputs.arbiter_facts},
    ),
    output=reports.result_of,
    actions={
        "cleanupSession": assign({"session": None}),
        "keepResult": assign(_keep_result),
        "decideByRule": assign(_decide_by_rule),
        "logTaskStart": _log(reports.task_start),
        "logAgentStart": _log(reports.agent_start),
        "logAgentComplete": _log(reports.agent_completion),
        "logAgentError": _log(reports.agent_failure),
        "logToolCall": emit(_tool_call),
        "logCompletion": _log(reports.completion),
        "logFailure": _log(reports.failure),
        "logCancellation": _log(reports.cancellation),
        "logMaxIterations": _log(reports.max_iterations),
        "logMaxFailures": _log(reports.max_failures),
        "logCostLimit": _log(reports.cost_limit),
        "logWallTime": _log(reports.wall_time),
        "logRecovery": _log(reports.recovery),
        "tellLoss": enqueue_actions(_tell_loss),
        "reportEnd": enqueue_actions(_report_end),
        "giveAnswer": enqueue_actions(_give_answer),
        "reportWaitingAgain": enqueue_actions(reports.report_waiting),
        "reportGoingOn": enqueue_actions(_report_going_on),
    },
    guards={
        "isLoss": orchestrator.is_loss_event,
        "isDecidedByRule": _is_decided_by_rule,
        "isCompletedByRule": _is_completed_by_rule,
    },
)
