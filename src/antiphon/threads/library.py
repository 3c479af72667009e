"""The threads of a store, to be listed, read and searched; also beside a process that runs them."""

from collections.abc import AsyncIterator
from typing import Any

from antiphon.runtime.records import Summary
from antiphon.threads.machine.content import text_of
from antiphon.threads.results import LAST_WORDS, Snapshots, last_words
from antiphon.threads.views import Talk, ThreadView, chat_of, thread_view

PAGE = 1000


class Library:
    """All threads, the most recently used first."""

    def __init__(self, source: Snapshots) -> None:
        self.source = source

    async def latest(self, limit: int = 20, *, archived: bool = False, kind: str | None = None) -> list[ThreadView]:
        """The latest threads, of all kinds or of one; those that were archived only when asked for."""
        found: list[ThreadView] = []
        async for talk in self._talks():
            if talk.view.archived == archived and kind in (None, talk.view.kind):
                found.append(talk.view)
            if len(found) >= limit:
                break
        return found

    async def search(self, words: str, limit: int = 20) -> list[tuple[ThreadView, str]]:
        """The latest threads in which something was said, archived ones too, with the line that says it."""
        found: list[tuple[ThreadView, str]] = []
        async for talk in self._talks():
            line = line_with(talk, words)
            if line is not None:
                found.append((talk.view, line))
            if len(found) >= limit:
                break
        return found

    async def read(self, id: str) -> Talk:
        """One thread with all that was said."""
        snapshot = await self.source.snapshot(id)
        updated = max((message.get("at") or 0 for message in chat_of(snapshot)["messages"].values()), default=0)
        return await self._talk(id, snapshot, updated)

    async def find(self, start: str) -> str | None:
        """The one thread whose id begins so; nothing if there is none, or more than one."""
        found = await self.matching(start)
        return found[0] if len(found) == 1 else None

    async def matching(self, start: str) -> list[str]:
        """The ids that begin so; only the id itself if it is one."""
        found = [thread.root for thread in await self._threads() if thread.root.startswith(start)]
        return [start] if start in found else found

    async def _talks(self) -> AsyncIterator[Talk]:
        threads = sorted(await self._threads(), key=lambda thread: thread.updated, reverse=True)
        for thread in threads:
            if thread.status == "quarantined":
                continue
            snapshot = await self.source.snapshot(thread.root)
            yield await self._talk(thread.root, snapshot, thread.updated)

    async def _talk(self, id: str, snapshot: Any, updated: int) -> Talk:
        kind = snapshot["context"]["kind"]
        ended = kind in LAST_WORDS and kind not in snapshot["children"]
        told = await last_words(self.source.store, id, kind) if ended else None
        return Talk(thread_view(id, snapshot, updated, told), chat_of(snapshot))

    async def _threads(self) -> list[Summary]:
        found: list[Summary] = []
        after = ""
        while page := await self.source.store.roots(after, PAGE):
            found += [summary for summary in page if summary.machine == "thread"]
            after = page[-1].root
        return found


def line_with(talk: Talk, words: str) -> str | None:
    """The first line in which a thread says something, whatever the case."""
    wanted = words.casefold()
    lines = [talk.view.title]
    lines += [line for message in talk.chat["messages"].values() for line in text_of(message["parts"]).splitlines()]
    return next((line.strip() for line in lines if wanted in line.casefold()), None)
