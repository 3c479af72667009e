"""The debates of a store, to be listed and read; also beside a process that holds them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from antiphon.app.errors import UnknownThread
from antiphon.app.library import Snapshots
from antiphon.machines.debating.config import complete, reference
from antiphon.machines.debating.context import first_context
from antiphon.machines.debating.endings import result
from antiphon.runtime.errors import UnknownRoot
from antiphon.runtime.records import Entry, Summary

CHILD = "debate"
PAGE = 1000
LAST_WORDS = 32  # steps in which the result of a debate that is over is looked for first
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
        self._source = source

    async def latest(self, limit: int = 20) -> list[DebateView]:
        """The latest debates."""
        found: list[DebateView] = []
        for summary in sorted(await self._summaries(), key=lambda one: one.updated, reverse=True):
            if len(found) >= limit:
                break
            snapshot = await self._source.snapshot(summary.root)
            if snapshot["context"]["kind"] == CHILD:
                found.append(_view(summary, snapshot, await self._told(summary.root, snapshot, summary.seq)))
        return found

    async def matching(self, start: str) -> list[str]:
        """The ids of debates that begin so; only the id itself if it is one."""
        roots = [one.root for one in await self._summaries() if one.root.startswith(start)]
        kinds = {root: (await self._source.snapshot(root))["context"]["kind"] for root in roots}
        found = [root for root in roots if kinds[root] == CHILD]
        return [start] if start in found else found

    async def read(self, id: str) -> dict[str, Any]:
        """All that is known of a debate: from its context, or once it is over from its last words in the journal."""
        try:
            snapshot = await self._source.snapshot(id)
        except UnknownRoot:
            raise UnknownThread(f"there is no debate {id!r}") from None
        if snapshot["context"]["kind"] != CHILD:
            raise UnknownThread(f"thread {id!r} is no debate")
        return await self._told(id, snapshot)

    async def _told(self, id: str, snapshot: Json, seq: int = 0) -> dict[str, Any]:
        child = snapshot["children"].get(CHILD)
        if child is not None:
            context = child["snapshot"]["context"]
            return {**result(context), "state": top(child["snapshot"]["value"]), "interrupted": context["lost"]}
        found = await self._last_result(id, seq)
        if found is not None:
            return {**found, "state": "completed", "interrupted": False}
        return {**_unbegun(snapshot["context"]["config"]), "state": "idle", "interrupted": False}

    async def _last_result(self, id: str, seq: int) -> dict[str, Any] | None:
        if seq > LAST_WORDS:
            found = _result_in(await self._source.store.entries(id, seq - LAST_WORDS, LAST_WORDS))
            if found is not None:
                return found
        found, after = None, 0
        while page := await self._source.store.entries(id, after, PAGE):
            found = _result_in(page) or found
            after = page[-1].seq
        return found

    async def _summaries(self) -> list[Summary]:
        found: list[Summary] = []
        after = ""
        while page := await self._source.store.roots(after, PAGE):
            found += [one for one in page if one.machine == "thread" and one.status != "quarantined"]
            after = page[-1].root
        return found


def top(value: Any) -> str:
    """The outermost of the states a debate is in."""
    return value if isinstance(value, str) else str(next(iter(value)))


def _result_in(entries: list[Entry]) -> dict[str, Any] | None:
    told = [one["event"] for entry in entries for one in entry.emitted if one["from"] == CHILD]
    return next((one["result"] for one in reversed(told) if one["type"] == "result"), None)


def _unbegun(given: Json) -> dict[str, Any]:
    config = complete({key: value for key, value in given.items() if key != "onBusy"})
    known = {key: config[key] for key in ("participants", "judge", "maxRounds")}
    context: Any = {**first_context(), **known, "config": config}
    return {**config, **result(context)}


def _view(summary: Summary, snapshot: Json, told: Json) -> DebateView:
    verdict, error = told["verdict"] or {}, told["lastError"] or {}
    names = {one["id"]: one["name"] for one in told["participants"]}
    models = [reference(one["model"]) for one in told["participants"]]
    return DebateView(
        summary.root,
        told["topic"] or "",
        told["format"] or "",
        snapshot["value"],
        told["state"],
        told["outcome"],
        names.get(verdict.get("winner"), verdict.get("winner")),
        bool(verdict.get("tie")),
        sum(one["phase"] != "opening" for one in told["rounds"]),
        told["maxRounds"] or 0,
        tuple(names.values()),
        tuple(dict.fromkeys(models)),
        told["costTracker"]["totalCost"],
        summary.updated,
        error.get("message"),
    )
