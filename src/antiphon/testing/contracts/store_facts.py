"""Helpers of the contract tests of stores."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Protocol

from antiphon.runtime.errors import RuntimeFault
from antiphon.runtime.records import Letter
from antiphon.runtime.store import Store


class InspectableStore(Store, Protocol):
    """Store whose dead letters can be read."""

    async def dead_letters(self, root: str) -> list[tuple[Letter, str]]:
        """Return the letters that no step of a tree could take, with their errors."""
        ...


Fact = Callable[[Any, InspectableStore], Awaitable[None]]


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


async def read_contents(store: InspectableStore) -> list[Any]:
    """Return everything that can be read from a store."""
    summaries = await store.roots()
    contents: list[Any] = [await store.due_times(), await store.running_tasks(), summaries]
    for summary in summaries:
        root = summary.root
        contents.append((await store.load(root), await store.entries(root), await store.dead_letters(root)))
    return contents
