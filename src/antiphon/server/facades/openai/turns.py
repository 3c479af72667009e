"""Turns: the reply of a thread to one message, read from its journal."""

from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

from antiphon.errors import Code
from antiphon.messages import Usage, usage_from_json
from antiphon.server.problems import BY_CLASS, ProblemError, problem_of
from antiphon.threads import Activity, Threads
from antiphon.threads.requests import PROVIDER_ERROR

Json = Mapping[str, Any]
Finish = Literal["stop", "length", "tool_calls", "content_filter"]
OVER = ("completed", "failed", "stopped", "interrupted", "waiting")
EXPECTED = tuple(kind for kind, _ in BY_CLASS)


@dataclass(frozen=True, slots=True)
class TurnText:
    """More text of the reply."""

    text: str


@dataclass(frozen=True, slots=True)
class TurnThought:
    """More reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """End of a reply: why it ended, the calls that the client is to make, the usage, and the last message."""

    finish: Finish
    calls: tuple[Json, ...] = ()
    usage: Usage = field(default_factory=Usage)
    head: str | None = None


@dataclass(frozen=True, slots=True)
class TurnFailure:
    """End of a reply that failed."""

    problem: ProblemError


WORDS: Mapping[str, type[TurnText | TurnThought]] = {"text": TurnText, "thinking": TurnThought}
TurnEvent = TurnText | TurnThought | TurnEnd | TurnFailure
"""Part of a turn; the last one is `TurnEnd` or `TurnFailure`."""


class ThreadTurn:
    """Reply of a thread to the message `input`; `close` stops it, unless it is over."""

    def __init__(self, threads: Threads, thread: str, input: str, after: int, *, is_kept: bool = True) -> None:
        self.thread = thread
        self.input = input
        self._threads = threads
        self._after = after
        self._is_kept = is_kept
        self._is_over = False
        self._usage = Usage()
        self._stop = ""
        self._status = ""
        self._reason: str | None = None
        self._calls: tuple[Json, ...] = ()
        self._head: str | None = None
        self._error: Json = {}

    async def events(self) -> AsyncIterator[TurnEvent]:
        """Iterate over the parts of the reply as they are stored."""
        try:
            async for step in self._threads.steps(self.thread, self._after):
                for activity in step:
                    if activity.kind in WORDS:
                        yield WORDS[activity.kind](activity.facts["text"])
                    self._note(activity)
                if self._status in OVER:
                    self._is_over = True
                    yield self._end()
                    return
        except EXPECTED as error:
            self._is_over = True
            yield TurnFailure(problem_of(error) or ProblemError("internal", str(error)))

    def _note(self, activity: Activity) -> None:
        facts = activity.facts
        match activity.kind:
            case "status":
                self._status = facts["status"]
                self._reason = facts.get("waitingReason")
            case "replied":
                self._usage += usage_from_json(facts["usage"] or {})
                self._stop = facts["stop"]
            case "results_awaited":
                self._calls = tuple(facts["calls"])
            case "reply_completed":
                self._head = facts["head"]
            case "reply_failed":
                self._error = facts["error"] or {}

    def _end(self) -> TurnEnd | TurnFailure:
        status = self._status
        if status == "completed":
            return TurnEnd("length" if self._stop == "length" else "stop", (), self._usage, self._head)
        if status == "waiting" and self._reason == "tools":
            return TurnEnd("tool_calls", self._calls, self._usage, self._head)
        if status == "waiting" and self._reason != PROVIDER_ERROR:
            advice = f"answer it with POST /threads/{self.thread}/respond"
            return TurnFailure(ProblemError("refused", f"the thread waits for a person ({self._reason}); {advice}"))
        if self._error.get("code") == Code.REFUSED:
            return TurnEnd("content_filter", (), self._usage, self._head)
        return TurnFailure(self._failure(status))

    def _failure(self, status: str) -> ProblemError:
        message = self._error.get("message") or f"the reply was {status}"
        recoverable = bool(self._error.get("recoverable", True))
        return ProblemError("model_failed", message, recoverable=recoverable, providerCode=self._error.get("code", ""))

    async def close(self) -> None:
        """Stop a reply that nobody reads any more, and delete a thread that is not kept."""
        with suppress(*EXPECTED):
            if not self._is_over:
                await self._threads.stop(self.thread)
        with suppress(*EXPECTED):
            if not self._is_kept:
                await self._threads.delete(self.thread)
