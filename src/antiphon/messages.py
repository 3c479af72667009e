"""Messages, their parts, and the usage and cost of a reply, shared by machines and providers."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal, assert_never, get_args

Role = Literal["system", "user", "assistant", "tool"]
ROLES: tuple[Role, ...] = get_args(Role)


@dataclass(frozen=True, slots=True)
class Text:
    """Text of a message."""

    text: str


@dataclass(frozen=True, slots=True)
class Image:
    """Image, inline as base64 or by URL."""

    media_type: str
    data: str | None = field(default=None, repr=False)
    url: str | None = None


@dataclass(frozen=True, slots=True)
class AttachedDocument:
    """Document such as a PDF, inline as base64, with the name of its file."""

    media_type: str
    data: str = field(repr=False)
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Thinking:
    """Reasoning of a model; the signature proves to its provider that the text is unchanged."""

    text: str
    signature: str | None = None
    # A provider may hide the reasoning and send an opaque block instead, which is stored in `signature`.
    redacted: bool = False


@dataclass(frozen=True, slots=True)
class ToolCall:
    """Request of a model to call a tool; the arguments are the JSON text as the model wrote it."""

    id: str
    name: str
    arguments: str = "{}"
    signature: str | None = None

    def input(self) -> dict[str, Any]:
        """Parse the arguments; raise `ValueError` if they are not a JSON object."""
        try:
            value = json.loads(self.arguments or "{}", parse_constant=_refuse_constant)
        except RecursionError:
            raise ValueError(f"the arguments of {self.name!r} are nested too deeply") from None
        if not isinstance(value, dict):
            raise ValueError(f"the arguments of {self.name!r} are not an object: {self.arguments!r}")
        return value


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


@dataclass(frozen=True, slots=True)
class ToolResult:
    """Result of a tool call."""

    call_id: str
    parts: tuple[Text | Image, ...]
    is_error: bool = False

    @classmethod
    def of(cls, call: ToolCall, text: str, *, is_error: bool = False) -> "ToolResult":
        """Build a result from a text."""
        return cls(call.id, (Text(text),), is_error)


Part = Text | Image | AttachedDocument | Thinking | ToolCall | ToolResult
"""Part of a message."""
KNOWN_PARTS = "text, image, document, thinking, toolCall, toolResult"


@dataclass(frozen=True, slots=True)
class Message:
    """Message of a conversation."""

    role: Role
    parts: tuple[Part, ...]
    # The provider that wrote it: signatures are valid only for that provider.
    source: str | None = None
    # The conversation up to and including this message will be sent again, so it is worth caching.
    cache: bool = False

    @property
    def text(self) -> str:
        """Text of the message, without reasoning and tool calls."""
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """Tool calls of the message."""
        return tuple(part for part in self.parts if isinstance(part, ToolCall))


def system(text: str, *, cache: bool = False) -> Message:
    """Build a system message."""
    return Message("system", (Text(text),), cache=cache)


def user(*parts: str | Text | Image | AttachedDocument, cache: bool = False) -> Message:
    """Build a user message from texts, images and documents."""
    return Message("user", tuple(Text(part) if isinstance(part, str) else part for part in parts), cache=cache)


def assistant(text: str, *calls: ToolCall) -> Message:
    """Build an assistant message from a text and tool calls."""
    return Message("assistant", ((Text(text),) if text else ()) + calls)


def tool(*results: ToolResult) -> Message:
    """Build a message of tool results."""
    return Message("tool", results)


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of a reply: cached tokens count as input, reasoning tokens as output."""

    input: int = 0
    output: int = 0
    cached_read: int = 0
    cached_write: int = 0
    reasoning: int = 0
    # Some of the numbers are estimates, because the provider has not reported them, or not yet.
    estimated: bool = False

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cached_read + other.cached_read,
            self.cached_write + other.cached_write,
            self.reasoning + other.reasoning,
            self.estimated or other.estimated,
        )


@dataclass(frozen=True, slots=True)
class Cost:
    """Cost of a usage, and the price table that it was computed with."""

    amount: Decimal
    currency: str = "USD"
    prices: str = ""
    # The token counts are estimates, or the price is assumed.
    estimated: bool = False


