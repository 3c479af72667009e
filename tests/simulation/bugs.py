"""Bugs to inject into the runtime: the simulation must find each of them."""

from contextlib import nullcontext
from copy import deepcopy
from uuid import uuid4

from antiphon.runtime import recovery
from antiphon.runtime.background import BackgroundCalls
from antiphon.runtime.commits import Commits
from antiphon.runtime.errors import OtherHistory
from antiphon.runtime.feed import Feeds
from antiphon.runtime.histories import HistoryIds
from antiphon.runtime.ids import StepNumbers
from antiphon.runtime.inboxes import Inboxes
from antiphon.runtime.index.projection import Projector
from antiphon.runtime.loop import TurnLoop
from antiphon.runtime.quarantine import Quarantine
from antiphon.runtime.recording_host import RecordingHost
from antiphon.runtime.records import Commit
from antiphon.runtime.recovery import Recovery
from antiphon.runtime.replay.time_travel import TimeTravel
from antiphon.runtime.tree import Tree
from antiphon.runtime.tree_cache import TreeCache
from antiphon.stores.memory import MemoryStore
from antiphon.testing.simulation.faults import Faults
from antiphon.testing.simulation.loop import OWNER


class ForgetsIds(MemoryStore):
    """Store that forgets which letters were applied."""

    async def commit(self, commits, written=None):
        await super().commit(commits)
        for tree in self.trees.values():
            tree.applied.clear()


class TwoTransactions(MemoryStore):
    """Store that commits steps first, and their letters and tasks in a second transaction."""

    async def commit(self, commits, written=None):
        await super().commit([commit._replace(letters=(), tasks=(), ended=()) for commit in commits])
        process = OWNER.get(None)  # None at the end of a run, when the simulation itself retries dead letters
        if process is not None:
            await process.pause("between two transactions")
        await super().commit([_without_steps(commit) for commit in commits])


def _without_steps(commit):
    status = commit.status
    return Commit(
        commit.root, commit.seq, commit.at, status, letters=commit.letters, tasks=commit.tasks, ended=commit.ended
    )


class TasksInMemory(MemoryStore):
    """Store without tasks."""

    async def commit(self, commits, written=None):
        await super().commit([commit._replace(tasks=()) for commit in commits])


def no_dedup(patch):
    """A letter that comes twice is applied twice."""
    return ForgetsIds


def no_fence(patch):
    """A result is accepted for any task of its actor."""
    real = Tree._is_current
    patch.setattr(Tree, "_is_current", lambda tree, letter: letter.task is not None or real(tree, letter))
    return MemoryStore


def two_transactions(patch):
    """A step and its tasks and timers are not stored together."""
    return TwoTransactions


def tasks_in_memory(patch):
    """Tasks are not stored."""
    return TasksInMemory


def timers_without_token(patch):
    """A cancelled timer is mistaken for a later one of the same name."""
    real = Tree._is_current
    patch.setattr(Tree, "_is_current", lambda tree, letter: letter.timer is not None or real(tree, letter))
    patch.setattr(RecordingHost, "_cancel", lambda host, letter: host.letters.pop(letter.id))
    return MemoryStore


def acknowledged_too_early(patch):
    """A letter is acknowledged before its step is stored."""
    real = TurnLoop._commit_turns

    async def store(loop, turns):
        for turn in turns:
            for delivery, receipt in zip(turn.deliveries, turn.batch.receipts, strict=False):
                delivery.succeed(receipt)
        return await real(loop, turns)

    patch.setattr(TurnLoop, "_commit_turns", store)
    return MemoryStore


def performed_too_early(patch):
    """Tasks start before the step that requested them is stored."""
    real = TurnLoop._commit_turns

    async def store(loop, turns):
        for turn in turns:
            for task, logic in turn.batch.starting:
                loop.tasks.start(task, logic)
            turn.batch.starting.clear()
        return await real(loop, turns)

    patch.setattr(TurnLoop, "_commit_turns", store)
    return MemoryStore


def published_too_early(patch):
    """Feeds publish entries before they are stored."""
    real = TurnLoop._commit_turns
    publish = Feeds.publish
    published = set()

    async def store(loop, turns):
        for turn in turns:
            published.update((entry.root, entry.seq) for entry in turn.commit.entries)
            publish(loop.feeds, turn.tree.root, turn.commit.entries)
        return await real(loop, turns)

    def publish_remaining(feeds, root, entries):
        publish(feeds, root, [entry for entry in entries if (entry.root, entry.seq) not in published])

    patch.setattr(TurnLoop, "_commit_turns", store)
    patch.setattr(Feeds, "publish", publish_remaining)
    return MemoryStore


def every_task_is_restarted(patch):
    """After a crash every task is restarted, whatever its class."""

    patch.setattr(recovery, "may_repeat", lambda task, actor: True)
    return MemoryStore


def tasks_are_not_recovered(patch):
    """After a crash the tasks of the dead process are not recovered."""

    async def recover(recovery, task):
        return None

    patch.setattr(Recovery, "_recover_task", recover)
    return MemoryStore


