"""Google's Gemini API, spoken by the server's side."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from antiphon.testing.fake_llm.encoder import KINDS, frame
from antiphon.testing.fake_llm.scenarios import SIGNATURE, TOOL, Ending


class GoogleEncoder:
    """Whole responses with the new parts in them; there is no terminal event but the finish reason."""

    def __init__(self, model: str) -> None:
        self._model = model

    def begin(self) -> Iterator[bytes]:
        """Nothing comes before the first part."""
        yield from ()

    def thoughts(self, pieces: Sequence[str]) -> Iterator[bytes]:
        """Parts marked as thought."""
        for piece in pieces:
            yield self._parts({"text": piece, "thought": True})

    def words(self, text: str) -> Iterator[bytes]:
        """A text part."""
        yield self._parts({"text": text})

    def call(self, id: str, pieces: Sequence[str]) -> Iterator[bytes]:
        """A function call whose arguments come whole; the first of a reply is signed."""
        call = {"functionCall": {"name": TOOL, "args": json.loads("".join(pieces))}}
        yield self._parts(call | ({"thoughtSignature": SIGNATURE} if id == "1" else {}))

    def end(self, ending: Ending, *, usage: bool) -> Iterator[bytes]:
        """An empty part with the reason and the counts."""
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
        """The indented JSON of the error, not even an event."""
        error = {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}
        return json.dumps({"error": error}, indent=2).encode() + b"\n"

    def refusal(self) -> Iterator[bytes]:
        """The safety filter."""
        yield self._parts({"text": ""}, finish="SAFETY")

    def unknown(self) -> bytes:
        """A part and a field from the future."""
        return self._parts({"hologram": {"light": 1}}, mood="fine")

    def ping(self) -> bytes:
        """A comment."""
        return b": ping\n\n"

    def failure(self, status: int, message: str) -> Any:
        """An error object with a status word and, where it applies, a delay."""
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
