"""Offsets of words: how many characters of the same kind an attempt to reply has before them.

They are counted when a journal is read, and not stored. A reader that begins in the middle of a reply counts what came
before its place.
"""

from antiphon.runtime.errors import JournalCompacted
from antiphon.runtime.records import Entry
from antiphon.runtime.store import Store
from antiphon.threads.activity import WORDS

PAGE = 500  # entries read from the store at a time
START = "REQUEST_STARTED"


class Offsets:
    """Characters of the replies in progress that a reader of a thread has passed."""

    __slots__ = ("_counts", "_id", "_store")

    def __init__(self, store: Store, id: str) -> None:
        self._store = store
        self._id = id
        # By actor: the characters of each kind since its request began, or None if that step is not in the journal.
        self._counts: dict[str, dict[str, int] | None] = {}

    async def take(self, entry: Entry) -> int | None:
        """Count the words of the next step; return how many characters are before them, if that is known."""
        type = entry.event["type"]
        if type == START:
            self._counts[entry.to] = {}
        if type not in WORDS:
            return None
        if entry.to not in self._counts:
            self._counts[entry.to] = await self._count_before(entry)
        counts = self._counts[entry.to]
        if counts is None:
            return None
        offset = counts.get(type, 0)
        counts[type] = offset + len(entry.event["content"])
        return offset

    def forget(self) -> None:
        """Forget what was counted, because steps are left out."""
        self._counts.clear()

    async def _count_before(self, words: Entry) -> dict[str, int] | None:
        """Count the characters that an actor got between the start of its request and a step."""
        counts: dict[str, int] = {}
        end = words.seq - 1  # the last step that was not looked at
        first = 0  # the step after which the journal begins
        while end > first:
            begin = max(first, end - PAGE)
            try:
                page = await self._store.entries(self._id, begin, end - begin)
            except JournalCompacted as error:
                first = error.first - 1
                continue
            for entry in reversed(page):
                if entry.to != words.to:
                    continue
                type = entry.event["type"]
                if type == START:
                    return counts
                if type in WORDS:
                    counts[type] = counts.get(type, 0) + len(entry.event["content"])
            end = begin
        return None
