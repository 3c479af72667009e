"""Statistics of a reply: times, tokens, costs, and its tool calls."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from antiphon.cli.render.units import plural
from antiphon.money import format_usd
from antiphon.threads.activity import Activity

VISIBLE = ("text", "thinking", "tool_called")


@dataclass(slots=True)
class ReplyStats:
    """Counts from a question to the end of its answer."""

    status: str | None = None  # of the thread once it is not running any more
    started_at: int | None = None
    first_at: int | None = None  # when there was something to show
    last_at: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cached: int = 0  # of the input, read from the provider's cache
    reasoning: int = 0  # of the output
    cost_usd: float = 0.0
    is_priced: bool = True
    replies: int = 0
    error: Mapping[str, Any] | None = None
    request: Mapping[str, Any] | None = None  # for permission, until it is answered
    stop: str | None = None  # why the model ended its last reply, as `length` at its token limit
    limit: Mapping[str, Any] | None = None  # at which the user is asked, until it is answered
    text: list[str] = field(default_factory=list)
    calls: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    unanswered: set[str] = field(default_factory=set)  # calls without a result
    called_at: int = 0  # when the calls of the last reply started
    _partial: Mapping[str, Any] | None = None

    def add(self, activity: Activity) -> None:
        """Count an activity."""
        facts = activity.facts
        self.started_at = activity.at if self.started_at is None else self.started_at
        self.last_at = activity.at
        if self.first_at is None and activity.kind in VISIBLE:
            self.first_at = activity.at
        match activity.kind:
            case "text":
                self.text.append(facts["text"])
            case "tool_called":
                self.calls[facts["id"]] = facts
                self.unanswered.add(facts["id"])
            case "tool_ended" if isinstance(facts["result"], Mapping):
                self.unanswered.discard(str(facts["result"].get("callId")))
            case "call_refused":
                self.unanswered.discard(facts["id"])
            case "tools_answered":
                self.unanswered.clear()
            case "usage":
                self._partial = facts
            case "replied":
                self._partial = None
                self.replies += 1
                self.stop = facts.get("stop")
                self.called_at = activity.at
                self._spend(facts)
            case "permission_asked":
                self.request = facts
                self._add_asked(facts["calls"])
            case "reply_failed":
                self.error = facts["error"]
            case "limit_reached":
                self.limit = facts
            case "limit_answered":
                self.limit = None
            case "status":
                self._end(facts)
            case "permission_answered":
                self.request = None
                self.called_at = activity.at

    @property
    def is_asking(self) -> bool:
        """True if the user is asked for permission, or at a limit."""
        return self.status == "waiting" and (self.request is not None or self.limit is not None)

    def _add_asked(self, calls: Sequence[Mapping[str, Any]]) -> None:
        """Add calls of a reply that was printed by another process, which are asked about again."""
        for call in calls:
            if call["id"] not in self.calls:
                self.calls[call["id"]] = call
                self.unanswered.add(call["id"])

    def _end(self, facts: Mapping[str, Any]) -> None:
        self.status = None if facts["status"] == "running" else facts["status"]
        if facts["status"] == "failed" and self.error is None:
            self.error = (facts["resultInfo"] or {}).get("error")
        if self.status and self._partial is not None:
            self._spend(self._partial)
            self._partial = None

    def _spend(self, facts: Mapping[str, Any]) -> None:
        usage = facts.get("usage") or {}
        self.tokens_in += usage.get("input", 0)
        self.tokens_out += usage.get("output", 0)
        self.cached += usage.get("cachedRead", 0)
        self.reasoning += usage.get("reasoning", 0)
        if facts.get("costUsd") is None:
            self.is_priced = False
        else:
            self.cost_usd += facts["costUsd"]

    @property
    def seconds(self) -> float:
        """Duration of the reply."""
        return (self.last_at - (self.started_at or self.last_at)) / 1000

    @property
    def first_ms(self) -> int | None:
        """Time to the first text, thinking or call."""
        return None if self.first_at is None or self.started_at is None else self.first_at - self.started_at

    def line(self) -> str:
        """Format tokens, cost and time as one line."""
        facts = [format_tokens(self.tokens_in, self.tokens_out), self.cost_text, f"{self.seconds:.1f} s"]
        if self.first_ms is not None:
            facts.append(f"first token after {self.first_ms / 1000:.1f} s")
        return " · ".join(facts)

    def usage_line(self, model: str) -> str:
        """Format the tokens of all kinds and the cost as one line."""
        tokens_in = f"{plural(self.tokens_in, 'token')} in ({self.cached:,} cached)"
        tokens_out = f"{self.tokens_out:,} out ({self.reasoning:,} reasoning)"
        return f"usage: {model} · {tokens_in} · {tokens_out} · {self.cost_text}"

    @property
    def cost_text(self) -> str:
        """The cost, or that the price is unknown."""
        return format_usd(self.cost_usd) if self.is_priced else "price unknown"


def format_tokens(tokens_in: int, tokens_out: int) -> str:
    """Format token counts as `1,760 tokens in, 118 out`."""
    return f"{plural(tokens_in, 'token')} in, {tokens_out:,} out"


def metrics_line(metrics: Mapping[str, Any]) -> str:
    """Format what a conversation has used so far; requests are those for replies, and for proposals of merges."""
    replies = f"{metrics['replies']:,} {'reply' if metrics['replies'] == 1 else 'replies'}"
    tokens = format_tokens(metrics["inputTokens"], metrics["outputTokens"])
    unpriced = f" (price of {plural(metrics['unpriced'], 'request')} unknown)" if metrics["unpriced"] else ""
    times = f"{metrics['durationMs'] / 1000:.1f} s, slowest {metrics['slowestMs'] / 1000:.1f} s"
    return f"{replies} · {tokens} · {format_usd(metrics['costUsd'])}{unpriced} · {times}"
