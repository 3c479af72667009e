"""Version 1 of the debate: a judge was also asked when nobody had said anything."""

from antiphon.chart.actions import enqueue_actions
from antiphon.debate.machine import budget, judging
from antiphon.debate.machine.context import first_context
from antiphon.debate.machine.debate import debate_machine
from antiphon.threads.machine.charts import load_chart
from antiphon.threads.machine.former import AnyMachine, Context, Event, Queue, bind_former


def _has_rounds(context: Context) -> bool:
    return bool(context["rounds"] or context["responses"])


def _compile_transcript(context: Context, event: Event, enqueue: Queue) -> None:
    judging.report_last_round(context, enqueue)
    judging.report_judging(context, enqueue)


def _stop_judge(context: Context, event: Event, enqueue: Queue) -> None:
    enqueue.stop_child("judge")
    judging.charge_unreported(context, event, enqueue)


debate_machine_1: AnyMachine = bind_former(
    debate_machine,
    load_chart(__name__),
    context=first_context,
    actions={
        "compileTranscript": enqueue_actions(_compile_transcript),
        "invokeJudge": enqueue_actions(judging.ask_judge),
        "stopJudge": enqueue_actions(_stop_judge),
    },
    guards={"hasRounds": _has_rounds, "prefersJudge": budget.prefers_judge},
)
