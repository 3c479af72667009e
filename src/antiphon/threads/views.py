"""Threads as people see them: plain values, read from snapshots."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from antiphon.chat.machine.crystal import TITLE_WORDS, UNTITLED
from antiphon.debate.machine.config import reference
from antiphon.threads.machine.content import text_of

Json = Mapping[str, Any]
NOTHING_SAID: Json = {"messages": {}, "branches": {}, "closed": {}, "branch": "main", "checkpoints": {}}


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
    waiting: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Talk:
    """A thread with everything that was said in it, on all branches."""

    view: ThreadView
    chat: Json

    def path(self, branch: str | None = None) -> list[Json]:
        """The messages of a branch, from the first to the last."""
        branches = {**self.chat["closed"], **self.chat["branches"]}
        known = branches.get(branch or self.chat["branch"])
        if known is None and branch not in (None, self.chat["branch"]):
            raise KeyError(branch)
        return list(reversed(list(self._back(known["head"] if known else None))))

    def _back(self, head: str | None) -> Iterator[Json]:
        while head is not None:
            message = self.chat["messages"][head]
            yield message
            head = message["parent"]


@dataclass(frozen=True, slots=True)
class Work:
    """What a list shows of a run or a debate: what it is about, and how far it came."""

    title: str
    model: str | None
    turns: int
    cost_usd: float
    error: str | None


def work_of(snapshot: Json, last_words: Json | None) -> Work | None:
    """The run or the debate in a thread: as it is under way, as it ended, or as it will begin."""
    context = snapshot["context"]
    config, child = context["config"], snapshot["children"].get(context["kind"])
    known = child["snapshot"]["context"] if child is not None else last_words or {}
    if context["kind"] == "run":
        turns = known.get("iterationCount", known.get("iterations", 0))
        error = known.get("lastError", known.get("error"))
        cost = known.get("costUsd", context["cost"])
        return Work(known.get("task") or "", config.get("model"), turns, cost, _message(error))
    if context["kind"] == "debate":
        told = known.get("result", known)
        speakers = told.get("participants") or config.get("participants") or []
        given = [one["model"] for one in speakers if one.get("model")] or config.get("models") or []
        models = dict.fromkeys(map(_named, given))
        cost = float((told.get("costTracker") or {}).get("totalCost", context["cost"]))
        rounds, error = len(told.get("rounds") or []), _message(told.get("lastError"))
        return Work(config.get("topic") or "", ", ".join(models) or None, rounds, cost, error)
    return None


def _named(model: str | Json) -> str:
    """A model as it is given: by its reference, or in parts."""
    return model if isinstance(model, str) else reference(model)


def _message(error: Json | None) -> str | None:
    return str(error["message"]) if error else None


def chat_of(snapshot: Json) -> Json:
    """What a thread's chat knows; before its first message, what it will begin with."""
    child = snapshot["children"].get("chat")
    if child is not None:
        found: Json = child["snapshot"]["context"]
        return found
    config = snapshot["context"]["config"]
    return {**NOTHING_SAID, "config": config, "metrics": {}, **(config.get("history") or {})}


def thread_view(id: str, snapshot: Json, updated: int, last_words: Json | None = None) -> ThreadView:
    """A thread as a list shows it; of a run or a debate that is over, its last words say what it was."""
    context, chat = snapshot["context"], chat_of(snapshot)
    work = work_of(snapshot, last_words)
    if work is not None:
        return ThreadView(
            id,
            context["kind"],
            snapshot["value"],
            context.get("title") or work.title or UNTITLED,
            work.model,
            "",
            work.turns,
            work.cost_usd,
            updated,
            bool(context.get("archived")),
            context["waitingReason"],
            work.error,
        )
    head = (chat["branches"].get(chat["branch"]) or {}).get("head")
    return ThreadView(
        id,
        context["kind"] or "",
        snapshot["value"],
        title_of(context, chat),
        chat["config"].get("model"),
        chat["branch"],
        chat["messages"][head]["turn"] if head else 0,
        chat["metrics"].get("costUsd", 0.0),
        updated,
        bool(context.get("archived")),
        context["waitingReason"],
        _message(chat.get("lastError")),
    )


def title_of(context: Json, chat: Json) -> str:
    """What a thread is called: by a person, by its crystal, or by its first words."""
    if context.get("title"):
        return str(context["title"])
    if chat.get("crystal"):
        return str(chat["crystal"]["title"])
    first = next((message for message in chat["messages"].values() if message["role"] == "user"), None)
    return " ".join(text_of(first["parts"]).split()[:TITLE_WORDS]) if first else UNTITLED
