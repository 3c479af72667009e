"""Counters of a server, in the text format of Prometheus."""

from collections import Counter
from collections.abc import Iterator

from antiphon.version import VERSION

METHODS = frozenset({"GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS"})
MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
NO_ROUTE = "none"


class ServerMetrics:
    """Counters of requests and streams; routes are counted by their templates, which hold no ids."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, str, int]] = Counter()
        self.seconds: Counter[str] = Counter()
        self.running = 0  # requests that are being answered, streams included
        self.streams = 0
        self.frames = 0
        self.heartbeats = 0

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an answered request."""
        self.requests[method if method in METHODS else "OTHER", route, status] += 1
        self.seconds[route] += seconds  # type: ignore[assignment]  # a Counter adds any numbers

    def to_text(self) -> str:
        """Return the counters as Prometheus reads them."""
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        yield from _head("antiphon_info", "gauge", "Version of the server.")
        yield f'antiphon_info{{version="{VERSION}"}} 1'
        yield from _head("antiphon_http_requests_total", "counter", "Requests that were answered.")
        for (method, route, status), number in sorted(self.requests.items()):
            labels = f'method="{method}",route="{route}",status="{status}"'
            yield f"antiphon_http_requests_total{{{labels}}} {number}"
        yield from _head("antiphon_http_request_seconds_total", "counter", "Time to answer them.")
        for route, seconds in sorted(self.seconds.items()):
            yield f'antiphon_http_request_seconds_total{{route="{route}"}} {seconds:.6f}'
        for name, kind, about, number in (
            (
                "antiphon_http_requests_running",
                "gauge",
                "Requests that are being answered.",
                self.running - self.streams,
            ),
            ("antiphon_streams_open", "gauge", "Streams of events that are open.", self.streams),
            ("antiphon_stream_frames_total", "counter", "Frames that were written to streams.", self.frames),
            ("antiphon_stream_heartbeats_total", "counter", "Heartbeats among them.", self.heartbeats),
        ):
            yield from _head(name, kind, about)
            yield f"{name} {number}"


def _head(name: str, kind: str, about: str) -> Iterator[str]:
    yield f"# HELP {name} {about}"
    yield f"# TYPE {name} {kind}"
