"""The durable runtime: create, send to, follow and fork trees of actors; `loop.py` gives them their turns."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import suppress
from typing import Any

from antiphon.runtime.admission import check_external_event
from antiphon.runtime.clock import SteadyClock
from antiphon.runtime.deliveries import Deliveries
from antiphon.runtime.errors import NotRunning
from antiphon.runtime.ids import new_ids
from antiphon.runtime.loop import TurnLoop
from antiphon.runtime.machines import AnyMachine, Machines, chart_hash
from antiphon.runtime.records import Entry, Letter, Origin, Receipt
from antiphon.runtime.store import Store
from antiphon.runtime.time_travel import TimeTravel
from antiphon.runtime.tree import SNAPSHOT_ENTRIES, Tree
from antiphon.runtime.tree_cache import TreeCache

INBOX_LIMIT = 256
TREE_LIMIT = 10_000


class Runtime:
    """Runs trees of actors on a store."""

    def __init__(
        self,
        store: Store,
        machines: Iterable[AnyMachine],
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
        self.trees = TreeCache(store, self.machines, tree_limit, self._is_evictable, self.now, snapshot_every)
        self.loop = TurnLoop(store, self.trees, now=self.now, inbox_limit=inbox_limit, point=point)
        self.inboxes = self.loop.inboxes
        self.tasks = self.loop.tasks
        self.feeds = self.loop.feeds
        self.time_travel = TimeTravel(self.trees, store, self.now, self.new_id)
        self._deliveries = Deliveries(store, self.trees, self.inboxes)
        self._running: asyncio.Task[None] | None = None

    async def start(self) -> "Runtime":
        """Take ownership of the store and continue where its last owner stopped."""
        self.trees.boot = await self.store.open()
        self._running = asyncio.create_task(self.loop.run())
        return self

    async def stop(self, limit_s: float = 5.0) -> None:
        """Accept no more letters, let tasks run for up to `limit_s`, store their results and close the store."""
        self.loop.is_stopping = True
        with suppress(TimeoutError):
            await asyncio.wait_for(self.tasks.wait_until_done(), limit_s)
        await self.tasks.close()
        await self._deliveries.wait_until_done()
        self.loop.close()
        if self._running is not None:
            await self._running
        self.inboxes.wakeup.close()
        self.inboxes.abandon(NotRunning("the runtime was stopped before this letter could be taken"))
        self.feeds.close()
        await self.store.close()

    async def __aenter__(self) -> "Runtime":
        return await self.start()

    async def __aexit__(self, *error: object) -> None:
        await self.stop()

    async def create(self, machine: str, *, root: str | None = None, input: Any = None) -> str:
        """Create a root actor that runs a machine; return its id once it is stored."""
        self._check_running()
        current = self.machines.current(machine)
        origin = Origin(self.new_id(), current.id, current.version, chart_hash(current), input)
        tree = self.trees.new_tree(root or self.new_id(), current, origin)
        await self.loop.begin(tree)
        return tree.root

    async def send(self, root: str, event: Any, *, id: str | None = None, to: str = "") -> Receipt:
        """Send an event and wait until the step that takes it is stored."""
        self._check_running()
        return await self._deliveries.send(self._letter(root, event, id, to), is_named=id is not None)

    async def post(self, root: str, event: Any, *, id: str | None = None, to: str = "", delay_ms: int = 0) -> Receipt:
        """Store an event in an inbox, to be taken after a delay; do not wait until it is taken."""
        self._check_running()
        letter = self._letter(root, event, id, to)
        return await self._deliveries.post(letter._replace(due=letter.at + delay_ms))

    def feed(self, root: str, after: int | str = 0) -> AsyncIterator[Entry]:
        """Iterate over the journal of a tree: the entries there are, then new ones as they are stored.

        It begins after a step or after a cursor; `OtherHistory` is raised if the cursor belongs to another past.
        """
        return self.feeds.follow(root, after)

    async def cursor(self, root: str, seq: int | None = None) -> str:
        """Return a cursor to follow the journal of a tree from: of its last stored step, or of an earlier one."""
        return await self.feeds.cursor(root, seq)

    async def output(self, root: str) -> Any:
        """Wait until a root actor has ended and its end is stored; return its output."""
        while (tree := await self._stored_tree(root)).status == "active":
            self._check_running()
            await self.feeds.wait_for_end(root)
        return tree.output

    async def snapshot(self, root: str, seq: int | None = None) -> Any:
        """Return the snapshot of a tree as JSON, now or at an earlier sequence number."""
        tree = await self._stored_tree(root) if seq is None else await self.time_travel.rebuild(root, seq)
        return tree.actor.get_persisted_snapshot()

    async def _stored_tree(self, root: str) -> Tree:
        """Return a tree once all its steps are stored: nothing else may be shown."""
        while self.inboxes.is_busy(root):
            await self.loop.pipeline.wait_for_change()
        return await self.trees.load(root)

    async def fork(self, root: str, seq: int, *, new: str | None = None) -> str:
        """Create a tree that starts from another one at a sequence number; return its id."""
        self._check_running()
        commit = await self.time_travel.fork(root, seq, new)
        for letter in commit.letters:
            self.inboxes.set_alarm(letter.due, commit.root)
        return commit.root

    def _letter(self, root: str, event: Any, id: str | None, to: str) -> Letter:
        at = self.now()
        return Letter(id or self.new_id(), root, check_external_event(event), at, at, to)

    def _is_evictable(self, tree: Tree) -> bool:
        return self.loop.is_evictable(tree)

    def _check_running(self) -> None:
        if self._running is None or self.loop.is_stopping:
            raise NotRunning("the runtime is not running: it was not started, or it is being stopped")
