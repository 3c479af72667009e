"""How facts about stores are stated."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Protocol

from antiphon.runtime.errors import RuntimeFault
from antiphon.runtime.records import Letter
from antiphon.runtime.store import Store


class InspectableStore(Store, Protocol):
    """A store that also shows its dead letters."""

    async def dead_letters(self, root: str) -> list[tuple[Letter, str]]:
        """The letters that no step of a tree could take, and why."""
        ...


Fact = Callable[[Any, InspectableStore], Awaitable[None]]


def on_a_store(fact: Fact) -> Callable[[Any, Path], None]:
    """A test that runs on a new store, open."""

    def test(self: Any, tmp_path: Path) -> None:
        async def run() -> None:
            store = self.make_store(tmp_path)
            await store.open()
            try:
                await fact(self, store)
            finally:
                await store.close()

        asyncio.run(run())

    test.__name__, test.__doc__ = fact.__name__, fact.__doc__
    return test


async def refused(work: Awaitable[Any], kind: type[RuntimeFault]) -> str:
    """Make sure that something is refused, by an error of a kind; gives its message."""
    try:
        await work
    except kind as error:
        return str(error)
    raise AssertionError(f"{kind.__name__} was expected")


async def contents(store: InspectableStore) -> list[Any]:
    """Everything a store shows."""
    found: list[Any] = [await store.due_times(), await store.running_tasks(), await store.roots()]
    for summary in found[2]:
        root = summary.root
        found.append((await store.load(root), await store.entries(root), await store.dead_letters(root)))
    return found
