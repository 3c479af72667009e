"""A message on its way to a chat, which is created with its first message."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from antiphon.cli.default_model import settings_for
from antiphon.cli.input.typed_text import REPLACED, replace_unreadable
from antiphon.cli.render.plain import TextView
from antiphon.cli.windows.types import Window
from antiphon.client.errors import ServerUnreachable
from antiphon.runtime.errors import Unstorable
from antiphon.runtime.records import Receipt
from antiphon.threads.errors import ThreadError
from antiphon.threads.kinds import Json

PENDING = "pending"  # the status of a thread that has taken no message


def readable_text(text: str, view: TextView) -> str:
    """Return a text that can be sent, and say so if it differs from what was typed."""
    message = replace_unreadable(text)
    if message != text:
        view.line(REPLACED)
    return message


async def create_chat(
    window: Window, config: Json, text: str, parts: Sequence[Mapping[str, Any]] | None
) -> tuple[str, Receipt]:
    """Create a chat with its first message; if the message is refused, there is no chat."""
    thread = await window.threads.create("chat", **{**settings_for(config["model"]), **config})
    try:
        return thread, await window.threads.say(thread, text, parts=parts)
    except ServerUnreachable:
        raise
    except (ThreadError, Unstorable):
        with suppress(ThreadError):
            if await window.threads.status(thread) == PENDING:
                await window.threads.delete(thread)
        raise
