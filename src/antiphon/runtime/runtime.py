"""The durable runtime: letters in, one commit for all trees that are ready, effects after it.

A letter is acknowledged when the step that took it is stored, never before. What a step asks for is
done only once it is stored. A tree whose step could not be stored is thrown away and rebuilt from the store.
"""

import asyncio
import hashlib
import json
import uuid
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from typing import Any

from antiphon.actors.tasks import REJECT
from antiphon.chart.machine import Machine
from antiphon.runtime.clock import SteadyClock
from antiphon.runtime.errors import InboxFull, NotRunning, StoreError, UnknownMachine, UnknownRoot
from antiphon.runtime.feed import Feeds
from antiphon.runtime.paths import actor_at
from antiphon.runtime.records import Birth, Commit, Entry, Letter, Receipt, Saved, Task
from antiphon.runtime.store import Store
from antiphon.runtime.tasks import TaskRunner
from antiphon.runtime.tree import Batch, Tree

BATCH_TREES, BATCH_LETTERS, INBOX_LIMIT = 256, 16, 256


@dataclass(slots=True)
class _Waiting:
    letter: Letter
    answer: "asyncio.Future[Receipt] | None" = None


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
    ) -> None:
        self.store, self.machines = store, {machine.id: machine for machine in machines}
        self.now = now or SteadyClock().now
        self._new_id = new_id or (lambda: uuid.uuid4().hex)
        self._point = point or (lambda name: None)
        self._inbox_limit = inbox_limit
        self.feeds = Feeds(store)
        self.tasks = TaskRunner(self._deliver, self.now)
        self.epoch = 0
        self._trees: dict[str, Tree] = {}
        self._loading: dict[str, asyncio.Future[None]] = {}
        self._inboxes: dict[str, deque[_Waiting]] = {}
        self._ready: dict[str, None] = {}
        self._again: list[Task] = []
        self._due: list[tuple[int, str]] = []
        self._wake: asyncio.Event | None = None
        self._loop_task: asyncio.Task[None] | None = None
        self._stopping = False

    # -- life ----------------------------------------------------------------------------------------------------

    async def start(self) -> "Runtime":
        """Take the store over and go on where its last owner left off."""
        self.epoch = await self.store.open()
        self._wake = asyncio.Event()
        for task in await self.store.running():
            self._report(task)
        for root, due in await self.store.waiting():
            heappush(self._due, (due, root))
        self._loop_task = asyncio.get_running_loop().create_task(self._loop())
        return self

    async def stop(self) -> None:
        """Finish what is being stored, end all tasks and give the store up."""
        self._stopping = True
        await self.tasks.close()
        self._rouse()
        if self._loop_task is not None:
            await self._loop_task
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
        id = root or self._new_id()
        birth = self._birth(self._machine(machine), input)
        tree = Tree(id, self._machine(machine), birth, self.epoch)
        batch = tree.enter(self.now())
        await self._store([(tree, batch, [])])
        self._trees[id] = tree
        return id

    async def send(self, root: str, event: Any, *, id: str | None = None, to: str = "") -> Receipt:
        """Send an event and wait until the step that takes it is stored."""
        self._check_running()
        letter = self._letter(root, event, id, to)
        if id is not None:
            seq = await self.store.applied(root, id)
            if seq is not None:
                return Receipt("duplicate", id, seq)
        await self._tree(root)
        answer: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()
        self._put(_Waiting(letter, answer))
        return await answer

    async def post(self, root: str, event: Any, *, id: str | None = None, to: str = "", delay_ms: int = 0) -> Receipt:
        """Put an event into an inbox; it is stored when this returns, and taken when its time comes."""
        self._check_running()
        letter = self._letter(root, event, id, to)
        letter = replace(letter, due=letter.at + delay_ms)
        (is_new,) = await self.store.post([letter])
        if not is_new:
            return Receipt("duplicate", letter.id)
        if letter.due <= self.now() and root in self._trees:
            self._put(_Waiting(letter))
        else:
            heappush(self._due, (letter.due, root))
            self._rouse()
        return Receipt("accepted", letter.id)

    def feed(self, root: str, after: int = 0) -> AsyncIterator[Entry]:
        """A tree's journal: what is there, then what comes."""
        return self.feeds.follow(root, after)

    async def snapshot(self, root: str, seq: int | None = None) -> Any:
        """A tree's snapshot as JSON, now or as it was at a sequence number."""
        if seq is None:
            return (await self._tree(root)).actor.get_persisted_snapshot()
        return (await self.rebuild(root, seq)).actor.get_persisted_snapshot()

    async def rebuild(self, root: str, seq: int | None = None) -> Tree:
        """A tree made anew from its whole journal, up to a sequence number."""
        saved = await self._saved(root)
        tree = Tree(root, self._machine(saved.birth.machine), saved.birth, self.epoch)
        entries = await self.store.entries(root, 0, saved.seq if seq is None else seq)
        if saved.birth.forked_from is None:
            tree.replay_all(entries)
            return tree
        past = await self.rebuild(saved.birth.forked_from, saved.birth.forked_seq)
        tree.recover(Saved(root, saved.birth, past.status, 1, past.actor.get_persisted_snapshot(), 1))
        for entry in entries[1:]:
            tree.replay(entry)
        return tree

    async def fork(self, root: str, seq: int, *, new: str | None = None) -> str:
        """A new tree that begins where another one was at a sequence number.

        Its timers have the time left that they had there. Its tasks are reported as interrupted: the work
        was done, or is being done, for the other tree.
        """
        self._check_running()
        past = await self.rebuild(root, seq)
        id, now = new or self._new_id(), self.now()
        birth = replace(past.birth, incarnation=self._new_id(), forked_from=root, forked_seq=seq)
        snapshot = past.actor.get_persisted_snapshot()
        event = {"type": "antiphon.forked", "from": root, "seq": seq}
        entry = Entry(id, 1, now, "", event, None, snapshot.get("value"), past.status)
        timers = [
            _moved(letter, id, birth.incarnation, i, now - past.host.now)
            for i, letter in enumerate(past.host.letters.values())
        ]
        reports = [_interruption(replace(task, root=id), now, fenced=False) for task in past.host.tasks.values()]
        commit = Commit(id, 0, now, past.status, birth, (entry,), letters=(*timers, *reports), snapshot=snapshot)
        await self.store.commit([commit])
        for letter in commit.letters:
            heappush(self._due, (letter.due, id))
        self._rouse()
        return id

    # -- the loop ------------------------------------------------------------------------------------------------

    async def _loop(self) -> None:
        await self._repeat()
        while not self._stopping:
            await self._gather_due()
            work = await self._take_ready()
            if work:
                await self._store(work)
            elif not self._stopping:
                await self._rest()

    async def _rest(self) -> None:
        assert self._wake is not None
        self._wake.clear()
        if self._ready:
            return
        delay = None if not self._due else max(0, self._due[0][0] - self.now()) / 1000
        with suppress(TimeoutError):
            await asyncio.wait_for(self._wake.wait(), delay)

    async def _gather_due(self) -> None:
        now = self.now()
        roots: dict[str, None] = {}
        while self._due and self._due[0][0] <= now:
            roots[heappop(self._due)[1]] = None
        for root in roots:
            await self._fetch(root, now)

    async def _fetch(self, root: str, now: int) -> None:
        """Put the letters of a tree that are due into its inbox."""
        saved = await self._saved(root)
        if saved.birth.machine not in self.machines:
            return
        tree = await self._tree(root)
        known = {waiting.letter.id for waiting in self._inboxes.get(root, ())}
        for letter in saved.letters:
            if letter.due > now:
                heappush(self._due, (letter.due, root))
                break
            if letter.id not in known and (letter.timer is None or letter.id in tree.host.letters):
                self._put(_Waiting(letter), bounded=False)

    async def _take_ready(self) -> list[tuple[Tree, Batch, list[_Waiting]]]:
        work = []
        for root in list(self._ready)[:BATCH_TREES]:
            del self._ready[root]
            inbox = self._inboxes.get(root)
            if not inbox:
                continue
            tree = await self._tree(root)
            now = self.now()
            batch = tree.batch(now)
            taken: list[_Waiting] = []
            while inbox and len(taken) < BATCH_LETTERS:
                waiting = inbox.popleft()
                taken.append(waiting)
                tree.take(waiting.letter, now, batch)
            if inbox:
                self._ready[root] = None
            work.append((tree, batch, taken))
        return work

    async def _store(self, work: list[tuple[Tree, Batch, list[_Waiting]]]) -> None:
        """Store what the trees did, then let it happen."""
        commits = [tree.commit(batch) for tree, batch, _ in work]
        self._point("before commit")
        try:
            await self.store.commit(commits)
        except StoreError as error:
            self._undo(work, error)
            if any(batch.birth is not None for _, batch, _ in work):
                raise
            return
        self._point("after commit")
        for (tree, batch, taken), commit in zip(work, commits, strict=True):
            self._perform(tree, batch, taken, commit)
        self._point("after perform")

    def _undo(self, work: list[tuple[Tree, Batch, list[_Waiting]]], error: StoreError) -> None:
        """Nothing of it happened: forget the trees, and tell who waits."""
        for tree, _, taken in work:
            self._trees.pop(tree.root, None)
            for waiting in taken:
                if waiting.answer is not None and not waiting.answer.done():
                    waiting.answer.set_exception(error)

    def _perform(self, tree: Tree, batch: Batch, taken: list[_Waiting], commit: Commit) -> None:
        for waiting, (_, receipt) in zip(taken, batch.receipts, strict=False):
            if waiting.answer is not None and not waiting.answer.done():
                waiting.answer.set_result(receipt)
        for letter in commit.letters:
            heappush(self._due, (letter.due, letter.root))
        for id, _ in commit.ended:
            self.tasks.cancel(id)
        gone = {id for id, _ in commit.ended}
        for notes in batch.notes:
            for task, logic in notes.started:
                if task.id not in gone:
                    self.tasks.start(task, logic)
            for call in notes.calls:
                call()
        self.feeds.publish(tree.root, commit.entries)

    # -- letters and trees ---------------------------------------------------------------------------------------

    def _deliver(self, letter: Letter) -> None:
        """Take in what a task says."""
        self._put(_Waiting(letter), bounded=False)

    def _put(self, waiting: _Waiting, bounded: bool = True) -> None:
        inbox = self._inboxes.setdefault(waiting.letter.root, deque())
        if bounded and len(inbox) >= self._inbox_limit:
            raise InboxFull(f"{waiting.letter.root!r} has {len(inbox)} letters waiting; try again later")
        inbox.append(waiting)
        self._ready[waiting.letter.root] = None
        self._rouse()

    def _rouse(self) -> None:
        if self._wake is not None:
            self._wake.set()

    async def _tree(self, root: str) -> Tree:
        """A tree in memory; who asks while it is being loaded waits for the same load."""
        while (tree := self._trees.get(root)) is None:
            loading = self._loading.get(root)
            if loading is not None:
                await asyncio.wait([loading])
                continue
            self._loading[root] = asyncio.get_running_loop().create_future()
            try:
                self._trees[root] = self._recovered(await self._saved(root))
            finally:
                self._loading.pop(root).set_result(None)
        return tree

    def _recovered(self, saved: Saved) -> Tree:
        tree = Tree(saved.root, self._machine(saved.birth.machine), saved.birth, self.epoch)
        tree.recover(saved)
        return tree

    async def _saved(self, root: str) -> Saved:
        saved = await self.store.load(root)
        if saved is None:
            raise UnknownRoot(f"there is no root actor {root!r}")
        return saved

    def _report(self, task: Task) -> None:
        """What becomes of a task that a dead process left behind."""
        if task.safety == "repeat":
            self._again.append(task)
        else:
            self._put(_Waiting(_interruption(task, self.now())), bounded=False)

    async def _repeat(self) -> None:
        """Start again what may be repeated, each as another attempt."""
        tasks, self._again = self._again, []
        for task in tasks:
            tree = await self._tree(task.root)
            actor = actor_at(tree.actor, task.to)
            if actor is None or task.to not in tree.host.tasks:
                continue
            attempt = replace(task, attempt=task.attempt + 1, epoch=self.epoch)
            await self.store.commit([Commit(task.root, tree.seq, self.now(), tree.status, tasks=(attempt,))])
            tree.host.tasks[task.to] = attempt
            self.tasks.start(attempt, actor.logic)

    def _letter(self, root: str, event: Any, id: str | None, to: str) -> Letter:
        at = self.now()
        return Letter(id or self._new_id(), root, event, at, at, to)

    def _machine(self, id: str) -> Machine[Any, Any]:
        machine = self.machines.get(id)
        if machine is None:
            raise UnknownMachine(f"no machine {id!r} is registered; known: {', '.join(sorted(self.machines))}")
        return machine

    def _birth(self, machine: Machine[Any, Any], input: Any) -> Birth:
        return Birth(self._new_id(), machine.id, machine.version, chart_hash(machine), input)

    def _check_running(self) -> None:
        if self._loop_task is None or self._stopping:
            raise NotRunning("the runtime is not running")


def chart_hash(machine: Machine[Any, Any]) -> str:
    """A short hash of a machine's chart, functions aside."""
    text = json.dumps(machine.config, sort_keys=True, default=lambda value: getattr(value, "__name__", "?"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _interruption(task: Task, now: int, fenced: bool = True) -> Letter:
    """The letter that tells a chart that nobody will finish a task."""
    error = {
        "name": "Interrupted",
        "code": "unknown" if task.safety == "once" else "interrupted",
        "recoverable": True,
        "message": f"the process that ran {task.src!r} ended before it was done",
    }
    event = {"type": REJECT, "data": error}
    fence = (task.id, task.attempt) if fenced else (None, 0)
    return Letter(task.id, task.root, event, now, now, task.to, task.to, None, *fence)


def _moved(letter: Letter, root: str, incarnation: str, number: int, later_ms: int) -> Letter:
    """A delayed letter for a fork, with the time left that it had."""
    return replace(
        letter, id=f"{incarnation}/1/{number}", root=root, at=letter.at + later_ms, due=letter.due + later_ms
    )
