"""Recovery after a start: letters that wait, and tasks that were running when their process ended."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeVar

from antiphon.actors.tasks import REJECT
from antiphon.runtime.commits import RETRY_MS
from antiphon.runtime.errors import NotRunning, RuntimeFault, StoreError
from antiphon.runtime.inboxes import Delivery
from antiphon.runtime.loop import TurnLoop
from antiphon.runtime.paths import actor_at
from antiphon.runtime.quarantine import format_error, is_from_outside
from antiphon.runtime.records import Commit, Letter, Receipt, Task
from antiphon.runtime.tree import Tree
from antiphon.runtime.tree_cache import TreeCache

T = TypeVar("T")
START_LIMIT = 3  # unclean starts after which a letter or task is set aside


class Recovery:
    """Continues with what the last owner of the store left: restarts tasks or reports them as interrupted."""

    def __init__(self, trees: TreeCache, loop: TurnLoop, now: Callable[[], int]) -> None:
        self._trees = trees
        self._store = trees.store
        self._loop = loop
        self._inboxes = loop.inboxes
        self._tasks = loop.tasks
        self._exclusively = loop.exclusively  # while this is entered, a tree has no turn
        self._now = now
        loop.on_lost = self._forget
        self._adopted: dict[str, int] = {}  # trees that were created or adopted here, with their tenures
        self.adopting: dict[str, asyncio.Task[None]] = {}  # trees that are being adopted
        self.is_stopping = False

    async def run(self) -> None:
        """Recover letters and tasks; return when every interrupted task is reported to its chart."""
        await self._retry(lambda: self._store.correct_times(self._now()))
        # First the tasks: a timer that is overdue must not be taken before the end of the task that it guards.
        tasks = await self._retry(self._store.running_tasks) or []
        await self._recover_tasks([task for task in tasks if task.boot != self._trees.ownership.tenure(task.root)])
        times = await self._retry(self._store.due_times) or []
        if self._store.unclean_starts > 1:
            for root in [root for root, due in times if due <= self._now()]:
                await self._retry(partial(self._take_one_by_one, root))
        for root, due in times:
            self._inboxes.set_alarm(due, root)

    async def adopt(self, root: str, tenure: int) -> None:
        """Recover a tree that this process owns in a new tenure; what is here of an earlier one is given up."""
        if self._adopted.get(root, 0) < tenure:
            self._loop.lose(root)
            self._adopted[root] = tenure
            self.adopting[root] = asyncio.get_running_loop().create_task(self._adopt(root, tenure))
        if root in self.adopting:
            await asyncio.shield(self.adopting[root])

    async def _adopt(self, root: str, tenure: int) -> None:
        try:
            async with self._exclusively(root):
                await self._retry(partial(self._announce, root))
                self._trees.discard(root)
                self._loop.feeds.forget(root)
            await self.recover_tree(root)
            if self.is_stopping:
                raise NotRunning("the runtime was stopped before it could adopt a tree")
        except BaseException:
            if self._adopted.get(root) == tenure:
                del self._adopted[root]
            raise
        finally:
            if self.adopting.get(root) is asyncio.current_task():
                del self.adopting[root]

    async def _announce(self, root: str) -> None:
        """Store the tenure: from now on nothing of an earlier owner is stored, and what it stored is seen here."""
        saved = await self._trees.load_saved(root)
        await self._trees.commits.make(Commit(root, saved.seq, self._now(), saved.status))

    def begin(self, root: str, tenure: int) -> None:
        """Note that a tree was created here."""
        self._adopted[root] = tenure

    def _forget(self, root: str) -> None:
        """Note that a tree is not run here any more."""
        self._adopted.pop(root, None)

    async def recover_tree(self, root: str) -> None:
        """Recover the letters of a tree, and its tasks that are not running here."""
        tree = await self._retry(partial(self._trees.find, root))
        tasks = list(tree.host.tasks.values()) if tree is not None else []
        await self._recover_tasks([task for task in tasks if not self._tasks.is_running(task.id)])
        self._inboxes.set_alarm(self._now(), root)

    async def _recover_tasks(self, tasks: list[Task]) -> None:
        letters = [await self._retry(partial(self._recover_task, task)) for task in tasks]
        await asyncio.gather(*(self._report(letter) for letter in letters if letter is not None))

    async def _take_one_by_one(self, root: str) -> None:
        """Let a tree take its due letters one at a time, each counted before.

        So a letter that ends the process is found, and set aside when it has done so too often.
        """
        saved = await self._trees.load_saved(root)
        for letter in [letter for letter in saved.letters if letter.due <= self._now()]:
            async with self._exclusively(root):
                if letter.starts + 1 >= START_LIMIT:
                    await self._set_aside(letter)
                    return
                is_open = await self._count(letter)
            if is_open:
                receipt: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()
                self._inboxes.merge(root, [Delivery(letter, receipt, is_stored=True)])
                await asyncio.wait([receipt])

    async def _count(self, letter: Letter) -> bool:
        """Count an attempt to take a letter; return whether its tree is still waiting for it."""
        tree = await self._trees.find(letter.root)
        if tree is None or not (letter.id in tree.posted or letter.id in tree.host.letters):
            return False
        counted = letter._replace(starts=letter.starts + 1)
        at = self._now()
        commit = Commit(letter.root, tree.seq, at, tree.status, taken=(letter.id,), letters=(counted,))
        await self._trees.commits.make(commit)
        tree.queued.add(letter.id)
        return True

    async def _set_aside(self, letter: Letter) -> None:
        reason = f"the process ended {START_LIMIT} times while {letter.event['type']!r} was being taken"
        async with self._trees.unloaded(letter.root):
            if is_from_outside(letter):
                await self._trees.quarantine.set_aside(letter, reason)
            else:
                await self._trees.quarantine.quarantine(letter.root, reason, letter)

    async def _recover_task(self, task: Task) -> Letter | None:
        """Restart a task if it may be repeated; else return the letter that reports it as interrupted."""
        async with self._exclusively(task.root):
            return await self._recover_exclusively(task)

    async def _recover_exclusively(self, task: Task) -> Letter | None:
        tree = await self._trees.find(task.root)
        if tree is None or tree.host.tasks.get(task.to) != task or task.id in tree.posted:
            return None
        starts = task.starts + (self._store.unclean_starts > 0)
        if not may_repeat(task, actor_at(tree.actor, task.to)):
            return interruption(task, self._now())
        if starts > START_LIMIT:
            return interruption(task, self._now(), times=START_LIMIT)
        try:
            await self._restart(tree, task._replace(attempt=task.attempt + 1, boot=tree.host.boot, starts=starts))
        except RuntimeFault:
            raise
        except Exception as error:
            async with self._trees.unloaded(task.root):
                await self._trees.quarantine.quarantine(task.root, format_error(error))
        return None

    async def _restart(self, tree: Tree, attempt: Task) -> None:
        logic = actor_at(tree.actor, attempt.to).logic
        await self._trees.commits.make(Commit(tree.root, tree.seq, self._now(), tree.status, tasks=(attempt,)))
        if not self._trees.is_current(tree):  # it was lost meanwhile, and its new owner recovers the task
            return
        tree.host.tasks[attempt.to] = attempt
        self._tasks.start(attempt, logic)

    async def _report(self, letter: Letter) -> None:
        """Deliver a letter until its step is stored or it is refused."""
        while not self.is_stopping:
            receipt = self._deliver(letter)
            await asyncio.wait([receipt])
            if not isinstance(receipt.exception(), StoreError):
                return
            await asyncio.sleep(RETRY_MS / 1000)

    def _deliver(self, letter: Letter) -> "asyncio.Future[Receipt]":
        receipt: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()
        self._inboxes.put(Delivery(letter, receipt), bounded=False)
        return receipt

    async def _retry(self, call: Callable[[], Awaitable[T]]) -> T | None:
        """Call the store until it succeeds; return None if the runtime is stopped before."""
        while not self.is_stopping:
            try:
                return await call()
            except StoreError:
                await asyncio.sleep(RETRY_MS / 1000)
        return None


def may_repeat(task: Task, actor: Any) -> bool:
    """Return whether a task may be run again: what is stored may come from a file, so its machine has to say so too."""
    logic = None if actor is None else actor.logic
    return task.safety == "repeat" and getattr(logic, "safety", "repeat") == "repeat"


def interruption(task: Task, now: int, fenced: bool = True, times: int = 0) -> Letter:
    """Return the letter that reports a task as interrupted.

    A fenced one is rejected if the task has ended or was restarted before the letter is taken.
    """
    message = f"the process that ran {task.src!r} ended before it was done"
    error = {
        "name": "Interrupted",
        "code": "unknown" if task.safety == "once" else "interrupted",
        "recoverable": True,
        "message": message if not times else f"the process ended {times} times while {task.src!r} ran",
    }
    event = {"type": REJECT, "data": error}
    fence = (task.id, task.attempt) if fenced else (None, 0)
    return Letter(task.id, task.root, event, now, now, task.to, task.to, None, *fence)
