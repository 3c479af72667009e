"""LangGraph, called synchronously: an arbiter and two agents as nodes; without a saver, in memory, and on SQLite."""

from __future__ import annotations

import asyncio
import json
import operator
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph

from duets.script import AGENTS, TASK, Stage, decision, perform, words


class Talk(TypedDict):
    """The state: the task, all that was done, who is next, and where it ends."""

    task: str
    history: Annotated[list[dict[str, str]], operator.add]
    next: str
    turns: int


def arbiter(state: Talk) -> dict[str, Any]:
    """Ask the arbiter's model, and take its decision."""
    found = json.loads(decision(len(state["history"]), state["turns"]))
    return chosen(found["type"], found.get("mode"))


def chosen(type: str, mode: str | None) -> dict[str, Any]:
    """What a decision changes."""
    return {"next": mode if type == "SELECT_MODE" else END}


def agent(name: str) -> Any:
    """An agent that asks its model."""

    def speak(state: Talk) -> dict[str, Any]:
        return spoken(name, words(len(state["history"])))

    return speak


def spoken(name: str, text: str) -> dict[str, Any]:
    """What an agent's words change."""
    return {"history": [{"agent": name, "output": text}]}


def compiled(saver: Any, arbiter: Any, agent: Callable[[str], Any]) -> Any:
    """The graph, with these nodes."""
    graph = StateGraph(Talk)
    graph.add_node("arbiter", arbiter)
    for name in AGENTS:
        graph.add_node(name, agent(name))
        graph.add_edge(name, "arbiter")
    graph.add_edge(START, "arbiter")
    graph.add_conditional_edges("arbiter", lambda state: state["next"], [*AGENTS, END])
    return graph.compile(checkpointer=saver)


def open_saver(store: str, path: Path) -> Any:
    """A saver as LangGraph's documentation makes it."""
    match store:
        case "memory":
            return InMemorySaver()
        case "sqlite":
            return SqliteSaver(sqlite3.connect(path, check_same_thread=False))
    return None


def beginning(number: int, turns: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """The first state of a play, and its configuration."""
    state = {"task": TASK, "history": [], "next": "", "turns": turns}
    return state, {"configurable": {"thread_id": str(number)}, "recursion_limit": 2 * turns + 10}


def durability(saver: Any) -> dict[str, str]:
    """With a saver, every step is stored before the next begins."""
    return {} if saver is None else {"durability": "sync"}


async def main(stage: Stage, store: str) -> None:
    """A play is called from the loop itself; in a crowd, each from a thread of its own."""
    saver = open_saver(store, stage.file)
    graph, stored = compiled(saver, arbiter, agent), durability(saver)

    def invoke(number: int) -> list[str]:
        end = graph.invoke(*beginning(number, stage.turns), **stored)
        return [one["output"] for one in end["history"]]

    with ThreadPoolExecutor(stage.crowd) as threads:

        async def play(number: int) -> list[str]:
            if stage.crowd == 1:
                return invoke(number)
            return await asyncio.get_running_loop().run_in_executor(threads, invoke, number)

        await stage.play(play)
    if isinstance(saver, SqliteSaver):
        saver.conn.close()


if __name__ == "__main__":
    perform(main)
