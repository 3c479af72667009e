"""Burr: an arbiter and two agents as actions; without a persister, in memory, and on SQLite."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from burr.core import Application, ApplicationBuilder, State, action, when
from burr.core.persistence import InMemoryPersister, SQLitePersister

from duets.script import AGENTS, TASK, Stage, decision, perform, words

END = "end"


@action(reads=["history", "turns"], writes=["next"])
def arbiter(state: State[Any]) -> State[Any]:
    """Ask the arbiter's model, and take its decision."""
    found = json.loads(decision(len(state["history"]), state["turns"]))
    return state.update(next=found["mode"] if found["type"] == "SELECT_MODE" else END)


@action(reads=["history"], writes=["history"])
def asker(state: State[Any]) -> State[Any]:
    """One of the agents asks its model."""
    return state.append(history={"agent": "asker", "output": words(len(state["history"]))})


@action(reads=["history"], writes=["history"])
def answerer(state: State[Any]) -> State[Any]:
    """The other one does."""
    return state.append(history={"agent": "answerer", "output": words(len(state["history"]))})


@action(reads=[], writes=[])
def end(state: State[Any]) -> State[Any]:
    """All was said."""
    return state


def build(persister: Any, id: str, turns: int) -> Application[Any]:
    """The application; a persister stores every step."""
    builder = (
        ApplicationBuilder()
        .with_actions(arbiter=arbiter, asker=asker, answerer=answerer, end=end)
        .with_transitions(
            *(("arbiter", name, when(next=name)) for name in (*AGENTS, END)),
            *((name, "arbiter") for name in AGENTS),
        )
        .with_state(task=TASK, history=[], next="", turns=turns)
        .with_entrypoint("arbiter")
        .with_identifiers(app_id=id, partition_key="bench")
    )
    return (builder if persister is None else builder.with_state_persister(persister)).build()


def open_persister(store: str, path: Path) -> Any:
    """A persister as Burr's documentation makes it."""
    match store:
        case "memory":
            return InMemoryPersister()
        case "sqlite":
            persister = SQLitePersister.from_values(str(path), table_name="steps")
            persister.initialize()
            return persister
    return None


async def main(stage: Stage, store: str) -> None:
    """A new application for every play."""
    persister = open_persister(store, stage.file)

    async def play(number: int) -> list[str]:
        *_, state = build(persister, str(number), stage.turns).run(halt_after=[END])
        return [one["output"] for one in state["history"]]

    await stage.play(play)
    if isinstance(persister, SQLitePersister):
        persister.connection.close()


if __name__ == "__main__":
    perform(main)
