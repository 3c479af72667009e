"""The wire format of Anthropic's Messages API."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from antiphon.messages import Image, Message, Part, Text, Thinking, ToolCall, ToolResult
from antiphon.providers.base import Request
from antiphon.providers.formats.anthropic_decoder import AnthropicDecoder
from antiphon.providers.formats.families import claude_settings
from antiphon.providers.formats.history import portable_id, settled, system_messages
from antiphon.providers.formats.schema import closed

VERSION = "2023-06-01"
EPHEMERAL = {"type": "ephemeral"}
MOST_MARKS = 4


class AnthropicWire:
    """Messages with content blocks; thoughts are signed and must come back unchanged."""

    name = "anthropic"
    key_header = ("x-api-key", "")

    def path(self, model: str) -> str:
        """The one endpoint."""
        return "/v1/messages"

    def headers(self) -> Mapping[str, str]:
        """The version of the format."""
        return {"anthropic-version": VERSION}

    def body(self, model: str, request: Request) -> dict[str, Any]:
        """The request as the server wants it."""
        messages = _with_few_marks(request.messages)
        body: dict[str, Any] = {
            "model": model,
            "messages": list(_turns(settled(messages, self.name, signed=True))),
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
            form = {"type": "json_schema", "schema": closed(request.output.schema)}
            body["output_config"] = {**body.get("output_config", {}), "format": form}
        return body

    def decoder(self, model: str, request: Request, request_id: str | None) -> AnthropicDecoder:
        """A reader for the reply."""
        return AnthropicDecoder(model, request, request_id)


def _with_few_marks(messages: Sequence[Message]) -> list[Message]:
    # More marks for caching are refused; the last ones cover the most.
    kept = [place for place, message in enumerate(messages) if message.cache][-MOST_MARKS:]
    return [replace(message, cache=place in kept) for place, message in enumerate(messages)]


def _turns(messages: list[Message]) -> Iterator[dict[str, Any]]:
    # Results of tools belong to the user's side; two turns of one side become one.
    role = ""
    content: list[dict[str, Any]] = []
    for message in messages:
        side = "assistant" if message.role == "assistant" else "user"
        if side != role and content:
            yield {"role": role, "content": content}
            content = []
        role = side
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
            source = {"type": "base64", "media_type": media_type, "data": data}
            return {"type": "image", "source": source if url is None else {"type": "url", "url": url}}
        case Thinking(_, signature, True):
            return {"type": "redacted_thinking", "data": signature}
        case Thinking(text, signature):
            return {"type": "thinking", "thinking": text, "signature": signature}
        case ToolCall(id, name):
            return {"type": "tool_use", "id": _id(id), "name": name, "input": _input(part)}
        case ToolResult(call_id, parts, is_error):
            block = {"type": "tool_result", "tool_use_id": _id(call_id), "content": _shown(parts)}
            return block | {"is_error": True} if is_error else block


def _shown(parts: Iterable[Text | Image]) -> list[dict[str, Any]]:
    return [_block(part) for part in parts if not (isinstance(part, Text) and not part.text)]


def _input(call: ToolCall) -> dict[str, Any]:
    # The format has no room for arguments that are not an object; the model sees what it wrote.
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
