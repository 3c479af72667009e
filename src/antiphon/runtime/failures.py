"""Failed turns: letters whose step raised an exception or could not be stored."""

from collections.abc import Callable

from antiphon.runtime.commits import RETRY_MS
from antiphon.runtime.effects import TreeTurn
from antiphon.runtime.errors import NotOwner, Quarantined, StepFailed, StoreError, Superseded, Unstorable
from antiphon.runtime.inboxes import Delivery, Inboxes
from antiphon.runtime.quarantine import Quarantine, format_error, is_from_outside
from antiphon.runtime.records import Receipt
from antiphon.runtime.tree_cache import TreeCache


class TurnFailures:
    """Discards failed turns, finds the letter that causes the failure, and sets it or its tree aside."""

    def __init__(
        self,
        quarantine: Quarantine,
        trees: TreeCache,
        inboxes: Inboxes,
        now: Callable[[], int],
    ) -> None:
        self._quarantine = quarantine
        self._trees = trees
        self._inboxes = inboxes
        self._now = now
        self.single_step: set[str] = set()  # trees that take one letter a turn, to find the one that fails
        self.is_closing = False  # no turn comes after this one

    async def on_exception(self, root: str, deliveries: list[Delivery], error: Exception) -> None:
        """Handle an exception raised by a step of a turn."""
        if len(deliveries) > 1 or root not in self.single_step:
            # Letters before the one that failed are taken, and an answer of an eager function comes as a letter.
            self._retry_one_by_one(root, deliveries, error)
        else:
            await self._set_aside(root, deliveries[0], error)

    async def on_store_error(self, turn: TreeTurn, error: Exception) -> None:
        """Handle a turn that could not be stored."""
        root = turn.tree.root
        if turn.created is not None:
            turn.fail(error)
        elif isinstance(error, Superseded):
            turn.fail(NotOwner(str(error)))
            self._trees.commits.on_superseded(root, turn.commit.tenure)
        elif not isinstance(error, Unstorable):
            self._trees.discard(root)
            self.refuse(turn.deliveries, error)
        elif len(turn.batch.receipts) > 1 or len(turn.batch.entries) > 1:
            self._retry_one_by_one(root, turn.deliveries, error)
        else:
            await self._set_aside(root, turn.deliveries[0], error)

    def refuse(self, deliveries: list[Delivery], error: Exception) -> None:
        """Fail the pending receipts; if the store is at fault, try letters of tasks again a little later."""
        for delivery in deliveries:
            delivery.fail(error)
        retries = [item for item in deliveries if item.receipt is None and not item.is_stored]
        if not isinstance(error, StoreError):
            return
        for root in dict.fromkeys(delivery.letter.root for delivery in deliveries):
            if self.is_closing:  # what comes after these letters may not be taken without them
                self._inboxes.drop(root, error)
            else:
                letters = [delivery for delivery in retries if delivery.letter.root == root]
                self._inboxes.drop_stored(root, error)
                self._inboxes.put_back(root, letters, self._now() + RETRY_MS)

    def _retry_one_by_one(self, root: str, deliveries: list[Delivery], error: Exception) -> None:
        """Discard a turn, and let its tree take one letter a turn."""
        self._trees.discard(root)
        self.single_step.add(root)
        self._inboxes.put_back(root, deliveries)
        self._inboxes.drop_stored(root, error)

    async def _set_aside(self, root: str, culprit: Delivery, error: Exception) -> None:
        """Make a letter from outside a dead letter; for a letter from inside, quarantine its tree."""
        tree = self._trees.get(root)
        history = "" if tree is None else tree.host.history
        letter = culprit.letter
        cause = error.__cause__ if isinstance(error, StepFailed) and error.__cause__ is not None else error
        reason = format_error(cause)
        is_outside = is_from_outside(letter)
        try:
            async with self._trees.unloaded(root):
                if is_outside:
                    await self._quarantine.set_aside(letter, reason)
                else:
                    await self._quarantine.quarantine(root, reason, letter)
        except StoreError:
            self._inboxes.put_back(root, [culprit], until=self._now() + RETRY_MS)
            return
        self.single_step.discard(root)
        if is_outside:
            culprit.succeed(Receipt("failed", letter.id, error=reason, history=history))
        else:
            culprit.fail(Quarantined(f"{root!r} could not take {letter.event['type']!r} and is quarantined: {cause!r}"))
