"""The debate machine: several models, rounds, a judge and a budget, as the chart `debate.json` says.

1. Only missing debaters are asked, so continuing after a pause, an error or a crash repeats nothing.
2. Every call is estimated before it is made and charged when it ends. No call is made that might exceed the limit.
3. Replies, the judge and the initialiser are actors that a composition provides. With the driver `events`
   none is started: their reports come from outside.
4. Time comes with events: `at`, and the time of a reply's message.
"""

from typing import Any

from antiphon.chart.machine import Machine, create_machine
from antiphon.chart.setup import setup
from antiphon.debate.machine.actions import ACTIONS
from antiphon.debate.machine.context import DebateContext, State, first_context
from antiphon.debate.machine.events import PUBLIC, DebateEvent
from antiphon.debate.machine.guards import GUARDS
from antiphon.debate.machine.reports import result
from antiphon.threads.machine.charts import load_chart

JUDGE_TIMEOUT_MS = 180_000
# Placeholder for the actors that a composition provides: it accepts every event and does nothing.
inert: Machine[Any, Any] = create_machine({"id": "inert"})


def round_timeout(context: DebateContext) -> float:
    """Return the time limit of a round in milliseconds."""
    return context["config"]["timeoutPerRound"] * 1_000


_debates = setup[DebateContext, DebateEvent, State](
    guards=GUARDS,
    actions=ACTIONS,
    delays={
        "roundTimeout": round_timeout,
        "judgeTimeout": JUDGE_TIMEOUT_MS,
    },
    actors={"reply": inert, "judge": inert, "initialiser": inert},
    events=DebateEvent,
    public=PUBLIC,
)
debate_machine: Machine[DebateContext, DebateEvent, State] = _debates.create_machine(
    {**load_chart(__name__), "context": first_context, "output": result}
)
"""Machine of a debate: openings, rounds, closings, verdict."""
