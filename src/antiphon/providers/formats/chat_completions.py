"""Chat completions: the format of OpenAI, with the dialects of other servers."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from antiphon.messages import AttachedDocument, Image, Message, Part, Text, Thinking, ToolCall, ToolResult
from antiphon.providers.base import Request
from antiphon.providers.documents import replace_documents
from antiphon.providers.formats.chat_decoder import ChatDecoder
from antiphon.providers.formats.families import effort_of
from antiphon.providers.formats.history import normalize_history, portable_id, system_messages
from antiphon.providers.formats.schema import close_schema, is_strict

ANSWER_SCHEMA = "json_schema"
UNNAMED = "document.pdf"  # the format requires a name


def plain_settings(model: str, request: Request) -> dict[str, Any]:
    """Return temperature and reasoning effort as requested."""
    settings: dict[str, Any] = {}
    if request.temperature is not None:
        settings["temperature"] = request.temperature
    if request.thinking is not None:
        settings["reasoning_effort"] = effort_of(request.thinking)
    return settings


@dataclass(frozen=True, slots=True)
class Dialect:
    """Differences between the servers of the format."""

    name: str
    # The field that limits the tokens of a reply.
    max_tokens: str
    # How a tool call must look, and how long the ids are that we generate.
    id_pattern: str
    id_length: int
    # The tool choice for "some tool must be called".
    any_tool: str = "required"
    # Usage is sent only on request.
    asks_for_usage: bool = True
    # Reasoning is signed content and is sent back to the server.
    replays_thoughts: bool = False
    # The reply ends with `[DONE]`; otherwise a finish reason is enough.
    needs_done: bool = True
    cache_key: bool = True
    # Documents such as PDFs may be parts of messages.
    takes_documents: bool = True
    # Temperature and reasoning effort, as far as the model supports them.
    settings: Callable[[str, Request], dict[str, Any]] = plain_settings


class ChatWire:
    """Chat completions in one dialect."""

    __slots__ = ("_dialect",)

    key_header = ("authorization", "Bearer ")

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect

    @property
    def name(self) -> str:
        """Name of the dialect."""
        return self._dialect.name

    def path(self, model: str) -> str:
        """Return the path of the endpoint."""
        return "/chat/completions"

    def headers(self) -> Mapping[str, str]:
        """Return no headers: the format requires none."""
        return {}

    def body(self, model: str, request: Request) -> dict[str, Any]:
        """Return the body of a request."""
        return chat_body(self._dialect, model, request)

    def decoder(self, model: str, request: Request, request_id: str | None) -> ChatDecoder:
        """Return a decoder for the reply."""
        return ChatDecoder(model, request, request_id, needs_done=self._dialect.needs_done)


def chat_body(dialect: Dialect, model: str, request: Request) -> dict[str, Any]:
    """Return the body of a request."""
    messages = [_system(message) for message in system_messages(request.messages)]
    history = request.messages if dialect.takes_documents else map(replace_documents, request.messages)
    for message in normalize_history(history, dialect.name):
        messages += _turn(dialect, message)
    body: dict[str, Any] = {"model": model, "messages": messages, "stream": True}
    if dialect.asks_for_usage:
        body["stream_options"] = {"include_usage": True}
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
            }
            for tool in request.tools
        ]
        body["tool_choice"] = _tool_choice(dialect, request.tool_choice)
    body |= dialect.settings(model, request)
    if request.max_tokens is not None:
        body[dialect.max_tokens] = request.max_tokens
    if request.stop:
        body["stop"] = list(request.stop)
    if request.output is not None:
        strict = is_strict(request.output.schema)
        schema = {"name": request.output.name, "schema": close_schema(request.output.schema), "strict": strict}
        body["response_format"] = {"type": ANSWER_SCHEMA, ANSWER_SCHEMA: schema}
    if request.cache_key is not None and dialect.cache_key:
        body["prompt_cache_key"] = request.cache_key
    return body


def _system(message: Message) -> dict[str, Any]:
    return {"role": "system", "content": message.text}


def _turn(dialect: Dialect, message: Message) -> Iterator[dict[str, Any]]:
    match message.role:
        case "tool":
            yield from _results(dialect, message)
        case "assistant":
            yield _reply(dialect, message)
        case _:
            yield {"role": message.role, "content": _content(message.parts)}


def _reply(dialect: Dialect, message: Message) -> dict[str, Any]:
    turn: dict[str, Any] = {"role": "assistant"}
    thoughts = [part for part in message.parts if isinstance(part, Thinking)]
    if thoughts and dialect.replays_thoughts:
        texts = [{"type": "text", "text": message.text}] if message.text else []
        turn["content"] = [*map(_thought, thoughts), *texts]
    else:
        turn["content"] = message.text or None
    if calls := [_call(dialect, call) for call in message.calls]:
        turn["tool_calls"] = calls
    return turn


def _thought(thought: Thinking) -> dict[str, Any]:
    inner = [{"type": "text", "text": thought.text}] if thought.text else []
    chunk: dict[str, Any] = {"type": "thinking", "thinking": inner, "closed": True}
    return chunk | {"signature": thought.signature} if thought.signature else chunk


def _call(dialect: Dialect, call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": _id(dialect, call.id), "type": "function", "function": function}


def _results(dialect: Dialect, message: Message) -> Iterator[dict[str, Any]]:
    images: list[Image] = []
    for result in message.parts:
        if isinstance(result, ToolResult):
            text = "".join(part.text for part in result.parts if isinstance(part, Text))
            text = f"Error: {text}" if result.is_error else text
            yield {"role": "tool", "tool_call_id": _id(dialect, result.call_id), "content": text}
            images += [part for part in result.parts if isinstance(part, Image)]
    # Tool results are text in this format, so their images are sent as a user message.
    if images:
        yield {"role": "user", "content": _content(images)}


def _content(parts: Iterable[Part]) -> str | list[dict[str, Any]]:
    parts = list(parts)
    if all(isinstance(part, Text) for part in parts):
        return "".join(part.text for part in parts if isinstance(part, Text))
    return [_content_part(part) for part in parts if isinstance(part, Text | Image | AttachedDocument)]


def _content_part(part: Text | Image | AttachedDocument) -> dict[str, Any]:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    if isinstance(part, AttachedDocument):
        file_data = f"data:{part.media_type};base64,{part.data}"
        return {"type": "file", "file": {"filename": part.name or UNNAMED, "file_data": file_data}}
    return {"type": "image_url", "image_url": {"url": part.url or f"data:{part.media_type};base64,{part.data}"}}


def _tool_choice(dialect: Dialect, choice: str) -> Any:
    match choice:
        case "auto" | "none":
            return choice
        case "any":
            return dialect.any_tool
        case name:
            return {"type": "function", "function": {"name": name}}


def _id(dialect: Dialect, id: str) -> str:
    return portable_id(id, dialect.id_pattern, dialect.id_length)
