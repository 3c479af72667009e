"""The durable runtime: letters in, one commit for all trees that are ready, effects after it.

A letter is acknowledged when the step that took it is stored, never before. What a step asks for is
done only once it is stored. A tree whose step could not be stored is thrown away and rebuilt from the store.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from antiphon.actors.observers import guarded
from antiphon.chart.machine import Machine
from antiphon.runtime.admission import admissible
from antiphon.runtime.charts import chart_hash
from antiphon.runtime.clock import SteadyClock
from antiphon.runtime.errands import Errands, Fate
from antiphon.runtime.errors import NotRunning, StoreError
from antiphon.runtime.feed import Feeds
from antiphon.runtime.ids import new_ids
from antiphon.runtime.inboxes import Inboxes, Waiting
from antiphon.runtime.machines import Machines
from antiphon.runtime.mishaps import RETRY_MS, Mishaps
from antiphon.runtime.past import Past
from antiphon.runtime.pipeline import Pipeline
from antiphon.runtime.records import Birth, Commit, Entry, Letter, Receipt
from antiphon.runtime.store import Store
from antiphon.runtime.tasks import TaskRunner
from antiphon.runtime.tree import SNAPSHOT_ENTRIES, Batch, Tree
from antiphon.runtime.woods import Woods

T = TypeVar("T")
BATCH_TREES, BATCH_LETTERS, INBOX_LIMIT, TREE_LIMIT = 256, 16, 256, 10_000
SPOT_TREES = 32  # so many at most are stored on the spot
BURST_LETTERS, BURST_S = 16, 0.002  # how far the loop may go before others have their turns
REST_S = 30.0  # the wall clock may jump ahead while we sleep


class Work:
    """What a tree did in its turn, and who waits to hear of it."""

    __slots__ = ("batch", "commit", "taken", "tree")

    def __init__(self, tree: Tree, batch: Batch, taken: list[Waiting]) -> None:
        self.tree, self.batch, self.taken = tree, batch, taken
        self.commit: Commit = tree.commit(batch)


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
        self.store, self.machines = store, Machines(machines)
        self.now = now or SteadyClock().now
        self.new_id = new_id or new_ids()
        # Named places in the loop, for tests that let the process die there.
        self._point = point or (lambda name: None)
        self.feeds = Feeds(store)
        self.inboxes = Inboxes(inbox_limit)
        self.tasks = TaskRunner(self._deliver, self.now)
        self.woods = Woods(store, self.machines, tree_limit, self._is_dispensable, self.now, snapshot_every)
        self.past = Past(self.woods, store, self.now, self.new_id)
        self._errands = Errands()
        self._mishaps = Mishaps(store, self.woods, self.inboxes, self.feeds, self.now)
        self._pipeline = Pipeline(store, self.inboxes.bell.ring)
        self._computed: list[Work] = []  # what waits for its way to the store
        self._storing: set[asyncio.Task[None]] = set()
        self._loop_task: asyncio.Task[None] | None = None
        self._clock: Callable[[], float] = lambda: 0.0  # the event loop's
        self._rested, self._burst = 0.0, 0  # when others last had their turns, and the letters since then
        self._stopping = False  # no more letters from outside
        self._closing = False  # and none on their way

    # -- life ----------------------------------------------------------------------------------------------------

    async def start(self) -> "Runtime":
        """Take the store over and go on where its last owner left off."""
        self.woods.epoch = await self.store.open()
        self._clock = asyncio.get_running_loop().time
        self._loop_task = asyncio.create_task(self._loop())
        return self

    async def stop(self, limit_s: float = 5.0) -> None:
        """Take no more letters, let tasks finish for a while, store what they say and give the store up."""
        self._stopping = True
        with suppress(TimeoutError):
            await asyncio.wait_for(self.tasks.finished(), limit_s)
        await self.tasks.close()
        await self._errands.finished()
        self._closing = self._mishaps.is_last = True
        self.inboxes.release()
        self.inboxes.bell.ring()
        if self._loop_task is not None:
            await self._loop_task
        self.inboxes.bell.stop()
        self.inboxes.abandon(NotRunning("the runtime was stopped before this letter could be taken"))
        self.feeds.close()
        await self.store.close()

    async def __aenter__(self) -> "Runtime":
        return await self.start()

    async def __aexit__(self, *error: object) -> None:
        await self.stop()

    # -- the doors -----------------------------------------------------------------------------------------------

    async def create(self, machine: str, *, root: str | None = None, input: Any = None) -> str:
        """A new root actor that runs a machine; gives its id once it is stored."""
        self._check_running()
        current = self.machines.current(machine)
        birth = Birth(self.new_id(), current.id, current.version, chart_hash(current), input)
        tree = self.woods.plant(root or self.new_id(), current, birth)
        batch = tree.enter(self.now())
        tree.take_answers(self.tasks.answer, batch, BATCH_LETTERS)
        work = Work(tree, batch, [])
        await self.store.commit([work.commit])
        self.woods.add(tree)
        self._perform(work)
        return tree.root

    async def send(self, root: str, event: Any, *, id: str | None = None, to: str = "") -> Receipt:
        """Send an event and wait until the step that takes it is stored."""
        self._check_running()
        letter = self._letter(root, event, id, to)
        if id is None and self.woods.known(root) is not None:
            # Nobody else has this letter, and its tree is at hand: there is nothing to find out first.
            answer: Fate = asyncio.get_running_loop().create_future()
            self.inboxes.put(Waiting(letter, answer), bounded=True)
            return await answer
        return await self._errands.run(letter, lambda fate: self._bring_in(letter, fate, is_named=id is not None))

    async def post(self, root: str, event: Any, *, id: str | None = None, to: str = "", delay_ms: int = 0) -> Receipt:
        """Put an event into an inbox; it is stored when this returns, and taken when its time comes."""
        self._check_running()
        letter = self._letter(root, event, id, to)
        letter = letter._replace(due=letter.at + delay_ms)
        return await self._errands.run(letter, lambda fate: self._put_away(letter, fate))

    async def _bring_in(self, letter: Letter, fate: Fate, is_named: bool) -> None:
        tree = await self.woods.tree(letter.root)
        seq = None
        if not tree.knows(letter.id) and is_named:
            seq = await self.store.applied(letter.root, letter.id)
        if tree.knows(letter.id) or seq is not None:
            fate.set_result(Receipt("duplicate", letter.id, seq or 0))
        else:
            self.inboxes.put(Waiting(letter, fate), bounded=True)

    async def _put_away(self, letter: Letter, fate: Fate) -> None:
        (is_new,) = await self.store.post([letter])
        if is_new:
            self.woods.posted(letter)
            self.inboxes.alarm(letter.due, letter.root)
        fate.set_result(Receipt("accepted" if is_new else "duplicate", letter.id))

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
            await self._pipeline.changed()
        return await self.woods.tree(root)

    async def fork(self, root: str, seq: int, *, new: str | None = None) -> str:
        """A new tree that begins where another one was at a sequence number."""
        self._check_running()
        commit = await self.past.fork(root, seq, new)
        for letter in commit.letters:
            self.inboxes.alarm(letter.due, commit.root)
        return commit.root

    # -- the loop ------------------------------------------------------------------------------------------------

    async def _loop(self) -> None:
        await self._pick_up()
        while not (self._closing and self._is_idle):
            for root in self.inboxes.alarms(self.now()) if self.inboxes.has_alarms else ():
                await self._collect(root)
            # With little to do and a swift disk, overlapping costs more than it gains.
            on_the_spot = self.inboxes.ready + len(self._computed) <= SPOT_TREES and self.store.is_swift
            if self._may_compute and not (self._computed and self._pipeline.is_empty):
                await self._compute(on_the_spot)
            if self._may_store:
                works, self._computed = self._computed, []
                self._pipeline.enter(len(works))
                if on_the_spot:
                    await self._store_and_finish(works)
                else:
                    storing = asyncio.get_running_loop().create_task(self._store_and_finish(works))
                    self._storing.add(storing)
                    storing.add_done_callback(self._storing.discard)
            await self._rest()

    @property
    def _is_idle(self) -> bool:
        return not self.inboxes.ready and not self._computed and self._pipeline.is_empty

    @property
    def _may_compute(self) -> bool:
        return self.inboxes.ready > 0 and len(self._computed) < BATCH_TREES and not self._pipeline.is_writing

    @property
    def _may_store(self) -> bool:
        return self._pipeline.takes(len(self._computed), self.inboxes.ready)

    async def _compute(self, at_once: bool) -> None:
        """Let trees take their turns: all that are ready at once, or as many as pays."""
        ready = min(self.inboxes.ready, BATCH_TREES - len(self._computed))
        roots = self.inboxes.turns(ready if at_once else self._pipeline.share(ready))
        began, now, careful = self._clock(), self.now(), self._mishaps.careful
        for root in roots:
            waiting = self.inboxes.draw(root, 1 if root in careful else BATCH_LETTERS)
            tree = (self.woods.at_hand(root) or await self._tree_for(root, waiting)) if waiting else None
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
                self._computed.append(Work(tree, batch, waiting))
            except Exception as error:
                await self._mishaps.raised(tree, waiting, len(batch.receipts), error)
                self.inboxes.finish(root)
        self._pipeline.computed(len(roots), self._clock() - began)

    async def _pick_up(self) -> None:
        """Go on with what the last owner of the store left."""
        for root, due in await self._insist(self.store.waiting) or ():
            self.inboxes.alarm(due, root)
        for task in await self._insist(self.store.running) or ():
            letter = await self._insist(partial(self.past.left_behind, task, self.tasks.start))
            if letter is not None:
                self._deliver(letter)

    async def _insist(self, ask: Callable[[], Awaitable[T]]) -> T | None:
        """Ask the store until it answers; nothing if the runtime is stopped before."""
        while not self._stopping:
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
        rest = REST_S if alarm is None else min(REST_S, max(0, alarm - self.now()) / 1000)
        await self.inboxes.bell.sleep(rest)
        self._rested, self._burst = self._clock(), 0

    async def _collect(self, root: str) -> None:
        """Queue the stored letters of a tree that are due, and remember when to look again."""
        try:
            tree = await self.woods.find(root)
        except StoreError:
            self.inboxes.alarm(self.now() + RETRY_MS, root)
            return
        if tree is None or self._stopping:
            return
        for letter in tree.due(self.now()):
            tree.queued.add(letter.id)
            self.inboxes.put(Waiting(letter), bounded=False)
        if tree.next_due is not None:
            self.inboxes.alarm(tree.next_due, root)

    async def _tree_for(self, root: str, waiting: list[Waiting]) -> Tree | None:
        """The tree that letters are for, or nothing; then who waits has heard why."""
        try:
            return await self.woods.tree(root)
        except Exception as error:
            self._mishaps.refused(waiting, error)
            return None

    async def _store_and_finish(self, works: list[Work]) -> None:
        """Store what the trees did, let it happen, and give them their next turn."""
        try:
            if await self._store(works):
                # Who comes behind needs the processor now; what is durable is told as soon as it has written.
                self._pipeline.leave()
                if self._pipeline.is_writing:
                    await self._pipeline.settled()
                self._perform_all(works)
            else:
                self._pipeline.leave()
        finally:
            for work in works:
                self.inboxes.finish(work.tree.root)

    async def _store(self, works: list[Work]) -> bool:
        """Store what the trees did at once; if that fails, one by one, and let it happen where it does not."""
        commits = [work.commit for work in works if not work.commit.is_empty]
        self._point("before commit")
        try:
            if commits:
                await self._pipeline.commit(commits)
        except StoreError as error:
            if len(works) == 1:
                [work] = works
                await self._mishaps.not_stored(work.tree, work.batch, work.taken, error)
                return False
            for work in works:  # one of them may have spoiled it for all
                if await self._store([work]):
                    self._perform_all([work])
            return False
        self._point("after commit")
        return True

    def _perform_all(self, works: list[Work]) -> None:
        for work in works:
            self._perform(work)
        self._point("after perform")

    def _perform(self, work: Work) -> None:
        """Let happen what a stored step asked for."""
        work.tree.taken.clear()
        for waiting, receipt in zip(work.taken, work.batch.receipts, strict=False):
            waiting.succeed(receipt)
        if work.batch.notes:
            self._do_what_was_asked(work)
        self.feeds.publish(work.tree.root, work.commit.entries)
        if work.commit.status != "active":
            self.feeds.end(work.tree.root)

    def _do_what_was_asked(self, work: Work) -> None:
        for id in work.commit.ended:
            self.tasks.cancel(id)
        for notes in work.batch.notes:
            for call in notes.calls:
                guarded(call)
        for task, logic in work.batch.begun:
            if not self._closing:  # the next owner of the store finds it
                self.tasks.start(task, logic)
        for notes in work.batch.notes:
            for id, event in notes.heard:
                self.tasks.hear(id, event)
        for letter in work.commit.letters:
            self.inboxes.alarm(letter.due, letter.root)

    # -- letters -------------------------------------------------------------------------------------------------

    def _deliver(self, letter: Letter) -> None:
        """Take in what a task says."""
        self.inboxes.put(Waiting(letter), bounded=False)

    def _letter(self, root: str, event: Any, id: str | None, to: str) -> Letter:
        at = self.now()
        return Letter(id or self.new_id(), root, admissible(event), at, at, to)

    def _is_dispensable(self, tree: Tree) -> bool:
        root = tree.root
        return not (self.inboxes.has(root) or tree.host.tasks or self.inboxes.is_busy(root))

    def _check_running(self) -> None:
        if self._loop_task is None or self._stopping:
            raise NotRunning("the runtime is not running")
