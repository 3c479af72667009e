"""The chat machine composed with its actors: replies, tools, summaries."""

from collections.abc import Callable
from typing import Any

from antiphon.chart.machine import Machine
from antiphon.chat.machine.flow import flow_machine
from antiphon.chat.machine.version_1.flow import flow_machine_1
from antiphon.chat.machine.version_1.migration import CHANGES
from antiphon.chat.reconciler import reconciler
from antiphon.chat.summaries import Summariser, crystallizer, summarise_by_function
from antiphon.chat.summaries import summariser as summarise_by_model
from antiphon.providers.base import Provider
from antiphon.providers.prices import Prices

VERSION_1 = flow_machine_1
MIGRATION = CHANGES


def compose_chat(
    open_model: Callable[[str], Provider],
    *,
    prices: Prices,
    reply: Any,
    tools: Any,
    summariser: Summariser | None = None,
    machine: Machine[Any, Any] = flow_machine,
) -> Machine[Any, Any]:
    """Return the machine for the thread's actor `chat`."""
    summarise = summarise_by_model(open_model, prices) if summariser is None else summarise_by_function(summariser)
    return machine.provide(
        actors={
            "reply": reply,
            "tools": tools,
            "summariser": summarise,
            "crystallizer": crystallizer(open_model, prices),
            "reconciler": reconciler(open_model, prices),
        }
    )
