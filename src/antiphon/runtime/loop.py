"""The loop that gives trees their turns: take letters, store all ready trees in one commit, perform effects.

A letter is acknowledged when the step that took it is stored, never before. A tree whose step could not be stored
is discarded and loaded again from the store.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

from antiphon.runtime.effects import Effects, TreeTurn
from antiphon.runtime.errors import StoreError
from antiphon.runtime.failures import RETRY_MS, TurnFailures
from antiphon.runtime.feed import Feeds
from antiphon.runtime.inboxes import Delivery, Inboxes
from antiphon.runtime.pipeline import Pipeline
from antiphon.runtime.records import Letter
from antiphon.runtime.recovery import Recovery
from antiphon.runtime.store import Store
from antiphon.runtime.tasks import TaskRunner
from antiphon.runtime.tree import Tree
from antiphon.runtime.tree_cache import TreeCache

T = TypeVar("T")
BATCH_TREES = 256  # trees in one commit
BATCH_LETTERS = 16  # letters of a tree in one turn
INLINE_TREES = 32  # with more ready trees than this, commits overlap with computing
# The loop yields to other tasks after this many letters, or after this long.
BURST_LETTERS = 16
BURST_S = 0.002
MAX_WAIT_S = 30.0  # the wall clock may jump ahead during a wait


class TurnLoop:
    """Takes letters from the inboxes, computes the turns of their trees, stores them, and performs their effects."""

    def __init__(
        self,
        store: Store,
        trees: TreeCache,
        *,
        now: Callable[[], int],
        inbox_limit: int,
        point: Callable[[str], None] | None = None,
    ) -> None:
        self.inboxes = Inboxes(inbox_limit)
        self.feeds = Feeds(store)
        self.tasks = TaskRunner(self.deliver, now)
        self.pipeline = Pipeline(store, self.inboxes.wakeup.set)
        self.is_stopping = False  # no more letters from outside
        self._store = store
        self._trees = trees
        self._now = now
        # Named places in the loop, for tests that let the process die there.
        self._point = point or (lambda name: None)
        self._recovery = Recovery(trees, store, now)
        self._effects = Effects(self.inboxes, self.tasks, self.feeds)
        self._failures = TurnFailures(store, trees, self.inboxes, self.feeds, now)
        self._computed: list[TreeTurn] = []  # turns that wait to be stored
        self._storing: set[asyncio.Task[None]] = set()
        self._clock: Callable[[], float] = lambda: 0.0  # that of the event loop
        self._yielded_at = 0.0  # when other tasks last ran
        self._burst = 0  # letters taken since then
        self._closing = False  # and no more letters from tasks

    async def begin(self, tree: Tree) -> None:
        """Store the first step of a new tree, and perform its effects."""
        batch = tree.start(self._now())
        tree.take_answers(self.tasks.answer, batch, BATCH_LETTERS)
        turn = TreeTurn(tree, batch, [])
        await self._store.commit([turn.commit])
        self._trees.add(tree)
        self._effects.perform(turn)

    def is_evictable(self, tree: Tree) -> bool:
        """Return whether a tree may be dropped from memory: it has no letters, no tasks and no unfinished turn."""
        root = tree.root
        return not (self.inboxes.has(root) or tree.host.tasks or self.inboxes.is_busy(root))

    def close(self) -> None:
        """End the loop once all turns are stored."""
        self._closing = True
        self._failures.is_closing = True
        self._effects.is_closing = True
        self.inboxes.release()
        self.inboxes.wakeup.set()

    async def run(self) -> None:
        """Give trees their turns until the loop is closed and idle."""
        self._clock = asyncio.get_running_loop().time
        await self._recover()
        while not (self._closing and self._is_idle):
            for root in self.inboxes.pop_alarms(self._now()) if self.inboxes.has_alarms else ():
                await self._collect(root)
            # With few ready trees and a fast disk, overlapping commits cost more than they gain.
            inline = self.inboxes.ready + len(self._computed) <= INLINE_TREES and self._store.commits_inline
            if self._may_compute and not (self._computed and self.pipeline.is_empty):
                await self._compute(inline)
            if self._may_store:
                turns = self._computed
                self._computed = []
                self.pipeline.enter(len(turns))
                if inline:
                    await self._store_and_finish(turns)
                else:
                    storing = asyncio.get_running_loop().create_task(self._store_and_finish(turns))
                    self._storing.add(storing)
                    storing.add_done_callback(self._storing.discard)
            await self._wait()

    @property
    def _is_idle(self) -> bool:
        return not self.inboxes.ready and not self._computed and self.pipeline.is_empty

    @property
    def _may_compute(self) -> bool:
        return self.inboxes.ready > 0 and len(self._computed) < BATCH_TREES and not self.pipeline.is_writing

    @property
    def _may_store(self) -> bool:
        return self.pipeline.accepts(len(self._computed), self.inboxes.ready)

    async def _compute(self, inline: bool) -> None:
        """Compute the turns of all ready trees, or, if not `inline`, of the share that pays."""
        ready = min(self.inboxes.ready, BATCH_TREES - len(self._computed))
        roots = self.inboxes.start_turns(ready if inline else self.pipeline.share(ready))
        started_at = self._clock()
        now = self._now()
        single_step = self._failures.single_step
        for root in roots:
            deliveries = self.inboxes.draw(root, 1 if root in single_step else BATCH_LETTERS)
            tree = (self._trees.touch(root) or await self._load(root, deliveries)) if deliveries else None
            if tree is None:
                self.inboxes.finish(root)
                continue
            batch = tree.new_batch(now)
            self._burst += len(deliveries)
            try:
                for delivery in deliveries:
                    tree.take(delivery.letter, now, batch)
                if batch.effects and root not in single_step:
                    tree.take_answers(self.tasks.answer, batch, BATCH_LETTERS)
                self._computed.append(TreeTurn(tree, batch, deliveries))
            except Exception as error:
                await self._failures.on_exception(tree, deliveries, len(batch.receipts), error)
                self.inboxes.finish(root)
        self.pipeline.measure_turns(len(roots), self._clock() - started_at)

    async def _recover(self) -> None:
        """Continue with the letters and tasks that the last owner of the store left."""
        await self._retry_store(lambda: self._store.correct_times(self._now()))
        for root, due in await self._retry_store(self._store.due_times) or ():
            self.inboxes.set_alarm(due, root)
        for task in await self._retry_store(self._store.running_tasks) or ():
            letter = await self._retry_store(partial(self._recovery.recover, task, self.tasks.start))
            if letter is not None:
                self.deliver(letter)

    async def _retry_store(self, call: Callable[[], Awaitable[T]]) -> T | None:
        """Call the store until it succeeds; return None if the runtime is stopped before."""
        while not self.is_stopping:
            try:
                return await call()
            except StoreError:
                await asyncio.sleep(RETRY_MS / 1000)
        return None

    async def _wait(self) -> None:
        """Wait until there is something to do; commits under way wake the loop when they are done."""
        self.inboxes.wakeup.clear()
        if self._may_compute or self._may_store or (self._closing and self._is_idle):
            # With inline commits nothing else lets other tasks run.
            if self._burst >= BURST_LETTERS or self._clock() - self._yielded_at >= BURST_S:
                await asyncio.sleep(0)
                self._yielded_at = self._clock()
                self._burst = 0
            return
        alarm = self.inboxes.next_alarm
        timeout_s = MAX_WAIT_S if alarm is None else min(MAX_WAIT_S, max(0, alarm - self._now()) / 1000)
        await self.inboxes.wakeup.wait(timeout_s)
        self._yielded_at = self._clock()
        self._burst = 0

    async def _collect(self, root: str) -> None:
        """Queue the stored letters of a tree that are due, and set an alarm for the next ones."""
        try:
            tree = await self._trees.find(root)
        except StoreError:
            self.inboxes.set_alarm(self._now() + RETRY_MS, root)
            return
        if tree is None or self.is_stopping:
            return
        for letter in tree.due_letters(self._now()):
            tree.queued.add(letter.id)
            self.inboxes.put(Delivery(letter), bounded=False)
        if tree.next_due is not None:
            self.inboxes.set_alarm(tree.next_due, root)

    async def _load(self, root: str, deliveries: list[Delivery]) -> Tree | None:
        """Load the tree of some letters; if that fails, refuse them and return None."""
        try:
            return await self._trees.load(root)
        except Exception as error:
            self._failures.refuse(deliveries, error)
            return None

    async def _store_and_finish(self, turns: list[TreeTurn]) -> None:
        """Store turns, perform their effects, and make their trees ready again."""
        try:
            if await self._commit_turns(turns):
                # Let the next commit take Python's lock and write; acknowledge this one while that one is flushed.
                self.pipeline.leave()
                if self.pipeline.is_writing:
                    await self.pipeline.wait_until_written()
                self._perform_all(turns)
            else:
                self.pipeline.leave()
        finally:
            for turn in turns:
                self.inboxes.finish(turn.tree.root)

    async def _commit_turns(self, turns: list[TreeTurn]) -> bool:
        """Store turns in one commit and return True; if that fails, store and perform them one by one."""
        commits = [turn.commit for turn in turns if not turn.commit.is_empty]
        self._point("before commit")
        try:
            if commits:
                await self.pipeline.commit(commits)
        except StoreError as error:
            if len(turns) == 1:
                [turn] = turns
                await self._failures.on_store_error(turn.tree, turn.batch, turn.deliveries, error)
                return False
            for turn in turns:  # a single one may have made the whole commit fail
                if await self._commit_turns([turn]):
                    self._perform_all([turn])
            return False
        self._point("after commit")
        return True

    def _perform_all(self, turns: list[TreeTurn]) -> None:
        for turn in turns:
            self._effects.perform(turn)
        self._point("after perform")

    def deliver(self, letter: Letter) -> None:
        """Put a letter of a task into its inbox."""
        self.inboxes.put(Delivery(letter), bounded=False)
