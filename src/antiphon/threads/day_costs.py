"""Costs of threads in a day: read from their journals, and kept in a file for threads that were deleted."""

import asyncio
import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from antiphon.actors.tasks import RESOLVE
from antiphon.runtime.errors import JournalCompacted, StoreError
from antiphon.runtime.records import Entry
from antiphon.runtime.store import Store
from antiphon.threads.usage import reply_usages

DAY_MS = 86_400_000
PAGE = 1000


@dataclass(frozen=True, slots=True)
class DeletedCost:
    """Cost of a thread on the day on which it was deleted."""

    day: int
    owner: str
    root: str
    history: str
    usd: float


class DeletedCosts:
    """Private file with what the deleted threads of the day have cost."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = asyncio.Lock()

    async def add(self, day: int, owner: str, root: str, history: str, usd: float) -> None:
        """Add the cost of a thread; costs of other days are dropped."""
        async with self._lock:
            cost = DeletedCost(day, owner, root, history, usd)
            await asyncio.to_thread(self._add, cost)

    async def read(self, day: int) -> list[DeletedCost]:
        """Return the costs of a day; a thread whose deletion was tried several times has only the last."""
        async with self._lock:
            return await asyncio.to_thread(self._read, day)

    def _add(self, cost: DeletedCost) -> None:
        others = [each for each in self._read(cost.day) if each.history != cost.history]
        try:
            self._write([*others, cost])
        except OSError as error:
            raise StoreError(f"{self._path}: cannot be written: {error.strerror}; nothing was deleted") from error

    def _write(self, costs: Iterable[DeletedCost]) -> None:
        temporary = self._path.with_name(f"{self._path.name}.new")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:
            json.dump([asdict(each) for each in costs], file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self._path)

    def _read(self, day: int) -> list[DeletedCost]:
        try:
            stored = json.loads(self._path.read_text(encoding="utf-8"))
            return [DeletedCost(**each) for each in stored if each["day"] == day]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise StoreError(f"{self._path}: cannot be read: {error.strerror}") from error
        except (ValueError, TypeError, KeyError) as error:
            raise StoreError(f"{self._path}: it is damaged; delete it to count without deleted threads") from error


async def costs_since(store: Store, root: str, last: int, at: int) -> float:
    """Return what a thread has cost since a time, by its journal up to its last step."""
    after = await _last_before(store, root, last, at)
    entries: list[Entry] = []
    while page := await store.entries(root, after, PAGE):
        entries += [entry for entry in page if "costUsd" in entry.event or entry.event["type"] in COUNTED]
        after = page[-1].seq
    return sum_costs(entries)


async def _last_before(store: Store, root: str, last: int, at: int) -> int:
    """Return the last step before a time, or the last one that was removed from the journal."""
    low = 0
    high = last
    while low < high:
        middle = (low + high) // 2
        try:
            page = await store.entries(root, middle, 1)
        except JournalCompacted as error:
            low = error.first - 1
            continue
        if page and page[0].at < at:
            low = middle + 1
        else:
            high = middle
    return low


COUNTED = ("REQUEST_STARTED", "USAGE", "COMPLETE", "ERROR", RESOLVE)


def sum_costs(entries: Iterable[Entry]) -> float:
    """Return the costs in USD that some steps of a journal report; replies that were cut cost what they had used."""
    return sum(reply.cost_usd or 0.0 for reply in reply_usages(entries))
