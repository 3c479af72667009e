"""The wire format of Anthropic's Messages API."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from antiphon.messages import AttachedDocument, Image, Message, Part, Text, Thinking, ToolCall, ToolResult
from antiphon.providers.base import Request
from antiphon.providers.formats.anthropic_decoder import AnthropicDecoder
from antiphon.providers.formats.families import claude_settings
from antiphon.providers.formats.history import normalize_history, portable_id, system_messages
from antiphon.providers.formats.schema import close_schema

VERSION = "2023-06-01"
EPHEMERAL = {"type": "ephemeral"}
MAX_CACHE_MARKS = 4
MAX_TITLE = 500


class AnthropicWire:
    """Anthropic's format: content blocks, with signed reasoning that must be sent back unchanged."""

    name = "anthropic"
    key_header = ("x-api-key", "")

    def path(self, model: str) -> str:
        """Return the path of the endpoint."""
        return "/v1/messages"

    def headers(self) -> Mapping[str, str]:
        """Return the version header."""
        return {"anthropic-version": VERSION}

    def body(self, model: str, request: Request) -> dict[str, Any]:
        """Return the body of a request."""
        messages = _limit_cache_marks(request.messages)
        body: dict[str, Any] = {
            "model": model,
            "messages": list(_turns(normalize_history(messages, self.name, signed=True))),
            "stream": True,
        }
        if instructions := [_system_block(message) for message in system_messages(messages)]:
            body["system"] = instructions
        if request.tools:
            body["tools"] = [
                {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
                for tool in request.tools
            ]
            body["tool_choice"] = _tool_choice(request.tool_choice)
        if request.stop:
            body["stop_sequences"] = list(request.stop)
        body |= claude_settings(model, request)
        if request.output is not None:
            output_format = {"type": "json_schema", "schema": close_schema(request.output.schema)}
            body["output_config"] = {**body.get("output_config", {}), "format": output_format}
        return body

    def decoder(self, model: str, request: Request, request_id: str | None) -> AnthropicDecoder:
        """Return a decoder for the reply."""
        return AnthropicDecoder(model, request, request_id)


def _limit_cache_marks(messages: Sequence[Message]) -> list[Message]:
    # The server rejects more cache marks; the last ones cover the longest prefixes.
    marked = [index for index, message in enumerate(messages) if message.cache][-MAX_CACHE_MARKS:]
    return [replace(message, cache=index in marked) for index, message in enumerate(messages)]


def _turns(messages: list[Message]) -> Iterator[dict[str, Any]]:
    # Tool results belong to the user role; consecutive messages of one role are merged.
    role = ""
    content: list[dict[str, Any]] = []
    for message in messages:
        next_role = "assistant" if message.role == "assistant" else "user"
        if next_role != role and content:
            yield {"role": role, "content": content}
            content = []
        role = next_role
        blocks = [_block(part) for part in message.parts]
        if message.cache and blocks:
            blocks[-1]["cache_control"] = EPHEMERAL
        content += blocks
    if content:
        yield {"role": role, "content": content}


def _block(part: Part) -> dict[str, Any]:
    match part:
        case Text(text):
            return {"type": "text", "text": text}
        case Image(media_type, data, url):
            source = _inline(media_type, data)
            return {"type": "image", "source": source if url is None else {"type": "url", "url": url}}
        case AttachedDocument(media_type, data, title):
            titled = {} if title is None else {"title": title[:MAX_TITLE]}
            return {"type": "document", "source": _inline(media_type, data), **titled}
        case Thinking(_, signature, True):
            return {"type": "redacted_thinking", "data": signature}
        case Thinking(text, signature):
            return {"type": "thinking", "thinking": text, "signature": signature}
        case ToolCall(id, name):
            return {"type": "tool_use", "id": _id(id), "name": name, "input": _input(part)}
        case ToolResult(call_id, parts, is_error):
            block = {"type": "tool_result", "tool_use_id": _id(call_id), "content": _result_blocks(parts)}
            return block | {"is_error": True} if is_error else block


def _inline(media_type: str, data: str | None) -> dict[str, Any]:
    return {"type": "base64", "media_type": media_type, "data": data}


def _result_blocks(parts: Iterable[Text | Image]) -> list[dict[str, Any]]:
    return [_block(part) for part in parts if not (isinstance(part, Text) and not part.text)]


def _input(call: ToolCall) -> dict[str, Any]:
    # The format requires an object; invalid arguments are sent back as the model wrote them.
    try:
        return call.input()
    except ValueError:
        return {"unreadable": call.arguments}


def _id(id: str) -> str:
    return portable_id(id, r"[A-Za-z0-9_-]{1,64}", 24)


def _system_block(message: Message) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "text", "text": message.text}
    return block | {"cache_control": EPHEMERAL} if message.cache else block


def _tool_choice(choice: str) -> dict[str, Any]:
    return {"type": choice} if choice in ("auto", "any", "none") else {"type": "tool", "name": choice}
