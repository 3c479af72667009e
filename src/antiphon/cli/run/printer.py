"""Prints a run as it happens: each activity as text or as a line of a view."""

from collections.abc import Mapping
from typing import Any

from antiphon.cli.render.calls import format_arguments, format_denial, format_result
from antiphon.cli.render.plain import TextView, Tone
from antiphon.cli.render.text_width import clip, sanitize_line
from antiphon.cli.run.dashboard import Dashboard
from antiphon.cli.run.plan_text import PlanText
from antiphon.threads.activity import Activity

TONES: Mapping[str, Tone] = {"info": "note", "warning": "warning", "error": "error"}
MOST_RESULT = 72
MOST_REASON = 100
MOST_LISTED = 100


class RunPrinter:
    """Prints a run on a view and updates its dashboard, which is drawn below the text or printed as lines."""

    def __init__(self, view: TextView, dashboard: Dashboard, *, is_drawn: bool) -> None:
        self._view = view
        self._dashboard = dashboard
        self._is_drawn = is_drawn
        self._thinking_since: int | None = None
        self._called: dict[str, tuple[str, int]] = {}  # calls without a result: tool and start time
        self._errors: dict[str | None, str] = {}  # errors of calls without a result, by agent
        self._version = 0
        self._plan_text = PlanText()

    def awaits_result(self, call: str) -> bool:
        """Return whether the result of a call was not printed yet."""
        return call in self._called

    def print(self, activity: Activity, denial: str | None = None) -> None:
        """Print an activity; for the answer to a call that was denied, also why."""
        self._dashboard.apply(activity)
        self._end_thought(activity)
        if activity.kind not in ("text", "thinking") and (text := self._plan_text.end()):
            self._view.text(text)
        facts = activity.facts
        match activity.kind:
            case "text" | "thinking" if len(self._dashboard.crew) < 2:
                self._stream(activity)
            case "agent_message" if len(self._dashboard.crew) > 1 and facts["message"]["content"].strip():
                self._view.line(f"{self._dashboard.name(activity.speaker)}:", "title")
                self._view.markdown(facts["message"]["content"])
            case "agent_started":
                self._print_start(facts)
            case "tool_called":
                self._print_call(activity)
            case "tool_ended":
                self._print_result(activity)
            case "tool_answered":
                self._print_missing_result(facts["toolResult"], activity, denial)
            case "status" if facts["status"] == "running":
                # The time that a user takes to answer does not count.
                self._called = {id: (name, activity.at) for id, (name, _) in self._called.items()}
            case "reply_cut":
                name = self._dashboard.name(activity.speaker)
                self._view.line(f"warning: a reply of {name} was cut off at its token limit", "warning")
            case "agent_failed" | "failed" if facts.get("error"):
                self._view.line(f"{facts['text']}{_code(facts['error'])}", "error")
            case (
                "limit_reached"
                | "recovering"
                | "interrupted"
                | "fell_back"
                | "rules_decided"
                | "not_done"
                | "permission_revoked"
            ):
                self._view.line(_labelled(facts), TONES[facts.get("severity", "error")])
        self._print_plan()

    def set_limits(self, limits: Mapping[str, Any]) -> None:
        """Set the limits shown on the dashboard."""
        self._dashboard.limits = limits

    def restore(self, context: Mapping[str, Any]) -> None:
        """Restore the dashboard of a run that is resumed."""
        self._dashboard.restore(context)
        self._print_plan()

    def name(self, agent: str) -> str:
        """Return the name of an active agent by its id."""
        return self._dashboard.name(agent) or agent

    def _stream(self, activity: Activity) -> None:
        if activity.kind == "text":
            if text := self._plan_text.feed(activity.facts["text"]):
                self._view.text(text)
            return
        if self._thinking_since is None:
            self._thinking_since = activity.at
        self._view.thinking(activity.facts["text"])

    def _end_thought(self, activity: Activity) -> None:
        if self._thinking_since is not None and activity.kind != "thinking":
            self._view.end_thinking((activity.at - self._thinking_since) / 1000)
            self._thinking_since = None

    def _print_start(self, facts: Mapping[str, Any]) -> None:
        decision = facts.get("decision") or {}
        # The user may have chosen another agent than the arbiter.
        is_for_crew = decision.get("mode") in (None, *self._dashboard.crew)
        reason = clip(sanitize_line(str(decision.get("reason") or "")), MOST_REASON) if is_for_crew else ""
        self._view.line("")
        names = ", ".join(self._dashboard.crew)
        self._view.line(f"{facts['iteration']}. {names}{f': {reason}' if reason else ''}", "title")

    def _print_call(self, activity: Activity) -> None:
        facts = activity.facts
        self._called[facts["id"]] = (facts["name"], activity.at)
        self._view.line(f"{self._agent_prefix(activity)}→ {facts['name']}({format_arguments(facts['input'])})", "tool")

    def _print_result(self, activity: Activity) -> None:
        facts = activity.facts
        result = facts["result"] if isinstance(facts["result"], dict) else {}
        call = str(result.get("callId"))
        if call not in self._called:  # a failed call without a result is printed with its answer
            self._errors[activity.speaker] = str(result.get("message") or "unknown error")
            return
        name, since = self._called.pop(call)
        line = format_result(name, result, (activity.at - since) / 1000, failed=facts["failed"])
        self._view.line(f"{self._agent_prefix(activity)}{line}", "error" if facts["failed"] else "tool")

    def _print_missing_result(self, result: Mapping[str, Any], activity: Activity, denial: str | None) -> None:
        if self._called.pop(result["id"], None) is None:
            return
        if denial is not None:
            line = format_denial(result["name"], denial)
        else:
            error = self._errors.pop(activity.speaker, None)
            ending = "was not called" if error is None else f"failed: {clip(sanitize_line(error), MOST_RESULT)}"
            line = f"← {result['name']} {ending}"
        self._view.line(f"{self._agent_prefix(activity)}{line}", "error")

    def _print_plan(self) -> None:
        plan = self._dashboard.plan
        if plan is None or plan["version"] == self._version:
            return
        self._version = plan["version"]
        if not self._is_drawn:
            for line, _ in self._dashboard.steps(MOST_LISTED, most=MOST_LISTED):
                self._view.line(line.rstrip())

    def _agent_prefix(self, activity: Activity) -> str:
        return f"{self._dashboard.name(activity.speaker)} " if len(self._dashboard.crew) > 1 else ""


def _labelled(facts: Mapping[str, Any]) -> str:
    """Return a line with the label of its severity, which a terminal without colours needs."""
    return f"warning: {facts['text']}" if facts.get("severity") == "warning" else str(facts["text"])


def _code(error: Mapping[str, Any]) -> str:
    return f" ({error['code']})" if error.get("code") else ""
