"""The words that machines and providers share: messages, their parts, and what a reply used and cost."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal, assert_never, get_args

Role = Literal["system", "user", "assistant", "tool"]
ROLES: tuple[Role, ...] = get_args(Role)


@dataclass(frozen=True, slots=True)
class Text:
    """Words."""

    text: str


@dataclass(frozen=True, slots=True)
class Image:
    """A picture, inline as base64 or at an address."""

    media_type: str
    data: str | None = field(default=None, repr=False)
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Thinking:
    """What a model thought before it spoke; the signature proves to its provider that it is unchanged."""

    text: str
    signature: str | None = None
    # A provider may hide the thought and send only an opaque block, which then stands in `signature`.
    redacted: bool = False


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model asks for a tool; the arguments are JSON text, exactly as the model wrote it."""

    id: str
    name: str
    arguments: str = "{}"
    signature: str | None = None

    def input(self) -> dict[str, Any]:
        """The arguments as an object; `ValueError` when the model wrote something else."""
        value = json.loads(self.arguments or "{}")
        if not isinstance(value, dict):
            raise ValueError(f"the arguments of {self.name!r} are not an object: {self.arguments!r}")
        return value


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool gave back."""

    call_id: str
    parts: tuple[Text | Image, ...]
    is_error: bool = False

    @classmethod
    def of(cls, call: ToolCall, text: str, *, is_error: bool = False) -> "ToolResult":
        """A result in words."""
        return cls(call.id, (Text(text),), is_error)


Part = Text | Image | Thinking | ToolCall | ToolResult
"""Part of a message."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Role
    parts: tuple[Part, ...]
    # Which provider wrote it. Signatures mean something to their own provider only.
    source: str | None = None
    # The conversation up to and including this message will be sent again and is worth caching.
    cache: bool = False

    @property
    def text(self) -> str:
        """The words of the message, without thoughts and tools."""
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls of the message."""
        return tuple(part for part in self.parts if isinstance(part, ToolCall))


def system(text: str, *, cache: bool = False) -> Message:
    """Instructions."""
    return Message("system", (Text(text),), cache=cache)


def user(*parts: str | Text | Image, cache: bool = False) -> Message:
    """What a person says and shows."""
    return Message("user", tuple(Text(part) if isinstance(part, str) else part for part in parts), cache=cache)


def assistant(text: str, *calls: ToolCall) -> Message:
    """What a model says, and the tools it asks for."""
    return Message("assistant", ((Text(text),) if text else ()) + calls)


def tool(*results: ToolResult) -> Message:
    """What tools gave back."""
    return Message("tool", results)


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens of a reply: cached ones count as input, reasoning counts as output."""

    input: int = 0
    output: int = 0
    cached_read: int = 0
    cached_write: int = 0
    reasoning: int = 0
    # Some of the numbers are guesses, because the provider has not (or not yet) said.
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
    """What a usage costs, and which price table says so."""

    amount: Decimal
    currency: str = "USD"
    prices: str = ""
    # The tokens are guesses, or the price is one that was assumed.
    estimated: bool = False


def part_to_json(part: Part) -> dict[str, Any]:
    """A part as JSON; what is absent is left out."""
    match part:
        case Text(text):
            return {"type": "text", "text": text}
        case Image(media_type, data, url):
            return _without_none({"type": "image", "mediaType": media_type, "data": data, "url": url})
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
    """A part from JSON; `ValueError` when it is none."""
    try:
        match value.get("type"):
            case "text":
                return Text(value["text"])
            case "image":
                return Image(value["mediaType"], value.get("data"), value.get("url"))
            case "thinking":
                return Thinking(value["text"], value.get("signature"), value.get("redacted", False))
            case "toolCall":
                return ToolCall(value["id"], value["name"], value["arguments"], value.get("signature"))
            case "toolResult":
                return ToolResult(value["callId"], _shown_from_json(value["parts"]), value.get("isError", False))
            case other:
                raise ValueError(f"unknown part {other!r}; known: text, image, thinking, toolCall, toolResult")
    except KeyError as missing:
        raise ValueError(f"a part of type {value['type']!r} needs {missing}") from missing


def _shown_from_json(values: Sequence[Mapping[str, Any]]) -> tuple[Text | Image, ...]:
    parts = [part_from_json(value) for value in values]
    shown = tuple(part for part in parts if isinstance(part, Text | Image))
    if len(shown) != len(parts):
        raise ValueError("the result of a tool holds texts and images only")
    return shown


def message_to_json(message: Message) -> dict[str, Any]:
    """A message as JSON."""
    value: dict[str, Any] = {"role": message.role, "parts": [part_to_json(part) for part in message.parts]}
    if message.source is not None:
        value["source"] = message.source
    if message.cache:
        value["cache"] = True
    return value


def message_from_json(value: Mapping[str, Any]) -> Message:
    """A message from JSON; `ValueError` when it is none."""
    role = value.get("role")
    if role not in ROLES:
        raise ValueError(f"unknown role {role!r}; known: {', '.join(ROLES)}")
    parts = tuple(part_from_json(part) for part in value.get("parts", ()))
    return Message(role, parts, value.get("source"), value.get("cache", False))


def usage_to_json(usage: Usage) -> dict[str, Any]:
    """A usage as JSON."""
    return {
        "input": usage.input,
        "output": usage.output,
        "cachedRead": usage.cached_read,
        "cachedWrite": usage.cached_write,
        "reasoning": usage.reasoning,
        "estimated": usage.estimated,
    }


def usage_from_json(value: Mapping[str, Any]) -> Usage:
    """A usage from JSON; what is absent is zero."""
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
