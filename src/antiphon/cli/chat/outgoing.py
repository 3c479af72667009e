"""A message on its way to a chat, which is created with its first one: its text, and what is attached to it."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from antiphon.cli.default_model import settings_for
from antiphon.cli.input.typed_text import REPLACED, replace_unreadable
from antiphon.cli.render.plain import TextView
from antiphon.cli.windows.types import Window
from antiphon.client.errors import ServerUnreachable
from antiphon.providers.documents import check_documents
from antiphon.runtime.errors import Unstorable
from antiphon.runtime.records import Receipt
from antiphon.threads.errors import Refused, ThreadError
from antiphon.threads.kinds import Json

PENDING = "pending"  # the status of a thread that has taken no message
WITHOUT_IMAGES = "local:"  # models of this provider are loaded without their part for pictures


def readable_text(text: str, view: TextView) -> str:
    """Return a text that can be sent, and say so if it differs from what was typed."""
    message = replace_unreadable(text)
    if message != text:
        view.line(REPLACED)
    return message


async def create_chat(
    window: Window,
    config: Json,
    text: str,
    parts: Sequence[Mapping[str, Any]] | None,
    options: Mapping[str, Any] | None,
) -> tuple[str, Receipt]:
    """Create a chat with its first message; if the message is refused, there is no chat."""
    thread = await window.threads.create("chat", **{**settings_for(config["model"]), **config})
    try:
        return thread, await window.threads.say(thread, text, parts=parts, options=options)
    except ServerUnreachable:
        raise
    except (ThreadError, Unstorable):
        with suppress(ThreadError):
            if await window.threads.status(thread) == PENDING:
                await window.threads.delete(thread)
        raise


def message_parts(
    model: str | None, text: str, attached: Sequence[Mapping[str, Any]]
) -> list[Mapping[str, Any]] | None:
    """Return the parts of a message, or None if nothing is attached; raise an error if the model does not take them.

    Without a model, the server checks what is attached.
    """
    if not attached:
        return None
    types = {part["type"] for part in attached}
    if model is not None and "image" in types and model.startswith(WITHOUT_IMAGES):
        raise Refused(f"{model} takes no pictures; choose another model with -m")
    if model is not None and "document" in types:
        check_documents(model)
    parts: list[Mapping[str, Any]] = [{"type": "text", "text": text}] if text else []
    for part in attached:
        # Some formats join texts as they are.
        is_joined = bool(parts) and part["type"] == "text"
        parts.append({**part, "text": f"\n\n{part['text']}"} if is_joined else part)
    return parts
