"""Burr with its SQLite persister: the two-step loop, and a history that grows."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

from burr.core import Application, ApplicationBuilder, State, action
from burr.core.persistence import SQLitePersister

from durable.turns import answer, message, serve, timed


@action(reads=["n"], writes=["n"])
def counted(state: State[Any]) -> State[Any]:
    """A step of the loop."""
    return state.update(n=state["n"] + 1)


@action(reads=["messages"], writes=["messages"])
def said(state: State[Any]) -> State[Any]:
    """A turn of a conversation."""
    return state.append(messages=message(len(state["messages"])))


def loop_of(work: Any, persister: SQLitePersister, id: str, **state: Any) -> Application[Any]:
    """Two actions that take turns; the persister stores every step."""
    return (
        ApplicationBuilder()
        .with_actions(ping=work, pong=work)
        .with_transitions(("ping", "pong"), ("pong", "ping"))
        .with_state(**state)
        .with_entrypoint("ping")
        .with_state_persister(persister)
        .with_identifiers(app_id=id, partition_key="bench")
        .build()
    )


def open_persister(path: Path) -> SQLitePersister:
    """A persister as Burr's documentation makes it."""
    persister = SQLitePersister.from_values(str(path), table_name="steps")
    persister.initialize()
    return persister


async def play_loop(folder: Path, actors: int) -> None:
    """A burst is one step of every application."""
    persister = open_persister(folder / "burr.db")
    applications = [loop_of(counted, persister, str(number), n=0) for number in range(actors)]

    async def burst() -> int:
        for application in applications:
            application.step()
        return len(applications)

    await burst()
    assert applications[-1].state["n"] == 1
    await serve(burst)


async def grow(folder: Path, turns: int) -> None:
    """One conversation; gives the file's size once it is closed."""
    persister = open_persister(folder / "burr-history.db")
    application = loop_of(said, persister, "talk", messages=[])

    async def talk() -> int:
        for _ in range(turns):
            application.step()
        return len(application.state["messages"])

    took = await timed(talk)
    assert took["events"] == turns
    persister.connection.close()
    answer({**took, "bytes": sum(file.stat().st_size for file in folder.glob("burr-history.db*"))})


if __name__ == "__main__":
    play = {"loop": play_loop, "history": grow}[sys.argv[1]]
    asyncio.run(play(Path(sys.argv[2]), int(sys.argv[3])))
