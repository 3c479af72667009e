"""The wire format of Google's Gemini API."""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from antiphon.messages import Image, Message, Part, Text, Thinking, ToolCall, ToolResult
from antiphon.providers.base import Request
from antiphon.providers.formats.families import gemini_thinking
from antiphon.providers.formats.google_decoder import MADE_UP_ID, GoogleDecoder
from antiphon.providers.formats.history import settled, system_messages
from antiphon.providers.formats.schema import closed

# Gemini 3 wants a signature with the first call of a turn; for calls that another model made, Google documents
# this word in its place.
NO_SIGNATURE = "skip_thought_signature_validator"
MODES = {"auto": "AUTO", "any": "ANY", "none": "NONE"}


class GoogleWire:
    """Contents made of parts; function calls are signed and must come back with their signature."""

    name = "google"
    key_header = ("x-goog-api-key", "")

    def path(self, model: str) -> str:
        """The model is part of the path."""
        place = model if "/" in model else f"models/{model}"
        return f"/v1beta/{quote(place)}:streamGenerateContent?alt=sse"

    def headers(self) -> Mapping[str, str]:
        """None of its own."""
        return {}

    def body(self, model: str, request: Request) -> dict[str, Any]:
        """The request as the server wants it."""
        body: dict[str, Any] = {"contents": list(_contents(settled(request.messages, self.name, signed=True)))}
        if instructions := [{"text": message.text} for message in system_messages(request.messages)]:
            body["systemInstruction"] = {"parts": instructions}
        if request.tools:
            declared = [
                {"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.parameters}
                for tool in request.tools
            ]
            body["tools"] = [{"functionDeclarations": declared}]
            body["toolConfig"] = {"functionCallingConfig": _calling(request.tool_choice)}
        if settings := _settings(model, request):
            body["generationConfig"] = settings
        return body

    def decoder(self, model: str, request: Request, request_id: str | None) -> GoogleDecoder:
        """A reader for the reply."""
        return GoogleDecoder(model, request, request_id)


def _contents(messages: list[Message]) -> Iterator[dict[str, Any]]:
    names: dict[str, str] = {}
    role = ""
    parts: list[dict[str, Any]] = []
    for message in messages:
        names |= {call.id: call.name for call in message.calls}
        side = "model" if message.role == "assistant" else "user"
        if side != role and parts:
            yield {"role": role, "parts": parts}
            parts = []
        role = side
        parts += _parts(message, names)
    if parts:
        yield {"role": role, "parts": parts}


def _parts(message: Message, names: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    unsigned = message.calls and message.calls[0].signature is None
    for part in message.parts:
        written = _part(part, names)
        if unsigned and part == message.calls[0]:
            written["thoughtSignature"] = NO_SIGNATURE
        yield written


def _part(part: Part, names: Mapping[str, str]) -> dict[str, Any]:
    match part:
        case Text(text):
            return {"text": text}
        case Image(media_type, data, url):
            if url is not None:
                return {"fileData": {"mimeType": media_type, "fileUri": url}}
            return {"inlineData": {"mimeType": media_type, "data": data}}
        case Thinking(text, signature):
            # A signature without a thought came with an empty text, and goes back with one.
            thought: dict[str, Any] = {"text": text, "thought": True} if text else {"text": ""}
            return thought | {"thoughtSignature": signature}
        case ToolCall(id, name, _, signature):
            call = {"functionCall": _identified(id, {"name": name, "args": _arguments(part)})}
            return call | {"thoughtSignature": signature} if signature else call
        case ToolResult(call_id):
            answer = {"name": names.get(call_id, call_id), **_answer(part)}
            return {"functionResponse": _identified(call_id, answer)}


def _answer(result: ToolResult) -> dict[str, Any]:
    text = "".join(part.text for part in result.parts if isinstance(part, Text))
    answer: dict[str, Any] = {"response": {"error" if result.is_error else "output": text}}
    pictures = [_part(part, {}) for part in result.parts if isinstance(part, Image)]
    return answer | {"parts": pictures} if pictures else answer


def _identified(id: str, value: dict[str, Any]) -> dict[str, Any]:
    # An id that we made up because the server gave none would mean nothing to it.
    return value if id.startswith(MADE_UP_ID) else {"id": id, **value}


def _arguments(call: ToolCall) -> dict[str, Any]:
    try:
        return call.input()
    except ValueError:
        return {"unreadable": call.arguments}


def _calling(choice: str) -> dict[str, Any]:
    return {"mode": MODES[choice]} if choice in MODES else {"mode": "ANY", "allowedFunctionNames": [choice]}


def _settings(model: str, request: Request) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    if request.temperature is not None:
        settings["temperature"] = request.temperature
    if request.max_tokens is not None:
        settings["maxOutputTokens"] = request.max_tokens
    if request.stop:
        settings["stopSequences"] = list(request.stop)
    if request.output is not None:
        settings["responseMimeType"] = "application/json"
        settings["responseJsonSchema"] = closed(request.output.schema)
    if request.thinking is not None and (thinking := gemini_thinking(model, request.thinking)):
        settings["thinkingConfig"] = thinking
    return settings
