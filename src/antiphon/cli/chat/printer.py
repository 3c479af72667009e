"""Prints a reply as it arrives: each activity as text or as a line of a view."""

from collections.abc import Mapping

from antiphon.chat.attempts import Attempt
from antiphon.cli.chat.limits import warning_line
from antiphon.cli.chat.reply_stats import ReplyStats
from antiphon.cli.render.calls import format_arguments, format_denial, format_result
from antiphon.cli.render.plain import TextView
from antiphon.threads.activity import Activity

# Reasons of models to end a reply before it is whole.
STOPS = {
    "length": "cut off at the token limit of the model; ask it to continue",
    "refusal": "the model has declined to answer",
    "pause": "the model has paused before its answer was whole; ask it to continue",
}
ENDINGS = {
    "stopped": "stopped; the text so far is kept",
    "interrupted": "lost: its process ended; /resume continues it",
}


class ReplyPrinter:
    """Prints one reply, until the chat is idle or waits for the user."""

    def __init__(self, view: TextView, stats: ReplyStats | None = None) -> None:
        self._view = view
        self.stats = stats or ReplyStats()
        self._thinking_since: int | None = None

    def print(
        self, activity: Activity, attempt: Attempt | None = None, denials: Mapping[str, str] | None = None
    ) -> None:
        """Print an activity; for a retry, also the next attempt; for results, also why calls were denied."""
        self.stats.add(activity)
        facts = activity.facts
        if self._thinking_since is not None and activity.kind not in ("thinking", "usage"):
            self._view.end_thinking((activity.at - self._thinking_since) / 1000)
            self._thinking_since = None
        match activity.kind:
            case "text":
                self._view.text(facts["text"])
            case "thinking":
                if self._thinking_since is None:
                    self._thinking_since = activity.at
                self._view.thinking(facts["text"])
            case "tool_called":
                self._view.line(f"→ {facts['name']}({format_arguments(facts['input'])})", "tool")
            case "tool_ended":
                self._print_tool_end(activity)
            case "call_refused":
                self._view.line(f"← {facts['name']} not called: {facts['message']}", "error")
            case "tools_answered":
                for id, reason in (denials or {}).items():
                    self._view.line(format_denial(self.stats.calls[id]["name"], reason), "error")
            case "replied" if facts.get("stop") in STOPS:
                self._view.line(STOPS[facts["stop"]], "warning")
            case "limit_warning":
                self._view.line(warning_line(facts))
            case "retrying" if attempt is not None:
                retry = f"attempt {attempt.number} of {attempt.most} in {attempt.delay_ms / 1000:.1f} s"
                self._view.line(f"{retry}: {facts['message']}")
            case "reply_failed":
                error = facts["error"] or {}
                hint = "; try again with /retry" if error.get("recoverable") else ""
                if error.get("code") == "interrupted":
                    hint = "; /resume continues it"
                self._view.line(f"failed: {error.get('message')} ({error.get('code')}){hint}", "error")
            case "status" if facts["status"] in ENDINGS:
                self._view.line(ENDINGS[facts["status"]])

    def _print_tool_end(self, activity: Activity) -> None:
        stats = self.stats
        facts = activity.facts
        result = facts["result"] if isinstance(facts["result"], dict) else {}
        call = stats.calls.get(str(result.get("callId")))
        if call is None:  # a call that failed internally has no result
            calls = list(stats.calls.values())
            call = calls[facts["call"]] if facts["call"] < len(calls) else {"name": f"call {facts['call']}"}
        seconds = (activity.at - stats.called_at) / 1000 if stats.called_at else 0.0
        line = format_result(call["name"], result, seconds, failed=facts["failed"])
        self._view.line(line, "error" if facts["failed"] else "tool")
