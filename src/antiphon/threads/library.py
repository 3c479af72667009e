"""The threads of a store, listed, read and searched; also beside a process that runs them.

Neither needs a machine: a thread that no machine here can run is listed with the problem, and read from its journal.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

from antiphon.runtime.errors import StoreCorrupt, UnknownRoot
from antiphon.runtime.histories import HistoryIds, is_continued
from antiphon.runtime.index.rows import ListedTree, RowCursor, RowFilter, TreeIndex
from antiphon.runtime.records import Origin, Saved
from antiphon.runtime.replay.damage import readable_entries
from antiphon.threads.errors import InvalidCursor, Refused, UnknownThread, WrongKind
from antiphon.threads.export.formats import FORMATS
from antiphon.threads.index import CHAT, listed_view
from antiphon.threads.kinds import Json, Record, RecordForm, Snapshots, ThreadKind, ThreadView, view_of
from antiphon.threads.problems import UNSUPPORTED, Problem, problem_of, quarantine
from antiphon.threads.results import final_result
from antiphon.threads.transcript import TRANSCRIPT, UNEXPECTED, transcript

THREAD = "thread"  # the machine of threads
RUNNING = "running"
INTERRUPTED = "interrupted"
IMPORTED = "imported"  # the key in the input of a thread that was created from an archive
MOST_DIGITS = 19
SEARCH_PAGE = 200


class ThreadMatch(NamedTuple):
    """Thread that a search has found, with the line that matches; the next page begins after its cursor."""

    view: ThreadView
    line: str
    cursor: str


def is_from_file(origin: Origin) -> bool:
    """Return whether a thread was imported or restored, or is a fork of one that was."""
    input: Any = origin.input
    is_imported = isinstance(input, dict) and bool(input.get(IMPORTED))
    return is_imported or is_continued(HistoryIds(origin.history).current)


class Library:
    """All threads of a store, the most recently used first."""

    def __init__(self, source: Snapshots, kinds: Iterable[ThreadKind], *, is_unowned: bool = False) -> None:
        self.source = source
        self.is_unowned = is_unowned  # no process runs the threads: those stored as running are interrupted
        self.kinds: Mapping[str, ThreadKind] = {kind.name: kind for kind in kinds}

    async def latest(
        self,
        limit: int = 20,
        *,
        archived: bool | None = False,
        kind: str | None = None,
        status: str | None = None,
        owner: str | None = None,
        after: str | None = None,
        since: str | None = None,
    ) -> list[ThreadView]:
        """Return the latest threads, or those after the cursor of the last one of a page.

        `archived` selects archived ones, and None, as for the other filters, all. `since` is the cursor of a thread:
        those that were changed then or later are returned.
        """
        start = None if since is None else parse_row_cursor(since).updated
        filter = RowFilter(kind, self._stored_statuses(status), owner, archived, start)
        trees = await self.index.page(filter, None if after is None else parse_row_cursor(after), limit)
        return [self._view(tree) for tree in trees]

    async def search(
        self, words: str, limit: int = 20, *, after: str | None = None, owner: str | None = None
    ) -> list[ThreadMatch]:
        """Return the threads with texts that have all the words, archived ones too, the newest text first.

        A word of two letters or more finds words that begin with it; `after` is the cursor of the last match of a page.
        `owner` selects the threads of one owner.
        """
        place = None if after is None else parse_place(after)
        size = limit if owner is None else max(limit, SEARCH_PAGE)
        results: list[ThreadMatch] = []
        while True:
            matches = await self.index.search(words, place, size)
            trees = await self.index.get([match.root for match in matches])
            for match in matches:
                tree = trees.get(match.root)
                if tree is not None and owner in (None, tree.row.owner):
                    results.append(ThreadMatch(self._view(tree), match.line, str(match.place)))
            if owner is None or len(matches) < size or len(results) >= limit:
                return results[:limit]
            place = matches[-1].place

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
        """Return the functions that export a record."""
        return TRANSCRIPT if record.is_transcript else self.kinds[record.view.kind or CHAT]

    async def config(self, id: str) -> Json:
        """Return the settings that a thread was created with."""
        config: Json = (await self.source.snapshot(id))["context"]["config"]
        return config

    async def is_from_file(self, id: str) -> bool:
        """Return whether a thread was imported or restored, or is a fork of one that was."""
        saved = await self.source.store.load(id)
        return saved is not None and is_from_file(saved.origin)

    async def find(self, start: str, kind: str | None = None) -> list[str]:
        """Return the ids that start with a prefix, at most 1,000 of them; an exact match wins."""
        ids = await self.index.ids(start, kind)
        return [start] if start in ids else ids

    async def find_views(self, start: str, kind: str | None = None, owner: str | None = None) -> list[ThreadView]:
        """Return the threads whose ids start with a prefix, as `find` does; `owner` selects those of one owner."""
        ids = await self.index.ids(start, kind, owner)
        ids = [start] if start in ids else ids
        trees = await self.index.get(ids)
        return [self._view(trees[id]) for id in ids if id in trees]

    @property
    def index(self) -> TreeIndex:
        """The rows and texts of the threads."""
        return self.source.store.index

    def _view(self, tree: ListedTree) -> ThreadView:
        """Return a thread for a list, with the reason if it cannot be continued here."""
        view = listed_view(tree)
        problem = quarantine(tree.root) if tree.status == "quarantined" else None
        if problem is None and not self.source.can_run(tree.machine, tree.version, tree.hash):
            problem = UNSUPPORTED
        if problem is not None:
            return replace(view, status=problem.status, problem=problem.text)
        return replace(view, status=INTERRUPTED) if self.is_unowned and view.status == RUNNING else view

    def _stored_statuses(self, status: str | None) -> tuple[str, ...] | None:
        """Return the statuses of rows that are shown as a status."""
        if status is None:
            return None
        if not self.is_unowned:
            return (status,)
        return {RUNNING: (), INTERRUPTED: (INTERRUPTED, RUNNING)}.get(status, (status,))

    async def _read(self, id: str, *, is_strict: bool = False) -> Record:
        """Read a thread by its machine, else as a transcript; a strict reader raises the error instead."""
        try:
            snapshot = await self.source.snapshot(id)
            status, updated = await self._position(id)
            record = await self._record(id, snapshot, updated)
        except Exception as error:
            problem = problem_of(id, error)
            if is_strict or problem is None:
                raise
            return await self._stored(id, problem)
        return _with_problem(record, quarantine(id)) if status == "quarantined" else record

    async def _stored(self, id: str, problem: Problem) -> Record:
        """Read a thread without its machine: from its snapshot if that says it all, else from its journal."""
        entries = await readable_entries(self.source.store, id)
        saved: Saved | None = None
        with suppress(StoreCorrupt):
            saved = await self.source.store.load(id)
        _, updated = await self._position(id)
        is_whole = bool(entries) and entries[0].seq == 1
        if saved is not None and saved.snapshot is not None and (saved.snapshot_seq == saved.seq or not is_whole):
            with suppress(*UNEXPECTED):
                return _with_problem(await self._record(id, saved.snapshot, updated), problem, saved.snapshot_seq)
        input = saved.origin.input if saved is not None else entries[0].event.get("input") if entries else None
        return transcript(id, input, entries, problem, updated)

    async def _record(self, id: str, snapshot: Any, updated: int) -> Record:
        name = snapshot["context"]["kind"] or CHAT
        kind = self.kinds[name]
        result: Json | None = None
        if kind.result_event is not None and name not in snapshot["children"]:
            result = await final_result(self.source.store, id, name, kind.result_event)
        view = view_of(id, snapshot, kind.summarize(snapshot, result), updated)
        return Record(view, kind.content(id, snapshot, result))

    async def _position(self, id: str) -> tuple[str, int]:
        """Return the stored status of a tree, and the time of its latest change."""
        listed = (await self.index.get([id])).get(id)
        if listed is not None:
            return listed.status, listed.updated
        summary = await self.source.store.summary(id)
        return ("active", 0) if summary is None else (summary.status, summary.updated)


def _with_problem(record: Record, problem: Problem, seq: int | None = None) -> Record:
    """Return a record with the problem of its thread, and the step at which it is shown if that is not the last."""
    text = problem.text if seq is None else f"{problem.text}; shown as it was at step {seq}"
    return replace(record, view=replace(record.view, status=problem.status, problem=text))


def parse_row_cursor(cursor: str) -> RowCursor:
    """Return the place in a list that a cursor stands for; raise `InvalidCursor` if it is none."""
    updated, colon, id = cursor.partition(":")
    if not (colon and _is_number(updated)):
        raise InvalidCursor(f"{cursor!r} is not a cursor of a list; use that of a thread in it")
    return RowCursor(int(updated), id)


def parse_place(cursor: str) -> int:
    """Return the place in a search that a cursor stands for; raise `InvalidCursor` if it is none."""
    if not _is_number(cursor):
        raise InvalidCursor(f"{cursor!r} is not a cursor of a search; use that of a match")
    return int(cursor)


def _is_number(text: str) -> bool:
    """Return whether a text is a number that a store can have."""
    return text.isdecimal() and len(text) <= MOST_DIGITS and int(text) < 2**63
