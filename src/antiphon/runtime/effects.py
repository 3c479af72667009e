"""Effects of stored steps: receipts, tasks, users' actions, timers and feeds."""

from antiphon.actors.observers import call_safely
from antiphon.runtime.feed import Feeds
from antiphon.runtime.inboxes import Delivery, Inboxes
from antiphon.runtime.records import Commit
from antiphon.runtime.tasks import TaskRunner
from antiphon.runtime.tree import Batch, Tree


class TreeTurn:
    """The steps of a tree in one turn, with the deliveries they took and the commit that stores them."""

    __slots__ = ("batch", "commit", "deliveries", "tree")

    def __init__(self, tree: Tree, batch: Batch, deliveries: list[Delivery]) -> None:
        self.tree = tree
        self.batch = batch
        self.deliveries = deliveries
        self.commit: Commit = tree.commit(batch)


class Effects:
    """Performs the effects of turns that are stored."""

    def __init__(self, inboxes: Inboxes, tasks: TaskRunner, feeds: Feeds) -> None:
        self._inboxes = inboxes
        self._tasks = tasks
        self._feeds = feeds
        self.is_closing = False  # start no more tasks: the next owner of the store recovers them

    def perform(self, turn: TreeTurn) -> None:
        """Perform the effects of a stored turn."""
        turn.tree.taken.clear()
        for delivery, receipt in zip(turn.deliveries, turn.batch.receipts, strict=False):
            delivery.succeed(receipt)
        if turn.batch.effects:
            self._run_effects(turn)
        self._feeds.publish(turn.tree.root, turn.commit.entries)
        if turn.commit.status != "active":
            self._feeds.end(turn.tree.root)

    def _run_effects(self, turn: TreeTurn) -> None:
        for id in turn.commit.ended:
            self._tasks.cancel(id)
        for effects in turn.batch.effects:
            for call in effects.calls:
                call_safely(call)
        for task, logic in turn.batch.starting:
            if not self.is_closing:
                self._tasks.start(task, logic)
        for effects in turn.batch.effects:
            for id, event in effects.forwarded:
                self._tasks.forward(id, event)
        for letter in turn.commit.letters:
            self._inboxes.set_alarm(letter.due, letter.root)
