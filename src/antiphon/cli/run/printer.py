"""A run told as it happens: what the journal says, in words, on a view."""

from collections.abc import Mapping
from typing import Any

from antiphon.agents.service import RunHappening
from antiphon.cli.chat.reply_stats import arguments_of
from antiphon.cli.permission_prompt import parsed
from antiphon.cli.render.plain import View
from antiphon.cli.render.text_width import clip, harmless
from antiphon.cli.run.dashboard import Board
from antiphon.cli.run.plan_text import PlanText

MOST_RESULT = 72
MOST_REASON = 100
LISTED = 100


class RunNarration:
    """Tells a run on a view; a board goes along with it, drawn below the words or written out line by line."""

    def __init__(self, view: View, board: Board, *, is_drawn: bool) -> None:
        self._view, self._board, self._is_drawn = view, board, is_drawn
        self._thinking_since: int | None = None
        self._called: dict[str, tuple[str, int]] = {}  # calls without a result: the tool, and since when
        self._broken: dict[str | None, str] = {}  # why a call of an agent gave nothing
        self._version = 0
        self._words = PlanText()

    def take(self, happening: RunHappening) -> None:
        """Tell what happened."""
        self._board.take(happening)
        self._end_thought(happening)
        if happening.kind not in ("text", "thinking") and (rest := self._words.rest()):
            self._view.text(rest)
        facts = happening.facts
        match happening.kind:
            case "text" | "thinking" if len(self._board.crew) < 2:
                self._stream(happening)
            case "agent_message" if len(self._board.crew) > 1 and facts["message"]["content"].strip():
                self._view.line(f"{self._board.name(happening.agent)}:", "title")
                self._view.markdown(facts["message"]["content"])
            case "agent_started":
                self._tell_start(facts)
            case "tool_called":
                self._tell_call(happening)
            case "tool_ended":
                self._tell_end(happening)
            case "tool_answered":
                self._tell_answer(facts["toolResult"], happening)
            case "status" if facts["status"] == "running":
                # Time spent on asking a person is not the tool's.
                self._called = {id: (name, happening.at) for id, (name, _) in self._called.items()}
            case "agent_failed" | "failed" if facts.get("error"):
                self._view.line(f"{said(facts['text'])}{_code(facts['error'])}", "error")
            case "limit_reached" | "recovering" | "interrupted":
                self._view.line(said(facts["text"]), "error")
        self._tell_plan()

    def pick_up(self, context: Mapping[str, Any]) -> None:
        """Begin with what a run knows already."""
        self._board.pick_up(context)
        self._tell_plan()

    def name(self, agent: str) -> str:
        """Who an agent of the crew is."""
        return self._board.name(agent) or agent

    def _stream(self, happening: RunHappening) -> None:
        if happening.kind == "text":
            if words := self._words.take(happening.facts["text"]):
                self._view.text(words)
            return
        if self._thinking_since is None:
            self._thinking_since = happening.at
        self._view.thinking(happening.facts["text"])

    def _end_thought(self, happening: RunHappening) -> None:
        if self._thinking_since is not None and happening.kind != "thinking":
            self._view.thought((happening.at - self._thinking_since) / 1000)
            self._thinking_since = None

    def _tell_start(self, facts: Mapping[str, Any]) -> None:
        decision = facts.get("decision") or {}
        is_meant = decision.get("mode") in (None, *self._board.crew)  # a person may have chosen somebody else
        reason = clip(harmless(str(decision.get("reason") or "")), MOST_REASON) if is_meant else ""
        self._view.line("")
        names = ", ".join(self._board.crew)
        self._view.line(f"{facts['iteration']}. {names}{f': {reason}' if reason else ''}", "title")

    def _tell_call(self, happening: RunHappening) -> None:
        call = happening.facts["toolCall"]
        self._called[call["id"]] = (call["name"], happening.at)
        self._view.line(f"{self._whose(happening)}→ {call['name']}({arguments_of(parsed(call['arguments']))})", "tool")

    def _tell_end(self, happening: RunHappening) -> None:
        facts = happening.facts
        result = facts["result"] if isinstance(facts["result"], dict) else {}
        call = str(result.get("callId"))
        if call not in self._called:  # one that broke has no result of its own: its answer is told
            self._broken[happening.agent] = str(result.get("message") or "nobody knows why")
            return
        name, since = self._called.pop(call)
        words = " ".join(part.get("text", "") for part in result.get("parts", ()))
        told = f": {clip(harmless(words), MOST_RESULT)}" if words.strip() else ""
        ending = "failed" if facts["failed"] else "ok"
        line = f"{self._whose(happening)}← {name} {ending} in {(happening.at - since) / 1000:.1f} s{told}"
        self._view.line(line, "error" if facts["failed"] else "tool")

    def _tell_answer(self, result: Mapping[str, Any], happening: RunHappening) -> None:
        if self._called.pop(result["id"], None) is not None:
            broken = self._broken.pop(happening.agent, None)
            ending = "was not called" if broken is None else f"failed: {clip(harmless(broken), MOST_RESULT)}"
            self._view.line(f"{self._whose(happening)}← {result['name']} {ending}", "error")

    def _tell_plan(self) -> None:
        plan = self._board.plan
        if plan is None or plan["version"] == self._version:
            return
        self._version = plan["version"]
        if not self._is_drawn:
            for line, _ in self._board.steps(LISTED, most=LISTED):
                self._view.line(line.rstrip())

    def _whose(self, happening: RunHappening) -> str:
        return f"{self._board.name(happening.agent)} " if len(self._board.crew) > 1 else ""


def said(text: str) -> str:
    """A line of a run as people read it here."""
    return text.removeprefix("[rawko] ")


def _code(error: Mapping[str, Any]) -> str:
    return f" ({error['code']})" if error.get("code") else ""
