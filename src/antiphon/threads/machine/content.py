"""Content of messages: text, tool calls, and the hash of a conversation."""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, Literal, NotRequired, TypedDict

from antiphon.errors import Code

Parts = Sequence[Mapping[str, Any]]

HASH_LENGTH = 16


class TextPart(TypedDict):
    """A text in a message, as JSON."""

    type: Literal["text"]
    text: str


class ImagePart(TypedDict):
    """An image in a message, as JSON: inline or by URL."""

    type: Literal["image"]
    mediaType: str
    data: NotRequired[str]
    url: NotRequired[str]


class DocumentPart(TypedDict):
    """A document such as a PDF in a message, as JSON, with the name of its file."""

    type: Literal["document"]
    mediaType: str
    data: str
    name: NotRequired[str]


class ThinkingPart(TypedDict):
    """The thinking of a model, as JSON."""

    type: Literal["thinking"]
    text: str
    signature: NotRequired[str]
    redacted: NotRequired[bool]


class CallPart(TypedDict):
    """A tool call, as JSON."""

    type: Literal["toolCall"]
    id: str
    name: str
    arguments: str
    signature: NotRequired[str]


class ResultPart(TypedDict):
    """The result of a tool call, as JSON."""

    type: Literal["toolResult"]
    callId: str
    parts: list[TextPart | ImagePart]
    isError: NotRequired[bool]


PartJson = TextPart | ImagePart | DocumentPart | ThinkingPart | CallPart | ResultPart
"""A part of a message, as JSON."""


class MessageJson(TypedDict):
    """A message of a conversation as JSON."""

    role: str
    parts: list[PartJson]
    source: NotRequired[str | None]
    at: NotRequired[float | None]
    requestId: NotRequired[str]
    cache: NotRequired[bool]


class UsageJson(TypedDict, total=False):
    """The tokens of a call; cached ones are part of the input, reasoning ones of the output."""

    input: int
    output: int
    cachedRead: int
    cachedWrite: int
    reasoning: int
    estimated: bool


class ErrorJson(TypedDict, total=False):
    """An error as JSON."""

    name: str
    code: str
    message: str
    recoverable: bool
    retryAfterMs: float


class RunFields(TypedDict, total=False):
    """The fields of an event that a parent sends for a run."""

    runId: str | None
    resumeReason: str | None
    resumeNote: str | None


def is_key_missing(error: object) -> bool:
    """Return whether an error says that a model cannot be asked without a key that a person has to give."""
    return isinstance(error, Mapping) and error.get("code") == Code.MISSING_KEY


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
