"""Helpers of the contract tests of stores."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from antiphon.runtime.errors import RuntimeFault
from antiphon.runtime.index.rows import RowFilter
from antiphon.runtime.store import Store

MOST_ROWS = 10_000
Fact = Callable[[Any, Store], Awaitable[None]]


def on_a_store(fact: Fact) -> Callable[[Any, Path], None]:
    """Turn a coroutine into a test that runs on a new, open store."""

    def test(self: Any, tmp_path: Path) -> None:
        async def run() -> None:
            store = self.make_store(tmp_path)
            await store.open()
            try:
                await fact(self, store)
            finally:
                await store.close()

        asyncio.run(run())

    test.__name__ = fact.__name__
    test.__doc__ = fact.__doc__
    return test


async def assert_refused(work: Awaitable[Any], kind: type[RuntimeFault]) -> str:
    """Assert that an operation raises an error of a kind; return its message."""
    try:
        await work
    except kind as error:
        return str(error)
    raise AssertionError(f"{kind.__name__} was expected")


async def read_index(store: Store, *words: str) -> list[Any]:
    """Return the rows of all trees, and the results of searches."""
    rows = await store.index.page(RowFilter(), None, MOST_ROWS)
    return [
        rows,
        await store.index.find_outdated(1),
        [await store.index.search(text, None, MOST_ROWS) for text in words],
    ]


async def read_contents(store: Store) -> list[Any]:
    """Return everything that can be read from a store."""
    summaries = await store.roots()
    contents: list[Any] = [await store.due_times(), await store.running_tasks(), summaries]
    for summary in summaries:
        root = summary.root
        outcomes = (await store.dead_letters(root), await store.incidents(root), await store.mark(root))
        contents.append((await store.load(root), await store.entries(root), *outcomes))
    return contents
