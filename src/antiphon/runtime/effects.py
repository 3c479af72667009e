"""The effects of stored steps: receipts, tasks, users' actions, letters and feeds."""

from antiphon.actors.observers import call_safely
from antiphon.runtime.feed import Feeds
from antiphon.runtime.inboxes import Inboxes, Waiting
from antiphon.runtime.records import Commit
from antiphon.runtime.tasks import TaskRunner
from antiphon.runtime.tree import Batch, Tree


class TreeTurn:
    """What a tree did in its turn, and the letters that wait for their receipts."""

    __slots__ = ("batch", "commit", "taken", "tree")

    def __init__(self, tree: Tree, batch: Batch, taken: list[Waiting]) -> None:
        self.tree = tree
        self.batch = batch
        self.taken = taken
        self.commit: Commit = tree.commit(batch)


class Effects:
    """Performs what steps asked for, once they are stored."""

    def __init__(self, inboxes: Inboxes, tasks: TaskRunner, feeds: Feeds) -> None:
        self._inboxes = inboxes
        self._tasks = tasks
        self._feeds = feeds
        self.is_closing = False  # the next owner of the store finds tasks that are not begun any more

    def perform(self, turn: TreeTurn) -> None:
        """Perform the effects of a stored turn."""
        turn.tree.taken.clear()
        for waiting, receipt in zip(turn.taken, turn.batch.receipts, strict=False):
            waiting.succeed(receipt)
        if turn.batch.notes:
            self._run_effects(turn)
        self._feeds.publish(turn.tree.root, turn.commit.entries)
        if turn.commit.status != "active":
            self._feeds.end(turn.tree.root)

    def _run_effects(self, turn: TreeTurn) -> None:
        for id in turn.commit.ended:
            self._tasks.cancel(id)
        for notes in turn.batch.notes:
            for call in notes.calls:
                call_safely(call)
        for task, logic in turn.batch.begun:
            if not self.is_closing:
                self._tasks.start(task, logic)
        for notes in turn.batch.notes:
            for id, event in notes.heard:
                self._tasks.hear(id, event)
        for letter in turn.commit.letters:
            self._inboxes.alarm(letter.due, letter.root)
