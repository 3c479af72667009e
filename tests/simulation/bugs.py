"""Bugs to plant into the runtime: the simulation must find each of them."""

from antiphon.runtime.feed import Feeds
from antiphon.runtime.hosting import TreeHost
from antiphon.runtime.loop import TurnLoop
from antiphon.runtime.past import Past
from antiphon.runtime.records import Commit
from antiphon.runtime.tree import Tree
from antiphon.runtime.woods import Woods
from antiphon.stores.memory import MemoryStore
from antiphon.testing.simulation.processes import current_process


class ForgetsIds(MemoryStore):
    """Does not remember which letters were applied."""

    async def commit(self, commits, written=None):
        await super().commit(commits)
        for tree in self.trees.values():
            tree.applied.clear()


class TwoTransactions(MemoryStore):
    """Stores steps first, and what they ask for in a second transaction."""

    async def commit(self, commits, written=None):
        await super().commit([commit._replace(letters=(), tasks=(), ended=()) for commit in commits])
        await current_process().pause("between two transactions")
        await super().commit([_rest(commit) for commit in commits])


def _rest(commit):
    status = commit.status
    return Commit(
        commit.root, commit.seq, commit.at, status, letters=commit.letters, tasks=commit.tasks, ended=commit.ended
    )


class TasksInMemory(MemoryStore):
    """Does not store tasks."""

    async def commit(self, commits, written=None):
        await super().commit([commit._replace(tasks=()) for commit in commits])


def no_dedup(patch):
    """A letter that comes twice is applied twice."""
    return ForgetsIds


def no_fence(patch):
    """Any result is good for any task."""
    real = Tree._is_current
    patch.setattr(Tree, "_is_current", lambda tree, letter: letter.task is not None or real(tree, letter))
    return MemoryStore


def two_transactions(patch):
    """A step and its tasks and timers are not stored together."""
    return TwoTransactions


def tasks_in_memory(patch):
    """Tasks are known to the process only."""
    return TasksInMemory


def timers_without_token(patch):
    """A timer that was cancelled is not told from the one that was set later."""
    real = Tree._is_current
    patch.setattr(Tree, "_is_current", lambda tree, letter: letter.timer is not None or real(tree, letter))
    patch.setattr(TreeHost, "_cancel", lambda host, letter: host.letters.pop(letter.id))
    return MemoryStore


def acknowledged_too_early(patch):
    """Who sends a letter hears of it before it is stored."""
    real = TurnLoop._commit_turns

    async def store(loop, works):
        for work in works:
            for waiting, receipt in zip(work.taken, work.batch.receipts, strict=False):
                waiting.succeed(receipt)
        return await real(loop, works)

    patch.setattr(TurnLoop, "_commit_turns", store)
    return MemoryStore


def performed_too_early(patch):
    """Tasks begin before the step that asked for them is stored."""
    real = TurnLoop._commit_turns

    async def store(loop, works):
        for work in works:
            for task, logic in work.batch.begun:
                loop.tasks.start(task, logic)
            work.batch.begun.clear()
        return await real(loop, works)

    patch.setattr(TurnLoop, "_commit_turns", store)
    return MemoryStore


def shown_too_early(patch):
    """Feeds show entries before they are stored."""
    real, publish, shown = TurnLoop._commit_turns, Feeds.publish, set()

    async def store(loop, works):
        for work in works:
            shown.update((entry.root, entry.seq) for entry in work.commit.entries)
            publish(loop.feeds, work.tree.root, work.commit.entries)
        return await real(loop, works)

    def publish_the_rest(feeds, root, entries):
        publish(feeds, root, [entry for entry in entries if (entry.root, entry.seq) not in shown])

    patch.setattr(TurnLoop, "_commit_turns", store)
    patch.setattr(Feeds, "publish", publish_the_rest)
    return MemoryStore


def everything_is_run_again(patch):
    """After a crash every task is run again, whatever its class."""

    async def left_behind(past, task, start):
        tree = await past._woods.find(task.root)
        if task.epoch != past._woods.epoch and tree.host.tasks.get(task.to) == task:
            await past._repeat(tree, task, start)

    patch.setattr(Past, "left_behind", left_behind)
    return MemoryStore


def nobody_tells_the_charts(patch):
    """After a crash nobody looks for the tasks of the dead process."""

    async def left_behind(past, task, start):
        return None

    patch.setattr(Past, "left_behind", left_behind)
    return MemoryStore


def failed_steps_are_kept(patch):
    """A tree whose step could not be stored goes on from that step."""
    patch.setattr(Woods, "forget", lambda woods, root: None)
    return MemoryStore


def timers_fire_early(patch):
    """Timers fire a little before they are due."""
    real = Tree.due
    patch.setattr(Tree, "due", lambda tree, now: real(tree, now + 40))
    return MemoryStore


def every_function_is_eager(patch):
    """Functions that may do anything are called before the step that asked for them is stored."""
    real = Tree.take_answers

    def take_answers(tree, ask, batch, most):
        for notes in batch.notes:
            for _, logic, _ in notes.started:
                patch.setattr(logic, "eager", logic.is_plain)
        real(tree, ask, batch, most)

    patch.setattr(Tree, "take_answers", take_answers)
    return MemoryStore


# Each bug, and the law that it breaks.
BUGS = {
    no_dedup: "was applied twice",
    no_fence: "is the result of|which has no task|a stranger's result",
    two_transactions: "replaying the journal gives the (tasks|timers)|the feed gave|but is not running",
    tasks_in_memory: "replaying the journal gives the tasks",
    timers_without_token: "was not set any more|replaying the journal gives the timers|has been due for",
    acknowledged_too_early: "was accepted at .*, and is stored at None",
    performed_too_early: "runs, but was never stored",
    shown_too_early: "the feed gave .*, which is not what was stored",
    everything_is_run_again: "was run again",
    nobody_tells_the_charts: "is stored as running, but is not running",
    failed_steps_are_kept: "the traffic did not come to its end|replaying the journal|has been due for",
    timers_fire_early: "ms early",
    every_function_is_eager: "runs, but was never stored",
}
