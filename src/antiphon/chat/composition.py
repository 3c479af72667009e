"""The chat machine composed with its actors: replies, tools, summaries."""

from collections.abc import Callable
from typing import Any

from antiphon.chart.machine import Machine
from antiphon.chat.machine.flow import flow_machine
from antiphon.chat.summaries import crystallizer, summariser
from antiphon.providers.base import Provider
from antiphon.providers.prices import Prices


def compose_chat(open_model: Callable[[str], Provider], *, prices: Prices, reply: Any, tools: Any) -> Machine[Any, Any]:
    """Return the machine for the thread's actor `chat`."""
    return flow_machine.provide(
        actors={
            "reply": reply,
            "tools": tools,
            "summariser": summariser(open_model, prices),
            "crystallizer": crystallizer(open_model, prices),
        }
    )
