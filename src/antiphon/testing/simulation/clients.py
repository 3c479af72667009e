"""Simulated clients: they repeat a letter until they get its receipt, and send some letters more than once."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from inspect import CORO_CREATED, getcoroutinestate
from typing import Any, TypeVar

from antiphon.runtime.errors import (
    InboxFull,
    LoadFailed,
    LoopFailed,
    NotRunning,
    Quarantined,
    ReplayDiffers,
    RootExists,
    StepFailed,
    StoreError,
)
from antiphon.runtime.records import Receipt
from antiphon.runtime.runtime import Runtime
from antiphon.testing.simulation.processes import Died, UnexpectedCancel
from antiphon.testing.simulation.world import World

T = TypeVar("T")
RETRIED = (Died, InboxFull, NotRunning, StoreError, TimeoutError)
CODE_FAILED = (StepFailed, LoadFailed, ReplayDiffers, Quarantined)  # in a new tree, or in the source of a fork
MAX_CALLBACKS = 20  # that a call may need before it is cancelled


class Client:
    """Client that repeats its calls until they succeed."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def create(self, machine: str, root: str, input: Any = None) -> str:
        """Create a root actor; repeat the call until it exists."""
        return await self._make(root, lambda runtime: runtime.create(machine, root=root, input=input))

    async def fork(self, root: str, seq: int, new: str) -> str:
        """Fork a root actor; repeat the call until the fork exists, from an earlier step if `seq` was lost."""
        history = self._world.history
        return await self._make(new, lambda runtime: runtime.fork(root, min(seq, len(history.journals[root])), new=new))

    async def _make(self, root: str, make: Callable[[Runtime], Coroutine[Any, Any, str]]) -> str:
        while True:
            runtime = await self._world.wait_for_runtime()
            try:
                await self._call(make(runtime))
                break
            except RootExists:
                break
            except (*RETRIED, *CODE_FAILED) as error:
                self._world.log(f"{root}: {error!r}, retrying")
                await asyncio.sleep(0.05)
        self._world.follow(root)
        return root

    async def send(self, root: str, event: Any, *, id: str | None = None, to: str = "") -> Receipt:
        """Send or post a letter, perhaps twice; return its first receipt."""
        id = id or self._world.new_id()
        if not self._world.happens("duplicate"):
            return await self._send_until_known(root, event, id, to)
        if self._world.rng.random() < 0.5:
            first, _ = await asyncio.gather(*(self._send_until_known(root, event, id, to) for _ in range(2)))
            return first
        first = await self._send_until_known(root, event, id, to)
        await asyncio.sleep(self._world.rng.choice((0.0, 0.1, 1.0)))
        await self._send_until_known(root, event, id, to)
        return first

    async def _send_until_known(self, root: str, event: Any, id: str, to: str) -> Receipt:
        world = self._world
        while True:
            runtime = await world.wait_for_runtime()
            by_post = world.happens("by_post")
            deliver = runtime.post if by_post else runtime.send
            try:
                world.history.record_sending(root, id)
                call = self._call(deliver(root, event, id=id, to=to))
                receipt = await (self._with_timeout(call) if world.happens("impatience") else call)
            except Quarantined:
                await self._release(runtime, root)
            except UnexpectedCancel:
                world.history.broken.append(f"{root}: sending {id} was cancelled without a request")
            except RETRIED as error:
                world.log(f"{id} for {root}: {error!r}, retrying")
            else:
                world.log(f"{id} for {root}: {receipt.status} {receipt.seq} {'by post' if by_post else ''}")
                world.history.record_receipt(root, receipt, by_post)
                return receipt
            await asyncio.sleep(world.rng.choice((0.0, 0.05, 0.3)))

    async def _release(self, runtime: Runtime, root: str) -> None:
        """Release a tree that was set aside because its process died too often."""
        self._world.log(f"releasing {root}")
        self._world.history.counts["trees released"] += 1
        with suppress(*RETRIED):
            await self._call(runtime.release(root))

    async def _call(self, work: Coroutine[Any, Any, T]) -> T:
        """Call the runtime; the caller may be cancelled meanwhile."""
        world = self._world
        if not world.happens("cancelled"):
            return await self._call_to_end(work)
        calling = asyncio.get_running_loop().create_task(self._call_to_end(work))
        for _ in range(world.rng.randrange(MAX_CALLBACKS)):
            await asyncio.sleep(0)
        calling.cancel()
        try:
            return await calling
        except asyncio.CancelledError:
            if getcoroutinestate(work) == CORO_CREATED:
                work.close()
            raise TimeoutError("the call was cancelled") from None

    async def _call_to_end(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            return await self._world.process.call(work)
        except LoopFailed as error:
            self._world.history.broken.append(f"the loop has failed: {error.__cause__!r}")
            raise

    async def _with_timeout(self, call: Coroutine[Any, Any, Receipt]) -> Receipt:
        return await asyncio.wait_for(call, self._world.rng.choice((0.0005, 0.003, 0.1)))
