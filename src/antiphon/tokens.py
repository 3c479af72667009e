"""Estimated token counts, used where no provider has reported any."""

from collections.abc import Mapping, Sequence
from typing import Any

from antiphon.messages import Message, part_to_json

BYTES_PER_TOKEN = 4
TOKENS_PER_IMAGE = 1_200
# A document is read as text and as pictures of its pages, which are not counted here but estimated by its size.
TOKENS_PER_PAGE = 2_000
CHARACTERS_PER_PAGE = 60_000
TOKENS_PER_MESSAGE = 4


def tokens_of_bytes(size: int) -> int:
    """Estimate the tokens of a text of `size` bytes."""
    return -(-size // BYTES_PER_TOKEN)


def tokens_of_text(text: str) -> int:
    """Estimate the tokens of a text, by bytes, because that fits all scripts better than characters do."""
    return tokens_of_bytes(len(text if text.isascii() else text.encode("utf-8", "replace")))


def tokens_of_parts(parts: Sequence[Mapping[str, Any]]) -> int:
    """Estimate the tokens of a message with these parts, given as JSON."""
    return TOKENS_PER_MESSAGE + sum(_tokens_of_part(part) for part in parts)


def tokens_of_message(message: Message) -> int:
    """Estimate the tokens of a message."""
    return tokens_of_parts([part_to_json(part) for part in message.parts])


def _tokens_of_part(part: Mapping[str, Any]) -> int:
    match part["type"]:
        case "text" | "thinking":
            return tokens_of_text(part["text"])
        case "toolCall":
            return tokens_of_text(part["name"] + part["arguments"])
        case "toolResult":
            return sum(_tokens_of_part(inner) for inner in part["parts"])
        case "document":
            return TOKENS_PER_PAGE * -(-len(part["data"]) // CHARACTERS_PER_PAGE)
        case _:
            return TOKENS_PER_IMAGE