def failed_steps_are_kept(patch):
    """A tree whose step could not be stored continues from that step."""
    patch.setattr(TreeCache, "discard", lambda trees, root: None)
    return MemoryStore


def timers_fire_early(patch):
    """Timers fire a little before they are due."""
    real = Tree.due_letters
    patch.setattr(Tree, "due_letters", lambda tree, now: real(tree, now + 40))
    return MemoryStore


class KeepsTimes(MemoryStore):
    """Store that leaves letters of a clock that was ahead where they are."""

    async def correct_times(self, now):
        return 0


def timers_are_held(patch):
    """After a restart, timers that were set by a clock that was ahead wait until the wall clock has caught up."""
    return KeepsTimes


def jumps_are_followed_at_once(patch):
    """The clock of a process follows every jump ahead of the wall clock."""
    patch.setattr("antiphon.runtime.clock.SUSTAINED_S", 0.0)
    return MemoryStore


def every_function_is_eager(patch):
    """Functions with side effects are called before the step that requested them is stored."""
    real = Tree.take_answers

    def take_answers(tree, answer, batch, limit):
        for effects in batch.effects:
            for _, logic, _ in effects.started:
                patch.setattr(logic, "eager", logic.is_plain)
        real(tree, answer, batch, limit)

    patch.setattr(Tree, "take_answers", take_answers)
    return MemoryStore


def facts_are_not_derived(patch):
    """Functions of a step get random ids that are not derived from its place in the journal."""
    real = Tree.restore
    patch.setattr(Tree, "restore", lambda tree, saved, accept=False: real(tree, saved, True))
    patch.setattr(StepNumbers, "new_id", lambda numbers: uuid4().hex)
    return MemoryStore


def snapshots_without_open_work(patch):
    """Snapshots are stored without the timers and tasks that are open."""
    patch.setattr(RecordingHost, "open_work", lambda host, at: {"at": at, "letters": [], "tasks": []})
    return MemoryStore


class ForgetsRestores(MemoryStore):
    """Store whose trees continue with the histories of the backup."""

    def restore(self, backup, suffix):
        self.trees = deepcopy(backup)


def restores_are_not_noticed(patch):
    """After a restore, tasks and timers get the ids that others had in the lost past."""
    return ForgetsRestores


def cursors_are_not_checked(patch):
    """A reader continues at the step of its cursor, also in another past."""
    patch.setattr(HistoryIds, "resolve", lambda ids, root, cursor, last: int(cursor.rpartition(":")[2]))
    return MemoryStore


def every_cursor_is_refused_after_a_restore(patch):
    """A reader that has only steps of the shared past has to read them again."""

    def resolve(ids, root, cursor, last):
        history, _, seq = cursor.rpartition(":")
        if history != ids.current:
            raise OtherHistory(root, cursor, ids.current, 0, f"{ids.current}:0")
        return int(seq)

    patch.setattr(HistoryIds, "resolve", resolve)
    return MemoryStore


def replay_uses_the_latest_history(patch):
    """Steps before a restore are replayed with the id of the history after it."""
    patch.setattr(HistoryIds, "at", lambda ids, seq: ids.current)
    return MemoryStore


def one_bad_tree_ends_the_loop(patch):
    """An error while a tree is loaded is not that of the tree."""

    async def read(trees, root):
        return await trees._restore(await trees.load_saved(root))

    patch.setattr(TreeCache, "_read", read)
    return MemoryStore


def failed_steps_end_the_root(patch):
    """A function that raises ends the root actor, and the step is stored."""
    patch.setattr(Tree, "_check_end", lambda tree, outside: None)
    return MemoryStore


def failures_are_not_stored(patch):
    """A letter that no step could take is answered and forgotten."""

    async def set_aside(quarantine, letter, reason):
        return None

    patch.setattr(Quarantine, "set_aside", set_aside)
    return MemoryStore


def tasks_of_quarantined_trees_continue(patch):
    """While a tree is quarantined, the events of its tasks are lost, and later ones are taken after its release."""
    patch.setattr(TurnLoop, "halt", lambda loop, root: None)
    return MemoryStore


def trees_are_loaded_while_they_are_quarantined(patch):
    """A tree that is loaded while its quarantine is being stored continues."""
    patch.setattr(TreeCache, "unloaded", lambda trees, root: nullcontext(trees.discard(root)))
    return MemoryStore


def sends_overtake_posts(patch):
    """A letter that is sent is taken before a stored one that is due."""
    patch.setattr(Inboxes, "is_due", lambda inboxes, root, now: False)
    return MemoryStore


def rejections_are_not_stored(patch):
    """A posted letter that no transition takes leaves no outcome."""
    real = Tree._reject
    patch.setattr(
        Tree, "_reject", lambda tree, letter, actor, batch, is_posted: real(tree, letter, actor, batch, False)
    )
    return MemoryStore


