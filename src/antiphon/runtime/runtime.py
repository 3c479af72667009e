"""The durable runtime: trees of actors created, sent to, followed and forked; `loop.py` gives them their turns."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import suppress
from typing import Any

from antiphon.chart.machine import Machine
from antiphon.runtime.admission import admissible
from antiphon.runtime.clock import SteadyClock
from antiphon.runtime.deliveries import Deliveries
from antiphon.runtime.errors import NotRunning
from antiphon.runtime.ids import new_ids
from antiphon.runtime.loop import TurnLoop
from antiphon.runtime.machines import Machines, chart_hash
from antiphon.runtime.records import Birth, Entry, Letter, Receipt
from antiphon.runtime.store import Store
from antiphon.runtime.tree import SNAPSHOT_ENTRIES, Tree
from antiphon.runtime.woods import Woods

INBOX_LIMIT = 256
TREE_LIMIT = 10_000


class Runtime:
    """Hosts trees of actors on a store."""

    def __init__(
        self,
        store: Store,
        machines: Iterable[Machine[Any, Any]],
        *,
        now: Callable[[], int] | None = None,
        new_id: Callable[[], str] | None = None,
        point: Callable[[str], None] | None = None,
        inbox_limit: int = INBOX_LIMIT,
        tree_limit: int = TREE_LIMIT,
        snapshot_every: int = SNAPSHOT_ENTRIES,
    ) -> None:
        self.store = store
        self.machines = Machines(machines)
        self.now = now or SteadyClock().now
        self.new_id = new_id or new_ids()
        self.woods = Woods(store, self.machines, tree_limit, self._is_dispensable, self.now, snapshot_every)
        self.loop = TurnLoop(store, self.woods, now=self.now, new_id=self.new_id, inbox_limit=inbox_limit, point=point)
        self.inboxes = self.loop.inboxes
        self.tasks = self.loop.tasks
        self.past = self.loop.past
        self.feeds = self.loop.feeds
        self._deliveries = Deliveries(store, self.woods, self.inboxes)
        self._running: asyncio.Task[None] | None = None

    async def start(self) -> "Runtime":
        """Take the store over and go on where its last owner left off."""
        self.woods.epoch = await self.store.open()
        self._running = asyncio.create_task(self.loop.run())
        return self

    async def stop(self, limit_s: float = 5.0) -> None:
        """Take no more letters, let tasks finish for a while, store what they say and give the store up."""
        self.loop.is_stopping = True
        with suppress(TimeoutError):
            await asyncio.wait_for(self.tasks.finished(), limit_s)
        await self.tasks.close()
        await self._deliveries.finished()
        self.loop.close()
        if self._running is not None:
            await self._running
        self.inboxes.bell.stop()
        self.inboxes.abandon(NotRunning("the runtime was stopped before this letter could be taken"))
        self.feeds.close()
        await self.store.close()

    async def __aenter__(self) -> "Runtime":
        return await self.start()

    async def __aexit__(self, *error: object) -> None:
        await self.stop()

    async def create(self, machine: str, *, root: str | None = None, input: Any = None) -> str:
        """A new root actor that runs a machine; gives its id once it is stored."""
        self._check_running()
        current = self.machines.current(machine)
        birth = Birth(self.new_id(), current.id, current.version, chart_hash(current), input)
        tree = self.woods.plant(root or self.new_id(), current, birth)
        await self.loop.begin(tree)
        return tree.root

    async def send(self, root: str, event: Any, *, id: str | None = None, to: str = "") -> Receipt:
        """Send an event and wait until the step that takes it is stored."""
        self._check_running()
        return await self._deliveries.send(self._letter(root, event, id, to), is_named=id is not None)

    async def post(self, root: str, event: Any, *, id: str | None = None, to: str = "", delay_ms: int = 0) -> Receipt:
        """Put an event into an inbox; it is stored when this returns, and taken when its time comes."""
        self._check_running()
        letter = self._letter(root, event, id, to)
        return await self._deliveries.post(letter._replace(due=letter.at + delay_ms))

    def feed(self, root: str, after: int = 0) -> AsyncIterator[Entry]:
        """A tree's journal: what is there, then what comes."""
        return self.feeds.follow(root, after)

    async def output(self, root: str) -> Any:
        """What a root actor gives at its end, once that is stored; waits for it."""
        while (tree := await self._settled(root)).status == "active":
            self._check_running()
            await self.feeds.ending(root)
        return tree.output

    async def snapshot(self, root: str, seq: int | None = None) -> Any:
        """A tree's snapshot as JSON, now or as it was at a sequence number."""
        tree = await self._settled(root) if seq is None else await self.past.rebuild(root, seq)
        return tree.actor.get_persisted_snapshot()

    async def _settled(self, root: str) -> Tree:
        """A tree, once all that it did is stored: nothing else may be shown."""
        while self.inboxes.is_busy(root):
            await self.loop.pipeline.changed()
        return await self.woods.tree(root)

    async def fork(self, root: str, seq: int, *, new: str | None = None) -> str:
        """A new tree that begins where another one was at a sequence number."""
        self._check_running()
        commit = await self.past.fork(root, seq, new)
        for letter in commit.letters:
            self.inboxes.alarm(letter.due, commit.root)
        return commit.root

    def _letter(self, root: str, event: Any, id: str | None, to: str) -> Letter:
        at = self.now()
        return Letter(id or self.new_id(), root, admissible(event), at, at, to)

    def _is_dispensable(self, tree: Tree) -> bool:
        return self.loop.is_dispensable(tree)

    def _check_running(self) -> None:
        if self._running is None or self.loop.is_stopping:
            raise NotRunning("the runtime is not running")
