"""The threads of a store, listed, read and searched; also beside a process that runs them.

Neither needs a machine: a thread that no machine here can run is listed with the problem, and read from its journal.
"""

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from antiphon.runtime.errors import StoreCorrupt, UnknownRoot
from antiphon.runtime.records import Entry, Saved, TreeSummary
from antiphon.threads.errors import Refused, UnknownThread, WrongKind
from antiphon.threads.export.formats import FORMATS
from antiphon.threads.kinds import Json, Record, RecordForm, Snapshots, ThreadKind, ThreadView, view_of
from antiphon.threads.problems import Problem, problem_of, quarantine
from antiphon.threads.results import final_result
from antiphon.threads.transcript import TRANSCRIPT, UNEXPECTED, transcript

PAGE = 1000
THREAD = "thread"  # the machine of threads
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
            lines = (record.view.title, *self.form_of(record).lines(record.content))
            line = next((line.strip() for line in lines if needle in line.casefold()), None)
            if line is not None:
                matches.append((record.view, line))
            if len(matches) >= limit:
                break
        return matches

    async def read(self, id: str, kind: str | None = None) -> Record:
        """Read the record of one thread; raise `UnknownThread` if there is none, `WrongKind` if it is of another.

        Without `kind`, a thread that no machine here can run is read as a transcript; with it, the error is raised.
        """
        noun = kind or "thread"
        try:
            record = await self._read(id, is_strict=kind is not None)
        except UnknownRoot:
            raise UnknownThread(f"there is no {noun} {id!r}") from None
        summary = await self.source.store.summary(id)
        if summary is not None and summary.machine != THREAD:
            raise UnknownThread(f"{id!r} runs the machine {summary.machine!r} and is not a thread")
        if kind not in (None, record.view.kind):
            raise WrongKind(id, record.view.kind, noun)
        return record

    async def export(self, id: str, format: str = "md") -> str:
        """Export a thread as Markdown (`md`), one HTML page (`html`), or JSON (`json`)."""
        if format not in FORMATS:
            raise Refused(f"there is no format {format!r}; known: {', '.join(FORMATS)}")
        record = await self.read(id)
        return FORMATS[format](self.form_of(record), record)

    def form_of(self, record: Record) -> RecordForm:
        """Return the functions that export and search a record."""
        return TRANSCRIPT if record.is_transcript else self.kinds[record.view.kind or CHAT]

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
            record = await self._read(tree.root, tree)
            if kind in (None, record.view.kind):
                yield record

    async def _read(self, id: str, tree: TreeSummary | None = None, *, is_strict: bool = False) -> Record:
        """Read a thread by its machine, else as a transcript; a strict reader raises the error instead."""
        try:
            snapshot = await self.source.snapshot(id)
            status, updated = (tree.status, tree.updated) if tree is not None else await self._position(id)
            record = await self._record(id, snapshot, updated)
        except Exception as error:
            problem = problem_of(id, error)
            if is_strict or problem is None:
                raise
            return await self._stored(id, problem, tree)
        return _with_problem(record, quarantine(id)) if status == "quarantined" else record

    async def _stored(self, id: str, problem: Problem, tree: TreeSummary | None) -> Record:
        """Read a thread without its machine: from its snapshot if that says it all, else from its journal."""
        entries = await self._entries(id)
        saved: Saved | None = None
        with suppress(StoreCorrupt):
            saved = await self.source.store.load(id)
        updated = tree.updated if tree is not None else entries[-1].at if entries else 0
        is_whole = bool(entries) and entries[0].seq == 1
        if saved is not None and saved.snapshot is not None and (saved.snapshot_seq == saved.seq or not is_whole):
            with suppress(*UNEXPECTED):
                return _with_problem(await self._record(id, saved.snapshot, updated), problem, saved.snapshot_seq)
        input = saved.origin.input if saved is not None else entries[0].event.get("input") if entries else None
        return transcript(id, input, entries, problem, updated)

    async def _entries(self, id: str) -> list[Entry]:
        """Return the journal of a thread, up to the first step that is damaged."""
        entries: list[Entry] = []
        limit = PAGE
        while limit:
            try:
                page = await self.source.store.entries(id, entries[-1].seq if entries else 0, limit)
            except StoreCorrupt:
                limit //= 2  # a page is read as a whole or not at all
                continue
            if not page:
                break
            entries += page
        return entries

    async def _record(self, id: str, snapshot: Any, updated: int) -> Record:
        name = snapshot["context"]["kind"] or CHAT
        kind = self.kinds[name]
        result: Json | None = None
        if kind.result_event is not None and name not in snapshot["children"]:
            result = await final_result(self.source.store, id, name, kind.result_event)
        view = view_of(id, snapshot, kind.summarize(snapshot, result), updated)
        return Record(view, kind.content(id, snapshot, result))

    async def _position(self, id: str) -> tuple[str, int]:
        """Return the stored status of a tree, and the time of its last step."""
        saved = await self.source.store.load(id)
        if saved is None:
            return "active", 0
        last = await self.source.store.entries(id, saved.seq - 1, 1)
        return saved.status, last[-1].at if last else 0

    async def _trees(self) -> list[TreeSummary]:
        trees: list[TreeSummary] = []
        after = ""
        while page := await self.source.store.roots(after, PAGE):
            trees += [summary for summary in page if summary.machine == THREAD]
            after = page[-1].root
        return trees


def _with_problem(record: Record, problem: Problem, seq: int | None = None) -> Record:
    """Return a record with the problem of its thread, and the step at which it is shown if that is not the last."""
    text = problem.text if seq is None else f"{problem.text}; shown as it was at step {seq}"
    return replace(record, view=replace(record.view, status=problem.status, problem=text))
