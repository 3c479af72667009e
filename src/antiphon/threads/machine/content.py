"""Content of messages: text, tool calls, and the hash of a conversation."""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

Parts = Sequence[Mapping[str, Any]]

HASH_LENGTH = 16


def parts_of(parts: Parts | None, text: str | None) -> list[dict[str, Any]]:
    """Return the parts of a new message, given as parts or as text."""
    if parts is not None:
        return [dict(part) for part in parts]
    return [{"type": "text", "text": text}] if text else []


def text_of(parts: Parts) -> str:
    """Join the text in some parts, without thinking and tools."""
    return "".join(part["text"] for part in parts if part["type"] == "text")


def calls_of(parts: Parts) -> list[Mapping[str, Any]]:
    """Return the tool calls in some parts."""
    return [part for part in parts if part["type"] == "toolCall"]


def chain_hash(previous: str, role: str, parts: Parts, interrupted: bool = False) -> str:
    """Return the hash of a conversation, from the hash before its last message and that message."""
    message = [previous, role, parts, interrupted]
    text = json.dumps(message, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_LENGTH]
