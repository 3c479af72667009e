"""The wire format of the embedded model: chat completions with text only, and with bounded schemas."""

from collections.abc import Mapping
from typing import Any

from antiphon.messages import Image, Message, Text, ToolCall, ToolResult
from antiphon.providers.base import Request
from antiphon.providers.formats.chat_decoder import ChatDecoder
from antiphon.providers.formats.history import normalize_history, system_messages

NAME = "local"
MAX_TOKENS = 512
TEMPERATURE = 0.4
# A small model generates up to the limit, so strings and arrays need one.
LONGEST_STRING = 200
MAX_ITEMS = 8
UNSEEN = "[an image that this model cannot see]"


class LocalWire:
    """Format of the engine's endpoint."""

    __slots__ = ()

    name = NAME
    key_header = ("authorization", "Bearer ")

    def path(self, model: str) -> str:
        """Return the path of the endpoint."""
        return "/chat/completions"

    def headers(self) -> Mapping[str, str]:
        """Ask for a new connection per request: the engine closes used ones, but not immediately."""
        return {"connection": "close"}

    def body(self, model: str, request: Request) -> dict[str, Any]:
        """Return the body of a request, with the defaults of this model."""
        body: dict[str, Any] = {
            "model": model,
            "messages": turns(request.messages),
            "stream": True,
            "stream_options": {"include_usage": True},
            # Progress events while the prompt is processed, between which a cancellation is noticed.
            "return_progress": True,
            "temperature": TEMPERATURE if request.temperature is None else request.temperature,
            "max_tokens": request.max_tokens or MAX_TOKENS,
        }
        if request.stop:
            body["stop"] = list(request.stop)
        if request.output is not None:
            schema = {"name": request.output.name, "schema": bound_schema(request.output.schema), "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        return body

    def decoder(self, model: str, request: Request, request_id: str | None) -> ChatDecoder:
        """Return a decoder for the reply."""
        return ChatDecoder(model, request, request_id, needs_done=True)


def turns(messages: tuple[Message, ...]) -> list[dict[str, str]]:
    """Return the conversation as text, with consecutive messages of one role merged, as the model was trained."""
    texts: list[tuple[str, str]] = [(message.role, message.text) for message in system_messages(messages)]
    for message in normalize_history(messages, NAME):
        # The model knows no tool role: results are sent as the user.
        sender = "user" if message.role == "tool" else message.role
        texts.append((sender, "\n".join(filter(None, map(_part_text, message.parts)))))
    merged: list[dict[str, str]] = []
    for role, raw in texts:
        # The engine interprets such marks as role delimiters, so a user could impersonate another role.
        text = raw.replace("<|", "< |")
        if merged and merged[-1]["role"] == role:
            merged[-1]["content"] += f"\n\n{text}"
        elif text:
            merged.append({"role": role, "content": text})
    return merged


def bound_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Limit every string and array of a schema, and disallow additional properties."""
    result = {key: _bound_value(key, value) for key, value in schema.items()}
    kind = schema.get("type")
    if kind == "string" and "enum" not in schema and "const" not in schema:
        limit = max(LONGEST_STRING, schema.get("minLength", 0))
        result["maxLength"] = min(limit, schema.get("maxLength", limit))
    if kind == "array":
        limit = max(MAX_ITEMS, schema.get("minItems", 0))
        result["maxItems"] = min(limit, schema.get("maxItems", limit))
    if kind == "object" or "properties" in schema:
        result.setdefault("additionalProperties", False)
    return result


def _bound_value(key: str, value: Any) -> Any:
    if key in ("enum", "const", "default", "examples", "required"):
        return value
    if key in ("properties", "$defs", "definitions", "patternProperties"):
        return {name: bound_schema(part) if isinstance(part, dict) else part for name, part in value.items()}
    if isinstance(value, dict):
        return bound_schema(value)
    if isinstance(value, list):
        return [bound_schema(part) if isinstance(part, dict) else part for part in value]
    return value


def _part_text(part: object) -> str:
    match part:
        case Text(text):
            return text
        case Image():
            return UNSEEN
        case ToolCall(_, name, arguments):
            return f"I use the tool {name} with {arguments}."
        case ToolResult(_, parts, is_error):
            text = " ".join(map(_part_text, parts))
            return f"The tool failed: {text}" if is_error else f"The tool says: {text}"
        case _:
            return ""
