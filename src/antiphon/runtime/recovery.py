"""Recovery of tasks that were running when their process ended."""

from collections.abc import Callable
from typing import Any

from antiphon.actors.tasks import REJECT
from antiphon.runtime.paths import actor_at
from antiphon.runtime.records import Commit, Letter, Task
from antiphon.runtime.store import Store
from antiphon.runtime.tree import Tree
from antiphon.runtime.tree_cache import TreeCache


class Recovery:
    """Restarts orphaned tasks, or reports them to their charts as interrupted."""

    def __init__(self, trees: TreeCache, store: Store, now: Callable[[], int]) -> None:
        self._trees = trees
        self._store = store
        self._now = now

    async def recover(self, task: Task, start: Callable[[Task, Any], None]) -> Letter | None:
        """Restart an orphaned task if it may be repeated; else return the letter that reports it as interrupted."""
        tree = await self._trees.find(task.root)
        if task.boot == self._trees.boot or tree is None or tree.host.tasks.get(task.to) != task:
            return None
        if task.safety != "repeat":
            return interruption(task, self._now())
        await self._restart(tree, task, start)
        return None

    async def _restart(self, tree: Tree, task: Task, start: Callable[[Task, Any], None]) -> None:
        actor = actor_at(tree.actor, task.to)
        attempt = task._replace(attempt=task.attempt + 1, boot=self._trees.boot)
        await self._store.commit([Commit(task.root, tree.seq, self._now(), tree.status, tasks=(attempt,))])
        tree.host.tasks[task.to] = attempt
        start(attempt, actor.logic)


def interruption(task: Task, now: int, fenced: bool = True) -> Letter:
    """Return the letter that reports a task as interrupted.

    A fenced one is rejected if the task has ended or was restarted before the letter is taken.
    """
    error = {
        "name": "Interrupted",
        "code": "unknown" if task.safety == "once" else "interrupted",
        "recoverable": True,
        "message": f"the process that ran {task.src!r} ended before it was done",
    }
    event = {"type": REJECT, "data": error}
    fence = (task.id, task.attempt) if fenced else (None, 0)
    return Letter(task.id, task.root, event, now, now, task.to, task.to, None, *fence)
