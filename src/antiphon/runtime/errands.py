"""Errands: what is done for letters from outside before they are acknowledged."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from antiphon.runtime.records import Letter, Receipt

Fate = asyncio.Future[Receipt]


class Errands:
    """Letters from outside whose fate is not known yet: nobody else may bring them in meanwhile."""

    def __init__(self) -> None:
        self._fates: dict[tuple[str, str], Fate] = {}
        self._running: set[asyncio.Task[None]] = set()

    async def run(self, letter: Letter, errand: Callable[[Fate], Coroutine[Any, Any, None]]) -> Receipt:
        """Do something for a letter to its end: who waits may go away, the letter's fate does not depend on that."""
        if (earlier := await self._earlier(letter)) is not None:
            return earlier
        fate = self._claim(letter)
        running = asyncio.get_running_loop().create_task(_to_its_end(errand(fate), fate))
        self._running.add(running)
        running.add_done_callback(self._running.discard)
        return await asyncio.shield(fate)

    async def finished(self) -> None:
        """Wait until all are done."""
        if self._running:
            await asyncio.wait(self._running)

    async def _earlier(self, letter: Letter) -> Receipt | None:
        """What became of the same letter if it is on its way already: a duplicate, unless it was refused."""
        if (fate := self._fates.get((letter.root, letter.id))) is not None:
            receipt = await asyncio.shield(fate)
            return receipt if receipt.status == "rejected" else receipt._replace(status="duplicate")
        return None

    def _claim(self, letter: Letter) -> Fate:
        key = (letter.root, letter.id)
        fate: Fate = asyncio.get_running_loop().create_future()
        self._fates[key] = fate
        fate.add_done_callback(lambda done: self._settled(key, done))
        return fate

    def _settled(self, key: tuple[str, str], fate: Fate) -> None:
        self._fates.pop(key, None)
        if not fate.cancelled():
            fate.exception()  # who waited has heard of it


async def _to_its_end(errand: Coroutine[Any, Any, None], fate: Fate) -> None:
    try:
        await errand
    except Exception as error:
        if not fate.done():
            fate.set_exception(error)
