"""Server side of Google's Gemini API."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from antiphon.testing.fake_llm.encoder import KINDS, frame
from antiphon.testing.fake_llm.scenarios import SIGNATURE, TOOL, Ending


class GoogleEncoder:
    """Encodes responses with the new parts; the finish reason is the only end."""

    def __init__(self, model: str) -> None:
        self._model = model

    def begin(self) -> Iterator[bytes]:
        """Yield no frames: the reply starts with the first part."""
        yield from ()

    def thoughts(self, pieces: Sequence[str]) -> Iterator[bytes]:
        """Yield parts marked as thought."""
        for piece in pieces:
            yield self._parts({"text": piece, "thought": True})

    def words(self, text: str) -> Iterator[bytes]:
        """Yield a text part."""
        yield self._parts({"text": text})

    def call(self, id: str, pieces: Sequence[str], name: str = TOOL) -> Iterator[bytes]:
        """Yield a function call with all its arguments; the first of a reply is signed."""
        call = {"functionCall": {"name": name, "args": json.loads("".join(pieces))}}
        yield self._parts(call | ({"thoughtSignature": SIGNATURE} if id == "1" else {}))

    def end(self, ending: Ending, *, usage: bool) -> Iterator[bytes]:
        """Yield an empty part with the finish reason and the token counts."""
        counts = {
            "promptTokenCount": 1032,
            "cachedContentTokenCount": 1000,
            "candidatesTokenCount": 34,
            "thoughtsTokenCount": 8,
            "totalTokenCount": 1074,
        }
        reason = {"end": "STOP", "tool_calls": "STOP", "length": "MAX_TOKENS"}[ending]
        yield self._parts({"text": ""}, finish=reason, **({"usageMetadata": counts} if usage else {}))

    def overload(self) -> bytes:
        """Return the indented JSON of the error, which is not an event."""
        error = {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}
        return json.dumps({"error": error}, indent=2).encode() + b"\n"

    def refusal(self) -> Iterator[bytes]:
        """Yield the finish reason of the safety filter."""
        yield self._parts({"text": ""}, finish="SAFETY")

    def unknown(self) -> bytes:
        """Return a part and a field of unknown types."""
        return self._parts({"hologram": {"light": 1}}, mood="fine")

    def ping(self) -> bytes:
        """Return a comment."""
        return b": ping\n\n"

    def failure(self, status: int, message: str) -> Any:
        """Return an error object with a status and, for rate limits, a delay."""
        word = KINDS.get(status, ("", "UNKNOWN"))[1]
        error: dict[str, Any] = {"code": status, "message": message, "status": word}
        if status == 429:
            retry = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7s"}
            error["details"] = [retry]
        return {"error": error}

    def _parts(self, *parts: dict[str, Any], finish: str | None = None, **fields: Any) -> bytes:
        candidate: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
        if finish:
            candidate["finishReason"] = finish
        return frame({"candidates": [candidate], "modelVersion": self._model, "responseId": "r1", **fields})
