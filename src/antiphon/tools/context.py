"""Context of a tool call: its key, reports of its progress, and its cancellation."""

import asyncio
import secrets
import threading
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from antiphon.tools.access import Access

KEY_BYTES = 16
Report = Callable[[dict[str, Any]], None]


class ToolCancelled(Exception):
    """Raised in a tool whose call was cancelled."""


class Context:
    """Context of one tool call, for a parameter that is annotated with it."""

    __slots__ = ("_loop", "_report", "_thread", "access", "cancellation", "denied", "key")

    def __init__(self, key: str | None = None, report: Report | None = None, access: Access | None = None) -> None:
        self.key = secrets.token_hex(KEY_BYTES) if key is None else key
        """Idempotency key: the same for every attempt at this call, and for no other call."""
        self.access = access
        """What a command of this call may do, if a permission says so; None leaves it to the tool."""
        self.denied: str | None = None
        """Set by a tool whose command was denied something that a person could allow: "write" or "protected"."""
        self.cancellation = threading.Event()
        """Set when the call is cancelled; a tool that is not async can wait for it instead of sleeping."""
        self._report = report
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()

    @property
    def is_cancelled(self) -> bool:
        """Whether the call was cancelled; a tool that is not async should look at it from time to time."""
        return self.cancellation.is_set()

    def check_cancelled(self) -> None:
        """Raise `ToolCancelled` if the call was cancelled."""
        if self.is_cancelled:
            raise ToolCancelled("the call was cancelled")

    def progress(self, text: str, fraction: float | None = None) -> None:
        """Report progress, as a text and maybe a number from 0 to 1; each report is stored in the journal."""
        if fraction is not None and not 0 <= fraction <= 1:
            raise ValueError(f"the progress is a number from 0 to 1, not {fraction!r}")
        if self._report is None or self.is_cancelled:
            return
        report = {"text": str(text)} if fraction is None else {"text": str(text), "fraction": fraction}
        if threading.get_ident() == self._thread:
            self._report(report)
        else:
            # Tools that are not async run in threads, and reports belong to the thread of the event loop.
            self._loop.call_soon_threadsafe(self._report, report)


CURRENT: ContextVar[Context | None] = ContextVar("antiphon_tool_context", default=None)


def take_context() -> Context:
    """Return the context of the current call, or a new one; calls that the tool makes itself get their own."""
    context = CURRENT.get()
    CURRENT.set(None)
    return Context() if context is None else context
