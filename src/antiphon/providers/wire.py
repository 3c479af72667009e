"""The ports between a request and the network: wire formats and transports."""

import json
from collections.abc import AsyncGenerator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from antiphon.errors import Code
from antiphon.providers.base import Delta, Request
from antiphon.providers.errors import ProviderError
from antiphon.providers.keys import Secret

# Faster than `json.loads`, which also checks for white space around the value.
_scan = json.JSONDecoder().raw_decode


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """HTTP request; the transport adds the key to its header just before sending."""

    url: str
    headers: Mapping[str, str]
    body: bytes
    key: Secret | None
    key_header: str
    key_prefix: str
    connect_ms: int


class HttpResponse(Protocol):
    """HTTP response: the head at once, the body in chunks."""

    @property
    def status(self) -> int:
        """HTTP status."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """Headers, with names in lower case."""
        ...

    def chunks(self) -> AsyncGenerator[bytes, None]:
        """Yield the body as it arrives; raise `ProviderError` if the connection breaks."""
        ...

    async def close(self) -> None:
        """End the request, even if the body was not read."""
        ...


class Transport(Protocol):
    """Sends HTTP requests to servers."""

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Send a request and wait for the head of the response."""
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...


@runtime_checkable
class PoolingTransport(Transport, Protocol):
    """A transport that keeps connections for later requests."""

    async def close_idle(self, url: str) -> None:
        """Close the connections to the server of a URL that no request uses."""
        ...


class Decoder(Protocol):
    """Decodes one reply; errors in it are raised as `ProviderError`, after the deltas before them."""

    @property
    def finished(self) -> bool:
        """True once `Done` has been yielded."""
        ...

    def feed(self, chunk: bytes) -> Iterator[Delta]:
        """Yield the deltas that these bytes complete."""
        ...

    def end(self) -> Iterator[Delta]:
        """Yield the last deltas at the end of the body; raise `ProviderError` if it ends too early."""
        ...


class Wire(Protocol):
    """Wire format: writes requests and decodes replies."""

    @property
    def name(self) -> str:
        """Name of the format, also the `source` of its messages."""
        ...

    @property
    def key_header(self) -> tuple[str, str]:
        """Header of the key, and the prefix of its value."""
        ...

    def path(self, model: str) -> str:
        """Return the path below the base URL."""
        ...

    def headers(self) -> Mapping[str, str]:
        """Return the headers that the format requires."""
        ...

    def body(self, model: str, request: Request) -> dict[str, Any]:
        """Return the body of a request."""
        ...

    def decoder(self, model: str, request: Request, request_id: str | None) -> Decoder:
        """Return a decoder for the reply to a request."""
        ...


# Raised when a frame does not have the shape that its format defines.
SHAPE_ERRORS = (KeyError, TypeError, AttributeError, IndexError, RecursionError)


def shape_error(data: str) -> ProviderError:
    """Return the error for a frame that is JSON, but not of the shape that its format defines."""
    return ProviderError(Code.MALFORMED, "the server sent a frame of an unexpected shape", quote=data)


def as_text(value: Any) -> str:
    """Return a value of a frame that must be a string."""
    if value.__class__ is not str:
        raise TypeError("not a text")
    text: str = value
    return text


def as_name(value: Any) -> str:
    """Return a name or id of a frame, which must be a non-empty string."""
    text = as_text(value)
    if not text:
        raise TypeError("an empty name")
    return text


def parse_frame(data: str) -> dict[str, Any]:
    """Parse the JSON object of a frame."""
    try:
        frame, end = _scan(data)
        if end != len(data):
            frame = json.loads(data)
    except (ValueError, RecursionError):
        frame = _parse_padded_json(data)
    if frame.__class__ is not dict:
        raise ProviderError(Code.MALFORMED, "the server sent a frame that is not an object", quote=data)
    parsed: dict[str, Any] = frame
    return parsed


def _parse_padded_json(data: str) -> Any:
    # A frame without data is a keep-alive.
    if not data.strip():
        return {}
    try:
        return json.loads(data)
    except ValueError:
        reason = "the server sent a frame that is not JSON"
        raise ProviderError(Code.MALFORMED, reason, quote=data) from None
    except RecursionError:
        reason = "the server sent a frame that is nested too deeply"
        raise ProviderError(Code.MALFORMED, reason, recoverable=False, quote=data) from None
