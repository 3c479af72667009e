"""What can be done with a journal: rebuild the past, fork from it, and pick up what a dead process left."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from antiphon.actors.tasks import REJECT
from antiphon.runtime.ids import token
from antiphon.runtime.machines import chart_hash
from antiphon.runtime.paths import actor_at
from antiphon.runtime.records import Birth, Commit, Entry, Letter, Saved, Task
from antiphon.runtime.store import Store
from antiphon.runtime.tree import MIGRATED, Tree
from antiphon.runtime.woods import Woods

FORKED = "antiphon.forked"


class Past:
    """The journals of trees, as far back as they go."""

    def __init__(self, woods: Woods, store: Store, now: Callable[[], int], new_id: Callable[[], str]) -> None:
        self._woods, self._store, self._now, self._new_id = woods, store, now, new_id

    async def rebuild(self, root: str, seq: int | None = None) -> Tree:
        """A tree made anew from its whole journal, up to a sequence number."""
        saved = await self._woods.saved(root)
        last = saved.seq if seq is None else seq
        if not 1 <= last <= saved.seq:
            raise ValueError(f"{root!r} has steps 1 to {saved.seq}, not {last}")
        entries = await self._store.entries(root, 0, last)
        later = await self._store.entries(root, last, saved.seq) if last < saved.seq else []
        birth = replace(saved.birth, **self._version_at(saved.birth, later))
        moves = [i for i, entry in enumerate(entries) if entry.event["type"] == MIGRATED]
        tree = self._woods.plant(root, self._woods.machine_of(birth), birth)
        start = 1
        if moves:
            start = moves[-1] + 1
            snapshot = entries[moves[-1]].event["snapshot"]
        elif birth.forked_from is not None:
            snapshot = (await self.rebuild(birth.forked_from, birth.forked_seq)).actor.get_persisted_snapshot()
        else:
            tree.replay_all(entries)
            return tree
        tree.recover(Saved(root, birth, "active", start, snapshot, start))
        for entry in entries[start:]:
            tree.replay(entry)
        return tree

    def _version_at(self, birth: Birth, later: list[Entry]) -> dict[str, Any]:
        """The version a tree had before the migrations that came later."""
        moves = [entry.event for entry in later if entry.event["type"] == MIGRATED]
        if not moves:
            return {}
        machine = self._woods.machine_in(birth.machine, moves[0]["from"])
        return {"version": machine.version, "hash": chart_hash(machine)}

    async def fork(self, root: str, seq: int, new: str | None) -> Commit:
        """A new tree that begins where another one was.

        Its timers have the time left that they had there. Its tasks are reported as interrupted: the work
        was done, or is being done, for the other tree.
        """
        past = await self.rebuild(root, seq)
        id, now, incarnation = new or self._new_id(), self._now(), self._new_id()
        birth = replace(past.birth, incarnation=incarnation, forked_from=root, forked_seq=seq)
        snapshot = past.actor.get_persisted_snapshot()
        entry = Entry(
            id, 1, now, "", {"type": FORKED, "from": root, "seq": seq}, None, snapshot.get("value"), past.status
        )
        later = now - past.host.now
        timers = [
            _moved(letter, id, token(incarnation, 1, i), later) for i, letter in enumerate(past.host.letters.values())
        ]
        reports = [interruption(task._replace(root=id), now, fenced=False) for task in past.host.tasks.values()]
        commit = Commit(
            id, 0, now, past.status, birth=birth, entries=(entry,), letters=(*timers, *reports), snapshot=snapshot
        )
        await self._store.commit([commit])
        return commit

    async def left_behind(self, task: Task, start: Callable[[Task, Any], None]) -> Letter | None:
        """Begin a task again that a dead process left, if it may be repeated; else the letter that tells its chart."""
        tree = await self._woods.find(task.root)
        if task.epoch == self._woods.epoch or tree is None or tree.host.tasks.get(task.to) != task:
            return None
        if task.safety != "repeat":
            return interruption(task, self._now())
        await self._repeat(tree, task, start)
        return None

    async def _repeat(self, tree: Tree, task: Task, start: Callable[[Task, Any], None]) -> None:
        actor = actor_at(tree.actor, task.to)
        again = task._replace(attempt=task.attempt + 1, epoch=self._woods.epoch)
        await self._store.commit([Commit(task.root, tree.seq, self._now(), tree.status, tasks=(again,))])
        tree.host.tasks[task.to] = again
        start(again, actor.logic)


def interruption(task: Task, now: int, fenced: bool = True) -> Letter:
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


def _moved(letter: Letter, root: str, id: str, later_ms: int) -> Letter:
    """A delayed letter for a fork, with the time left that it had."""
    return letter._replace(id=id, root=root, at=letter.at + later_ms, due=letter.due + later_ms)
