"""A reply told as it happens: what the journal says, in words, on a view."""

from antiphon.chat.activity import Happening
from antiphon.chat.service import Attempt
from antiphon.cli.chat.reply_stats import Account, arguments_of
from antiphon.cli.render.plain import View
from antiphon.cli.render.text_width import clip, harmless

MOST_RESULT = 60
ENDINGS = {
    "stopped": "cut off; what was said is kept",
    "interrupted": "lost: the process that asked is gone; /resume goes on",
}


class Narration:
    """Tells one reply, from the question until the thread needs a person."""

    def __init__(self, view: View, account: Account | None = None) -> None:
        self._view, self.account = view, account or Account()
        self._thinking_since: int | None = None

    def take(self, happening: Happening, attempt: Attempt | None = None) -> None:
        """Tell what happened; for a failure, also of the attempt that follows."""
        self.account.take(happening)
        facts = happening.facts
        if self._thinking_since is not None and happening.kind not in ("thinking", "usage"):
            self._view.thought((happening.at - self._thinking_since) / 1000)
            self._thinking_since = None
        match happening.kind:
            case "text":
                self._view.text(facts["text"])
            case "thinking":
                if self._thinking_since is None:
                    self._thinking_since = happening.at
                self._view.thinking(facts["text"])
            case "tool_call":
                self._view.line(f"→ {facts['name']}({arguments_of(facts['input'])})", "tool")
            case "tool_ended":
                self._tell_tool(happening)
            case "retrying" if attempt is not None:
                wait = f"attempt {attempt.number} of {attempt.most} in {attempt.delay_ms / 1000:.1f} s"
                self._view.line(f"{wait}: {facts['message']}")
            case "failed":
                error = facts["error"] or {}
                hint = "; /retry asks again" if error.get("recoverable") else ""
                self._view.line(f"failed: {error.get('message')} ({error.get('code')}){hint}", "error")
            case "status" if facts["status"] in ENDINGS:
                self._view.line(ENDINGS[facts["status"]])

    def _tell_tool(self, happening: Happening) -> None:
        account, facts = self.account, happening.facts
        result = facts["result"] if isinstance(facts["result"], dict) else {}
        call = account.calls.get(str(result.get("callId")))
        if call is None:  # one that broke gives no result of its own
            known = list(account.calls.values())
            call = known[facts["call"]] if facts["call"] < len(known) else {"name": f"call {facts['call']}"}
        words = " ".join(part.get("text", "") for part in result.get("parts", ())) or str(result.get("message", ""))
        said = f": {clip(harmless(words), MOST_RESULT)}" if words else ""
        ending = "failed" if facts["failed"] else "ok"
        seconds = (happening.at - account.called) / 1000 if account.called else 0.0
        self._view.line(f"← {call['name']} {ending} in {seconds:.1f} s{said}", "error" if facts["failed"] else "tool")
