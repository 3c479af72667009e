"""Statistics of a reply as it arrives: times, tokens, costs, and the tools it called."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from antiphon.money import format_usd
from antiphon.threads.activity import Activity

SHOWN = ("text", "thinking", "tool_called")


@dataclass(slots=True)
class ReplyStats:
    """Counts from a question to the end of the answer."""

    ended: str | None = None  # the status that the thread was left in
    began: int | None = None
    first: int | None = None
    last: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float = 0.0
    is_priced: bool = True
    replies: int = 0
    error: Mapping[str, Any] | None = None
    request: Mapping[str, Any] | None = None
    text: list[str] = field(default_factory=list)
    calls: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    called: int = 0
    _unsettled: Mapping[str, Any] | None = None

    def take(self, activity: Activity) -> None:
        """Take note of what happened."""
        facts = activity.facts
        self.began = activity.at if self.began is None else self.began
        self.last = activity.at
        if self.first is None and activity.kind in SHOWN:
            self.first = activity.at
        match activity.kind:
            case "text":
                self.text.append(facts["text"])
            case "tool_called":
                self.calls[facts["id"]] = facts
            case "usage":
                self._unsettled = facts
            case "replied":
                self._unsettled = None
                self.replies += 1
                self.called = activity.at
                self._spend(facts)
            case "permission_asked":
                self.request = facts
            case "reply_failed":
                self.error = facts["error"]
            case "status":
                self._end(facts["status"])
            case "permission_answered":
                self.request = None
                self.called = activity.at

    def _end(self, status: str) -> None:
        self.ended = None if status == "running" else status
        if self.ended and self._unsettled is not None:
            self._spend(self._unsettled)
            self._unsettled = None

    def _spend(self, facts: Mapping[str, Any]) -> None:
        usage = facts.get("usage") or {}
        self.tokens_in += usage.get("input", 0)
        self.tokens_out += usage.get("output", 0)
        if facts.get("costUsd") is None:
            self.is_priced = False
        else:
            self.cost_usd += facts["costUsd"]

    @property
    def seconds(self) -> float:
        """How long it took."""
        return (self.last - (self.began or self.last)) / 1000

    @property
    def first_ms(self) -> int | None:
        """How long until there was something to show."""
        return None if self.first is None or self.began is None else self.first - self.began

    def line(self) -> str:
        """Tokens, cost and time in one line."""
        words = [f"{self.tokens_in:,} in, {self.tokens_out:,} out", self.cost_text, f"{self.seconds:.1f} s"]
        if self.first_ms is not None:
            words.append(f"first words after {self.first_ms / 1000:.1f} s")
        return " · ".join(words)

    @property
    def cost_text(self) -> str:
        """What it cost, as far as prices are known."""
        return format_usd(self.cost_usd) if self.is_priced else "price unknown"