def part_to_json(part: Part) -> dict[str, Any]:
    """Convert a part to JSON, without absent fields."""
    match part:
        case Text(text):
            return {"type": "text", "text": text}
        case Image(media_type, data, url):
            return _without_none({"type": "image", "mediaType": media_type, "data": data, "url": url})
        case AttachedDocument(media_type, data, document_name):
            return _without_none({"type": "document", "mediaType": media_type, "data": data, "name": document_name})
        case Thinking(text, signature, redacted):
            value = _without_none({"type": "thinking", "text": text, "signature": signature})
            return {**value, "redacted": True} if redacted else value
        case ToolCall(id, name, arguments, signature):
            value = {"type": "toolCall", "id": id, "name": name, "arguments": arguments, "signature": signature}
            return _without_none(value)
        case ToolResult(call_id, parts, is_error):
            value = {"type": "toolResult", "callId": call_id, "parts": [part_to_json(inner) for inner in parts]}
            return {**value, "isError": True} if is_error else value
        case _:
            assert_never(part)


def part_from_json(value: Mapping[str, Any]) -> Part:
    """Convert JSON to a part; raise `ValueError` if it is not one."""
    try:
        match value.get("type"):
            case "text":
                return Text(value["text"])
            case "image":
                return Image(value["mediaType"], value.get("data"), value.get("url"))
            case "document":
                return AttachedDocument(value["mediaType"], value["data"], value.get("name"))
            case "thinking":
                return Thinking(value["text"], value.get("signature"), value.get("redacted", False))
            case "toolCall":
                return ToolCall(value["id"], value["name"], value["arguments"], value.get("signature"))
            case "toolResult":
                return ToolResult(value["callId"], _result_parts_from_json(value["parts"]), value.get("isError", False))
            case kind:
                raise ValueError(f"unknown part {kind!r}; known: {KNOWN_PARTS}")
    except KeyError as missing:
        raise ValueError(f"a part of type {value['type']!r} needs {missing}") from missing


def _result_parts_from_json(values: Sequence[Mapping[str, Any]]) -> tuple[Text | Image, ...]:
    parts = [part_from_json(value) for value in values]
    result_parts = tuple(part for part in parts if isinstance(part, Text | Image))
    if len(result_parts) != len(parts):
        raise ValueError("a tool result can only contain text and image parts")
    return result_parts


def message_to_json(message: Message) -> dict[str, Any]:
    """Convert a message to JSON."""
    value: dict[str, Any] = {"role": message.role, "parts": [part_to_json(part) for part in message.parts]}
    if message.source is not None:
        value["source"] = message.source
    if message.cache:
        value["cache"] = True
    return value


def message_from_json(value: Mapping[str, Any]) -> Message:
    """Convert JSON to a message; raise `ValueError` if it is not one."""
    role = value.get("role")
    if role not in ROLES:
        raise ValueError(f"unknown role {role!r}; known: {', '.join(ROLES)}")
    parts = tuple(part_from_json(part) for part in value.get("parts", ()))
    return Message(role, parts, value.get("source"), value.get("cache", False))


def usage_to_json(usage: Usage) -> dict[str, Any]:
    """Convert a usage to JSON."""
    return {
        "input": usage.input,
        "output": usage.output,
        "cachedRead": usage.cached_read,
        "cachedWrite": usage.cached_write,
        "reasoning": usage.reasoning,
        "estimated": usage.estimated,
    }


def usage_from_json(value: Mapping[str, Any]) -> Usage:
    """Convert JSON to a usage; absent counts are zero."""
    return Usage(
        input=value.get("input", 0),
        output=value.get("output", 0),
        cached_read=value.get("cachedRead", 0),
        cached_write=value.get("cachedWrite", 0),
        reasoning=value.get("reasoning", 0),
        estimated=value.get("estimated", False),
    )


def _without_none(value: dict[str, Any]) -> dict[str, Any]:
    return {key: item for key, item in value.items() if item is not None}
