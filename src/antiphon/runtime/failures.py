"""Failed turns: letters whose step raised an exception or could not be stored."""

from collections.abc import Callable

from antiphon.runtime.errors import Quarantined, StoreError, Unstorable
from antiphon.runtime.feed import Feeds
from antiphon.runtime.inboxes import Delivery, Inboxes
from antiphon.runtime.records import Commit
from antiphon.runtime.store import Store
from antiphon.runtime.tree import Batch, Tree
from antiphon.runtime.tree_cache import TreeCache

RETRY_MS = 500  # pause after the store has failed
ATTEMPTS = 3  # steps that may fail before their letter becomes a dead letter


class TurnFailures:
    """Discards failed turns, finds the letter that causes the failure, and quarantines its tree."""

    def __init__(self, store: Store, trees: TreeCache, inboxes: Inboxes, feeds: Feeds, now: Callable[[], int]) -> None:
        self._store = store
        self._trees = trees
        self._inboxes = inboxes
        self._feeds = feeds
        self._now = now
        self._attempts: dict[str, int] = {}  # failed ones, by the id of their letter
        self.single_step: set[str] = set()  # trees that take one letter a turn, to find the one that fails
        self.is_closing = False  # no turn comes after this one

    async def on_exception(self, tree: Tree, deliveries: list[Delivery], receipts: int, error: Exception) -> None:
        """Handle an exception raised by a step after `receipts` of the letters were taken."""
        # Every letter that was taken has its receipt, so the one that failed is the next.
        if receipts < len(deliveries) or tree.root in self.single_step:
            culprit = deliveries[min(receipts, len(deliveries) - 1)]
            await self._retry_or_quarantine(tree, deliveries, culprit, error)
        else:  # the answer of an eager function failed: with single steps it comes as a letter of its own
            self._retry_one_by_one(tree.root, deliveries)

    async def on_store_error(self, tree: Tree, batch: Batch, deliveries: list[Delivery], error: StoreError) -> None:
        """Handle a turn that could not be stored."""
        if not isinstance(error, Unstorable):
            self._trees.discard(tree.root)
            self.refuse(deliveries, error)
        elif len(batch.receipts) > 1 or len(batch.entries) > 1:
            self._retry_one_by_one(tree.root, deliveries)
        else:
            await self._retry_or_quarantine(tree, deliveries, deliveries[0], error)

    def refuse(self, deliveries: list[Delivery], error: Exception) -> None:
        """Fail the pending receipts; if the store is at fault, try letters of tasks again a little later."""
        for delivery in deliveries:
            delivery.fail(error)
        retries = [item for item in deliveries if item.receipt is None and item.letter.task is not None]
        if isinstance(error, StoreError) and not self.is_closing:
            for root in dict.fromkeys(delivery.letter.root for delivery in deliveries):
                letters = [delivery for delivery in retries if delivery.letter.root == root]
                self._inboxes.put_back(root, letters, self._now() + RETRY_MS)

    def _retry_one_by_one(self, root: str, deliveries: list[Delivery]) -> None:
        """Discard a turn, and let its tree take one letter a turn."""
        self._trees.discard(root)
        self.single_step.add(root)
        self._inboxes.put_back(root, deliveries)

    async def _retry_or_quarantine(
        self, tree: Tree, deliveries: list[Delivery], culprit: Delivery, error: Exception
    ) -> None:
        """Discard a turn, and quarantine its tree once the same letter has failed too often."""
        self._trees.discard(tree.root)
        letter = culprit.letter
        count = self._attempts[letter.id] = self._attempts.get(letter.id, 0) + 1
        if count < ATTEMPTS:
            self._inboxes.put_back(tree.root, deliveries)
            return
        reason = f"{type(error).__name__}: {error}"
        try:
            saved = await self._trees.load_saved(tree.root)
            dead = ((letter, reason),)
            await self._store.commit(
                [Commit(tree.root, saved.seq, self._now(), "quarantined", taken=(letter.id,), dead=dead)]
            )
        except StoreError:
            self._inboxes.put_back(tree.root, deliveries, until=self._now() + RETRY_MS)
            return
        self._feeds.end(tree.root)
        del self._attempts[letter.id]
        self.single_step.discard(tree.root)
        self._inboxes.put_back(tree.root, [delivery for delivery in deliveries if delivery is not culprit])
        culprit.fail(Quarantined(f"{tree.root!r} could not take letter {letter.id!r} and is quarantined: {reason}"))
