"""Problems of charts, reported with their place."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NoReturn

from antiphon.chart.errors import ChartError


class Problems:
    """Reports the problems of one chart."""

    def __init__(self, chart_id: str, strict: bool) -> None:
        self.chart_id = chart_id
        self.strict = strict

    def fail(self, path: str, problem: str, known: Iterable[str] = ()) -> NoReturn:
        """Raise ChartError for a problem."""
        raise ChartError(self.chart_id, path, problem, known)

    def complain(self, path: str, problem: str, known: Iterable[str] = ()) -> None:
        """Report a problem that XState finds late or never: an error in strict charts only."""
        if self.strict:
            self.fail(path, problem, known)

    def expect(self, value: Any, kind: type | tuple[type, ...], expected: str, path: str) -> None:
        """Raise ChartError unless a value is of a kind."""
        if not isinstance(value, kind):
            self.fail(path, f"expected {expected}, not {value!r}")

    def prefer(self, value: Any, kind: type | tuple[type, ...], expected: str, path: str) -> None:
        """Report a value that is neither absent nor of a kind."""
        if value is not None and not isinstance(value, kind):
            self.complain(path, f"expected {expected}, not {value!r}")

    def keys(self, config: Any, known: Collection[str], path: str) -> None:
        """Raise ChartError unless a value is a mapping, and report its unknown keys."""
        self.expect(config, Mapping, "a mapping", path)
        for key in config:
            if key not in known:
                self.complain(path, f"unknown key {key!r}", known)


def join_path(path: str, key: str) -> str:
    """Return the path of a key inside a path."""
    return f"{path}.{key}" if path else key
