"""The port of a model: the request, the deltas of its reply, and the provider."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from antiphon.messages import Message, Usage

Effort = Literal["none", "low", "medium", "high"]
Stop = Literal["end", "tool_calls", "length", "stop_sequence", "pause"]
NO_EXTRAS: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Tool:
    """Tool offered to a model; the parameters are a JSON Schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    # The risk of a call; with "command" it depends on the command of each call.
    risk: Literal["read", "write", "destructive", "command"] = "destructive"


@dataclass(frozen=True, slots=True)
class OutputSchema:
    """JSON Schema that the text of a reply must match."""

    schema: Mapping[str, Any]
    name: str = "answer"


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Time limits for the connection, for the first delta, and between two deltas."""

    connect_ms: int = 10_000
    first_delta_ms: int = 300_000
    between_deltas_ms: int = 120_000


DEFAULT_TIMEOUTS = Timeouts()


@dataclass(frozen=True, slots=True)
class Request:
    """Request to a model; absent settings mean the provider's defaults."""

    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    # "auto", "any" (some tool must be called), "none", or the name of the tool that must be called.
    tool_choice: str = "auto"
    temperature: float | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    # Reasoning effort, or a budget of reasoning tokens.
    thinking: Effort | int | None = None
    output: OutputSchema | None = None
    # Requests with the same key share a prefix; providers that cache by themselves route them alike.
    cache_key: str | None = None
    timeouts: Timeouts | None = None
    # Fields of the provider's own format, added to the body unchanged.
    extra: Mapping[str, Any] = field(default_factory=lambda: NO_EXTRAS)


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More text."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """More reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class SignatureDelta:
    """Signature of the reasoning that just ended, or of the tool call `call_id`."""

    signature: str
    call_id: str | None = None
    redacted: bool = False


@dataclass(frozen=True, slots=True)
class ToolStart:
    """Start of a tool call."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class ToolArgs:
    """More of the arguments of a tool call, as JSON text."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class UsageDelta:
    """Token counts so far, replacing earlier ones; `model` is the model that really answers."""

    usage: Usage
    model: str
    tier: str | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """End of a complete reply; nothing follows."""

    stop: Stop
    request_id: str | None = None


Delta = TextDelta | ThinkingDelta | SignatureDelta | ToolStart | ToolArgs | UsageDelta | Done
"""Part of a streamed reply."""


@dataclass(frozen=True, slots=True)
class Model:
    """Identity of a model: its reference, the provider whose format and prices apply, and its name there."""

    reference: str
    provider: str
    name: str
    # The provider itself enforces a JSON Schema on the text of a reply.
    structured: bool = True
    # Remark for people, shown where the model is listed or answers.
    note: str = ""


class Provider(Protocol):
    """A model that answers requests.

    One call is one request: nothing is retried. A stream ends with exactly one `Done`, or by a `ProviderError`;
    closing it, or cancelling the task that reads it, ends the request at once.
    """

    @property
    def model(self) -> Model:
        """Identity of the model."""
        ...

    def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """Send a request and yield the deltas of the reply."""
        ...


@runtime_checkable
class CheckedProvider(Provider, Protocol):
    """A model that can tell, without a request, that it cannot be asked."""

    async def check(self) -> None:
        """Raise `ProviderError` if a key or a file is missing."""
        ...
