"""The debates of a store, to be listed and read; also beside a process that holds them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from antiphon.debate.machine.config import complete, reference
from antiphon.debate.machine.context import first_context
from antiphon.debate.machine.endings import result
from antiphon.runtime.errors import UnknownRoot
from antiphon.threads.errors import UnknownThread
from antiphon.threads.library import Library
from antiphon.threads.results import Snapshots, last_words
from antiphon.threads.views import ThreadView

CHILD = "debate"
Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class DebateView:
    """One debate in a list; openings are no round."""

    id: str
    topic: str
    format: str
    status: str
    state: str
    outcome: str | None
    winner: str | None
    tie: bool
    rounds: int
    max_rounds: int
    participants: tuple[str, ...]
    models: tuple[str, ...]
    cost_usd: str
    updated: int
    error: str | None = None


class DebateShelf:
    """All debates, the most recently held first."""

    def __init__(self, source: Snapshots) -> None:
        self._source, self.library = source, Library(source)

    async def latest(self, limit: int = 20) -> list[DebateView]:
        """The latest debates."""
        return [_view(view, await self.read(view.id)) for view in await self.library.latest(limit, kind=CHILD)]

    async def read(self, id: str) -> dict[str, Any]:
        """All that is known of a debate: from its context, or once it is over from its last words in the journal."""
        try:
            snapshot = await self._source.snapshot(id)
        except UnknownRoot:
            raise UnknownThread(f"there is no debate {id!r}") from None
        if snapshot["context"]["kind"] != CHILD:
            raise UnknownThread(f"thread {id!r} is no debate")
        child = snapshot["children"].get(CHILD)
        if child is not None:
            context = child["snapshot"]["context"]
            return {**result(context), "state": top(child["snapshot"]["value"]), "interrupted": context["lost"]}
        ended = await last_words(self._source.store, id, CHILD)
        if ended is not None:
            return {**ended["result"], "state": "completed", "interrupted": False}
        return {**_unbegun(snapshot["context"]["config"]), "state": "idle", "interrupted": False}


def top(value: Any) -> str:
    """The outermost of the states a debate is in."""
    return value if isinstance(value, str) else str(next(iter(value)))


def _unbegun(given: Json) -> dict[str, Any]:
    config = complete({key: value for key, value in given.items() if key != "onBusy"})
    known = {key: config[key] for key in ("participants", "judge", "maxRounds")}
    context: Any = {**first_context(), **known, "config": config}
    return {**config, **result(context)}


def _view(view: ThreadView, told: Json) -> DebateView:
    verdict, error = told["verdict"] or {}, told["lastError"] or {}
    names = {one["id"]: one["name"] for one in told["participants"]}
    models = [reference(one["model"]) for one in told["participants"]]
    return DebateView(
        view.id,
        told["topic"] or "",
        told["format"] or "",
        view.status,
        told["state"],
        told["outcome"],
        names.get(verdict.get("winner"), verdict.get("winner")),
        bool(verdict.get("tie")),
        sum(one["phase"] != "opening" for one in told["rounds"]),
        told["maxRounds"] or 0,
        tuple(names.values()),
        tuple(dict.fromkeys(models)),
        told["costTracker"]["totalCost"],
        view.updated,
        error.get("message"),
    )
