"""What is in a message: its words, its size, and the hash that names everything up to it."""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

Parts = Sequence[Mapping[str, Any]]

# The same guesses as those of the providers, which this layer may not import.
BYTES_PER_TOKEN = 4
TOKENS_PER_IMAGE = 1_200
TOKENS_PER_MESSAGE = 4
HASH_LENGTH = 16


def parts_of(event: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The parts an event brings, as `parts` or as `text`."""
    if event.get("parts") is not None:
        return [dict(part) for part in event["parts"]]
    text = event.get("text")
    return [{"type": "text", "text": text}] if text else []


def text_of(parts: Parts) -> str:
    """The words in some parts, without thoughts and tools."""
    return "".join(part["text"] for part in parts if part["type"] == "text")


def calls_of(parts: Parts) -> list[Mapping[str, Any]]:
    """The tool calls in some parts."""
    return [part for part in parts if part["type"] == "toolCall"]


def tokens_of(parts: Parts) -> int:
    """About how many tokens a message of these parts is."""
    return TOKENS_PER_MESSAGE + sum(_tokens_of_part(part) for part in parts)


def _tokens_of_part(part: Mapping[str, Any]) -> int:
    match part["type"]:
        case "text" | "thinking":
            return tokens_of_text(part["text"])
        case "toolCall":
            return tokens_of_text(part["name"] + part["arguments"])
        case "toolResult":
            return sum(_tokens_of_part(shown) for shown in part["parts"])
        case _:
            return TOKENS_PER_IMAGE


def tokens_of_text(text: str) -> int:
    """About how many tokens a text is."""
    return -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)


def chained(before: str, role: str, parts: Parts, interrupted: bool = False) -> str:
    """The hash of a conversation that goes on with one more message."""
    content = json.dumps([before, role, parts, interrupted], ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_LENGTH]
