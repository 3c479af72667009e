"""The durable runtime: create, send to, follow and fork trees of actors; `loop.py` gives them their turns."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Iterable
from contextlib import asynccontextmanager, suppress
from typing import Any

from antiphon.runtime.clock import SteadyClock
from antiphon.runtime.deliveries import Deliveries
from antiphon.runtime.errors import NotRunning, RootExists, StoreError, WrongLoop
from antiphon.runtime.ids import new_ids
from antiphon.runtime.index.rebuild import IndexRebuild
from antiphon.runtime.loop import TurnLoop
from antiphon.runtime.machines import AnyMachine, Machines, can_run
from antiphon.runtime.ownership import Ownership, Whole
from antiphon.runtime.records import (
    Edit,
    Entry,
    Incident,
    Letter,
    Origin,
    Receipt,
    RootState,
    TreeChanges,
    TreeState,
    TreeSummary,
)
from antiphon.runtime.recovery import Recovery
from antiphon.runtime.store import Projection, Store
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
        snapshot_every: int | None = None,
        ownership: Ownership | None = None,
        release: str | None = None,
        projection: Projection | None = None,
        window_ms: float | None = None,
    ) -> None:
        self.store = store
        self.ownership = ownership or Whole()
        self.ownership.on_loss(lambda root: self.lose(root))
        self.machines = Machines(machines)
        self.now = now or SteadyClock().now
        self.new_id = new_id or new_ids()
        self.trees = TreeCache(
            store,
            self.ownership,
            self.machines,
            tree_limit,
            lambda tree: self.loop.is_evictable(tree),
            self.now,
            snapshot_every,
            release,
            projection,
        )
        self.loop = TurnLoop(self.trees, now=self.now, inbox_limit=inbox_limit, point=point)
        self.inboxes = self.loop.inboxes
        self.tasks = self.loop.tasks
        if window_ms is not None:
            self.tasks.window.shortest_ms = window_ms
        self.feeds = self.loop.feeds
        self.index = IndexRebuild(self.trees, self.now, self.new_id)
        self.time_travel = self.index.time_travel
        self._deliveries = Deliveries(store, self.trees, self.inboxes, self.now, self.new_id)
        self._calls = self._deliveries.calls
        self._recovery = Recovery(self.trees, self.loop, self.now)
        self._adopting = self._recovery.adopting
        self._running: asyncio.Task[None] | None = None
        self._event_loop: asyncio.AbstractEventLoop | None = None

    async def start(self) -> "Runtime":
        """Take ownership of the store and continue where its last owner stopped.

        When this returns, every task that was running is running again or is reported as interrupted.
        """
        self._event_loop = asyncio.get_running_loop()
        boot = await self.store.open()
        self.ownership.start(boot)
        self.trees.commits.start(boot)
        self._deliveries.start(boot)
        self._running = asyncio.create_task(self.loop.run())
        try:
            if self.ownership.owns_all:
                await self.index.run()
                await self._recovery.run()
            self._check_running()
        except BaseException:
            await self.stop(0.0)
            raise
        return self

    async def stop(self, limit_s: float = 5.0) -> None:
        """Accept no more letters, let tasks run for up to `limit_s`, store their results and close the store."""
        await asyncio.shield(asyncio.get_running_loop().create_task(self._stop(limit_s)))

    async def _stop(self, limit_s: float) -> None:
        self.loop.is_stopping = True
        self._recovery.is_stopping = True
        with suppress(TimeoutError):
            await asyncio.wait_for(self.tasks.wait_until_done(), limit_s)
        await self.tasks.close()
        self.loop.close()
        await self._calls.wait_until_done()
        self.loop.close()
        if self._running is not None:
            await self._running
        await self.loop.wait_until_stored()
        self.inboxes.wakeup.close()
        self.inboxes.abandon(NotRunning("the runtime was stopped before this letter could be taken"))
        self.feeds.close()
        await self.store.close()

    async def __aenter__(self) -> "Runtime":
        return await self.start()

    async def __aexit__(self, *error: object) -> None:
        await self.stop()

    async def create(self, machine: str, *, root: str | None = None, input: Any = None) -> str:
        """Create a root actor that runs a machine; return its id once it is stored.

        Raise `EventRefused` if the input is not as the machine declares it.
        """
        self._check_running()
        current = self.machines.current(machine)
        if current.event_types is not None:
            current.event_types.require_input(input)
        name = root or self.new_id()
        return await self._calls.run(self._create(current, name, input, is_named=root is not None))

    async def _create(self, machine: AnyMachine, root: str, input: Any, *, is_named: bool) -> str:
        async with self._creating(root):
            tree = self.trees.new_root(root, machine, self.new_id(), input)
            await self.loop.create(tree, is_named=is_named)
        return root

    @asynccontextmanager
    async def _creating(self, root: str) -> AsyncIterator[None]:
        """Become the owner of a tree that is then created; if it exists already, adopt it."""
        if self.ownership.owns_all:
            yield
            return
        tenure = self.ownership.tenure(root) or await self.ownership.claim(root)
        try:
            yield
        except RootExists:  # an earlier owner created it, perhaps after it had been replaced
            await self._recovery.adopt(root, tenure)
            raise
        self._recovery.begin(root, tenure)

    async def send(self, root: str, event: Any, *, id: str | None = None, to: str = "") -> Receipt:
        """Send an event and wait until the step that takes it is stored.

        The receipt is `rejected` if no transition takes the event, or if the recipient declares it and it is not so.
        The receipt is `failed` if a function raised and the step would have ended the root actor.
        """
        self._check_running()
        if not self.ownership.owns_all and (self.ownership.tenure(root) is None or root in self._adopting):
            await self._own(root)
        return await self._deliveries.send(self._deliveries.letter(root, event, id, to), is_named=id is not None)

    async def post(self, root: str, event: Any, *, id: str | None = None, to: str = "", delay_ms: int = 0) -> Receipt:
        """Store an event in an inbox, to be taken after a delay; do not wait until it is taken."""
        self._check_running()
        if not self.ownership.owns_all and (self.ownership.tenure(root) is None or root in self._adopting):
            await self._own(root)
        letter = self._deliveries.letter(root, event, id, to)
        return await self._deliveries.post(letter._replace(due=letter.at + delay_ms))

    def feed(self, root: str, after: int | str = 0, *, wait_for_release: bool = False) -> AsyncIterator[Entry]:
        """Iterate over the journal of a tree: the entries there are, then new ones until it has ended.

        It begins after a step or after a cursor; `OtherHistory` is raised if the cursor belongs to another past.
        `Quarantined` is raised at the end of the journal of a quarantined tree, unless its release is waited for.
        """
        self._check_loop()
        return self.feeds.follow(root, after, wait_for_release=wait_for_release)

    def pages(
        self, root: str, after: int | str = 0, *, wait_for_release: bool = False
    ) -> AsyncGenerator[list[Entry], None]:
        """Iterate over the journal of a tree as `feed` does, by lists of the entries that are there."""
        self._check_loop()
        return self.feeds.pages(root, after, wait_for_release=wait_for_release)

    def recent(self, root: str, after: int) -> list[Entry] | None:
        """Return the entries after a step of a tree that is watched or followed, or None if the store must be read."""
        return self.feeds.recent(root, after)

    def watch(self, roots: Collection[str] = ()) -> AsyncIterator[TreeChanges]:
        """Iterate over the trees that change: on every step of some, when the root actor of others is concerned."""
        self._check_loop()
        return self.feeds.watch(roots)

    async def wait_until(self, root: str, condition: Callable[[TreeState], bool]) -> TreeState:
        """Wait until a condition holds for a tree between two turns; return its state then."""
        while True:
            self._check_running()
            if not self.ownership.owns_all:
                await self._own(root)
            state = await self.loop.state(root)
            if condition(state):
                return state
            await self.inboxes.wait_for_turn(root)

    async def cursor(self, root: str, seq: int | None = None) -> str:
        """Return a cursor to follow the journal of a tree from: of its last stored step, or of an earlier one."""
        self._check_loop()
        return await self.feeds.cursor(root, seq)

    async def output(self, root: str) -> Any:
        """Wait until a root actor has ended and its end is stored; return its output."""
        self._check_loop()
        while (tree := await self.loop.stored_tree(root)).status == "active":
            self._check_running()
            await self.feeds.wait_for_end(root)
        return tree.copy_output()

    async def origin(self, root: str) -> Origin:
        """Return the facts about a root actor that are fixed when it is created, among them machine and input."""
        self._check_loop()
        tree = self.trees.get(root)
        return tree.origin if tree is not None else (await self.trees.load_saved(root)).origin

    async def state(self, root: str) -> RootState:
        """Return the state of a root actor at its last stored step, without its descendants."""
        self._check_loop()
        return (await self.loop.stored_tree(root)).root_state

    async def can(self, root: str, to: str = "") -> tuple[str, ...]:
        """Return the types of the events from outside that an actor of a tree takes now.

        Guards that look at the keys of an event are not tested: whether they let it pass is known when it is sent.
        """
        self._check_loop()
        return (await self.loop.stored_tree(root)).can(to)

    def can_run(self, machine: str, version: Any, hash: str) -> bool:
        """Return whether trees of a version of a machine can be run here."""
        return can_run(self.machines, machine, version, hash)

    async def snapshot(self, root: str, seq: int | None = None, *, copy: bool = False) -> Any:
        """Return the snapshot of a tree as JSON, now or at an earlier sequence number: read-only, unless `copy`."""
        self._check_loop()
        tree = await self.loop.stored_tree(root) if seq is None else await self.time_travel.rebuild(root, seq)
        return tree.view(copy=copy)

    async def fork(self, root: str, seq: int, *, new: str | None = None, edit: Edit | None = None) -> str:
        """Create a tree that starts from another one at a sequence number; return its id.

        `edit` returns the input and the snapshot of the new tree, as those of the other one: for names in them.
        """
        self._check_running()
        return await self._calls.run(self._fork(root, seq, new or self.new_id(), edit))

    async def _fork(self, root: str, seq: int, new: str, edit: Edit | None) -> str:
        async with self._creating(new):
            commit = await self.time_travel.fork(root, seq, new, edit)
        for letter in commit.letters:
            self.inboxes.set_alarm(letter.due, commit.root)
        return commit.root

    async def roots(self, after: str = "", limit: int = 1000) -> list[TreeSummary]:
        """List the root actors in the order of their ids, those after an id."""
        self._check_loop()
        return await self.store.roots(after, limit)

    async def stop_root(self, root: str) -> Receipt:
        """Stop a root actor with its children, tasks and timers; it takes no more events, and its journal is kept.

        The receipt is `rejected` if it has ended already.
        """
        self._check_running()
        await self._own(root)
        return await self._deliveries.send(self._deliveries.stop_letter(root), is_named=False)

    async def delete(self, root: str) -> None:
        """Delete a root actor with all that belongs to it: journal, snapshots, letters, tasks; its id is free again.

        Its tasks are cancelled first, and have ended when it is deleted. Its feeds and everything that waits for it get
        `UnknownRoot`. Forks of it are kept.
        """
        self._check_running()
        await self._own(root)
        await self._calls.run(self._delete(root))

    async def _delete(self, root: str) -> None:
        try:
            async with self.loop.exclusively(root):
                self.tasks.cancel_all(root)
                await self.tasks.wait_until_ended(root)
                async with self.trees.unloaded(root):
                    await self.trees.commits.delete(root)
                    self.loop.remove(root)
        except StoreError:
            await self._recovery.recover_tree(root)  # it is still there, without its tasks
            raise
        if not self.ownership.owns_all:
            await self.ownership.release([root])

    async def unload(self, root: str) -> None:
        """Drop a tree from memory if it has nothing to do; it is loaded again when it is needed."""
        self._check_running()
        await self.inboxes.wait_until_free(root)
        self.trees.unload(root)

    async def adopt(self, root: str, tenure: int) -> None:
        """Run a tree that this process has become the owner of: take its letters, and recover its tasks.

        The store learns the tenure first, so that an earlier owner, which may not know that it was replaced, can
        change nothing any more. Raise `NotOwner` if there is a later owner already.
        """
        self._check_running()
        await self._calls.run(self._recovery.adopt(root, tenure))

    def lose(self, root: str) -> None:
        """Stop running a tree that has another owner: its tasks are cancelled, its waiting letters fail."""
        self.loop.lose(root)

    async def _own(self, root: str) -> None:
        """Become the owner of a tree, if no process is, and wait until it is adopted."""
        if not self.ownership.owns_all:
            await self.adopt(root, self.ownership.tenure(root) or await self.ownership.claim(root))
            self._check_running()  # it may have been stopped meanwhile

    async def outcome(self, root: str, id: str) -> Receipt | None:
        """Return the outcome of a letter by its id, or None if there was no such letter."""
        receipt = await self.store.outcome(root, id)
        return receipt and receipt._replace(history=await self.trees.history_of(root))

    async def incidents(self, root: str) -> list[Incident]:
        """Return the incidents of a tree: users' actions that raised, and steps that replay differently."""
        return await self.store.incidents(root)

    async def dead_letters(self, root: str) -> list[tuple[Letter, str]]:
        """Return the letters that no step of a tree could take, each with its traceback."""
        return await self.store.dead_letters(root)

    async def retry(self, root: str, letter: str) -> None:
        """Put a dead letter back into the inbox of its tree."""
        self._check_running()
        await self._own(root)
        await self._calls.run(self._retry(root, letter))

    async def _retry(self, root: str, letter: str) -> None:
        async with self.loop.exclusively(root), self.trees.unloaded(root):
            revived = await self.trees.quarantine.retry(root, letter)
        self.inboxes.set_alarm(revived.due, root)

    async def discard(self, root: str, letter: str) -> None:
        """Delete a dead letter."""
        self._check_running()
        await self._own(root)
        await self._calls.run(self._discard(root, letter))

    async def _discard(self, root: str, letter: str) -> None:
        async with self.loop.exclusively(root):
            await self.trees.quarantine.discard(root, letter)

    async def release(self, root: str, *, accept: bool = False) -> bool:
        """Let a quarantined tree continue, and take again what it could not take; return whether it was quarantined.

        If its steps replay differently, `accept` continues with the state that the replay gives.
        """
        self._check_running()
        await self._own(root)
        return await self._calls.run(self._release(root, accept))

    async def _release(self, root: str, accept: bool) -> bool:
        async with self.loop.exclusively(root), self.trees.unloaded(root):
            letters = await self.trees.quarantine.release(root)
            if letters is None:
                return False
            self.inboxes.set_alarm(self.now(), root)  # no letter overtakes those that wait
            if accept:
                await self.trees.accept(root)
                await self.index.rebuild(root)
        self.feeds.end(root)
        await self._recovery.recover_tree(root)
        return True

    def _check_running(self) -> None:
        if self.loop.failure is not None:
            raise self.loop.failure
        if self._running is None or self.loop.is_stopping:
            raise NotRunning("the runtime is not running: it was not started, or it is being stopped")
        self._check_loop()

    def _check_loop(self) -> None:
        """Raise WrongLoop in another event loop, where calls would wait for wake-ups that never come."""
        here = asyncio._get_running_loop()  # None where no loop runs
        if here is not self._event_loop and here is not None and self._event_loop is not None:
            raise WrongLoop(
                "the runtime was started in another event loop; from another thread, submit the call to that loop: "
                "asyncio.run_coroutine_threadsafe(runtime.send(...), loop).result()"
            )
