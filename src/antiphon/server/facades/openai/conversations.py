"""Conversations of clients as threads: found again where they were continued, or created with their history."""

import hashlib
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from antiphon.runtime.encoding import encode
from antiphon.server.callers import Caller, check_owner
from antiphon.server.context import ServerContext
from antiphon.server.facades.known_conversations import Position
from antiphon.server.facades.openai.prompts import ClientPrompt
from antiphon.server.facades.openai.turns import ThreadTurn
from antiphon.server.requests import require_kind
from antiphon.threads.errors import Busy, Refused, UnknownThread

Json = Mapping[str, Any]
ID_BYTES = 12  # of a thread: it cannot be guessed
INPUT_BYTES = 6
MAIN = "main"
CHAT = "chat"


@dataclass(frozen=True, slots=True)
class ClientConversation:
    """A prompt with the settings of its thread, for a caller."""

    caller: Caller
    settings: Json
    prompt: ClientPrompt
    is_kept: bool = True

    def digest(self, messages: Iterable[Json]) -> str:
        """Return the digest of some messages under these settings."""
        text = encode([self.caller.user, self.settings, list(messages)])
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


async def begin(context: ServerContext, conversation: ClientConversation, position: Position | None) -> ThreadTurn:
    """Continue the thread at a position if it still stands there; create one with the history otherwise."""
    if position is not None and await _stands_at(context, position):
        try:
            return await send(context, position.thread, conversation.prompt.input, is_kept=conversation.is_kept)
        except (Busy, Refused):
            pass  # another request has continued it in the meantime
    settings = dict(conversation.settings)
    if conversation.prompt.earlier:
        settings["history"] = history_of(conversation.prompt.earlier)
    thread = await context.app.threads.create(
        CHAT, id=secrets.token_hex(ID_BYTES), owner=conversation.caller.user, **settings
    )
    return await send(context, thread, conversation.prompt.input, is_kept=conversation.is_kept)


async def send(context: ServerContext, thread: str, message: Json, *, is_kept: bool = True) -> ThreadTurn:
    """Send a message to a chat, and return the turn that answers it."""
    threads = context.app.threads
    id = f"in{secrets.token_hex(INPUT_BYTES)}"
    content = {"role": message["role"], "parts": message["parts"], "id": id, "at": threads.runtime.now()}
    receipt = await threads.begin(thread, message=content)
    return ThreadTurn(threads, thread, id, receipt.seq - 1, is_kept=is_kept)


async def continue_thread(context: ServerContext, caller: Caller, thread: str, prompt: ClientPrompt) -> ThreadTurn:
    """Send the input of a prompt to a chat, which has its own settings and history."""
    await check_chat(context, caller, thread)
    return await send(context, thread, prompt.input)


async def check_chat(context: ServerContext, caller: Caller, thread: str) -> None:
    """Raise an error unless a thread is a chat of the caller."""
    await check_owner(context, caller, thread)
    await require_kind(context, thread, CHAT)


async def _stands_at(context: ServerContext, position: Position) -> bool:
    """Return whether a thread takes input after a message, which is the last one."""
    threads = context.app.threads
    try:
        state = await threads.state(position.thread)
        is_ready = state.value == "completed" or (state.value == "waiting" and state.get("waitingReason") == "tools")
        content = await threads.content(position.thread) if is_ready else None
    except UnknownThread:
        return False
    return content is not None and head_of(content) == position.message


def head_of(content: Json) -> str | None:
    """Return the last message of the current branch."""
    head: str | None = content["branches"][content["branch"]]["head"]
    return head


def history_of(messages: Iterable[Json]) -> dict[str, Any]:
    """Return the history that a new chat begins with."""
    stored: dict[str, Any] = {}
    parent: str | None = None
    for number, message in enumerate(messages, 1):
        id = f"m{number}"
        source = {"source": message["source"]} if message.get("source") else {}
        stored[id] = {"id": id, "parent": parent, "role": message["role"], "parts": message["parts"], **source}
        parent = id
    return {"messages": stored, "branches": {MAIN: {"name": MAIN, "head": parent}}, "branch": MAIN}


def remember(
    context: ServerContext, conversation: ClientConversation, reply: list[dict[str, Any]], thread: str, head: str | None
) -> None:
    """Note where a conversation stands after a reply, for the request that continues it."""
    messages = [*conversation.prompt.messages, {"role": "assistant", "parts": reply}]
    context.conversations.remember(conversation.digest(messages), Position(thread, head))
