"""Requests of models to the user, for permissions and answers, and the replies where there is no user.

1. A call is shown before it is allowed: a destructive call completely, any other clipped so that the question stays
   on the screen; `e` shows all of it.
2. Keys pressed before the call was shown do not count as an answer.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from antiphon.cli.prompt import discard_typed_input
from antiphon.cli.render.plain import TextView
from antiphon.cli.render.text_width import clip, escape_invisible
from antiphon.cli.render.units import plural
from antiphon.threads.activity import parse_input

Json = Mapping[str, Any]
QUESTION = "allow? a: once, t: for this thread, d: deny, e: expand > "
DENIED_UNATTENDED = "no user to ask; --mode auto-edit allows file changes, --mode auto also commands"
ANSWER_UNATTENDED = "No user is available to answer. Continue as you think best and state your assumptions."
TOO_LATE = "this request was already answered or has expired; the answer was ignored"
MOST_LINES = 12
MOST_CELLS = 200


class LineInput(Protocol):
    """Source of typed lines; raises `EOFError` or `KeyboardInterrupt` at their end."""

    def message(self, prompt: str) -> str:
        """Read a message of one or more lines."""
        ...

    def ask(self, prompt: str) -> str:
        """Read one line."""
        ...


@dataclass(frozen=True, slots=True)
class PermissionDecision:
    """Decision on a request for permission."""

    decision: str
    scope: str = "once"
    reason: str | None = None


class Answerer(Protocol):
    """Answers requests; raises `EOFError` or `KeyboardInterrupt` if the user declines to."""

    def permit(self, calls: Sequence[Json], speaker: str) -> PermissionDecision:
        """Decide whether tool calls are allowed."""
        ...

    def reply(self, question: str, options: Sequence[str], speaker: str) -> str:
        """Answer a question."""
        ...


class TerminalAnswerer:
    """Asks the user at the terminal."""

    def __init__(self, lines: LineInput, view: TextView) -> None:
        self._lines = lines
        self._view = view

    def permit(self, calls: Sequence[Json], speaker: str) -> PermissionDecision:
        """Show the calls and read a decision."""
        discard_typed_input()
        for call in calls:
            is_exact = call["risk"] == "destructive"
            self._view.line(f"{speaker} requests {format_call(call, is_exact=is_exact)}", "tool")
        while True:
            match self._lines.ask(QUESTION).strip().lower():
                case "a":
                    return PermissionDecision("allow")
                case "t":
                    return PermissionDecision("allow", "thread")
                case "d":
                    reason = self._lines.ask("reason (sent to the model) > ").strip()
                    self._view.line(f"denied{f': {reason}' if reason else ''}")
                    return PermissionDecision("deny", reason=reason or None)
                case "e":
                    for call in calls:
                        text = format_call(call, is_exact=True)
                        self._view.line(f"{text}\npermission needed: {_permission_reason(call)}", "tool")

    def reply(self, question: str, options: Sequence[str], speaker: str) -> str:
        """Show a question and read an answer, as text or as the number of an option."""
        discard_typed_input()
        self._view.line(f"{speaker} asks: {question}", "title")
        for number, option in enumerate(options, 1):
            self._view.line(f"  {number}. {option}")
        hint = f" (1–{len(options)}, or text)" if options else ""
        while True:
            text = self._lines.message(f"answer{hint} > ").strip()
            if text.isdigit() and 1 <= int(text) <= len(options):
                return options[int(text) - 1]
            if text:
                return text


class UnattendedAnswerer:
    """Answers where there is no user: denies permissions, and leaves questions to the model."""

    def __init__(self, view: TextView) -> None:
        self._view = view

    def permit(self, calls: Sequence[Json], speaker: str) -> PermissionDecision:
        """Deny the calls."""
        self._view.line(f"{', '.join(call['name'] for call in calls)} denied: {DENIED_UNATTENDED}", "error")
        return PermissionDecision("deny", reason=DENIED_UNATTENDED)

    def reply(self, question: str, options: Sequence[str], speaker: str) -> str:
        """Let the model decide."""
        self._view.line(f"{speaker} asks: {question} (no user to answer)", "error")
        return ANSWER_UNATTENDED


def format_call(call: Json, *, is_exact: bool) -> str:
    """Format a call for a permission request: completely, or clipped to a few lines."""
    head = f"{call['name']} ({call['risk']})"
    arguments = parse_input(call["arguments"])
    is_mapping = isinstance(arguments, Mapping)
    lines = list(_argument_lines(arguments)) if is_mapping else [f"  {escape_invisible(str(arguments))}"]
    if is_exact:
        return "\n".join([head, *lines])
    clipped = [clip(line, MOST_CELLS) for line in lines[:MOST_LINES]]
    hidden = len(lines) - MOST_LINES
    more = [f"  … {plural(hidden, 'more line')}"] if hidden > 0 else []
    return "\n".join([head, *clipped, *more])


def _argument_lines(arguments: Json) -> Iterator[str]:
    for key, value in arguments.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        lines = text.split("\n")
        if len(lines) == 1:
            yield f"  {escape_invisible(key)}: {escape_invisible(text)}"
        else:
            yield f"  {escape_invisible(key)}:"
            yield from (f"  │ {escape_invisible(line)}" for line in lines)


def _permission_reason(call: Json) -> str:
    """Return the rule that requires permission, without the text of the call itself."""
    reason = str(call.get("reason") or "")
    text = str(call.get("text") or "")
    return escape_invisible(reason.replace(text, call["name"]) if text else reason)
