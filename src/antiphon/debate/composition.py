"""Composition of a debate: machine, replies, judge and initialiser."""

from collections.abc import Callable
from typing import Any

from antiphon.chart.machine import Machine
from antiphon.debate.judge import initialiser, judge
from antiphon.debate.machine.debate import debate_machine
from antiphon.providers.base import Provider
from antiphon.providers.prices import Prices


def compose_debate(open_model: Callable[[str], Provider], *, prices: Prices, reply: Any) -> Machine[Any, Any]:
    """Return the machine to provide as the thread's actor `debate`."""
    return debate_machine.provide(
        actors={"reply": reply, "judge": judge(open_model, prices), "initialiser": initialiser(open_model, prices)}
    )
