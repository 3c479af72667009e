"""Composition of a debate: machine, replies, judge and initialiser."""

from collections.abc import Callable
from typing import Any

from antiphon.chart.machine import Machine
from antiphon.debate.judge import initialiser
from antiphon.debate.judge import judge as judge_by_model
from antiphon.debate.judge_function import Judge, judge_by_function
from antiphon.debate.machine.debate import debate_machine
from antiphon.debate.machine.version_1.debate import debate_machine_1
from antiphon.providers.base import Provider
from antiphon.providers.prices import Prices

VERSION_1 = debate_machine_1


def compose_debate(
    open_model: Callable[[str], Provider],
    *,
    prices: Prices,
    reply: Any,
    judge: Judge | None = None,
    machine: Machine[Any, Any] = debate_machine,
) -> Machine[Any, Any]:
    """Return the machine to provide as the thread's actor `debate`."""
    decide = judge_by_model(open_model, prices) if judge is None else judge_by_function(judge)
    prepare = initialiser(open_model, prices, judged_by_model=judge is None)
    return machine.provide(actors={"reply": reply, "judge": decide, "initialiser": prepare})
