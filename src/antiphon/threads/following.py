"""Following threads: one from a cursor on, page by page, or until it is idle; or many with the list of threads.

Readers keep cursors, and everything is read from the journal: whatever a reader misses, it reads again from its cursor.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Literal

from antiphon.runtime.doors import Doors
from antiphon.runtime.errors import JournalCompacted, OtherHistory, UnknownRoot
from antiphon.runtime.histories import HistoryIds, parse_cursor
from antiphon.runtime.records import Change, Entry, TreeState, TreeSummary
from antiphon.threads.activity import WORDS, Activity, activities
from antiphon.threads.errors import UnknownThread
from antiphon.threads.offsets import Offsets

PAGE = 500  # entries read from the store at a time
KINDS_OF_WORDS = frozenset(WORDS.values())
# Statuses in which a thread has nothing to do, though a task waits for the person or a timer is set.
RESTING = ("pending", "waiting")
# Statuses in which a thread has nothing to do once its tasks are over, though a timer is set.
OVER = ("completed", "failed", "stopped", "interrupted")
ChangeKind = Literal["activity", "created", "changed", "ended", "quarantined", "removed", "moved", "behind"]


def is_idle(state: TreeState) -> bool:
    """Return whether a thread has nothing left to do now: it has ended, was stopped or lost, or waits for a person."""
    if state.waiting:
        return False
    if state.status != "active" or state.value in RESTING:
        return True
    return not state.tasks and (state.value in OVER or not state.timers)


class Place:
    """The place of a reader in the journal of a thread."""

    __slots__ = ("_ids", "_offsets", "_part", "_seq", "after", "id")

    def __init__(self, id: str, ids: HistoryIds, after: int, offsets: Offsets) -> None:
        self.id = id
        self._offsets = offsets
        self._ids = ids
        self.after = after  # the last step that was read completely
        self._seq = 0  # a step that was read in part
        self._part = -1  # the last of its parts that was read

    @classmethod
    async def find(cls, runtime: Doors, id: str, after: int | str) -> "Place":
        """Return the place of a step or cursor; raise `OtherHistory` if that is of another past."""
        try:
            stored, last = await runtime.store.history(id)
        except UnknownRoot:
            raise UnknownThread(f"there is no thread {id!r}") from None
        ids = HistoryIds(stored)
        if isinstance(after, int):
            return cls(id, ids, after, Offsets(runtime.store, id))
        place = cls(id, ids, ids.resolve(id, after, last), Offsets(runtime.store, id))
        cursor = parse_cursor(after)
        if cursor.position is not None:
            place._seq = cursor.seq
            place._part = cursor.position
        return place

    async def read(self, entry: Entry) -> list[Activity]:
        """Return the activities of the next step that were not read."""
        offset = await self._offsets.take(entry)
        self.after = entry.seq
        return activities(entry, self._ids.at(entry.seq), self._part if entry.seq == self._seq else -1, offset)

    def skip(self, after: int) -> None:
        """Move on to the place after a step, over steps that are not in the journal any more."""
        self.after = after
        self._offsets.forget()

    @property
    def cursor(self) -> str:
        """The cursor of the last step that was read completely."""
        return self._ids.cursor(self.after)


async def follow_steps(
    runtime: Doors, id: str, after: int | str = 0, *, wait_for_release: bool = False
) -> AsyncGenerator[list[list[Activity]], None]:
    """Iterate over the activities of the steps after a step or cursor, in lists of the steps that are there."""
    place = await Place.find(runtime, id, after)
    try:
        async with aclosing(runtime.pages(id, place.after, wait_for_release=wait_for_release)) as pages:
            async for page in pages:
                if steps := [step for entry in page if (step := await place.read(entry))]:
                    yield steps
    except UnknownRoot:
        raise _deleted(id) from None


def _deleted(id: str) -> UnknownThread:
    return UnknownThread(f"there is no thread {id!r} any more: it was deleted")


class UntilIdle:
    """The activities of a thread until it is idle; awaited, its status then."""

    def __init__(self, runtime: Doors, id: str, after: int | str, check: Callable[[str], Awaitable[object]]) -> None:
        self._runtime = runtime
        self._id = id
        self._after = after
        self._check = check  # raises an error if there is no such thread, or one of another kind
        self.status: str | None = None  # of the thread, once all activities were read

    def __await__(self) -> Generator[Any, None, str]:
        return self._wait().__await__()

    async def _wait(self) -> str:
        await self._check(self._id)
        await Place.find(self._runtime, self._id, self._after)
        try:
            return str((await self._runtime.wait_until(self._id, is_idle)).value)
        except UnknownRoot:
            raise _deleted(self._id) from None

    async def __aiter__(self) -> AsyncIterator[Activity]:
        await self._check(self._id)
        try:
            async for activity in self._activities():
                yield activity
        except UnknownRoot:
            raise _deleted(self._id) from None

    async def _activities(self) -> AsyncIterator[Activity]:
        place = await Place.find(self._runtime, self._id, self._after)
        feed = self._runtime.feed(self._id, place.after)

        def has_news(state: TreeState) -> bool:
            return state.seq > place.after or is_idle(state)

        while self.status is None:
            state = await self._runtime.wait_until(self._id, has_news)
            while state.seq > place.after:
                entry = await anext(feed, None)
                if entry is None:
                    break  # the runtime is being stopped, which the next wait tells
                for activity in await place.read(entry):
                    yield activity
            else:
                self.status = str(state.value) if is_idle(state) else None


@dataclass(frozen=True, slots=True)
class ThreadChange:
    """One activity of a followed thread, or a change in the list of threads.

    `cursor` is the place after an activity, or, of a thread that was `moved`, where its reader continues.
    """

    kind: ChangeKind
    thread: str = ""
    cursor: str = ""
    activity: Activity | None = None
    reason: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the change as JSON, without what it does not have."""
        texts = {"thread": self.thread, "cursor": self.cursor, "reason": self.reason}
        value = {"kind": self.kind, **{key: text for key, text in texts.items() if text}}
        return value if self.activity is None else {**value, "activity": self.activity.to_json()}


