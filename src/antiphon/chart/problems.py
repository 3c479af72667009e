"""What is wrong with a chart, and how it is said."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NoReturn

from antiphon.chart.errors import ChartError


class Problems:
    """Reports what is wrong with one chart, at the place where it is."""

    def __init__(self, chart_id: str, strict: bool) -> None:
        self.chart_id = chart_id
        self.strict = strict

    def fail(self, path: str, problem: str, known: Iterable[str] = ()) -> NoReturn:
        """A chart that cannot be."""
        raise ChartError(self.chart_id, path, problem, known)

    def complain(self, path: str, problem: str, known: Iterable[str] = ()) -> None:
        """A problem that XState finds late or never; an error only in strict charts."""
        if self.strict:
            self.fail(path, problem, known)

    def expect(self, value: Any, kind: type | tuple[type, ...], expected: str, path: str) -> None:
        """A value that must be of a kind for the chart to be built at all."""
        if not isinstance(value, kind):
            self.fail(path, f"expected {expected}, not {value!r}")

    def prefer(self, value: Any, kind: type | tuple[type, ...], expected: str, path: str) -> None:
        """A value that should be of a kind, or absent."""
        if value is not None and not isinstance(value, kind):
            self.complain(path, f"expected {expected}, not {value!r}")

    def keys(self, config: Any, known: Collection[str], path: str) -> None:
        """A mapping whose keys must be known."""
        self.expect(config, Mapping, "a mapping", path)
        for key in config:
            if key not in known:
                self.complain(path, f"unknown key {key!r}", known)


def join_path(path: str, key: str) -> str:
    """A place inside a place."""
    return f"{path}.{key}" if path else key
