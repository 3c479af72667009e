"""The machines composed: thread ⊃ chat or run ⊃ reply, tools and permission, with the services behind their actors."""

import asyncio
from collections.abc import Callable
from typing import Any

from antiphon.actors.tasks import AsyncLogic, from_task
from antiphon.agents.service import compose_run
from antiphon.chart.machine import Machine
from antiphon.chat.machine.flow import flow_machine
from antiphon.chat.summaries import crystallizer, summariser
from antiphon.debate.service import compose_debate
from antiphon.providers.base import Provider
from antiphon.providers.prices import Prices
from antiphon.threads.machine.streaming import streaming_machine
from antiphon.threads.machine.thread import thread_machine
from antiphon.threads.machine.tools import tools_machine
from antiphon.threads.reply import stream_reply
from antiphon.threads.toolbox import NoTools, Toolbox, call_tool


def compose(
    open_model: Callable[[str], Provider],
    *,
    prices: Prices | None = None,
    toolbox: Toolbox | None = None,
    closing: asyncio.Event | None = None,
) -> Machine[Any, Any]:
    """The thread machine with everything inside it."""
    known = prices or Prices()
    lifetime = process(closing or asyncio.Event())
    tools = tools_machine.provide(actors={"tool": call_tool(toolbox or NoTools()), "process": lifetime})
    chat = flow_machine.provide(
        actors={
            "reply": streaming_machine.provide(actors={"streamReply": stream_reply(open_model, prices=known)}),
            "tools": tools,
            "summariser": summariser(open_model, known),
            "crystallizer": crystallizer(open_model, known),
        }
    )
    run = compose_run(open_model, process=lifetime, prices=known, toolbox=toolbox)
    debate = compose_debate(open_model, prices=known)
    return thread_machine.provide(actors={"chat": chat, "run": run, "debate": debate})


def process(closing: asyncio.Event) -> AsyncLogic:
    """Stands for this process: it ends when the process closes, and after a crash it is reported as lost."""

    async def run() -> None:
        await closing.wait()

    return from_task(run)