async def follow_all(runtime: Doors, cursors: Mapping[str, int | str]) -> AsyncIterator[ThreadChange]:
    """Iterate over the activities of some threads, each after its step or cursor, and over changes of the list.

    Nothing is queued but the ids of threads that have changed. If they are too many for a reader, it is told that it is
    `behind`: it reads the list again, and the activities continue from the cursors.
    """
    reader = _Reader(runtime, cursors)
    async for changes in runtime.watch(cursors):
        roots = changes.roots
        if changes.is_behind:
            yield ThreadChange("behind")
            roots = {**dict.fromkeys(cursors, "step"), **roots}
        for id, change in roots.items():
            async for item in reader.read(id, change):
                yield item


class _Reader:
    """The places of a reader of several threads."""

    def __init__(self, runtime: Doors, cursors: Mapping[str, int | str]) -> None:
        self._runtime = runtime
        self._store = runtime.store
        self._cursors = cursors
        self._places: dict[str, Place] = {}

    async def read(self, id: str, change: Change) -> AsyncIterator[ThreadChange]:
        """Iterate over the changes of a thread that were not read."""
        place = self._places.get(id)
        if change == "step" and place is not None:
            entries = self._runtime.recent(id, place.after)
            if entries is not None:  # as while a reply arrives: nothing is read from the store
                async for item in _activity_changes(place, entries):
                    yield item
                return
        summary = await self._store.summary(id)
        if summary is None:
            yield ThreadChange("removed", id)
        elif summary.machine == "thread":
            if change == "created":
                yield ThreadChange("created", id)
            if id in self._cursors:
                async for item in self._read_journal(id, summary.seq):
                    yield item
            if (kind := _listed(change, summary)) is not None:
                yield ThreadChange(kind, id)

    async def _read_journal(self, id: str, last: int) -> AsyncIterator[ThreadChange]:
        """Iterate over the activities of a thread that were not read, up to a step."""
        if id not in self._places:
            try:
                self._places[id] = await Place.find(self._runtime, id, self._cursors[id])
            except OtherHistory as error:
                self._places[id] = await Place.find(self._runtime, id, error.resume)
                yield ThreadChange("moved", id, error.resume, reason=str(error))
        place = self._places[id]
        while place.after < last:
            try:
                page = await self._store.entries(id, place.after, PAGE)
            except JournalCompacted as error:
                place.skip(error.first - 1)
                yield ThreadChange("moved", id, place.cursor, reason=str(error))
                continue
            async for item in _activity_changes(place, page):
                yield item


async def _activity_changes(place: Place, entries: list[Entry]) -> AsyncIterator[ThreadChange]:
    """Iterate over the activities of steps of a thread."""
    for entry in entries:
        for activity in await place.read(entry):
            yield ThreadChange("activity", place.id, activity.cursor, activity)


def _listed(change: Change, summary: TreeSummary) -> ChangeKind | None:
    """Return the change that the list of threads shows, besides a new thread."""
    if summary.status == "active":
        return "changed" if change == "changed" else None
    return "quarantined" if summary.status == "quarantined" else "ended"


@dataclass(frozen=True, slots=True)
class ActivityPage:
    """Activities of a thread after a place, the cursor after them, and whether there are more."""

    activities: tuple[Activity, ...]
    cursor: str
    has_more: bool

    def to_json(self) -> dict[str, Any]:
        """Return the page as JSON."""
        items = [activity.to_json() for activity in self.activities]
        return {"items": items, "cursor": self.cursor, "more": self.has_more}


async def read_activities(runtime: Doors, id: str, after: int | str, limit: int, *, words: bool = True) -> ActivityPage:
    """Read the activities after a step or cursor: whole steps, until there are `limit` activities or none are left.

    Without `words`, those of models are left out.
    """
    place = await Place.find(runtime, id, after)
    last = (await runtime.store.history(id))[1]
    activities: list[Activity] = []
    while place.after < last and len(activities) < limit:
        for entry in await runtime.store.entries(id, place.after, min(PAGE, limit)):
            read = await place.read(entry)
            activities += read if words else [activity for activity in read if activity.kind not in KINDS_OF_WORDS]
            if len(activities) >= limit:
                break
    return ActivityPage(tuple(activities), place.cursor, place.after < last)
