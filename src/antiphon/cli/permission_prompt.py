"""Requests of models to a person: permissions for calls, and questions; and the answers where nobody can be asked.

1. A call is shown before it is allowed: what may destroy something to the last character, anything else in so many
   lines that the question stays in sight; `e` shows all of it.
2. Keys that were pressed before the call was shown are no answer.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from antiphon.cli.prompt import forget_typed
from antiphon.cli.render.plain import View
from antiphon.cli.render.text_width import clip, written_out
from antiphon.threads.activity import parse_input

Json = Mapping[str, Any]
QUESTION = "allow? a: once, t: for this thread, d: deny, e: show it all > "
NOBODY_ALLOWS = "nobody is here to be asked; --mode auto-edit allows changes of files, --mode auto commands too"
NOBODY_ANSWERS = "Nobody is here to answer. Go on as you think best, and say what you assumed."
MOST_LINES = 12
MOST_CELLS = 200


class LineInput(Protocol):
    """Where lines come from; they end with `EOFError` or `KeyboardInterrupt`."""

    def message(self, prompt: str) -> str:
        """Read a message, of one line or more."""
        ...

    def ask(self, prompt: str) -> str:
        """Read one line."""
        ...


@dataclass(frozen=True, slots=True)
class Decision:
    """A person's decision on a request for permission."""

    decision: str
    scope: str = "once"
    reason: str | None = None


class Answerer(Protocol):
    """Answers requests; `EOFError` and `KeyboardInterrupt` mean that nobody wants to."""

    def permit(self, calls: Sequence[Json], speaker: str) -> Decision:
        """Decide on calls of tools."""
        ...

    def reply(self, question: str, options: Sequence[str], speaker: str) -> str:
        """Answer a question."""
        ...


class Person:
    """Asks a person at the keyboard."""

    def __init__(self, lines: LineInput, view: View) -> None:
        self._lines = lines
        self._view = view

    def permit(self, calls: Sequence[Json], speaker: str) -> Decision:
        """Show the calls, and read a decision."""
        forget_typed()
        for call in calls:
            is_exact = call["risk"] == "destructive"
            self._view.line(f"{speaker} wants {format_call(call, is_exact=is_exact)}", "tool")
        while True:
            match self._lines.ask(QUESTION).strip().lower():
                case "a":
                    return Decision("allow")
                case "t":
                    return Decision("allow", "thread")
                case "d":
                    reason = self._lines.ask("why not? (the model is told) > ").strip()
                    self._view.line(f"denied{f': {reason}' if reason else ''}")
                    return Decision("deny", reason=reason or None)
                case "e":
                    for call in calls:
                        shown = format_call(call, is_exact=True)
                        self._view.line(f"{shown}\nwhy it is asked: {_asked_because(call)}", "tool")

    def reply(self, question: str, options: Sequence[str], speaker: str) -> str:
        """Show a question, and read an answer in words or by its number."""
        forget_typed()
        self._view.line(f"{speaker} asks: {question}", "title")
        for number, option in enumerate(options, 1):
            self._view.line(f"  {number}. {option}")
        hint = f" (1–{len(options)}, or in words)" if options else ""
        while True:
            text = self._lines.message(f"answer{hint} > ").strip()
            if text.isdigit() and 1 <= int(text) <= len(options):
                return options[int(text) - 1]
            if text:
                return text


class Nobody:
    """Answers where nobody can be asked: allows nothing, and gives every question back."""

    def __init__(self, view: View) -> None:
        self._view = view

    def permit(self, calls: Sequence[Json], speaker: str) -> Decision:
        """Deny."""
        self._view.line(f"{', '.join(call['name'] for call in calls)} denied: {NOBODY_ALLOWS}", "error")
        return Decision("deny", reason=NOBODY_ALLOWS)

    def reply(self, question: str, options: Sequence[str], speaker: str) -> str:
        """Let the model decide."""
        self._view.line(f"{speaker} asks: {question} (nobody is here to answer)", "error")
        return NOBODY_ANSWERS


def format_call(call: Json, *, is_exact: bool) -> str:
    """A call as a person sees it before it is made: to the last character, or in a few lines."""
    head = f"{call['name']} ({call['risk']})"
    given = parse_input(call["arguments"])
    lines = list(_argument_lines(given)) if isinstance(given, Mapping) else [f"  {written_out(str(given))}"]
    if is_exact:
        return "\n".join([head, *lines])
    shown = [clip(line, MOST_CELLS) for line in lines[:MOST_LINES]]
    more = [f"  … {len(lines) - MOST_LINES} more lines"] if len(lines) > MOST_LINES else []
    return "\n".join([head, *shown, *more])


def _argument_lines(arguments: Json) -> Iterator[str]:
    for key, value in arguments.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        lines = text.split("\n")
        if len(lines) == 1:
            yield f"  {written_out(key)}: {written_out(text)}"
        else:
            yield f"  {written_out(key)}:"
            yield from (f"  │ {written_out(line)}" for line in lines)


def _asked_because(call: Json) -> str:
    """The rule by which a person is asked, without the call itself, which is shown."""
    reason = str(call.get("reason") or "")
    text = str(call.get("text") or "")
    return written_out(reason.replace(text, call["name"]) if text else reason)
