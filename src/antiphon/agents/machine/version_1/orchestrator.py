"""Version 1 of the crew and the orchestrator: answers of people came from the thread, and were passed on to agents."""

from antiphon.agents.machine import choices, orchestrator, reports, work
from antiphon.agents.machine.crew import crew_machine
from antiphon.chart.actions import enqueue_actions
from antiphon.threads.machine.charts import load_chart
from antiphon.threads.machine.former import AnyMachine, Context, Event, Queue, bind_former

FOLDER = __name__.rpartition(".")[0]


def _crew_input(context: Context) -> Context:
    return work.crew_input_for(context, f"{context['iterationCount']}-")


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


crew_machine_1: AnyMachine = bind_former(crew_machine, load_chart(f"{FOLDER}.crew"))
orchestrator_machine_1: AnyMachine = bind_former(
    orchestrator.orchestrator_machine,
    orchestrator.with_inputs(load_chart(__name__), {**orchestrator.INPUTS, "executing": _crew_input}),
    actions={
        "giveAnswer": enqueue_actions(_give_answer),
        "reportWaitingAgain": enqueue_actions(reports.report_waiting),
        "reportGoingOn": enqueue_actions(_report_going_on),
    },
)