def cancelled_calls_stop_halfway(patch):
    """A call ends where its caller is cancelled: a new tree is stored without its tasks and timers."""
    real = TurnLoop._perform_all

    async def run(calls, call):
        return await call

    def perform_all(loop, turns):
        real(loop, [turn for turn in turns if turn.created is None or not turn.created.cancelled()])

    patch.setattr(BackgroundCalls, "run", run)
    patch.setattr(TurnLoop, "_perform_all", perform_all)
    return MemoryStore


def lost_answers_are_failures(patch):
    """A commit whose answer was lost counts as not made."""

    async def is_stored(commits, commit, error):
        return False

    patch.setattr(Commits, "_are_stored", is_stored)
    return MemoryStore


def migrations_drop_timers(patch):
    """A tree that is migrated loses its timers."""
    real = Tree._switch_version

    def switch(tree, machine, snapshot):
        real(tree, machine, snapshot)
        tree.host.letters.clear()

    patch.setattr(Tree, "_switch_version", switch)
    return MemoryStore


def migrations_are_not_published(patch):
    """Readers of a feed do not learn of the step that migrates its tree."""
    real = TurnLoop.__init__

    def init(loop, trees, **options):
        real(loop, trees, **options)
        trees.commits.on_stored = lambda root, entries: None

    patch.setattr(TurnLoop, "__init__", init)
    return MemoryStore


# Each bug, and the law that it breaks.
def migrations_are_not_indexed(patch):
    migrate = Tree.migrate
    patch.setattr(Tree, "migrate", lambda tree, *values: migrate(tree, *values)._replace(index_change=None))
    return MemoryStore


def forks_are_not_indexed(patch):
    fork = TimeTravel.fork

    async def forget(self, root, seq, new, edit=None):
        patch.setattr(Projector, "project", lambda self, *values: None)
        try:
            return await fork(self, root, seq, new, edit)
        finally:
            patch.setattr(Projector, "project", project)

    project = Projector.project
    patch.setattr(TimeTravel, "fork", forget)
    return MemoryStore


BUGS = {
    no_dedup: "was applied twice|was rejected at .*, and was applied at",
    no_fence: "is the result of|which has no task|a stranger's result",
    two_transactions: "the (tasks|timers) after replaying the journal|the feed gave|but is not run",
    tasks_in_memory: "the tasks after replaying the journal|rebuilt at step .* from a snapshot",
    timers_without_token: "was not set any more|the timers after replaying the journal|has been due for",
    acknowledged_too_early: "was accepted at .*, and is stored at None",
    performed_too_early: "runs, but was never stored",
    published_too_early: "the feed gave .*, which is not what was stored",
    every_task_is_restarted: "was run again|ended as done and said|a stranger's result",
    tasks_are_not_recovered: "is stored as running, but is not run",
    failed_steps_are_kept: "ended in an error|the traffic did not end|replaying the journal|has been due for",
    timers_fire_early: "ms early",
    timers_are_held: "ms after now|ms was set .* ms ago",
    jumps_are_followed_at_once: "ms early",
    every_function_is_eager: "runs, but was never stored",
    facts_are_not_derived: r"was stored with .*, but replaying it gives .*stamp|rebuilt at|the traffic did not end",
    snapshots_without_open_work: "rebuilt at step .* from a snapshot|which has no task|was not set any more",
    restores_are_not_noticed: "was given to a task or timer of another past too|and it shares",
    cursors_are_not_checked: "to a reader that has steps of a lost past|the feed ended at",
    every_cursor_is_refused_after_a_restore: "a reader was sent back to 0, and its past was not lost",
    one_bad_tree_ends_the_loop: "the loop has failed|a call raised ReplayDiffers",
    failed_steps_end_the_root: "ended in an error",
    failures_are_not_stored: "has failed, and is not a dead letter",
    tasks_of_quarantined_trees_continue: "ended as .* and said",
    trees_are_loaded_while_they_are_quarantined: "took a step while it was quarantined",
    sends_overtake_posts: "which was acknowledged before",
    rejections_are_not_stored: "its outcome is unknown",
    cancelled_calls_stop_halfway: "but is not run|has been due for|did not end",
    lost_answers_are_failures: "but is not run|has been due for|the feed gave .* after",
    migrations_drop_timers: "the timers after replaying the journal|has been due for|was not set any more",
    migrations_are_not_published: "the feed ended at",
    migrations_are_not_indexed: "the row in the index is",
    forks_are_not_indexed: "the row in the index is",
    replay_uses_the_latest_history: (
        "is the result of|the (tasks|timers) after replaying|was not set any more|but replaying it gives"
    ),
}
# Faults of the runs that look for a bug, instead of those that are drawn for a seed.
BUSY = Faults(code_fails=0.15, store_is_slow=0.5, by_post=0.3, disorder=1.0)
FAULTS = {
    tasks_of_quarantined_trees_continue: BUSY,
    trees_are_loaded_while_they_are_quarantined: BUSY,
    sends_overtake_posts: Faults(by_post=0.5, duplicate=0.4, store_is_slow=0.5, disorder=1.0),
    replay_uses_the_latest_history: Faults(restore=0.5, killed=0.02),
    cancelled_calls_stop_halfway: Faults(cancelled=0.7, store_is_slow=0.5, work_is_slow=0.5),
}
