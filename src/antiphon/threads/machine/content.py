"""What is in a message: its words, its calls, and the hash that names everything up to it."""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

Parts = Sequence[Mapping[str, Any]]

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


def chained(before: str, role: str, parts: Parts, interrupted: bool = False) -> str:
    """The hash of a conversation that goes on with one more message."""
    content = json.dumps([before, role, parts, interrupted], ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_LENGTH]
