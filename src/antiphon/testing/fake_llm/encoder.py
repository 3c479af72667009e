"""What every wire format must be able to say, and how a frame is written."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from antiphon.testing.fake_llm.scenarios import Ending

# What the providers call a failure: the one word of Anthropic and OpenAI, the other of Google.
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
    """One format; every method gives frames ready to be sent."""

    def begin(self) -> Iterator[bytes]:
        """What comes before the reply."""
        ...

    def thoughts(self, pieces: Sequence[str]) -> Iterator[bytes]:
        """A signed thought."""
        ...

    def words(self, text: str) -> Iterator[bytes]:
        """More words."""
        ...

    def call(self, id: str, pieces: Sequence[str]) -> Iterator[bytes]:
        """A tool call."""
        ...

    def end(self, ending: Ending, *, usage: bool) -> Iterator[bytes]:
        """What completes the reply."""
        ...

    def overload(self) -> bytes:
        """An error in the middle of the stream."""
        ...

    def refusal(self) -> Iterator[bytes]:
        """The model will not answer."""
        ...

    def unknown(self) -> bytes:
        """An event that no client knows."""
        ...

    def ping(self) -> bytes:
        """A sign of life."""
        ...

    def failure(self, status: int, message: str) -> Any:
        """The body of an answer that is not a stream."""
        ...


def frame(value: Any, event: str | None = None) -> bytes:
    """One server-sent event."""
    data = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return (f"event: {event}\n" if event else "").encode() + f"data: {data}\n\n".encode()
