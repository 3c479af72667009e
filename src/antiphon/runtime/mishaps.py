"""Mishaps: what becomes of letters whose step raised, or could not be stored."""

from collections.abc import Callable

from antiphon.runtime.errors import Quarantined, StoreError, Unstorable
from antiphon.runtime.feed import Feeds
from antiphon.runtime.inboxes import Inboxes, Waiting
from antiphon.runtime.records import Commit
from antiphon.runtime.store import Store
from antiphon.runtime.tree import Batch, Tree
from antiphon.runtime.woods import Woods

RETRY_MS = 500  # how long to wait after the store has failed
ATTEMPTS = 3  # a letter that no step can take is set aside after this many


class Mishaps:
    """Forgets turns that went wrong, finds the letters that spoil them, and sets those aside."""

    def __init__(self, store: Store, woods: Woods, inboxes: Inboxes, feeds: Feeds, now: Callable[[], int]) -> None:
        self._store, self._woods, self._inboxes, self._feeds, self._now = store, woods, inboxes, feeds, now
        self._failures: dict[str, int] = {}
        self.careful: set[str] = set()  # trees that take one letter at a time, to find the one that spoils a commit
        self.is_last = False  # no turn comes after this one

    async def raised(self, tree: Tree, waiting: list[Waiting], taken: int, error: Exception) -> None:
        """A step raised: every letter that was taken has its receipt, so the one that could not be is the next."""
        if taken < len(waiting) or tree.root in self.careful:
            await self._stumble(tree, waiting, waiting[min(taken, len(waiting) - 1)], error)
        else:  # it was an answer: it comes as a letter of its own
            self._take_one_by_one(tree.root, waiting)

    async def not_stored(self, tree: Tree, batch: Batch, waiting: list[Waiting], error: StoreError) -> None:
        """Nothing of a turn happened; a letter whose step can never be stored is found and set aside."""
        if not isinstance(error, Unstorable):
            self._woods.forget(tree.root)
            self.refused(waiting, error)
        elif len(batch.receipts) > 1 or len(batch.entries) > 1:
            self._take_one_by_one(tree.root, waiting)
        else:
            await self._stumble(tree, waiting, waiting[0], error)

    def refused(self, waiting: list[Waiting], error: Exception) -> None:
        """Tell who waits that nothing happened; what nobody waits for is tried again a little later."""
        for one in waiting:
            one.fail(error)
        again = [one for one in waiting if one.answer is None and one.letter.task is not None]
        if isinstance(error, StoreError) and not self.is_last:
            for root in dict.fromkeys(one.letter.root for one in waiting):
                letters = [one for one in again if one.letter.root == root]
                self._inboxes.put_back(root, letters, self._now() + RETRY_MS)

    def _take_one_by_one(self, root: str, waiting: list[Waiting]) -> None:
        """Forget a turn, to find the letter that spoils it."""
        self._woods.forget(root)
        self.careful.add(root)
        self._inboxes.put_back(root, waiting)

    async def _stumble(self, tree: Tree, waiting: list[Waiting], culprit: Waiting, error: Exception) -> None:
        """Forget a turn that raised, and set the letter aside if it does so every time."""
        self._woods.forget(tree.root)
        letter = culprit.letter
        count = self._failures[letter.id] = self._failures.get(letter.id, 0) + 1
        if count < ATTEMPTS:
            self._inboxes.put_back(tree.root, waiting)
            return
        reason = f"{type(error).__name__}: {error}"
        try:
            saved = await self._woods.saved(tree.root)
            dead = ((letter, reason),)
            await self._store.commit(
                [Commit(tree.root, saved.seq, self._now(), "quarantined", taken=(letter.id,), dead=dead)]
            )
        except StoreError:
            self._inboxes.put_back(tree.root, waiting, until=self._now() + RETRY_MS)
            return
        self._feeds.end(tree.root)
        del self._failures[letter.id]
        self.careful.discard(tree.root)
        self._inboxes.put_back(tree.root, [one for one in waiting if one is not culprit])
        culprit.fail(Quarantined(f"{tree.root!r} could not take {letter.id!r} and is set aside: {reason}"))
