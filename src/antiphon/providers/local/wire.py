"""The wire format of local models: chat completions without images.

The embedded model gets bounded schemas, and tools as text; a file of the user gets what its own template presents.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from antiphon.messages import Image, Message, Part, Text, ToolCall, ToolResult
from antiphon.providers.base import Request, Tool
from antiphon.providers.documents import replace_documents
from antiphon.providers.formats.chat_completions import Dialect, chat_body
from antiphon.providers.formats.chat_decoder import ChatDecoder
from antiphon.providers.formats.history import normalize_history, system_messages
from antiphon.providers.local.delimiters import Delimiters
from antiphon.providers.local.gguf import Gguf
from antiphon.providers.local.tool_calls import callable_tools

NAME = "local"
MAX_TOKENS = 512
TEMPERATURE = 0.4
# A small model generates up to the limit, so strings and arrays need one.
LONGEST_STRING = 200
MAX_ITEMS = 8
UNSEEN = "[an image that this model cannot see]"
# A file of the user has no default temperature of ours; its replies are limited, or they could fill the context.
FILE_MAX_TOKENS = 2048
# Progress events while the prompt is processed, between which a cancellation is noticed.
PROGRESS: Mapping[str, Any] = {"return_progress": True}
DIALECT = Dialect(
    NAME, max_tokens="max_tokens", id_pattern=r"\S{1,64}", id_length=40, cache_key=False, takes_documents=False
)


class LocalWire:
    """Format of the engine's endpoint, for the embedded model, or for a file of the user by its metadata."""

    __slots__ = ("_delimiters", "_metadata")

    name = NAME
    key_header = ("authorization", "Bearer ")

    def __init__(self, metadata: Gguf | None = None) -> None:
        self._metadata = metadata
        self._delimiters = Delimiters(metadata.delimiters if metadata is not None else frozenset())

    def path(self, model: str) -> str:
        """Return the path of the endpoint."""
        return "/chat/completions"

    def headers(self) -> Mapping[str, str]:
        """Ask for a new connection per request: the engine closes used ones, but not immediately."""
        return {"connection": "close"}

    def constrained_tools(self, request: Request) -> tuple[Tool, ...]:
        """Return the tools of which a call is generated in constrained steps; the others are left to the template."""
        if self._metadata is None:
            return callable_tools(request, repeatable=False)
        # The engine leaves a tool that must be called to the model, which may answer in words instead.
        if self._metadata.knows_tools and request.tool_choice == "auto":
            return ()
        return callable_tools(request, repeatable=True)

    def body(self, model: str, request: Request) -> dict[str, Any]:
        """Return the body of a request, with the defaults of the model."""
        body = self._embedded_body(model, request) if self._metadata is None else self._file_body(model, request)
        for key in ("messages", "tools"):
            if key in body:
                body[key] = self._delimiters.break_in(body[key])
        return {**body, **PROGRESS}

    def decoder(self, model: str, request: Request, request_id: str | None) -> ChatDecoder:
        """Return a decoder for the reply."""
        return ChatDecoder(model, request, request_id, needs_done=True)

    def _embedded_body(self, model: str, request: Request) -> dict[str, Any]:
        temperature = TEMPERATURE if request.temperature is None else request.temperature
        settings = replace(request, tools=(), temperature=temperature, max_tokens=request.max_tokens or MAX_TOKENS)
        body = {**chat_body(DIALECT, model, settings), "messages": turns(request.messages)}
        return _constrain(body, request, bound_schema)

    def _file_body(self, model: str, request: Request) -> dict[str, Any]:
        assert self._metadata is not None
        is_native = self._metadata.knows_tools
        settings = replace(
            request,
            messages=tuple(map(_without_images, request.messages)),
            tools=request.tools if is_native else (),
            max_tokens=request.max_tokens or FILE_MAX_TOKENS,
        )
        body = chat_body(DIALECT, model, settings)
        if not is_native:
            body["messages"] = turns(request.messages)
        return _constrain(body, request, dict)


def _constrain(
    body: dict[str, Any], request: Request, bound: Callable[[Mapping[str, Any]], dict[str, Any]]
) -> dict[str, Any]:
    """Constrain the reply to a schema as it is, because the engine enforces more of it than hosted models do."""
    if request.output is not None:
        schema = {"name": request.output.name, "schema": bound(request.output.schema), "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return body


def turns(messages: tuple[Message, ...]) -> list[dict[str, str]]:
    """Return the conversation as text, with consecutive messages of one role merged, as the model was trained."""
    texts: list[tuple[str, str]] = [(message.role, message.text) for message in system_messages(messages)]
    for message in normalize_history(map(replace_documents, messages), NAME):
        # The model knows no tool role: results are sent as the user.
        sender = "user" if message.role == "tool" else message.role
        texts.append((sender, "\n".join(filter(None, map(_part_text, message.parts)))))
    merged: list[dict[str, str]] = []
    for role, text in texts:
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


def _without_images(message: Message) -> Message:
    return replace(message, parts=tuple(map(_without_image, message.parts)))


def _without_image(part: Part) -> Part:
    match part:
        case Image():
            return Text(UNSEEN)
        case ToolResult(parts=parts):
            return replace(part, parts=tuple(Text(UNSEEN) if isinstance(each, Image) else each for each in parts))
        case _:
            return part


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
