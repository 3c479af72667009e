"""What a wire format must know, and what carries its bytes: two ports between a request and the network."""

import json
from collections.abc import AsyncGenerator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from antiphon.errors import Code
from antiphon.providers.base import Delta, Request
from antiphon.providers.errors import ProviderError
from antiphon.providers.keys import Secret

# Without the checks for white space around the value that `json.loads` makes with regular expressions.
_scan = json.JSONDecoder().raw_decode


@dataclass(frozen=True, slots=True)
class Call:
    """One HTTP request; the key is put into its header by the carrier, at the last moment."""

    url: str
    headers: Mapping[str, str]
    body: bytes
    key: Secret | None
    key_header: str
    key_prefix: str
    connect_ms: int


class Answer(Protocol):
    """What the server gives back: a head at once, a body piece by piece."""

    @property
    def status(self) -> int:
        """The HTTP status."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers, in lower case."""
        ...

    def chunks(self) -> AsyncGenerator[bytes, None]:
        """The body as it arrives; a broken connection is a `ProviderError`."""
        ...

    async def close(self) -> None:
        """End the request, whether the body was read or not."""
        ...


class Carrier(Protocol):
    """What carries calls to servers."""

    async def send(self, call: Call) -> Answer:
        """Send a call and wait for the head of its answer."""
        ...

    async def close(self) -> None:
        """Give back all connections."""
        ...


class Decoder(Protocol):
    """Reads one reply; what is wrong with it comes as a `ProviderError`, after the deltas before it."""

    @property
    def finished(self) -> bool:
        """Whether `Done` has been given."""
        ...

    def feed(self, chunk: bytes) -> Iterator[Delta]:
        """The deltas that these bytes complete."""
        ...

    def end(self) -> Iterator[Delta]:
        """The last deltas when the body ends; an error when it ends too early."""
        ...


class Wire(Protocol):
    """A wire format: how a request is written and how a reply is read."""

    @property
    def name(self) -> str:
        """The format's name, which is also the source of the messages it writes."""
        ...

    @property
    def key_header(self) -> tuple[str, str]:
        """The header that carries the key, and what stands before the key in it."""
        ...

    def path(self, model: str) -> str:
        """The path below the base URL."""
        ...

    def headers(self) -> Mapping[str, str]:
        """The format's own headers."""
        ...

    def body(self, model: str, request: Request) -> dict[str, Any]:
        """The request as the server wants it."""
        ...

    def decoder(self, model: str, request: Request, request_id: str | None) -> Decoder:
        """A reader for the reply to a request."""
        ...


# What reading a frame of an unexpected shape runs into.
SHAPE_ERRORS = (KeyError, TypeError, AttributeError, IndexError)


def misshapen(data: str) -> ProviderError:
    """The error for a frame that is JSON, but not of the shape its format promises."""
    return ProviderError(Code.MALFORMED, f"the server sent a frame of an unknown shape: {data[:80]!r}")


def said(value: Any) -> str:
    """A text in a frame; another thing in its place is a shape error."""
    if value.__class__ is not str:
        raise TypeError("not a text")
    text: str = value
    return text


def named(value: Any) -> str:
    """The name or id of something in a frame: a text that is not empty."""
    text = said(value)
    if not text:
        raise TypeError("an empty name")
    return text


def counted(value: Any) -> int:
    """A count in a frame; nothing and nonsense count as zero."""
    return value if value.__class__ is int and value > 0 else 0


def parse_frame(data: str) -> dict[str, Any]:
    """The JSON object in a frame."""
    try:
        frame, end = _scan(data)
        if end != len(data):
            frame = json.loads(data)
    except ValueError:
        frame = _padded(data)
    if frame.__class__ is not dict:
        raise ProviderError(Code.MALFORMED, f"the server sent a frame that is not an object: {data[:80]!r}")
    parsed: dict[str, Any] = frame
    return parsed


def _padded(data: str) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        raise ProviderError(Code.MALFORMED, f"the server sent a frame that is not JSON: {data[:80]!r}") from None
