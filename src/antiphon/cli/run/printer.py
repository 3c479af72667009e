"""A run printed as it happens: what the journal says, in words, on a view."""

from collections.abc import Mapping
from typing import Any

from antiphon.cli.render.calls import format_arguments, format_result
from antiphon.cli.render.plain import View
from antiphon.cli.render.text_width import clip, harmless
from antiphon.cli.run.dashboard import Dashboard
from antiphon.cli.run.plan_text import PlanText
from antiphon.threads.activity import Activity

MOST_RESULT = 72
MOST_REASON = 100
LISTED = 100


class RunPrinter:
    """Prints a run on a view; a dashboard goes along with it, drawn below the words or printed line by line."""

    def __init__(self, view: View, dashboard: Dashboard, *, is_drawn: bool) -> None:
        self._view = view
        self._dashboard = dashboard
        self._is_drawn = is_drawn
        self._thinking_since: int | None = None
        self._called: dict[str, tuple[str, int]] = {}  # calls without a result: the tool, and since when
        self._broken: dict[str | None, str] = {}  # why a call of an agent gave nothing
        self._version = 0
        self._words = PlanText()

    def take(self, activity: Activity) -> None:
        """Tell what happened."""
        self._dashboard.take(activity)
        self._end_thought(activity)
        if activity.kind not in ("text", "thinking") and (rest := self._words.rest()):
            self._view.text(rest)
        facts = activity.facts
        match activity.kind:
            case "text" | "thinking" if len(self._dashboard.crew) < 2:
                self._stream(activity)
            case "agent_message" if len(self._dashboard.crew) > 1 and facts["message"]["content"].strip():
                self._view.line(f"{self._dashboard.name(activity.speaker)}:", "title")
                self._view.markdown(facts["message"]["content"])
            case "agent_started":
                self._tell_start(facts)
            case "tool_called":
                self._tell_call(activity)
            case "tool_ended":
                self._tell_end(activity)
            case "tool_answered":
                self._tell_answer(facts["toolResult"], activity)
            case "status" if facts["status"] == "running":
                # Time spent on asking a person is not the tool's.
                self._called = {id: (name, activity.at) for id, (name, _) in self._called.items()}
            case "agent_failed" | "failed" if facts.get("error"):
                self._view.line(f"{facts['text']}{_code(facts['error'])}", "error")
            case "limit_reached" | "recovering" | "interrupted":
                self._view.line(facts["text"], "error")
        self._tell_plan()

    def limits(self, limits: Mapping[str, Any]) -> None:
        """Show the limits of a run that begins."""
        self._dashboard.limits = limits

    def pick_up(self, context: Mapping[str, Any]) -> None:
        """Begin with what a run knows already."""
        self._dashboard.pick_up(context)
        self._tell_plan()

    def name(self, agent: str) -> str:
        """Who an agent of the crew is."""
        return self._dashboard.name(agent) or agent

    def _stream(self, activity: Activity) -> None:
        if activity.kind == "text":
            if words := self._words.take(activity.facts["text"]):
                self._view.text(words)
            return
        if self._thinking_since is None:
            self._thinking_since = activity.at
        self._view.thinking(activity.facts["text"])

    def _end_thought(self, activity: Activity) -> None:
        if self._thinking_since is not None and activity.kind != "thinking":
            self._view.thought((activity.at - self._thinking_since) / 1000)
            self._thinking_since = None

    def _tell_start(self, facts: Mapping[str, Any]) -> None:
        decision = facts.get("decision") or {}
        is_meant = decision.get("mode") in (None, *self._dashboard.crew)  # a person may have chosen somebody else
        reason = clip(harmless(str(decision.get("reason") or "")), MOST_REASON) if is_meant else ""
        self._view.line("")
        names = ", ".join(self._dashboard.crew)
        self._view.line(f"{facts['iteration']}. {names}{f': {reason}' if reason else ''}", "title")

    def _tell_call(self, activity: Activity) -> None:
        facts = activity.facts
        self._called[facts["id"]] = (facts["name"], activity.at)
        self._view.line(f"{self._whose(activity)}→ {facts['name']}({format_arguments(facts['input'])})", "tool")

    def _tell_end(self, activity: Activity) -> None:
        facts = activity.facts
        result = facts["result"] if isinstance(facts["result"], dict) else {}
        call = str(result.get("callId"))
        if call not in self._called:  # one that broke has no result of its own: its answer is told
            self._broken[activity.speaker] = str(result.get("message") or "nobody knows why")
            return
        name, since = self._called.pop(call)
        line = format_result(name, result, (activity.at - since) / 1000, failed=facts["failed"])
        self._view.line(f"{self._whose(activity)}{line}", "error" if facts["failed"] else "tool")

    def _tell_answer(self, result: Mapping[str, Any], activity: Activity) -> None:
        if self._called.pop(result["id"], None) is not None:
            broken = self._broken.pop(activity.speaker, None)
            ending = "was not called" if broken is None else f"failed: {clip(harmless(broken), MOST_RESULT)}"
            self._view.line(f"{self._whose(activity)}← {result['name']} {ending}", "error")

    def _tell_plan(self) -> None:
        plan = self._dashboard.plan
        if plan is None or plan["version"] == self._version:
            return
        self._version = plan["version"]
        if not self._is_drawn:
            for line, _ in self._dashboard.steps(LISTED, most=LISTED):
                self._view.line(line.rstrip())

    def _whose(self, activity: Activity) -> str:
        return f"{self._dashboard.name(activity.speaker)} " if len(self._dashboard.crew) > 1 else ""


def _code(error: Mapping[str, Any]) -> str:
    return f" ({error['code']})" if error.get("code") else ""
