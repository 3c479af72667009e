"""LangGraph, called asynchronously, as a server does that reads models' replies: the same nodes as coroutines."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from duets.langgraph_peer import Talk, agent, arbiter, beginning, compiled, durability, open_saver
from duets.script import Stage, perform


def as_coroutine(node: Any) -> Any:
    """A node as an asynchronous function."""

    async def run(state: Talk) -> Any:
        return node(state)

    return run


@asynccontextmanager
async def opened(store: str, path: Path) -> AsyncGenerator[Any, None]:
    """A saver for coroutines, as LangGraph's documentation makes it."""
    if store == "sqlite":
        async with AsyncSqliteSaver.from_conn_string(str(path)) as saver:
            yield saver
    else:
        yield open_saver(store, path)


async def main(stage: Stage, store: str) -> None:
    """All plays of a crowd are coroutines of one loop, and share the saver."""
    async with opened(store, stage.file) as saver:
        graph = compiled(saver, as_coroutine(arbiter), lambda name: as_coroutine(agent(name)))
        stored = durability(saver)

        async def play(number: int) -> list[str]:
            end = await graph.ainvoke(*beginning(number, stage.turns), **stored)
            return [one["output"] for one in end["history"]]

        await stage.play(play)


if __name__ == "__main__":
    perform(main)
