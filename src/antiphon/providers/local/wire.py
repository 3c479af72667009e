"""The wire format of the embedded model: chat completions in words only, with schemas bounded so that they end."""

from collections.abc import Mapping
from typing import Any

from antiphon.messages import Image, Message, Text, ToolCall, ToolResult
from antiphon.providers.base import Request
from antiphon.providers.formats.chat_decoder import ChatDecoder
from antiphon.providers.formats.history import settled, system_messages

NAME = "local"
MAX_TOKENS = 512
TEMPERATURE = 0.4
# A small model fills what it may fill, also where a schema allows for more.
LONGEST_STRING = 200
MOST_ITEMS = 8
UNSEEN = "[a picture, which this model cannot see]"


class LocalWire:
    """What the engine's endpoint reads and writes."""

    __slots__ = ()

    name = NAME
    key_header = ("authorization", "Bearer ")

    def path(self, model: str) -> str:
        """The one endpoint."""
        return "/chat/completions"

    def headers(self) -> Mapping[str, str]:
        """A connection for each request: the engine closes one that was used, and not at once."""
        return {"connection": "close"}

    def body(self, model: str, request: Request) -> dict[str, Any]:
        """The request, with this model's own defaults."""
        body: dict[str, Any] = {
            "model": model,
            "messages": turns(request.messages),
            "stream": True,
            "stream_options": {"include_usage": True},
            # Signs of life while a prompt is read, between which cancelling is noticed.
            "return_progress": True,
            "temperature": TEMPERATURE if request.temperature is None else request.temperature,
            "max_tokens": request.max_tokens or MAX_TOKENS,
        }
        if request.stop:
            body["stop"] = list(request.stop)
        if request.output is not None:
            schema = {"name": request.output.name, "schema": bounded(request.output.schema), "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        return body

    def decoder(self, model: str, request: Request, request_id: str | None) -> ChatDecoder:
        """A reader for the reply."""
        return ChatDecoder(model, request, request_id, needs_done=True)


def turns(messages: tuple[Message, ...]) -> list[dict[str, str]]:
    """The conversation in words: the model was taught no other parts, and no two turns of one speaker in a row."""
    spoken: list[tuple[str, str]] = [(message.role, message.text) for message in system_messages(messages)]
    for message in settled(messages, NAME):
        # The result of a tool is told to the model as by its user.
        speaker = "user" if message.role == "tool" else message.role
        spoken.append((speaker, "\n".join(filter(None, map(_words, message.parts)))))
    joined: list[dict[str, str]] = []
    for role, raw in spoken:
        # The engine takes such marks for its own frame, and whoever writes one could speak as somebody else.
        text = raw.replace("<|", "< |")
        if joined and joined[-1]["role"] == role:
            joined[-1]["content"] += f"\n\n{text}"
        elif text:
            joined.append({"role": role, "content": text})
    return joined


def bounded(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with an end to every text and list, and without properties that nobody named."""
    result = {key: _bounded_value(key, value) for key, value in schema.items()}
    kind = schema.get("type")
    if kind == "string" and "enum" not in schema and "const" not in schema:
        most = max(LONGEST_STRING, schema.get("minLength", 0))
        result["maxLength"] = min(most, schema.get("maxLength", most))
    if kind == "array":
        most = max(MOST_ITEMS, schema.get("minItems", 0))
        result["maxItems"] = min(most, schema.get("maxItems", most))
    if kind == "object" or "properties" in schema:
        result.setdefault("additionalProperties", False)
    return result


def _bounded_value(key: str, value: Any) -> Any:
    if key in ("enum", "const", "default", "examples", "required"):
        return value
    if key in ("properties", "$defs", "definitions", "patternProperties"):
        return {name: bounded(part) if isinstance(part, dict) else part for name, part in value.items()}
    if isinstance(value, dict):
        return bounded(value)
    if isinstance(value, list):
        return [bounded(part) if isinstance(part, dict) else part for part in value]
    return value


def _words(part: object) -> str:
    match part:
        case Text(text):
            return text
        case Image():
            return UNSEEN
        case ToolCall(_, name, arguments):
            return f"I use the tool {name} with {arguments}."
        case ToolResult(_, parts, is_error):
            text = " ".join(map(_words, parts))
            return f"The tool failed: {text}" if is_error else f"The tool says: {text}"
        case _:
            return ""
