"""Simulated clients: they send a letter until they know what became of it, and some letters more than once."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from antiphon.runtime.errors import InboxFull, NotRunning, RootExists, StoreError
from antiphon.runtime.records import Receipt
from antiphon.runtime.runtime import Runtime
from antiphon.testing.simulation.processes import Died, Forsaken
from antiphon.testing.simulation.world import World

AGAIN = (Died, InboxFull, NotRunning, StoreError, TimeoutError)


class Client:
    """Somebody outside who does not give up."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def create(self, machine: str, root: str, input: Any = None) -> str:
        """A new root actor; if nobody says whether it was made, ask again."""
        return await self._make(root, lambda runtime: runtime.create(machine, root=root, input=input))

    async def fork(self, root: str, seq: int, new: str) -> str:
        """A new root actor that begins where another one was."""
        return await self._make(new, lambda runtime: runtime.fork(root, seq, new=new))

    async def _make(self, root: str, make: Callable[[Runtime], Coroutine[Any, Any, str]]) -> str:
        while True:
            runtime = await self._world.up()
            try:
                await self._world.process.call(make(runtime))
                break
            except RootExists:
                break
            except AGAIN:
                await asyncio.sleep(0.05)
        self._world.follow(root)
        return root

    async def send(self, root: str, event: Any, *, id: str | None = None, to: str = "") -> Receipt:
        """Send a letter, or post it; gives the first receipt for it."""
        id = id or self._world.new_id()
        if not self._world.happens("duplicate"):
            return await self._until_known(root, event, id, to)
        if self._world.dice.random() < 0.5:
            first, _ = await asyncio.gather(*(self._until_known(root, event, id, to) for _ in range(2)))
            return first
        first = await self._until_known(root, event, id, to)
        await asyncio.sleep(self._world.dice.choice((0.0, 0.1, 1.0)))
        await self._until_known(root, event, id, to)
        return first

    async def _until_known(self, root: str, event: Any, id: str, to: str) -> Receipt:
        world = self._world
        while True:
            runtime = await world.up()
            by_post = world.happens("by_post")
            door = runtime.post if by_post else runtime.send
            try:
                call = world.process.call(door(root, event, id=id, to=to))
                receipt = await (self._impatiently(call) if world.happens("impatience") else call)
            except Forsaken:
                world.history.broken.append(f"{root}: sending {id} was cancelled, though nobody asked for it")
            except AGAIN as error:
                world.note(f"{id} for {root}: {error!r}, so once more")
            else:
                world.note(f"{id} for {root}: {receipt.status} {receipt.seq} {'by post' if by_post else ''}")
                world.history.acknowledged(root, receipt, by_post)
                return receipt
            await asyncio.sleep(world.dice.choice((0.0, 0.05, 0.3)))

    async def _impatiently(self, call: Coroutine[Any, Any, Receipt]) -> Receipt:
        return await asyncio.wait_for(call, self._world.dice.choice((0.0005, 0.003, 0.1)))
