"""The port of a model: what is asked, what comes back piece by piece, and who answers."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from antiphon.messages import Message, Usage

Effort = Literal["none", "low", "medium", "high"]
Stop = Literal["end", "tool_calls", "length", "stop_sequence", "pause"]
NO_EXTRAS: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that a model may ask for; the parameters are a JSON Schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    # What a call can do; of `command`, the call's own command says it.
    risk: Literal["read", "write", "destructive", "command"] = "destructive"


@dataclass(frozen=True, slots=True)
class OutputSchema:
    """The JSON Schema that the text of a reply must fulfil."""

    schema: Mapping[str, Any]
    name: str = "answer"


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long to wait for a connection, for the first delta, and from one delta to the next."""

    connect_ms: int = 10_000
    first_delta_ms: int = 300_000
    between_deltas_ms: int = 120_000


@dataclass(frozen=True, slots=True)
class Request:
    """What a model is asked; absent settings are the provider's own defaults."""

    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    # "auto", "any" (some tool must be called), "none", or the name of the tool that must be called.
    tool_choice: str = "auto"
    temperature: float | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    # How hard to think, or how many tokens to think for.
    thinking: Effort | int | None = None
    output: OutputSchema | None = None
    # Requests with the same key share a beginning; providers that cache by themselves route them alike.
    cache_key: str | None = None
    timeouts: Timeouts | None = None
    # Fields of the provider's own format, added to the body as they are.
    extra: Mapping[str, Any] = field(default_factory=lambda: NO_EXTRAS)


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More words."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """More of a thought."""

    text: str


@dataclass(frozen=True, slots=True)
class SignatureDelta:
    """The signature of the thought just ended, or of the tool call it names."""

    signature: str
    call_id: str | None = None
    redacted: bool = False


@dataclass(frozen=True, slots=True)
class ToolStart:
    """A tool call begins."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class ToolArgs:
    """More of the arguments of a tool call, as JSON text."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class UsageDelta:
    """The tokens so far: the newest replaces all before it, and `model` is the one that really answers."""

    usage: Usage
    model: str
    tier: str | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """The reply is complete; nothing follows."""

    stop: Stop
    request_id: str | None = None


Delta = TextDelta | ThinkingDelta | SignatureDelta | ToolStart | ToolArgs | UsageDelta | Done
"""Part of a streamed reply."""


@dataclass(frozen=True, slots=True)
class Model:
    """Who answers: the reference it was opened by, whose format and prices apply, and its name there."""

    reference: str
    provider: str
    name: str
    # The provider itself holds the text of a reply to a JSON Schema.
    structured: bool = True
    # What people should know about it, to be shown where it is listed or speaks.
    note: str = ""


class Provider(Protocol):
    """A model that can be asked.

    One call is one request: nothing is retried. A stream ends with exactly one `Done`, or by a `ProviderError`;
    closing it, or cancelling the task that reads it, ends the request at once.
    """

    @property
    def model(self) -> Model:
        """Who answers."""
        ...

    def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """Ask, and read the reply piece by piece."""
        ...
