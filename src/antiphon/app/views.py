"""Threads as people see them: plain values, read from snapshots."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from antiphon.machines.conversation.content import text_of
from antiphon.machines.conversation.crystal import TITLE_WORDS, UNTITLED

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
        if known is None and branch is not None:
            raise KeyError(branch)
        return list(reversed(list(self._back(known["head"] if known else None))))

    def _back(self, head: str | None) -> Iterator[Json]:
        while head is not None:
            message = self.chat["messages"][head]
            yield message
            head = message["parent"]


def chat_of(snapshot: Json) -> Json:
    """What a thread's chat knows; before its first message, what it will begin with."""
    child = snapshot["children"].get("chat")
    if child is not None:
        found: Json = child["snapshot"]["context"]
        return found
    config = snapshot["context"]["config"]
    return {**NOTHING_SAID, "config": config, "metrics": {}, **(config.get("history") or {})}


def thread_view(id: str, snapshot: Json, updated: int) -> ThreadView:
    """A thread as a list shows it."""
    context, chat = snapshot["context"], chat_of(snapshot)
    error = (chat.get("lastError") or {}).get("message")
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
        error,
    )


def title_of(context: Json, chat: Json) -> str:
    """What a thread is called: by a person, by its crystal, or by its first words."""
    if context.get("title"):
        return str(context["title"])
    if chat.get("crystal"):
        return str(chat["crystal"]["title"])
    first = next((message for message in chat["messages"].values() if message["role"] == "user"), None)
    return " ".join(text_of(first["parts"]).split()[:TITLE_WORDS]) if first else UNTITLED
