"""LangGraph, called asynchronously, as a server does that reads models' replies: the same nodes as coroutines."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from duets.langgraph_peer import Talk, beginning, compiled
from duets.script import Stage, perform


def as_coroutine(node: Any) -> Any:
    """A node as an asynchronous function."""

    async def run(state: Talk) -> Any:
        return node(state)

    return run


async def main(stage: Stage, store: str) -> None:
    """With a saver, every step is stored before the next begins."""
    async with AsyncExitStack() as stack:
        saver: Any = InMemorySaver() if store == "memory" else None
        if store == "sqlite":
            saver = await stack.enter_async_context(AsyncSqliteSaver.from_conn_string(str(stage.file)))
        graph = compiled(saver, as_coroutine)
        stored = {} if saver is None else {"durability": "sync"}

        async def play(number: int) -> list[str]:
            end = await graph.ainvoke(*beginning(number, stage.turns), **stored)
            return [one["output"] for one in end["history"]]

        await stage.play(play)


if __name__ == "__main__":
    perform(main)
