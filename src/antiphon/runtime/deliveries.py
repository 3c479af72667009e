"""Deliveries of letters from outside: deduplicated by id, and finished even if the sender is cancelled."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from antiphon.runtime.inboxes import Inboxes, Waiting
from antiphon.runtime.records import Letter, Receipt
from antiphon.runtime.store import Store
from antiphon.runtime.woods import Woods

Fate = asyncio.Future[Receipt]


class Deliveries:
    """Letters that are on their way in: nobody else may bring the same one in meanwhile."""

    def __init__(self, store: Store, woods: Woods, inboxes: Inboxes) -> None:
        self._store = store
        self._woods = woods
        self._inboxes = inboxes
        self._fates: dict[tuple[str, str], Fate] = {}
        self._running: set[asyncio.Task[None]] = set()

    async def send(self, letter: Letter, *, is_named: bool) -> Receipt:
        """Put a letter into its inbox, and wait until the step that takes it is stored."""
        if not is_named and self._woods.known(letter.root) is not None:
            # Nobody else has this letter, and its tree is at hand: there is nothing to find out first.
            answer: Fate = asyncio.get_running_loop().create_future()
            self._inboxes.put(Waiting(letter, answer), bounded=True)
            return await answer
        return await self._run(letter, lambda fate: self._bring_in(letter, fate, is_named))

    async def post(self, letter: Letter) -> Receipt:
        """Store a letter; it is taken when it is due."""
        return await self._run(letter, lambda fate: self._put_away(letter, fate))

    async def _bring_in(self, letter: Letter, fate: Fate, is_named: bool) -> None:
        tree = await self._woods.tree(letter.root)
        seq = None
        if not tree.knows(letter.id) and is_named:
            seq = await self._store.applied(letter.root, letter.id)
        if tree.knows(letter.id) or seq is not None:
            fate.set_result(Receipt("duplicate", letter.id, seq or 0))
        else:
            self._inboxes.put(Waiting(letter, fate), bounded=True)

    async def _put_away(self, letter: Letter, fate: Fate) -> None:
        (is_new,) = await self._store.post([letter])
        if is_new:
            self._woods.posted(letter)
            self._inboxes.alarm(letter.due, letter.root)
        fate.set_result(Receipt("accepted" if is_new else "duplicate", letter.id))

    async def _run(self, letter: Letter, errand: Callable[[Fate], Coroutine[Any, Any, None]]) -> Receipt:
        """Run an errand in a task of its own, so that cancelling the caller does not cancel the delivery."""
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
