"""The projection of threads: the row by which a thread is listed, and the texts in which it is found."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from antiphon.runtime.index.rows import IndexChange, IndexRow, IndexText, ListedTree
from antiphon.runtime.records import Entry
from antiphon.threads.kinds import Json, ThreadKind, ThreadSummary, ThreadView
from antiphon.threads.machine.thread import UNTITLED
from antiphon.threads.problems import Problem, problem_of
from antiphon.threads.transcript import transcript

VERSION = 1
CHAT = "chat"  # the kind of a thread that names none
SUMMARY = tuple(field.name for field in fields(ThreadSummary))
TITLE = "title"  # key of the text that is the title


class ThreadProjection:
    """Pure functions that index threads, by their kinds."""

    version = VERSION
    machines = ("thread",)

    def __init__(self, kinds: Iterable[ThreadKind]) -> None:
        self.kinds: Mapping[str, ThreadKind] = {kind.name: kind for kind in kinds}

    def project(self, before: Json | None, after: Json, entry: Entry) -> IndexChange | None:
        """Return the changes of a step, or None."""
        kind = self.kinds[after["context"]["kind"] or CHAT]
        old = None if before is None else _row(kind, before, None)
        row = _row(kind, after, _result(kind, entry), has_begun=before is not None)
        texts = tuple(_texts(kind, before, after, entry))
        if _has_new_title(old, row):
            texts = (*texts, IndexText(TITLE, entry.at, _title(row)))
        if row == old:
            return IndexChange(entry.at, None, texts) if texts else None
        return IndexChange(entry.at, row, texts)

    def project_journal(self, root: str, input: Any, entries: Sequence[Entry], error: Exception) -> IndexChange:
        """Return the row and texts of a thread that cannot be replayed here, from its input and its journal."""
        at = entries[-1].at if entries else 0
        problem = problem_of(root, error) or Problem("unreadable", str(error))
        record = transcript(root, input, entries, problem, at)
        view = record.view
        facts = {"title": None, "waiting": None, "problem": problem.text}
        summary = ThreadSummary(view.title, view.model, view.turns, view.cost_usd)
        owner = str((input or {}).get("owner") or "")
        row = IndexRow(view.kind, problem.status, owner, view.archived, facts, _summary(summary))
        turns = enumerate(record.content["turns"])
        texts = [IndexText(f"turn/{number}", turn["at"] or at, turn["text"]) for number, turn in turns]
        return IndexChange(at, row, (*texts, IndexText(TITLE, at, view.title)))


def listed_view(tree: ListedTree) -> ThreadView:
    """Return a thread of the index for a list."""
    row = tree.row
    facts = row.facts
    summary = ThreadSummary(**row.summary)
    return ThreadView(
        id=tree.root,
        kind=row.kind,
        status=row.status,
        title=_title(row),
        model=summary.model,
        branch=summary.branch,
        turns=summary.turns,
        cost_usd=summary.cost_usd,
        updated=tree.updated,
        archived=row.archived,
        waiting=facts["waiting"],
        error=summary.error,
        problem=facts.get("problem"),
        owner=row.owner,
        unpriced=summary.unpriced,
    )


def _row(kind: ThreadKind, state: Json, result: Json | None, *, has_begun: bool = True) -> IndexRow:
    """Return the row of a thread; without its content or its result, the summary of the row before stays."""
    context = state["context"]
    summary: dict[str, Any] | None = None
    if kind.name in state["children"] or result is not None or not has_begun:
        summary = _summary(kind.summarize(state, result))
    facts = {"title": context.get("title"), "waiting": context["waitingReason"]}
    owner = str(context.get("owner") or "")
    return IndexRow(context["kind"] or "", str(state["value"]), owner, bool(context.get("archived")), facts, summary)


def _summary(summary: ThreadSummary) -> dict[str, Any]:
    """Return a summary as JSON; `asdict` takes ten times as long."""
    return {name: getattr(summary, name) for name in SUMMARY}


def _title(row: IndexRow) -> str:
    return str(row.facts["title"] or (row.summary or {}).get("title") or UNTITLED)


def _has_new_title(old: IndexRow | None, row: IndexRow) -> bool:
    """Return whether a row has another title, as far as it is known."""
    if old is None or row.facts["title"] != old.facts["title"]:
        return True
    is_derived = row.facts["title"] is None and row.summary is not None and old.summary is not None
    return is_derived and _title(row) != _title(old)


def _result(kind: ThreadKind, entry: Entry) -> Json | None:
    """Return the final result of a thread's content, if it was emitted by a step."""
    for emitted in reversed(entry.emitted):
        event = emitted["event"]
        if emitted["from"] == kind.name and event["type"] == kind.result_event:
            return {key: value for key, value in event.items() if key != "type"}
    return None


def _texts(kind: ThreadKind, before: Json | None, after: Json, entry: Entry) -> Iterator[IndexText]:
    """Iterate over the texts that a step has added."""
    for number, (text, at) in enumerate(kind.texts(before, after, _result(kind, entry))):
        yield IndexText(f"{entry.seq}/{number}", entry.at if at is None else int(at), text)
