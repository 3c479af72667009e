"""Errors of the engine."""

from collections.abc import Iterable
from typing import Any


class EngineError(Exception):
    """Base of every error the engine raises."""


class ChartError(EngineError):
    """A chart, or the functions bound to it, is not well formed."""

    def __init__(self, chart_id: str, path: str, problem: str, known: Iterable[str] = ()) -> None:
        names = sorted(known)
        hint = f"; known: {', '.join(names)}" if names else ""
        super().__init__(f"{chart_id}: {path or '(root)'}: {problem}{hint}")
        self.chart_id = chart_id
        self.path = path
        self.problem = problem
        self.known = tuple(names)


class EventError(EngineError):
    """A value is not an event (a mapping with a string under `type`), or not an event of the expected type."""


class EventRefused(EventError):
    """An event is not as the machine declares it, or may not come from outside; `problem` says why."""

    def __init__(self, problem: Any) -> None:
        super().__init__(str(problem))
        self.problem = problem


class SnapshotError(EngineError):
    """A persisted snapshot does not fit the machine that should be restored from it."""


class CodecError(EngineError):
    """A value cannot be stored by the codec of its type, or a stored value has no codec in this process."""


class GuardError(EngineError):
    """A guard raised, or has no implementation."""


class LoopError(EngineError):
    """A step never came to rest."""


class UnknownActor(EngineError):
    """An event was addressed to an actor that does not exist."""
