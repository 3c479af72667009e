"""Records of chats: messages and branches, read from a thread's snapshot."""

from collections.abc import Collection, Iterator
from typing import Any

from antiphon.chat.attempts import Attempt as Attempt
from antiphon.chat.attempts import attempt_of as attempt_of
from antiphon.chat.machine.crystal import TITLE_WORDS
from antiphon.chat.machine.persistent_map import PersistentMap
from antiphon.chat.machine.tree import path
from antiphon.threads.denials import find_denials
from antiphon.threads.kinds import Json, NewText, ThreadSummary, content_of, error_message
from antiphon.threads.machine.content import text_of
from antiphon.threads.machine.scopes import Override
from antiphon.threads.machine.thread import UNTITLED

CHAT = "chat"
TOOLS = "tools"
EMPTY: Json = {"messages": {}, "branches": {}, "closed": {}, "branch": "main", "checkpoints": {}, "metrics": {}}


def chat_of(snapshot: Json) -> Json:
    """Return the context of a thread's chat; before its first message, the context it will begin with."""
    content = content_of(snapshot)
    if content is not None:
        return content
    config = snapshot["context"]["config"]
    return {**EMPTY, "config": config, **(config.get("history") or {})}


def read_chat(id: str, snapshot: Json, result: Json | None) -> Json:
    """Return the content of a chat's record."""
    return chat_of(snapshot)


def summarize(snapshot: Json, result: Json | None) -> ThreadSummary:
    """Summarise a chat for lists: title, model, branch, turns and cost."""
    chat = chat_of(snapshot)
    head = (chat["branches"].get(chat["branch"]) or {}).get("head")
    return ThreadSummary(
        title=_title(chat),
        model=chat["config"].get("model"),
        turns=_turns(chat, head),
        cost_usd=chat["metrics"].get("costUsd", 0.0),
        error=error_message(chat.get("lastError")),
        branch=chat["branch"],
        unpriced=chat["metrics"].get("unpriced", 0),
    )


def _turns(chat: Json, head: str | None) -> int:
    """Return the number of turns up to a message; those of a history are counted until the chat begins."""
    if head is None:
        return 0
    messages: Any = chat["messages"]
    turn: int | None = messages[head].get("turn")
    return sum(message["role"] == "user" for message in path(messages, head)) if turn is None else turn


def decisions_in(snapshot: Json) -> list[Override]:
    """Return what is allowed or denied beyond single calls: by the settings, by a person, and for the calls at work."""
    chat = chat_of(snapshot)
    consent = chat["config"].get("consent") or {}
    child = snapshot["children"].get(CHAT)
    tools = None if child is None else child["snapshot"]["children"].get(TOOLS)
    given = [] if tools is None else tools["snapshot"]["context"].get("overrides", [])
    return [*consent.get("overrides", ()), *chat.get("overrides", ()), *given]


def denials_in(snapshot: Json, ids: Collection[str]) -> dict[str, str]:
    """Return the reasons of those of some calls of a chat that were denied, by their ids."""
    messages: Any = chat_of(snapshot)["messages"]
    return find_denials(messages.values(), ids)


def _title(chat: Json) -> str:
    """Return the title of a chat's crystal, or its first words."""
    if chat.get("crystal"):
        return str(chat["crystal"]["title"])
    first = next((message for message in chat["messages"].values() if message["role"] == "user"), None)
    return " ".join(text_of(first["parts"]).split(None, TITLE_WORDS)[:TITLE_WORDS]) if first else UNTITLED


def branch_path(chat: Json, branch: str | None = None) -> list[Json]:
    """Return the messages of a branch, oldest first; raise `KeyError` if there is no such branch."""
    name = branch or chat["branch"]
    branches = {**chat["closed"], **chat["branches"]}
    if name not in branches and name != chat["branch"]:
        raise KeyError(name)
    head = branches[name]["head"] if name in branches else None
    messages: Any = chat["messages"]
    return [*path(messages, head)]


def new_texts(before: Json | None, after: Json, result: Json | None) -> Iterator[NewText]:
    """Iterate over the texts of the messages that a step has added, on any branch."""
    old: Any = {} if before is None else chat_of(before)["messages"]
    new: Any = chat_of(after)["messages"]
    if new is old:
        return
    grown = new.items_since(old) if isinstance(new, PersistentMap) else None
    items = grown if grown is not None else [item for item in new.items() if item[0] not in old]
    for _, message in items:
        if text := text_of(message["parts"]):
            yield NewText(text, message.get("at"))
