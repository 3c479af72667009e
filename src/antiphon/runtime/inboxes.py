"""Inboxes in memory: letters that wait for the next turn of their tree."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import islice

from antiphon.runtime.errors import InboxFull
from antiphon.runtime.records import Letter, Receipt
from antiphon.runtime.wakeup import Broadcast, Wakeup


@dataclass(slots=True)
class Delivery:
    """A letter, the future of its receipt if a sender waits for it, and whether it is in the store."""

    letter: Letter
    receipt: "asyncio.Future[Receipt] | None" = None
    is_stored: bool = False

    def succeed(self, receipt: Receipt) -> None:
        """Resolve the pending receipt."""
        if self.receipt is not None and not self.receipt.done():
            self.receipt.set_result(receipt)

    def fail(self, error: Exception) -> None:
        """Fail the pending receipt."""
        if self.receipt is not None and not self.receipt.done():
            self.receipt.set_exception(error)


class Inboxes:
    """Inboxes of all trees, the trees that are ready for a turn, and the due times of stored letters."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._inboxes: dict[str, list[Delivery]] = {}
        self.ready: dict[str, None] = {}  # trees that are ready for a turn, in the order in which they became so
        self._held: dict[str, int] = {}  # trees that have no turn before a time, because the store has failed
        self._busy: set[str] = set()  # trees whose turn is not stored yet
        self._drawn: dict[str, list[Delivery]] = {}  # letters of the turns that are not finished
        self._overdue: set[str] = set()  # busy trees whose alarm went off in the meantime
        self._alarms: list[tuple[int, str]] = []  # heap of due times and trees
        self._next_alarms: dict[str, int] = {}  # the earliest alarm of each tree
        self._freed = Broadcast()
        self._watched: dict[str, Broadcast] = {}  # trees whose next turn is waited for
        self.wakeup = Wakeup()

    def put(self, delivery: Delivery, *, bounded: bool) -> None:
        """Append a letter; if `bounded`, raise `InboxFull` when there are too many."""
        root = delivery.letter.root
        inbox = self._inboxes.get(root)
        if inbox is None:
            inbox = self._inboxes[root] = []
        if bounded and len(inbox) >= self._limit:
            raise InboxFull(f"the inbox of {root!r} is full with {len(inbox)} letters; try again later")
        inbox.append(delivery)
        self._make_ready(root)

    def put_back(self, root: str, deliveries: Iterable[Delivery], until: int = 0) -> None:
        """Put letters that were not taken back to the front, for a turn not before a time."""
        self._inboxes.setdefault(root, [])[:0] = deliveries
        if until:
            self.hold(root, until)
        else:
            self._make_ready(root)

    def hold(self, root: str, until: int) -> None:
        """Give a tree no turn before a time."""
        self._held[root] = until
        self.ready.pop(root, None)
        self.set_alarm(until, root)

    def merge(self, root: str, deliveries: Iterable[Delivery]) -> None:
        """Insert stored letters in the order of letters: by due time, then by arrival."""
        inbox = self._inboxes.setdefault(root, [])
        for delivery in deliveries:
            order = _order(delivery)
            place = next((i for i, other in enumerate(inbox) if _order(other) > order), len(inbox))
            inbox.insert(place, delivery)
        if inbox:
            self._make_ready(root)

    def _make_ready(self, root: str) -> None:
        if root not in self._held and root not in self._busy:
            self.ready[root] = None
            self.wakeup.set()

    def release(self) -> None:
        """Make the trees that were held back ready for a last turn."""
        for root in self._held:
            self.set_alarm(0, root)
        self._held.clear()
        for root in self._inboxes:
            self._make_ready(root)

    def abandon(self, error: Exception) -> None:
        """Drop all letters and fail their pending receipts."""
        for deliveries in (*self._inboxes.values(), *self._drawn.values()):
            for delivery in deliveries:
                delivery.fail(error)
        self._inboxes.clear()
        self._drawn.clear()
        for root in list(self._watched):
            self._watched.pop(root).notify()

    def drop(self, root: str, error: Exception) -> None:
        """Drop the letters of a tree and fail their pending receipts."""
        for delivery in self._inboxes.pop(root, ()):
            delivery.fail(error)
        self.ready.pop(root, None)
        self._held.pop(root, None)
        self._next_alarms.pop(root, None)
        if root in self._watched:
            self._watched.pop(root).notify()

    def drop_stored(self, root: str, error: Exception) -> None:
        """Drop the letters of a tree that are in the store: they are collected again when it is loaded again."""
        self._drop(root, [delivery for delivery in self._inboxes.get(root, ()) if delivery.is_stored], error)
        self.set_alarm(0, root)

    def drop_sent(self, root: str, error: Exception) -> None:
        """Drop the letters that were sent to a tree."""
        inbox = self._inboxes.get(root, ())
        self._drop(root, [delivery for delivery in inbox if delivery.receipt and not delivery.letter.task], error)

    def _drop(self, root: str, dropped: list[Delivery], error: Exception) -> None:
        """Drop some of the letters of a tree, and fail their pending receipts."""
        places = {id(delivery) for delivery in dropped}
        kept = [delivery for delivery in self._inboxes.pop(root, ()) if id(delivery) not in places]
        if kept:
            self._inboxes[root] = kept
        else:
            self.ready.pop(root, None)
        for delivery in dropped:
            delivery.fail(error)

    def has(self, root: str) -> bool:
        """Return whether letters wait for a tree."""
        return bool(self._inboxes.get(root))

    def is_busy(self, root: str) -> bool:
        """Return whether a tree has a turn that is not finished."""
        return root in self._busy

    async def wait_until_free(self, root: str) -> None:
        """Wait until a tree has no turn that is not finished."""
        while root in self._busy:
            await self._freed.wait()

    async def wait_for_turn(self, root: str) -> None:
        """Wait until a turn of a tree is finished, or its letters are dropped."""
        await self._watched.setdefault(root, Broadcast()).wait()

    @property
    def is_idle(self) -> bool:
        """True if no tree is ready for a turn or has one, or is occupied without a turn."""
        return not self.ready and not self._busy

    def start_turns(self, limit: int) -> list[str]:
        """Return ready trees, in the order in which they became ready; they are busy until `finish`."""
        if limit < len(self.ready):
            roots = list(islice(self.ready, limit))
            for root in roots:
                del self.ready[root]
        else:
            roots = list(self.ready)
            self.ready.clear()
        self._busy.update(roots)
        return roots

    def occupy(self, root: str) -> None:
        """Make a tree busy without a turn, until `finish`."""
        self.ready.pop(root, None)
        self._busy.add(root)

    def finish(self, *roots: str) -> None:
        """End the turns of trees; those that have more letters are ready for another."""
        for root in roots:
            self._busy.discard(root)
            self._drawn.pop(root, None)
            if root in self._watched:
                self._watched.pop(root).notify()
            if root in self._overdue:
                self._overdue.discard(root)
                self.set_alarm(0, root)
            if root in self._inboxes:
                self._make_ready(root)
        self._freed.notify()

    def draw(self, root: str, limit: int) -> list[Delivery]:
        """Remove and return the next letters of a tree."""
        drawn = self._inboxes.pop(root, None)
        if drawn is None:
            return []
        if len(drawn) > limit:
            inbox = self._inboxes[root] = drawn
            drawn = inbox[:limit]
            del inbox[:limit]
        self._drawn[root] = drawn
        return drawn

    def set_alarm(self, due: int, root: str) -> None:
        """Schedule a look at the stored letters of a tree."""
        heappush(self._alarms, (due, root))
        if due < self._next_alarms.get(root, due + 1):
            self._next_alarms[root] = due
        self.wakeup.set()

    def is_due(self, root: str, now: int) -> bool:
        """Return whether an alarm of a tree is due; forget it then, because its letters are looked at now."""
        due = self._next_alarms.get(root)
        if due is None or due > now:
            return False
        del self._next_alarms[root]
        return True

    def pop_alarms(self, now: int, limit: int) -> list[str]:
        """Remove the alarms of up to `limit` trees that are due and return their trees, except busy ones."""
        roots: dict[str, None] = {}
        while self._alarms and self._alarms[0][0] <= now and len(roots) < limit:
            root = heappop(self._alarms)[1]
            roots[root] = None
            self._next_alarms.pop(root, None)
        for root in roots:
            if self._held.get(root, now) <= now:
                self._held.pop(root, None)
                if self.has(root):
                    self._make_ready(root)
        self._overdue.update(self._busy.intersection(roots))
        return [root for root in roots if root not in self._busy]

    @property
    def has_alarms(self) -> bool:
        """True if any alarm is set."""
        return bool(self._alarms)

    @property
    def next_alarm(self) -> int | None:
        """Time of the next alarm."""
        return self._alarms[0][0] if self._alarms else None


def _order(delivery: Delivery) -> tuple[int, int, int]:
    letter = delivery.letter
    return letter.due, letter.at, letter.arrival
