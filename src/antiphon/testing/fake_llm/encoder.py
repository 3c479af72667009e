"""The port of the encoders, and the encoding of a frame."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from antiphon.testing.fake_llm.scenarios import TOOL, Ending

# Error type by HTTP status: the word of Anthropic and OpenAI, and that of Google.
KINDS: Mapping[int, tuple[str, str]] = {
    302: ("redirect", "REDIRECT"),
    400: ("invalid_request_error", "INVALID_ARGUMENT"),
    401: ("authentication_error", "UNAUTHENTICATED"),
    403: ("permission_error", "PERMISSION_DENIED"),
    404: ("not_found_error", "NOT_FOUND"),
    413: ("request_too_large", "INVALID_ARGUMENT"),
    429: ("rate_limit_error", "RESOURCE_EXHAUSTED"),
    500: ("api_error", "INTERNAL"),
    503: ("overloaded_error", "UNAVAILABLE"),
    529: ("overloaded_error", "UNAVAILABLE"),
}


class Encoder(Protocol):
    """Encodes the replies of one format; every method returns frames ready to be sent."""

    def begin(self) -> Iterator[bytes]:
        """Yield the frames before the reply."""
        ...

    def thoughts(self, pieces: Sequence[str]) -> Iterator[bytes]:
        """Yield signed reasoning."""
        ...

    def words(self, text: str) -> Iterator[bytes]:
        """Yield text."""
        ...

    def call(self, id: str, pieces: Sequence[str], name: str = TOOL) -> Iterator[bytes]:
        """Yield a tool call."""
        ...

    def end(self, ending: Ending, *, usage: bool) -> Iterator[bytes]:
        """Yield the frames that complete the reply."""
        ...

    def overload(self) -> bytes:
        """Return an error inside the stream."""
        ...

    def refusal(self) -> Iterator[bytes]:
        """Yield a refusal of the model."""
        ...

    def unknown(self) -> bytes:
        """Return an unknown event."""
        ...

    def ping(self) -> bytes:
        """Return a keep-alive frame."""
        ...

    def failure(self, status: int, message: str) -> Any:
        """Return the body of an error response."""
        ...


def frame(value: Any, event: str | None = None) -> bytes:
    """Encode a server-sent event."""
    data = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return (f"event: {event}\n" if event else "").encode() + f"data: {data}\n\n".encode()
