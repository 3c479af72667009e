"""The threads of a store, listed, read and searched; also beside a process that runs them."""

from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any

from antiphon.runtime.errors import UnknownRoot
from antiphon.runtime.records import TreeSummary
from antiphon.threads.errors import UnknownThread
from antiphon.threads.export.formats import FORMATS
from antiphon.threads.kinds import Json, Record, Snapshots, ThreadKind, ThreadView, view_of
from antiphon.threads.results import final_result

PAGE = 1000
CHAT = "chat"  # the kind of a thread that names none


class Library:
    """All threads of a store, the most recently used first."""

    def __init__(self, source: Snapshots, kinds: Iterable[ThreadKind]) -> None:
        self.source = source
        self.kinds: Mapping[str, ThreadKind] = {kind.name: kind for kind in kinds}

    async def latest(
        self, limit: int = 20, *, archived: bool | None = False, kind: str | None = None
    ) -> list[ThreadView]:
        """Return the latest threads, of all kinds or of one; `archived` selects archived ones, None selects all."""
        views: list[ThreadView] = []
        async for record in self._records(kind):
            if archived in (None, record.view.archived):
                views.append(record.view)
            if len(views) >= limit:
                break
        return views

    async def search(self, words: str, limit: int = 20) -> list[tuple[ThreadView, str]]:
        """Return the latest threads that contain some words, archived ones too, each with its first matching line."""
        needle = words.casefold()
        matches: list[tuple[ThreadView, str]] = []
        async for record in self._records(None):
            lines = (record.view.title, *self.kinds[record.view.kind or CHAT].lines(record.content))
            line = next((line.strip() for line in lines if needle in line.casefold()), None)
            if line is not None:
                matches.append((record.view, line))
            if len(matches) >= limit:
                break
        return matches

    async def read(self, id: str, kind: str | None = None) -> Record:
        """Read the record of one thread; raise `UnknownThread` if there is none of this kind."""
        noun = kind or "thread"
        try:
            snapshot = await self.source.snapshot(id)
        except UnknownRoot:
            raise UnknownThread(f"there is no {noun} {id!r}") from None
        if kind not in (None, snapshot["context"]["kind"]):
            raise UnknownThread(f"thread {id!r} is a {snapshot['context']['kind']}, not a {noun}")
        return await self._record(id, snapshot, await self._updated(id))

    async def export(self, id: str, format: str = "md") -> str:
        """Export a thread as Markdown (`md`), one HTML page (`html`), or JSON (`json`)."""
        record = await self.read(id)
        return FORMATS[format](self.kinds[record.view.kind or CHAT], record)

    async def config(self, id: str) -> Json:
        """Return the settings that a thread was created with."""
        config: Json = (await self.source.snapshot(id))["context"]["config"]
        return config

    async def find(self, start: str, kind: str | None = None) -> list[str]:
        """Return the ids that start with a prefix; an exact match wins."""
        ids = [tree.root for tree in await self._trees() if tree.root.startswith(start)]
        ids = [start] if start in ids else ids
        return ids if kind is None else [id for id in ids if (await self.read(id)).view.kind == kind]

    async def _records(self, kind: str | None) -> AsyncIterator[Record]:
        for tree in sorted(await self._trees(), key=lambda tree: tree.updated, reverse=True):
            if tree.status == "quarantined":
                continue
            snapshot = await self.source.snapshot(tree.root)
            if kind in (None, snapshot["context"]["kind"]):
                yield await self._record(tree.root, snapshot, tree.updated)

    async def _record(self, id: str, snapshot: Any, updated: int) -> Record:
        name = snapshot["context"]["kind"] or CHAT
        kind = self.kinds[name]
        result: Json | None = None
        if kind.result_event is not None and name not in snapshot["children"]:
            result = await final_result(self.source.store, id, name, kind.result_event)
        view = view_of(id, snapshot, kind.summarize(snapshot, result), updated)
        return Record(view, kind.content(id, snapshot, result))

    async def _updated(self, id: str) -> int:
        saved = await self.source.store.load(id)
        last = await self.source.store.entries(id, saved.seq - 1, 1) if saved is not None else ()
        return last[-1].at if last else 0

    async def _trees(self) -> list[TreeSummary]:
        trees: list[TreeSummary] = []
        after = ""
        while page := await self.source.store.roots(after, PAGE):
            trees += [summary for summary in page if summary.machine == "thread"]
            after = page[-1].root
        return trees
