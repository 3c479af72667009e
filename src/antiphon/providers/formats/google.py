"""The wire format of Google's Gemini API."""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from antiphon.messages import AttachedDocument, Image, Message, Part, Text, Thinking, ToolCall, ToolResult
from antiphon.providers.base import Request
from antiphon.providers.formats.families import gemini_thinking
from antiphon.providers.formats.google_decoder import GENERATED_ID, GoogleDecoder
from antiphon.providers.formats.history import normalize_history, system_messages
from antiphon.providers.formats.schema import close_schema

# Gemini 3 requires a signature on the first call of a turn; for calls of other models, Google documents
# this placeholder.
NO_SIGNATURE = "skip_thought_signature_validator"
MODES = {"auto": "AUTO", "any": "ANY", "none": "NONE"}


class GoogleWire:
    """Google's format: contents of parts, with signed function calls that are sent back with their signature."""

    name = "google"
    key_header = ("x-goog-api-key", "")

    def path(self, model: str) -> str:
        """Return the path, which contains the model."""
        resource = model if "/" in model else f"models/{model}"
        return f"/v1beta/{quote(resource)}:streamGenerateContent?alt=sse"

    def headers(self) -> Mapping[str, str]:
        """Return no headers: the format requires none."""
        return {}

    def body(self, model: str, request: Request) -> dict[str, Any]:
        """Return the body of a request."""
        messages = normalize_history(request.messages, self.name, signed=True)
        body: dict[str, Any] = {"contents": list(_contents(messages))}
        if instructions := [{"text": message.text} for message in system_messages(request.messages)]:
            body["systemInstruction"] = {"parts": instructions}
        if request.tools:
            declarations = [
                {"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.parameters}
                for tool in request.tools
            ]
            body["tools"] = [{"functionDeclarations": declarations}]
            body["toolConfig"] = {"functionCallingConfig": _calling(request.tool_choice)}
        if settings := _settings(model, request):
            body["generationConfig"] = settings
        return body

    def decoder(self, model: str, request: Request, request_id: str | None) -> GoogleDecoder:
        """Return a decoder for the reply."""
        return GoogleDecoder(model, request, request_id)


def _contents(messages: list[Message]) -> Iterator[dict[str, Any]]:
    names: dict[str, str] = {}
    role = ""
    parts: list[dict[str, Any]] = []
    for message in messages:
        names |= {call.id: call.name for call in message.calls}
        next_role = "model" if message.role == "assistant" else "user"
        if next_role != role and parts:
            yield {"role": role, "parts": parts}
            parts = []
        role = next_role
        parts += _parts(message, names)
    if parts:
        yield {"role": role, "parts": parts}


def _parts(message: Message, names: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    unsigned = message.calls and message.calls[0].signature is None
    for part in message.parts:
        value = _part(part, names)
        if unsigned and part == message.calls[0]:
            value["thoughtSignature"] = NO_SIGNATURE
        yield value


def _part(part: Part, names: Mapping[str, str]) -> dict[str, Any]:
    match part:
        case Text(text):
            return {"text": text}
        case Image(media_type, data, url):
            if url is not None:
                return {"fileData": {"mimeType": media_type, "fileUri": url}}
            return {"inlineData": {"mimeType": media_type, "data": data}}
        case AttachedDocument(media_type, data):
            return {"inlineData": {"mimeType": media_type, "data": data}}
        case Thinking(text, signature):
            # A signature without reasoning came with an empty text, and is sent back with one.
            thought: dict[str, Any] = {"text": text, "thought": True} if text else {"text": ""}
            return thought | {"thoughtSignature": signature}
        case ToolCall(id, name, _, signature):
            call = {"functionCall": _with_id(id, {"name": name, "args": _arguments(part)})}
            return call | {"thoughtSignature": signature} if signature else call
        case ToolResult(call_id):
            response = {"name": names.get(call_id, call_id), **_response(part)}
            return {"functionResponse": _with_id(call_id, response)}


def _response(result: ToolResult) -> dict[str, Any]:
    text = "".join(part.text for part in result.parts if isinstance(part, Text))
    response: dict[str, Any] = {"response": {"error" if result.is_error else "output": text}}
    images = [_part(part, {}) for part in result.parts if isinstance(part, Image)]
    return response | {"parts": images} if images else response


def _with_id(id: str, value: dict[str, Any]) -> dict[str, Any]:
    # An id that we generated means nothing to the server.
    return value if id.startswith(GENERATED_ID) else {"id": id, **value}


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
        settings["responseJsonSchema"] = close_schema(request.output.schema)
    if request.thinking is not None and (thinking := gemini_thinking(model, request.thinking)):
        settings["thinkingConfig"] = thinking
    return settings
