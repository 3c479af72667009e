"""What is sent for a chat: the settings of a new one, and the parts of a message with what is attached to it."""

from collections.abc import Mapping, Sequence
from typing import Any

from antiphon.cli.default_model import settings_for
from antiphon.providers.documents import check_documents
from antiphon.threads.errors import Refused

WITHOUT_IMAGES = "local:"  # models of this provider are loaded without their part for pictures


def new_chat_settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a new chat, with those that its model needs."""
    return {**settings_for(config["model"]), **config}


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
