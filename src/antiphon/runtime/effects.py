"""Effects of stored steps: receipts, tasks, users' actions, timers and feeds."""

import asyncio
from collections.abc import Callable

from antiphon.actors.observers import report_unhandled
from antiphon.runtime.batch import Batch
from antiphon.runtime.feed import Feeds
from antiphon.runtime.inboxes import Delivery, Inboxes
from antiphon.runtime.quarantine import format_error
from antiphon.runtime.records import Commit, Incident
from antiphon.runtime.tasks import TaskRunner
from antiphon.runtime.tree import Tree

ACTION_RAISED = "action raised"


class TreeTurn:
    """The steps of a tree in one turn, with the deliveries they took and the commit that stores them."""

    __slots__ = ("batch", "commit", "created", "deliveries", "tree")

    def __init__(
        self,
        tree: Tree,
        batch: Batch,
        deliveries: list[Delivery],
        mark: int,
        created: "asyncio.Future[None] | None" = None,
    ) -> None:
        self.tree = tree
        self.batch = batch
        self.deliveries = deliveries
        self.created = created  # of the first turn of a new tree: resolved when it is stored
        self.commit: Commit = tree.commit(batch, mark)

    def fail(self, error: Exception) -> None:
        """Fail everything that waits for this turn."""
        for delivery in self.deliveries:
            delivery.fail(error)
        if self.created is not None and not self.created.done():
            self.created.set_exception(error)


class Effects:
    """Performs the effects of turns that are stored."""

    def __init__(
        self, inboxes: Inboxes, tasks: TaskRunner, feeds: Feeds, record: Callable[[list[Incident]], None]
    ) -> None:
        self._inboxes = inboxes
        self._tasks = tasks
        self._feeds = feeds
        self._record = record
        self.is_closing = False  # start no more tasks: the next owner of the store recovers them

    def acknowledge(self, turn: TreeTurn) -> None:
        """Resolve everything that waits for a stored turn."""
        for delivery, receipt in zip(turn.deliveries, turn.batch.receipts, strict=False):
            delivery.succeed(receipt)
        if turn.created is not None and not turn.created.done():
            turn.created.set_result(None)

    def conclude(self, turn: TreeTurn) -> None:
        """Finish a stored turn of a tree that was lost meanwhile; its new owner recovers the tasks and timers."""
        self.acknowledge(turn)
        self._call_actions(turn)
        self._feeds.forget(turn.tree.root)

    def perform(self, turn: TreeTurn) -> None:
        """Perform the effects of a stored turn."""
        turn.tree.taken.clear()
        self.acknowledge(turn)
        if turn.batch.effects:
            self._run_effects(turn)
        self._feeds.publish(turn.tree.root, turn.commit.entries)
        if turn.commit.status != "active":
            self._feeds.end(turn.tree.root)

    def _run_effects(self, turn: TreeTurn) -> None:
        for id in turn.commit.ended:
            self._tasks.cancel(id)
        self._call_actions(turn)
        for task, logic in turn.batch.starting:
            if not self.is_closing:
                self._tasks.start(task, logic)
        for effects in turn.batch.effects:
            for id, event in effects.forwarded:
                self._tasks.forward(id, event)
        for letter in turn.commit.letters:
            self._inboxes.set_alarm(letter.due, letter.root)

    def _call_actions(self, turn: TreeTurn) -> None:
        """Call users' actions; one that raises is recorded against its step, which stays."""
        incidents: list[Incident] = []
        for effects in turn.batch.effects:
            for call in effects.calls:
                try:
                    call()
                except Exception as error:
                    report_unhandled(error)
                    detail = format_error(error)
                    incidents.append(Incident(turn.tree.root, effects.seq, turn.batch.at, ACTION_RAISED, detail))
        if incidents:
            self._record(incidents)
