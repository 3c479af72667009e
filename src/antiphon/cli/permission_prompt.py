"""Requests of models to the user, for permissions and answers, and the replies where there is no user.

1. A call is shown completely before it can be allowed: the whole command, the whole diff, all arguments. What does not
   fit on the screen is shown page by page, and no key allows anything before the last page.
2. Each key stands for one thing in words: once, a scope that the calls offer, outside the sandbox, or no.
3. Keys pressed before the call was shown do not count as an answer.
"""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from antiphon.cli.input.lines import LineInput, discard_typed_input
from antiphon.cli.render.plain import TextView
from antiphon.cli.render.questions import question_lines
from antiphon.cli.render.units import plural

Json = Mapping[str, Any]
ANSWER_UNATTENDED = "No user is available to answer. Continue as you think best and state your assumptions."
TOO_LATE = "this request was already answered or has expired; the answer was ignored"
# The key of each scope; `a` allows once, `o` outside the sandbox, `d` denies and `e` shows everything again.
SCOPE_KEYS = {"command": "c", "folder": "f", "host": "h", "tool": "t"}
FEWEST_LINES = 5


@dataclass(frozen=True, slots=True)
class PermissionDecision:
    """Decision on a request for permission."""

    decision: str
    scope: str = "once"
    outside: bool = False
    reason: str | None = None

    def to_answer(self) -> dict[str, Any]:
        """Return the decision as the arguments of `ThreadService.answer`."""
        return {"decision": self.decision, "scope": self.scope, "outside": self.outside, "reason": self.reason}


class Answerer(Protocol):
    """Answers requests; raises `EOFError` or `Interrupted` if the user declines to."""

    async def permit(self, calls: Sequence[Json], speaker: str) -> PermissionDecision:
        """Decide whether tool calls are allowed."""
        ...

    async def reply(self, question: str, options: Sequence[str], speaker: str) -> str:
        """Answer a question."""
        ...


class TerminalAnswerer:
    """Asks the user at the terminal; `height` is the number of lines of a page, that of the terminal if absent."""

    def __init__(self, lines: LineInput, view: TextView, *, height: int | None = None) -> None:
        self._lines = lines
        self._view = view
        self._height = height

    async def permit(self, calls: Sequence[Json], speaker: str) -> PermissionDecision:
        """Show the calls completely, and read a decision."""
        discard_typed_input()
        choices = answer_choices(calls)
        denial = await self._show(calls, speaker)
        if denial is not None:
            return denial
        while True:
            key = (await self._lines.ask(format_choices(choices))).strip().lower()
            if key == "d":
                return await self._deny()
            if key == "e":
                denial = await self._show(calls, speaker)
                if denial is not None:
                    return denial
            elif key in choices:
                return choices[key].decision

    async def _show(self, calls: Sequence[Json], speaker: str) -> PermissionDecision | None:
        """Show the calls, page by page if they are long; return a denial if the user does not read to the end."""
        size = shutil.get_terminal_size()
        page = max(FEWEST_LINES, (self._height or size.lines) - 2)
        rows = [row for line in question_lines(calls, speaker) for row in line.rows(size.columns, page)]
        shown = 0
        for number, row in enumerate(rows):
            if shown + row.height > page:
                key = await self._lines.ask(f"{plural(len(rows) - number, 'more line')}; Enter: go on, d: deny > ")
                if key.strip().lower() == "d":
                    return await self._deny()
                shown = 0
            self._view.line(row.text, row.tone)
            shown += row.height
        return None

    async def _deny(self) -> PermissionDecision:
        reason = (await self._lines.ask("reason (sent to the model) > ")).strip()
        self._view.line(f"denied{f': {reason}' if reason else ''}")
        return PermissionDecision("deny", reason=reason or None)

    async def reply(self, question: str, options: Sequence[str], speaker: str) -> str:
        """Show a question and read an answer, as text or as the number of an option."""
        discard_typed_input()
        self._view.line(f"{speaker} asks: {question}", "title")
        for number, option in enumerate(options, 1):
            self._view.line(f"  {number}. {option}")
        hint = f" (1–{len(options)}, or text)" if options else ""
        while True:
            text = (await self._lines.message(f"answer{hint} > ")).strip()
            if text.isdigit() and 1 <= int(text) <= len(options):
                return options[int(text) - 1]
            if text:
                return text


@dataclass(frozen=True, slots=True)
class Choice:
    """Answer that a key stands for, in words."""

    words: str
    decision: PermissionDecision


def answer_choices(calls: Sequence[Json]) -> dict[str, Choice]:
    """Return the keys that allow calls, each with what it allows."""
    asked = [call for call in calls if call["decision"] == "ask"]
    choices = {"a": Choice("once", PermissionDecision("allow"))}
    for scope, key in SCOPE_KEYS.items():
        labels = [offer["label"] for call in asked for offer in call["scopes"] if offer["scope"] == scope]
        if labels:
            words = f"always: {' and '.join(dict.fromkeys(labels))}"
            choices[key] = Choice(words, PermissionDecision("allow", scope))
    if any(call["outside"] for call in asked):
        choices["o"] = Choice("once, OUTSIDE the sandbox", PermissionDecision("allow", outside=True))
    return choices


def format_choices(choices: Mapping[str, Choice]) -> str:
    """Return the question with its keys."""
    keys = [f"{key}: {choice.words}" for key, choice in choices.items()]
    return f"allow? {', '.join([*keys, 'd: deny', 'e: show again'])} > "


def _mode_hint(calls: Sequence[Json]) -> str:
    """Return the mode that would allow all of these calls without a question, if there is one."""
    needs = {_mode_for(call) for call in calls}
    if None in needs:
        return ""
    return "; --mode auto would allow it" if "auto" in needs else "; --mode auto-edit would allow it"


def _mode_for(call: Json) -> str | None:
    if call.get("protected") or call.get("network"):
        return None
    if call["kind"] == "command":
        return "auto" if call["sandbox"] else None
    if call["risk"] == "destructive":
        return None
    return "auto-edit" if call["kind"] == "file" else "auto"


class UnattendedAnswerer:
    """Answers where there is no user: denies permissions, and leaves questions to the model."""

    def __init__(self, view: TextView) -> None:
        self._view = view

    async def permit(self, calls: Sequence[Json], speaker: str) -> PermissionDecision:
        """Deny the calls."""
        asked = [call for call in calls if call["decision"] == "ask"] or calls
        names = ", ".join(call["name"] for call in asked)
        reason = f"no user to ask: {'; '.join(dict.fromkeys(str(call['reason']) for call in asked))}{_mode_hint(asked)}"
        self._view.line(f"{names} denied: {reason}", "error")
        return PermissionDecision("deny", reason=reason)

    async def reply(self, question: str, options: Sequence[str], speaker: str) -> str:
        """Let the model decide."""
        self._view.line(f"{speaker} asks: {question} (no user to answer)", "error")
        return ANSWER_UNATTENDED
