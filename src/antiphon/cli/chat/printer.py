"""A reply printed as it arrives: each activity as words or a line on a view."""

from antiphon.chat.service import Attempt
from antiphon.cli.chat.reply_stats import ReplyStats
from antiphon.cli.render.calls import format_arguments, format_result
from antiphon.cli.render.plain import View
from antiphon.threads.activity import Activity

ENDINGS = {
    "stopped": "cut off; what was said is kept",
    "interrupted": "lost: the process that asked is gone; /resume goes on",
}


class ReplyPrinter:
    """Prints one reply, from the question until the chat needs a person."""

    def __init__(self, view: View, stats: ReplyStats | None = None) -> None:
        self._view = view
        self.stats = stats or ReplyStats()
        self._thinking_since: int | None = None

    def take(self, activity: Activity, attempt: Attempt | None = None) -> None:
        """Tell what happened; for a failure, also of the attempt that follows."""
        self.stats.take(activity)
        facts = activity.facts
        if self._thinking_since is not None and activity.kind not in ("thinking", "usage"):
            self._view.thought((activity.at - self._thinking_since) / 1000)
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
            case "retrying" if attempt is not None:
                wait = f"attempt {attempt.number} of {attempt.most} in {attempt.delay_ms / 1000:.1f} s"
                self._view.line(f"{wait}: {facts['message']}")
            case "reply_failed":
                error = facts["error"] or {}
                hint = "; /retry asks again" if error.get("recoverable") else ""
                self._view.line(f"failed: {error.get('message')} ({error.get('code')}){hint}", "error")
            case "status" if facts["status"] in ENDINGS:
                self._view.line(ENDINGS[facts["status"]])

    def _print_tool_end(self, activity: Activity) -> None:
        stats = self.stats
        facts = activity.facts
        result = facts["result"] if isinstance(facts["result"], dict) else {}
        call = stats.calls.get(str(result.get("callId")))
        if call is None:  # one that broke gives no result of its own
            known = list(stats.calls.values())
            call = known[facts["call"]] if facts["call"] < len(known) else {"name": f"call {facts['call']}"}
        seconds = (activity.at - stats.called) / 1000 if stats.called else 0.0
        line = format_result(call["name"], result, seconds, failed=facts["failed"])
        self._view.line(line, "error" if facts["failed"] else "tool")
