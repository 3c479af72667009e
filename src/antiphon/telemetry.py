"""Spans and metrics by the API of OpenTelemetry, with the names of its semantic conventions.

Nothing is recorded unless the API is installed and the operator has set a provider, such as that of the SDK.
Attributes never hold messages, arguments, results, queries, headers or texts of errors.
"""

import time
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from opentelemetry.metrics import Histogram
    from opentelemetry.trace import Tracer

Attributes = Mapping[str, str | int]
SpanKind = Literal["SERVER", "CLIENT", "INTERNAL"]
SCOPE = "antiphon"
# Providers of the API package itself record nothing.
IDLE_PROVIDERS = ("opentelemetry.trace", "opentelemetry.metrics")
# Boundaries that the conventions advise for the two histograms.
TOKEN_BOUNDARIES = [4**power for power in range(14)]
SECOND_BOUNDARIES = [0.01 * 2**power for power in range(14)]


class _Api(NamedTuple):
    trace: Any
    metrics: Any
    tracer: "Tracer"
    tokens: "Histogram"
    durations: "Histogram"


@cache
def _load() -> _Api | None:
    """Return the API, if it is installed; what it returns before a provider is set uses that provider later."""
    try:
        from opentelemetry import metrics, trace
    except ImportError:
        return None
    meter = metrics.get_meter(SCOPE)
    tokens = meter.create_histogram(
        "gen_ai.client.token.usage",
        unit="{token}",
        description="Tokens of requests to models.",
        explicit_bucket_boundaries_advisory=TOKEN_BOUNDARIES,
    )
    durations = meter.create_histogram(
        "gen_ai.client.operation.duration",
        unit="s",
        description="Time of requests to models and of calls of tools.",
        explicit_bucket_boundaries_advisory=SECOND_BOUNDARIES,
    )
    return _Api(trace, metrics, trace.get_tracer(SCOPE), tokens, durations)


def is_recording() -> bool:
    """Return whether a provider records spans or metrics."""
    api = _load()
    if api is None:
        return False
    providers = (api.trace.get_tracer_provider(), api.metrics.get_meter_provider())
    return any(not type(provider).__module__.startswith(IDLE_PROVIDERS) for provider in providers)


class OpenSpan:
    """Span of an operation that has begun; it is not the parent of what happens until `end`.

    A reply continues after the request that began it has ended, so no operation contains another.
    """

    __slots__ = ("_api", "_attributes", "_span", "_started")

    def __init__(self, name: str, kind: SpanKind, attributes: Attributes) -> None:
        self._api = _load()
        self._attributes = dict(attributes)
        self._started = time.perf_counter()
        self._span: Any = None
        if self._api is not None:
            span_kind = self._api.trace.SpanKind[kind]
            self._span = self._api.tracer.start_span(name, kind=span_kind, attributes=self._attributes)

    def rename(self, name: str) -> None:
        """Give the span another name."""
        if self._span is not None:
            self._span.update_name(name)

    def set(self, attributes: Attributes) -> None:
        """Add attributes to the span."""
        if self._span is not None:
            self._span.set_attributes(attributes)

    def end(self, error: str | None = None) -> None:
        """End the span, with the type of the error that ended the operation."""
        if self._api is not None and error is not None:
            self._attributes["error.type"] = error
            self._span.set_attribute("error.type", error)
            self._span.set_status(self._api.trace.Status(self._api.trace.StatusCode.ERROR))
        if self._span is not None:
            self._span.end()

    def record_duration(self, *names: str) -> None:
        """Record the time since the start, with the attributes of these names."""
        if self._api is not None:
            self._api.durations.record(time.perf_counter() - self._started, self._select(names))

    def record_tokens(self, type: Literal["input", "output"], number: int, *names: str) -> None:
        """Record a number of tokens, with the attributes of these names."""
        if self._api is not None:
            self._api.tokens.record(number, {**self._select(names), "gen_ai.token.type": type})

    def _select(self, names: tuple[str, ...]) -> dict[str, str | int]:
        return {name: self._attributes[name] for name in names if name in self._attributes}
