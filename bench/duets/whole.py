"""Antiphon, a whole run: models behind the arbiter and the agents, prompts, streamed deltas, tokens and prices."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from typing import Any

from antiphon import create_actor, to_awaitable
from antiphon.agents.composition import compose_run
from antiphon.app import App
from antiphon.providers.base import Delta, Done, Model, Request, TextDelta
from antiphon.providers.prices import Prices
from antiphon.providers.registry import Models
from antiphon.stores.memory import MemoryStore
from antiphon.threads.machine.streaming import streaming_machine
from antiphon.threads.machine.tools import tools_machine
from antiphon.threads.reply import stream_reply
from duets.crew import team
from duets.hosted import said
from duets.script import TASK, Stage, decisions, deltas, perform, speeches


class Speaker:
    """A model that says what the script has for its next turn, in a few deltas."""

    def __init__(self, name: str, lines: Iterator[str]) -> None:
        self.model = Model(f"scripted:{name}", "scripted", name)
        self._lines = lines

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """The next reply."""
        for text in deltas(next(self._lines)):
            yield TextDelta(text)
        yield Done("end")


class Cast:
    """The models of a run; they begin anew with every one."""

    def __init__(self, turns: int) -> None:
        self.turns = turns
        self._speakers: dict[str, Speaker] = {}
        self.models = Models(openers={"scripted": lambda reference: self._speakers[reference.model]})

    def begin(self) -> dict[str, Any]:
        """Be ready for a run; gives its settings."""
        turns = self.turns
        self._speakers = {
            "arbiter": Speaker("arbiter", decisions(turns)),
            "agents": Speaker("agents", speeches(turns)),
        }
        return {"model": "scripted:agents", "arbiter": {"model": "scripted:arbiter"}, "maxIterations": turns + 1}


async def without_store(stage: Stage) -> None:
    """The machine as an actor of this process."""
    cast = Cast(stage.turns)
    prices = Prices()
    reply = streaming_machine.provide(actors={"streamReply": stream_reply(cast.models.open, prices=prices)})
    machine = compose_run(cast.models.open, prices=prices, reply=reply, tools=tools_machine)

    async def play(number: int) -> list[str]:
        actor = create_actor(machine, input={**cast.begin(), "agents": team()})
        ended = to_awaitable(actor)
        actor.start().send({"type": "START_TASK", "task": TASK, "at": 0})
        return said(await ended)

    await stage.play(play)


async def main(stage: Stage, store: str) -> None:
    """With a store, runs of the whole app: whoever waits for the end of one follows its journal."""
    if store == "none":
        return await without_store(stage)
    cast = Cast(stage.turns)
    async with App(MemoryStore() if store == "memory" else stage.file, models=cast.models) as app:

        async def play(number: int) -> list[str]:
            id = await app.runs.create(team(), **cast.begin())
            receipt = await app.runs.start(id, TASK)
            ends = [one async for one in app.runs.until_idle(id, receipt.seq - 1) if one.kind == "run_ended"]
            return said(ends[-1].facts)

        await stage.play(play)
    return None


if __name__ == "__main__":
    perform(main)
