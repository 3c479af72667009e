"""Warnings of the package as lines of a view: written past it, they would stand in what it draws."""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from antiphon.cli.render.plain import NullView, TextView

PACKAGE = "antiphon"


class ViewHandler(logging.Handler):
    """Handler that shows the records of any thread on the event loop of a view."""

    def __init__(self, view: TextView) -> None:
        super().__init__(logging.WARNING)
        self._view = view
        self._loop = asyncio.get_running_loop()

    def emit(self, record: logging.LogRecord) -> None:
        """Show a record."""
        with suppress(RuntimeError):  # the loop has ended, and the command with it
            self._loop.call_soon_threadsafe(self._view.line, record.getMessage(), "warning")


@contextmanager
def log_lines(view: TextView) -> Iterator[None]:
    """Show warnings as lines of a view until the end of the block; one that shows nothing leaves them as they are."""
    if isinstance(view, NullView):
        yield
        return
    handler = ViewHandler(view)
    logger = logging.getLogger(PACKAGE)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
