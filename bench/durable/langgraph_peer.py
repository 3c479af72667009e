"""LangGraph with its SqliteSaver: the two-step loop, and a history that grows."""

from __future__ import annotations

import asyncio
import operator
import sqlite3
import sys
from itertools import count
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph

from durable.turns import answer, message, serve, timed

BURST = 100


class Counted(TypedDict):
    """The state of the loop."""

    n: int
    last: int


class Said(TypedDict):
    """The state of a conversation, and where it ends."""

    messages: Annotated[list[str], operator.add]
    last: int


def loop_of(state: Any, work: Any, is_over: Any, saver: SqliteSaver) -> Any:
    """Two nodes that take turns until it is over."""
    graph = StateGraph(state)
    for name, other in (("ping", "pong"), ("pong", "ping")):
        graph.add_node(name, work)
        graph.add_conditional_edges(name, lambda state, other=other: END if is_over(state) else other, [other, END])
    graph.add_edge(START, "ping")
    return graph.compile(checkpointer=saver)


def open_saver(path: Path) -> SqliteSaver:
    """A saver as LangGraph's documentation makes it."""
    return SqliteSaver(sqlite3.connect(path, check_same_thread=False))


def config_of(thread: int, steps: int) -> dict[str, Any]:
    """Which thread, and how many steps it may take."""
    return {"configurable": {"thread_id": str(thread)}, "recursion_limit": steps + 10}


async def play_loop(folder: Path, actors: int) -> None:
    """A burst is a run of steps by the next thread; every step is stored before the next begins."""
    graph = loop_of(
        Counted,
        lambda state: {"n": state["n"] + 1},
        lambda state: state["n"] >= state["last"],
        open_saver(folder / "langgraph.db"),
    )
    runs = count()

    async def burst() -> int:
        lap, thread = divmod(next(runs), actors)
        first, last = lap * BURST, (lap + 1) * BURST
        end = graph.invoke({"n": first, "last": last}, config_of(thread, BURST), durability="sync")
        assert end["n"] == last
        return BURST

    await burst()
    await serve(burst)


async def grow(folder: Path, turns: int) -> None:
    """One conversation; gives the file's size once it is closed."""
    saver = open_saver(folder / "langgraph-history.db")
    graph = loop_of(
        Said,
        lambda state: {"messages": [message(len(state["messages"]))]},
        lambda state: len(state["messages"]) >= state["last"],
        saver,
    )

    async def talk() -> int:
        end = graph.invoke({"messages": [], "last": turns}, config_of(0, turns), durability="sync")
        return len(end["messages"])

    took = await timed(talk)
    assert took["events"] == turns
    saver.conn.close()
    answer({**took, "bytes": sum(file.stat().st_size for file in folder.glob("langgraph-history.db*"))})


if __name__ == "__main__":
    play = {"loop": play_loop, "history": grow}[sys.argv[1]]
    asyncio.run(play(Path(sys.argv[2]), int(sys.argv[3])))
