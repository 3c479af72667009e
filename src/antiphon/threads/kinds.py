"""Kinds of threads: the functions by which threads of a feature are listed, read and exported."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from antiphon.runtime.store import Store
from antiphon.threads.export.document import Document
from antiphon.threads.machine.scopes import Override
from antiphon.threads.machine.thread import UNTITLED

Json = Mapping[str, Any]


class Snapshots(Protocol):
    """A source of trees: a runtime, or a reader beside one."""

    store: Store

    async def snapshot(self, root: str) -> Any:
        """Read a tree's snapshot as JSON."""
        ...

    def can_run(self, machine: str, version: Any, hash: str) -> bool:
        """Return whether trees of a version of a machine can be run or read here."""
        ...


@dataclass(frozen=True, slots=True)
class ThreadView:
    """One thread in a list, or at the top of its page."""

    id: str
    kind: str
    status: str
    title: str
    model: str | None
    branch: str
    turns: int
    cost_usd: float
    updated: int
    archived: bool = False
    owner: str = ""
    waiting: str | None = None
    error: str | None = None
    problem: str | None = None  # the reason why it cannot be continued here
    unpriced: int = 0  # replies of unknown price, which the cost lacks

    @property
    def cursor(self) -> str:
        """Place in a list: the next page begins after it."""
        return f"{self.updated}:{self.id}"


@dataclass(frozen=True, slots=True)
class ThreadSummary:
    """The facts of a thread that its kind supplies for lists."""

    title: str
    model: str | None
    turns: int
    cost_usd: float
    error: str | None = None
    branch: str = ""
    unpriced: int = 0


@dataclass(frozen=True, slots=True)
class Record:
    """A thread with its content, in the form of its kind; a transcript if only its journal could be read."""

    view: ThreadView
    content: Json
    is_transcript: bool = False


class NewText(NamedTuple):
    """Text of a message or of a result, for searching."""

    text: str
    at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordForm:
    """Functions that export records whose content has one form."""

    document: Callable[[Record], Document]
    to_json: Callable[[Record], dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadKind(RecordForm):
    """Functions that summarise, read, index and export threads of one kind.

    `result_event` is the emitted event that holds the final result, once the content itself is gone.
    `texts` yields the texts that a thread has after a step and did not have before, each with its time, if it has one.
    """

    name: str
    result_event: str | None
    summarize: Callable[[Json, Json | None], ThreadSummary]
    content: Callable[[str, Json, Json | None], Json]
    texts: Callable[[Json | None, Json, Json | None], Iterator[NewText]]
    # The decisions of a person, or of the settings, that hold for more than one call.
    decisions: Callable[[Json], Iterable[Override]] = lambda snapshot: ()


def view_of(id: str, snapshot: Json, summary: ThreadSummary, updated: int) -> ThreadView:
    """Return the view of a thread, from its snapshot and its summary."""
    context = snapshot["context"]
    return ThreadView(
        id=id,
        kind=context["kind"] or "",
        status=snapshot["value"],
        title=context.get("title") or summary.title or UNTITLED,
        model=summary.model,
        branch=summary.branch,
        turns=summary.turns,
        cost_usd=summary.cost_usd,
        updated=updated,
        archived=bool(context.get("archived")),
        waiting=context["waitingReason"],
        error=summary.error or failure_of(snapshot),
        owner=str(context.get("owner") or ""),
        unpriced=summary.unpriced,
    )


def failure_of(snapshot: Json) -> str | None:
    """Return why a thread has failed, as its last run reported it; None if it has not."""
    result = snapshot["context"].get("resultInfo")
    error = result.get("error") if snapshot["value"] == "failed" and result else None
    return str(error["message"]) if isinstance(error, Mapping) and "message" in error else None


def content_of(snapshot: Json) -> Json | None:
    """Return the context of a thread's content, or None if it has ended."""
    child = snapshot["children"].get(snapshot["context"]["kind"])
    return None if child is None else child["snapshot"]["context"]


def error_message(error: Json | None) -> str | None:
    """Return the message of an error from an event, or None."""
    return str(error["message"]) if error else None
