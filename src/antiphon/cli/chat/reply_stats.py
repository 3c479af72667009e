"""What a reply came to, as it is told: times, tokens, costs, and the tools it called."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from antiphon.chat.activity import Happening
from antiphon.cli.render.text_width import clip, harmless

SHOWN = ("text", "thinking", "tool_call")
MOST_ARGUMENTS = 60


@dataclass(slots=True)
class Account:
    """Counts along with what happens, from a question to the end of the answer."""

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

    def take(self, happening: Happening) -> None:
        """Take note of what happened."""
        facts = happening.facts
        self.began = happening.at if self.began is None else self.began
        self.last = happening.at
        if self.first is None and happening.kind in SHOWN:
            self.first = happening.at
        match happening.kind:
            case "text":
                self.text.append(facts["text"])
            case "tool_call":
                self.calls[facts["id"]] = facts
            case "usage":
                self._unsettled = facts
            case "replied":
                self._unsettled = None
                self.replies += 1
                self.called = happening.at
                self._spend(facts)
            case "permission":
                self.request = facts
            case "failed":
                self.error = facts["error"]
            case "status":
                self._end(facts["status"])
            case "did" if facts["event"] == "permission_answered":
                self.request, self.called = None, happening.at

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
        words = [f"{self.tokens_in:,} in, {self.tokens_out:,} out", self.cost, f"{self.seconds:.1f} s"]
        if self.first_ms is not None:
            words.append(f"first words after {self.first_ms / 1000:.1f} s")
        return " · ".join(words)

    @property
    def cost(self) -> str:
        """What it cost, as far as prices are known."""
        return dollars(self.cost_usd) if self.is_priced else "price unknown"


def dollars(amount: float) -> str:
    """An amount as people read it."""
    if amount == 0:
        return "free"
    return f"${amount:.4f}" if amount < 1 else f"${amount:.2f}"


def arguments_of(given: Any) -> str:
    """A tool's arguments in a few words."""
    if isinstance(given, Mapping):
        text = ", ".join(f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in given.items())
    else:
        text = "" if given is None else str(given)
    return clip(harmless(text), MOST_ARGUMENTS)
