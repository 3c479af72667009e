"""Inboxes in memory: letters that wait for their tree's next turn."""

import asyncio
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import islice

from antiphon.runtime.bell import Bell
from antiphon.runtime.errors import InboxFull
from antiphon.runtime.records import Letter, Receipt


@dataclass(slots=True)
class Waiting:
    """A letter, and who waits for its receipt."""

    letter: Letter
    answer: "asyncio.Future[Receipt] | None" = None

    def succeed(self, receipt: Receipt) -> None:
        """Give the receipt to who waits."""
        if self.answer is not None and not self.answer.done():
            self.answer.set_result(receipt)

    def fail(self, error: Exception) -> None:
        """Tell who waits that there is none."""
        if self.answer is not None and not self.answer.done():
            self.answer.set_exception(error)


class Inboxes:
    """The inboxes of all trees, whose turn it is, and when the next stored letter is due."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._inboxes: dict[str, deque[Waiting]] = {}
        self._ready: dict[str, None] = {}
        self._held: dict[str, int] = {}  # trees that have no turn before a time, because the store has failed
        self._busy: set[str] = set()  # trees whose turn is not over until what they did is stored
        self._overdue: set[str] = set()  # of those, the ones that had an alarm meanwhile
        self._due: list[tuple[int, str]] = []
        self.bell = Bell()

    def put(self, waiting: Waiting, *, bounded: bool) -> None:
        """Add a letter; one from outside is refused when there are too many."""
        root = waiting.letter.root
        inbox = self._inboxes.get(root)
        if inbox is None:
            inbox = self._inboxes[root] = deque()
        if bounded and len(inbox) >= self._limit:
            raise InboxFull(f"{root!r} has {len(inbox)} letters waiting; try again later")
        inbox.append(waiting)
        self._make_ready(root)

    def put_back(self, root: str, waiting: Iterable[Waiting], until: int = 0) -> None:
        """Put letters that could not be taken back in front, for a turn not before a time."""
        self._inboxes.setdefault(root, deque()).extendleft(reversed(list(waiting)))
        if until:
            self._held[root] = until
            self._ready.pop(root, None)
            self.alarm(until, root)
        else:
            self._make_ready(root)

    def _make_ready(self, root: str) -> None:
        if root not in self._held and root not in self._busy:
            self._ready[root] = None
            self.bell.ring()

    def release(self) -> None:
        """Give the trees that were held back a last turn."""
        self._held.clear()
        for root in self._inboxes:
            self._make_ready(root)

    def abandon(self, error: Exception) -> None:
        """Tell who still waits that nothing will come of it."""
        for inbox in self._inboxes.values():
            for waiting in inbox:
                waiting.fail(error)
        self._inboxes.clear()

    def has(self, root: str) -> bool:
        """Whether letters wait for a tree."""
        return bool(self._inboxes.get(root))

    def is_busy(self, root: str) -> bool:
        """Whether a tree has a turn that is not over."""
        return root in self._busy

    @property
    def ready(self) -> int:
        """How many trees have a turn to take."""
        return len(self._ready)

    def turns(self, most: int) -> list[str]:
        """The trees whose turn it is, in the order in which they became ready; a turn lasts until `finish`."""
        roots = list(islice(self._ready, most))
        for root in roots:
            del self._ready[root]
        self._busy.update(roots)
        return roots

    def finish(self, root: str) -> None:
        """A turn is over; if there are more letters, the tree waits for another."""
        self._busy.discard(root)
        if root in self._overdue:
            self._overdue.discard(root)
            self.alarm(0, root)
        if root in self._inboxes:
            self._make_ready(root)

    def draw(self, root: str, most: int) -> list[Waiting]:
        """The next letters of a tree."""
        inbox = self._inboxes.get(root)
        if inbox is None:
            return []
        if len(inbox) <= most:
            del self._inboxes[root]
            return list(inbox)
        return [inbox.popleft() for _ in range(most)]

    def alarm(self, due: int, root: str) -> None:
        """Remember when to look at a tree's stored letters."""
        heappush(self._due, (due, root))
        self.bell.ring()

    def alarms(self, now: int) -> list[str]:
        """The trees to look at now."""
        roots: dict[str, None] = {}
        while self._due and self._due[0][0] <= now:
            roots[heappop(self._due)[1]] = None
        for root in roots:
            if self._held.get(root, now) <= now:
                self._held.pop(root, None)
                if self.has(root):
                    self._make_ready(root)
        self._overdue.update(self._busy.intersection(roots))
        return [root for root in roots if root not in self._busy]

    @property
    def has_alarms(self) -> bool:
        """Whether there is anything to look at, now or later."""
        return bool(self._due)

    @property
    def next_alarm(self) -> int | None:
        """When to look next."""
        return self._due[0][0] if self._due else None
