"""The loop that gives trees their turns: letters in, one commit for all that are ready, effects after it.

A letter is acknowledged when the step that took it is stored, never before. A tree whose step could not be stored
is thrown away and rebuilt from the store.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

from antiphon.runtime.effects import Effects, TreeTurn
from antiphon.runtime.errors import StoreError
from antiphon.runtime.feed import Feeds
from antiphon.runtime.inboxes import Inboxes, Waiting
from antiphon.runtime.mishaps import RETRY_MS, Mishaps
from antiphon.runtime.past import Past
from antiphon.runtime.pipeline import Pipeline
from antiphon.runtime.records import Letter
from antiphon.runtime.store import Store
from antiphon.runtime.tasks import TaskRunner
from antiphon.runtime.tree import Tree
from antiphon.runtime.woods import Woods

T = TypeVar("T")
BATCH_TREES, BATCH_LETTERS = 256, 16
SPOT_TREES = 32  # so many at most are stored on the spot
BURST_LETTERS, BURST_S = 16, 0.002  # how far the loop may go before others have their turns
REST_S = 30.0  # the wall clock may jump ahead while we sleep


class TurnLoop:
    """Takes letters from the inboxes, lets their trees compute, stores what they did, and performs its effects."""

    def __init__(
        self,
        store: Store,
        woods: Woods,
        *,
        now: Callable[[], int],
        new_id: Callable[[], str],
        inbox_limit: int,
        point: Callable[[str], None] | None = None,
    ) -> None:
        self.inboxes = Inboxes(inbox_limit)
        self.feeds = Feeds(store)
        self.tasks = TaskRunner(self.deliver, now)
        self.past = Past(woods, store, now, new_id)
        self.pipeline = Pipeline(store, self.inboxes.bell.ring)
        self.is_stopping = False  # no more letters from outside
        self._store = store
        self._woods = woods
        self._now = now
        # Named places in the loop, for tests that let the process die there.
        self._point = point or (lambda name: None)
        self._effects = Effects(self.inboxes, self.tasks, self.feeds)
        self._mishaps = Mishaps(store, woods, self.inboxes, self.feeds, now)
        self._computed: list[TreeTurn] = []  # what waits for its way to the store
        self._storing: set[asyncio.Task[None]] = set()
        self._clock: Callable[[], float] = lambda: 0.0  # the event loop's
        self._rested, self._burst = 0.0, 0  # when others last had their turns, and the letters since then
        self._closing = False  # and none on their way

    async def begin(self, tree: Tree) -> None:
        """Store the first step of a new tree, and perform its effects."""
        batch = tree.enter(self._now())
        tree.take_answers(self.tasks.answer, batch, BATCH_LETTERS)
        turn = TreeTurn(tree, batch, [])
        await self._store.commit([turn.commit])
        self._woods.add(tree)
        self._effects.perform(turn)

    def is_dispensable(self, tree: Tree) -> bool:
        """Whether a tree may be dropped from memory: nothing is on its way to it, and nothing runs in it."""
        root = tree.root
        return not (self.inboxes.has(root) or tree.host.tasks or self.inboxes.is_busy(root))

    def close(self) -> None:
        """End once everything that is on its way is stored."""
        self._closing = self._mishaps.is_last = self._effects.is_closing = True
        self.inboxes.release()
        self.inboxes.bell.ring()

    async def run(self) -> None:
        """Give trees their turns until the loop is closed and nothing is left to do."""
        self._clock = asyncio.get_running_loop().time
        await self._pick_up()
        while not (self._closing and self._is_idle):
            for root in self.inboxes.alarms(self._now()) if self.inboxes.has_alarms else ():
                await self._collect(root)
            # With little to do and a swift disk, overlapping costs more than it gains.
            on_the_spot = self.inboxes.ready + len(self._computed) <= SPOT_TREES and self._store.is_swift
            if self._may_compute and not (self._computed and self.pipeline.is_empty):
                await self._compute(on_the_spot)
            if self._may_store:
                turns, self._computed = self._computed, []
                self.pipeline.enter(len(turns))
                if on_the_spot:
                    await self._store_and_finish(turns)
                else:
                    storing = asyncio.get_running_loop().create_task(self._store_and_finish(turns))
                    self._storing.add(storing)
                    storing.add_done_callback(self._storing.discard)
            await self._rest()

    @property
    def _is_idle(self) -> bool:
        return not self.inboxes.ready and not self._computed and self.pipeline.is_empty

    @property
    def _may_compute(self) -> bool:
        return self.inboxes.ready > 0 and len(self._computed) < BATCH_TREES and not self.pipeline.is_writing

    @property
    def _may_store(self) -> bool:
        return self.pipeline.takes(len(self._computed), self.inboxes.ready)

    async def _compute(self, at_once: bool) -> None:
        """Let trees take their turns: all that are ready at once, or as many as pays."""
        ready = min(self.inboxes.ready, BATCH_TREES - len(self._computed))
        roots = self.inboxes.turns(ready if at_once else self.pipeline.share(ready))
        began, now, careful = self._clock(), self._now(), self._mishaps.careful
        for root in roots:
            waiting = self.inboxes.draw(root, 1 if root in careful else BATCH_LETTERS)
            tree = (self._woods.at_hand(root) or await self._tree_for(root, waiting)) if waiting else None
            if tree is None:
                self.inboxes.finish(root)
                continue
            batch = tree.batch(now)
            self._burst += len(waiting)
            try:
                for one in waiting:
                    tree.take(one.letter, now, batch)
                if batch.notes and root not in careful:
                    tree.take_answers(self.tasks.answer, batch, BATCH_LETTERS)
                self._computed.append(TreeTurn(tree, batch, waiting))
            except Exception as error:
                await self._mishaps.raised(tree, waiting, len(batch.receipts), error)
                self.inboxes.finish(root)
        self.pipeline.computed(len(roots), self._clock() - began)

    async def _pick_up(self) -> None:
        """Go on with what the last owner of the store left."""
        for root, due in await self._insist(self._store.waiting) or ():
            self.inboxes.alarm(due, root)
        for task in await self._insist(self._store.running) or ():
            letter = await self._insist(partial(self.past.left_behind, task, self.tasks.start))
            if letter is not None:
                self.deliver(letter)

    async def _insist(self, ask: Callable[[], Awaitable[T]]) -> T | None:
        """Ask the store until it answers; nothing if the runtime is stopped before."""
        while not self.is_stopping:
            try:
                return await ask()
            except StoreError:
                await asyncio.sleep(RETRY_MS / 1000)
        return None

    async def _rest(self) -> None:
        """Sleep until there is something to do; what is being stored wakes us when it is done."""
        self.inboxes.bell.silence()
        if self._may_compute or self._may_store or (self._closing and self._is_idle):
            # Where everything is done on the spot, nothing else lets others have their turns.
            if self._burst >= BURST_LETTERS or self._clock() - self._rested >= BURST_S:
                await asyncio.sleep(0)
                self._rested, self._burst = self._clock(), 0
            return
        alarm = self.inboxes.next_alarm
        rest = REST_S if alarm is None else min(REST_S, max(0, alarm - self._now()) / 1000)
        await self.inboxes.bell.sleep(rest)
        self._rested, self._burst = self._clock(), 0

    async def _collect(self, root: str) -> None:
        """Queue the stored letters of a tree that are due, and remember when to look again."""
        try:
            tree = await self._woods.find(root)
        except StoreError:
            self.inboxes.alarm(self._now() + RETRY_MS, root)
            return
        if tree is None or self.is_stopping:
            return
        for letter in tree.due(self._now()):
            tree.queued.add(letter.id)
            self.inboxes.put(Waiting(letter), bounded=False)
        if tree.next_due is not None:
            self.inboxes.alarm(tree.next_due, root)

    async def _tree_for(self, root: str, waiting: list[Waiting]) -> Tree | None:
        """The tree that letters are for, or nothing; then who waits has heard why."""
        try:
            return await self._woods.tree(root)
        except Exception as error:
            self._mishaps.refused(waiting, error)
            return None

    async def _store_and_finish(self, turns: list[TreeTurn]) -> None:
        """Store what the trees did, let it happen, and give them their next turn."""
        try:
            if await self._commit_turns(turns):
                # Who comes behind needs the processor now; what is durable is told as soon as it has written.
                self.pipeline.leave()
                if self.pipeline.is_writing:
                    await self.pipeline.settled()
                self._perform_all(turns)
            else:
                self.pipeline.leave()
        finally:
            for turn in turns:
                self.inboxes.finish(turn.tree.root)

    async def _commit_turns(self, turns: list[TreeTurn]) -> bool:
        """Store what the trees did at once; if that fails, one by one, and let it happen where it does not."""
        commits = [turn.commit for turn in turns if not turn.commit.is_empty]
        self._point("before commit")
        try:
            if commits:
                await self.pipeline.commit(commits)
        except StoreError as error:
            if len(turns) == 1:
                [turn] = turns
                await self._mishaps.not_stored(turn.tree, turn.batch, turn.taken, error)
                return False
            for turn in turns:  # one of them may have spoiled it for all
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
        """Take in a letter of a task."""
        self.inboxes.put(Waiting(letter), bounded=False)
