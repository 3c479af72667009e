"""Errors of SCXML documents."""

from antiphon.chart.errors import EngineError


class ScxmlError(EngineError):
    """A document is not SCXML, refers to something that may not be read, or cannot be run."""


class ContentError(Exception):
    """Executable content failed: it becomes an error event of its session, named `event`."""

    def __init__(self, event: str, message: str, sendid: str | None = None) -> None:
        super().__init__(message)
        self.event = event
        self.sendid = sendid


class StepLimitError(ContentError):
    """An evaluation in a step that has reached a limit and reported it."""
