"""The loop that gives trees their turns: take letters, store all ready trees in one commit, perform effects.

A letter is acknowledged when the step that took it is stored, never before. A tree whose step could not be stored
is discarded and loaded again from the store. A failure belongs to its tree: the other trees continue.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any

from antiphon.actors.observers import report_unhandled
from antiphon.runtime.commits import RETRY_MS
from antiphon.runtime.effects import Effects, TreeTurn
from antiphon.runtime.errors import LoopFailed, NotOwner, NotRunning, Quarantined, StoreError, UnknownRoot
from antiphon.runtime.failures import TurnFailures
from antiphon.runtime.feed import Feeds
from antiphon.runtime.inboxes import Delivery, Inboxes
from antiphon.runtime.pipeline import Pipeline
from antiphon.runtime.records import Incident, Letter, TreeState
from antiphon.runtime.tasks import TaskRunner
from antiphon.runtime.tree import Tree
from antiphon.runtime.tree_cache import TreeCache

BATCH_TREES = 512  # trees in one commit
BATCH_LETTERS = 16  # letters of a tree in one turn
DUE_TREES = 64  # trees whose stored letters are looked at between two turns, so that overdue ones delay no others
INLINE_TREES = 32  # with more ready trees than this, commits overlap with computing
# The loop yields to other tasks after this many letters, or after this long.
BURST_LETTERS = 16
BURST_S = 0.002
MAX_WAIT_S = 30.0  # the wall clock may jump ahead during a wait


class TurnLoop:
    """Takes letters from the inboxes, computes the turns of their trees, stores them, and performs their effects."""

    def __init__(
        self,
        trees: TreeCache,
        *,
        now: Callable[[], int],
        inbox_limit: int,
        point: Callable[[str], None] | None = None,
    ) -> None:
        self.inboxes = Inboxes(inbox_limit)
        self.feeds = Feeds(trees.store)
        self.tasks = TaskRunner(self.deliver, now)
        self.pipeline = Pipeline(trees.commits, self.inboxes.wakeup.set)
        self.is_stopping = False  # no more letters from outside
        self.on_lost: Callable[[str], None] = lambda root: None  # called with every tree that is given up
        self.failure: LoopFailed | None = None  # the error that ended the loop
        self._store = trees.store
        self._trees = trees
        self._now = now
        # Named places in the loop, for tests that let the process die there.
        self._point = point or (lambda name: None)
        trees.commits.on_stored = self.feeds.publish  # migrations
        trees.quarantine.on_quarantined = self.halt
        self._effects = Effects(self.inboxes, self.tasks, self.feeds, self._record)
        self._failures = TurnFailures(trees.quarantine, trees, self.inboxes, now)
        trees.commits.on_superseded = self._on_superseded
        self._new: list[TreeTurn] = []  # first turns of new trees
        self._computed: list[TreeTurn] = []  # turns that wait to be stored
        self._storing: set[asyncio.Task[None]] = set()
        self._clock: Callable[[], float] = lambda: 0.0  # that of the event loop
        self._yielded_at = 0.0  # when other tasks last ran
        self._burst = 0  # letters taken since then
        self._closing = False  # and no more letters from tasks

    async def create(self, tree: Tree, *, is_named: bool) -> None:
        """Store the first step of a new tree, and perform its effects; a generated id cannot exist already."""
        await self._trees.reserve(tree.root)
        try:
            if is_named:  # else the loop might wait for the tree that exists, and this call for the loop
                await self._trees.check_free(tree.root)
            if self._closing:
                raise NotRunning("the runtime was stopped before the tree was created")
            batch = tree.start(self._now())
            tree.take_answers(self.tasks.answer, batch, BATCH_LETTERS)
            created: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._new.append(TreeTurn(tree, batch, [], self._trees.commits.new_mark(), created))
            self.inboxes.wakeup.set()
            await created
        finally:
            self._trees.settle(tree.root)

    def is_evictable(self, tree: Tree) -> bool:
        """Return whether a tree may be dropped from memory: it has no letters, no tasks and no unfinished turn."""
        root = tree.root
        return not (self.inboxes.has(root) or tree.host.tasks or self.inboxes.is_busy(root))

    @asynccontextmanager
    async def exclusively(self, root: str) -> AsyncIterator[None]:
        """Let a tree have no turn meanwhile."""
        await self.inboxes.wait_until_free(root)
        self.inboxes.occupy(root)
        try:
            yield
        finally:
            self.inboxes.finish(root)

    def halt(self, root: str) -> None:
        """Cancel the tasks of a quarantined tree, and fail its waiting letters; its release recovers the tasks."""
        self.tasks.cancel_all(root)
        self.inboxes.drop(root, Quarantined(f"{root!r} is quarantined; release it when the cause is mended"))
        self.feeds.end(root)

    def remove(self, root: str) -> None:
        """Forget a tree that was deleted: cancel its tasks, fail its waiting letters, and end its feeds."""
        self.tasks.cancel_all(root)
        self._failures.single_step.discard(root)
        self.inboxes.drop(root, UnknownRoot(f"{root!r} was deleted"))
        self.feeds.remove(root)
        self.on_lost(root)

    def lose(self, root: str) -> None:
        """Forget a tree that has another owner: cancel its tasks, and fail its waiting letters."""
        self.tasks.cancel_all(root)
        self._trees.discard(root)
        self.inboxes.drop(root, NotOwner(f"{root!r} is run by another process"))
        self.feeds.forget(root)
        self.on_lost(root)

    def _on_superseded(self, root: str, tenure: int) -> None:
        """Give up a tree of which a commit was refused, unless this process owns it again."""
        self._trees.ownership.drop(root, tenure)
        if (self._trees.ownership.tenure(root) or 0) <= tenure:
            self.lose(root)

    async def stored_tree(self, root: str) -> Tree:
        """Return a tree once all its steps are stored: nothing else may be shown."""
        await self.inboxes.wait_until_free(root)
        return await self._trees.load(root)

    async def state(self, root: str) -> TreeState:
        """Return the state of a tree between two turns."""
        tree = await self.stored_tree(root)
        now = self._now()
        letters = (*tree.host.letters.values(), *tree.posted.values())
        later = sum(letter.due > now for letter in letters)
        is_waiting = later < len(letters) or self.inboxes.has(root) or self.inboxes.is_busy(root)
        snapshot = tree.actor.snapshot
        return TreeState(tree.seq, snapshot.status, snapshot.value, is_waiting, later, len(tree.host.tasks))

    def close(self) -> None:
        """End the loop once all turns are stored."""
        self._closing = True
        self._failures.is_closing = True
        self._effects.is_closing = True
        self._trees.commits.is_closing = True
        self.inboxes.release()
        self.inboxes.wakeup.set()

    async def run(self) -> None:
        """Give trees their turns until the loop is closed and idle."""
        self._clock = asyncio.get_running_loop().time
        try:
            await self._give_turns()
        except Exception as error:
            self._fail(error)
            report_unhandled(error)
        except BaseException as error:
            self._fail(error)
            raise

    async def _give_turns(self) -> None:
        inboxes = self.inboxes
        while not (self._closing and self._is_idle):
            if inboxes.has_alarms:
                now = self._now()
                for root in inboxes.pop_alarms(now, DUE_TREES):
                    await self._collect(root, now)
            if self._new:
                self._computed += self._new
                self._new = []
            # With few ready trees and a fast disk, overlapping commits cost more than they gain.
            inline = len(inboxes.ready) + len(self._computed) <= INLINE_TREES and self._store.commits_inline
            if self._may_compute and not (self._computed and self.pipeline.is_empty):
                await self._compute(inline)
            if self._may_store:
                turns = self._computed
                self._computed = []
                self.pipeline.enter(len(turns))
                if inline:
                    await self._store_and_finish(turns)
                    # Senders that got their receipts often send again at once: yielding costs less than waiting.
                    await asyncio.sleep(0)
                    self._burst = 0
                    continue
                self._start(self._store_and_finish(turns))
            await self._wait()

    def _start(self, storing: Coroutine[Any, Any, None]) -> None:
        """Start to store something; `wait_until_stored` waits for it."""
        task = asyncio.get_running_loop().create_task(storing)
        self._storing.add(task)
        task.add_done_callback(self._storing.discard)

    def _fail(self, cause: BaseException) -> None:
        """Fail everything that waits: no turn will follow."""
        failure = LoopFailed(f"the runtime has stopped because of an error in its loop: {cause!r}; start it again")
        failure.__cause__ = cause
        self.failure = failure
        self.inboxes.abandon(failure)
        for turn in (*self._new, *self._computed):
            turn.fail(failure)
        self._new.clear()
        self._computed.clear()
        self.feeds.fail(failure)

    @property
    def _is_idle(self) -> bool:
        return self.inboxes.is_idle and not self._computed and not self._new and self.pipeline.is_empty

    @property
    def _may_compute(self) -> bool:
        return bool(self.inboxes.ready) and len(self._computed) < BATCH_TREES and not self.pipeline.is_writing

    @property
    def _may_store(self) -> bool:
        return bool(self._computed) and self.pipeline.accepts(len(self._computed), len(self.inboxes.ready))

    async def _compute(self, inline: bool) -> None:
        """Compute the turns of all ready trees, or, if not `inline`, of the share that pays."""
        ready = min(len(self.inboxes.ready), BATCH_TREES - len(self._computed))
        roots = self.inboxes.start_turns(ready if inline else self.pipeline.share(ready))
        started_at = 0.0 if inline else self._clock()
        now = self._now()
        single_step = self._failures.single_step
        trees = self._trees
        inboxes = self.inboxes
        for root in roots:
            # No letter overtakes a stored one that is due before it.
            is_behind = False
            if inboxes.is_due(root, now) or self.is_stopping:
                is_behind = not await self._catch_up(root)
                now = self._now()
            deliveries = [] if is_behind else inboxes.draw(root, 1 if root in single_step else BATCH_LETTERS)
            tree = trees.touch(root) if deliveries else None
            if tree is None:
                tree = await self._load(root, deliveries) if deliveries else None
                now = self._now()
                if tree is None:
                    inboxes.finish(root)
                    continue
            batch = tree.new_batch(now)
            self._burst += len(deliveries)
            try:
                for delivery in deliveries:
                    tree.take(delivery.letter, now, batch)
                if batch.effects and root not in single_step:
                    tree.take_answers(self.tasks.answer, batch, BATCH_LETTERS)
                self._computed.append(TreeTurn(tree, batch, deliveries, trees.commits.new_mark()))
            except Exception as error:
                await self._handle(root, deliveries, error)
                now = self._now()
        if not inline:
            self.pipeline.measure_turns(len(roots), self._clock() - started_at)

    async def _handle(self, root: str, deliveries: list[Delivery], error: Exception) -> None:
        """Handle an exception raised by a turn, and finish it."""
        try:
            await self._failures.on_exception(root, deliveries, error)
        except Exception as failure:
            self._failures.refuse(deliveries, failure)
        finally:
            self.inboxes.finish(root)

    async def _wait(self) -> None:
        """Wait until there is something to do; commits under way wake the loop when they are done."""
        self.inboxes.wakeup.clear()
        alarm = self.inboxes.next_alarm
        wait_ms = None if alarm is None else alarm - self._now()
        is_due = wait_ms is not None and wait_ms <= 0
        if self._may_compute or self._may_store or self._new or is_due or (self._closing and self._is_idle):
            # Without this, other tasks might not run for long.
            if self._burst >= BURST_LETTERS or self._clock() - self._yielded_at >= BURST_S:
                await asyncio.sleep(0)
                self._yielded_at = self._clock()
                self._burst = 0
            return
        timeout_s = MAX_WAIT_S if wait_ms is None else min(MAX_WAIT_S, wait_ms / 1000)
        await self.inboxes.wakeup.wait(timeout_s)
        self._yielded_at = self._clock()
        self._burst = 0

    async def _catch_up(self, root: str) -> bool:
        """Queue the stored letters of a tree that are due, also those that come in meanwhile; return False if not."""
        while await self._collect(root, self._now()):
            if not self.inboxes.is_due(root, self._now()):
                return True
        return False

    async def _collect(self, root: str, now: int) -> bool:
        """Queue the stored letters of a tree that are due; return False if they cannot be read now."""
        try:
            is_early = self._trees.is_reserved(root)
            tree = None if is_early else await self._trees.find(root)
        except StoreError:
            is_early = True
        if is_early:
            self.inboxes.hold(root, now + RETRY_MS)
            return False
        letters = [] if tree is None else tree.due_letters(now)
        if self.is_stopping:  # stored letters are taken after the next start
            if letters:
                self.inboxes.drop_sent(root, NotRunning("the runtime is being stopped"))
        elif tree is not None:
            tree.queued.update(letter.id for letter in letters)
            self.inboxes.merge(root, [Delivery(letter, is_stored=True) for letter in letters])
            if tree.next_due is not None:
                self.inboxes.set_alarm(tree.next_due, root)
        return True

    async def _load(self, root: str, deliveries: list[Delivery]) -> Tree | None:
        """Load the tree of some letters; if that fails, refuse them and return None; if it is being created, wait."""
        if self._trees.is_reserved(root):
            self.inboxes.put_back(root, deliveries, self._now() + RETRY_MS)
            return None
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
            self.inboxes.finish(*[turn.tree.root for turn in turns])

    async def _commit_turns(self, turns: list[TreeTurn]) -> bool:
        """Store turns in one commit and return True; if that fails, store and perform them one by one."""
        # Where there are other owners, only the store can tell that this one is right to reject a letter.
        commits = [turn.commit for turn in turns if not (turn.commit.is_empty and self._trees.ownership.owns_all)]
        self._point("before commit")
        try:
            if commits:
                await self.pipeline.commit(commits)
        except Exception as error:
            if len(turns) == 1:
                await self._refuse(turns[0], error)
                return False
            for turn in turns:  # a single one may have made the whole commit fail
                if await self._commit_turns([turn]):
                    self._perform_all([turn])
            return False
        self._point("after commit")
        return True

    async def _refuse(self, turn: TreeTurn, error: Exception) -> None:
        try:
            await self._failures.on_store_error(turn, error)
        except Exception as failure:
            turn.fail(failure)

    def _perform_all(self, turns: list[TreeTurn]) -> None:
        owns_all = self._trees.ownership.owns_all
        for turn in turns:
            if not (owns_all or self._trees.is_current(turn.tree)):  # it was lost while its turn was being stored
                self._effects.conclude(turn)
                continue
            if turn.created is not None:
                self._trees.add_created(turn.tree)
            self._effects.perform(turn)
        self._point("after perform")

    def deliver(self, letter: Letter) -> None:
        """Put a letter of a task into its inbox."""
        self.inboxes.put(Delivery(letter), bounded=False)

    def _record(self, incidents: list[Incident]) -> None:
        """Store incidents soon."""
        self._start(self._record_soon(incidents))

    async def _record_soon(self, incidents: list[Incident]) -> None:
        with suppress(StoreError):  # the error was reported when it was raised
            await self._store.record(incidents)

    async def wait_until_stored(self) -> None:
        """Wait until everything that is being stored is stored."""
        while self._storing:
            await asyncio.wait(self._storing)
