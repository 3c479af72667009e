"""Requests for permission as lines: the whole call, the change of a file, what it needs, and why it is asked."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from antiphon.cli.render.plain import Tone
from antiphon.cli.render.text_width import escape_invisible, width
from antiphon.threads.activity import parse_input

Json = Mapping[str, Any]
TAB = "⇥   "
RISKS = {"read": "reads", "write": "changes something", "destructive": "may destroy something"}


@dataclass(frozen=True, slots=True)
class Line:
    """Line of a question, with its tone."""

    text: str
    tone: Tone = "tool"
    height: int = 1
    """Rows of the terminal that it takes."""

    def rows(self, columns: int, most: int) -> "list[Line]":
        """Return the line with its height, in pieces of one row if it takes more than `most` of them."""
        cells = width(self.text)
        height = max(1, -(-cells // columns))
        if height <= most:
            return [replace(self, height=height)]
        size = max(1, columns if cells == len(self.text) else columns // 2)
        return [replace(self, text=self.text[start : start + size]) for start in range(0, len(self.text), size)]


def question_lines(calls: Sequence[Json], speaker: str) -> list[Line]:
    """Return the lines of a request: every call completely, those that are asked about with what an answer allows."""
    lines: list[Line] = []
    for number, call in enumerate(calls, 1):
        place = f" ({number} of {len(calls)})" if len(calls) > 1 else ""
        head = f"{speaker} requests {call['name']}{place}: {RISKS.get(call['risk'], call['risk'])}"
        lines.append(Line(escape_invisible(head), "title"))
        lines += call_lines(call)
    return lines


def call_lines(call: Json) -> Iterator[Line]:
    """Yield the lines of a call: its arguments or its diff, what it needs, and why it is asked."""
    if call.get("diff") is not None:
        yield Line(f"  file: {escape_invisible(str(call.get('path')))}")
        yield from _diff_lines(str(call["diff"]))
    if call.get("diff") is None or call.get("cut"):  # then the arguments show the whole change
        yield from (Line(text) for text in argument_lines(call["arguments"]))
    if call["decision"] != "ask":
        yield Line(f"  allowed without a question: {_reason(call)}", "note")
        return
    yield Line(f"  asked because {_reason(call)}", "note")
    access = _access_words(call)
    if access:
        yield Line(f"  allowed, it {access}", "note")
    if call.get("noUndo") is not None:
        yield Line(f"  undo is off: {escape_invisible(str(call['noUndo']))}", "note")


def _access_words(call: Json) -> str:
    """Return what a command gets if it is allowed."""
    access = call["access"]
    if call["kind"] != "command" or access is None:
        return ""
    place = "runs in the sandbox" if call["sandbox"] else "runs WITHOUT a complete sandbox"
    words = [place, "may change the workspace" if access["writes"] else "changes nothing"]
    words.append("protected paths included" if access["protected"] else "except protected paths")
    words.append("with network" if access["network"] else "without network")
    return ", ".join(words)


def _reason(call: Json) -> str:
    """Return why a call is asked about, without the text of the call itself."""
    reason = str(call.get("reason") or "")
    text = str(call.get("text") or "")
    return escape_invisible(reason.replace(text, call["name"]) if text else reason)


def argument_lines(arguments: object) -> Iterator[str]:
    """Yield the arguments of a call, each completely."""
    parsed = parse_input(arguments)
    if not isinstance(parsed, Mapping):
        yield f"  {escape_invisible(str(parsed))}"
        return
    for key, value in parsed.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        lines = text.split("\n")
        if len(lines) == 1:
            yield f"  {escape_invisible(key)}: {escape_invisible(text)}"
        else:
            yield f"  {escape_invisible(key)}:"
            yield from (f"  │ {escape_invisible(line)}" for line in lines)


def _diff_lines(diff: str) -> Iterator[Line]:
    for line in diff.split("\n"):
        is_header = line.startswith(("+++", "---"))
        tone: Tone = "note"
        if line.startswith("+") and not is_header:
            tone = "added"
        elif line.startswith("-") and not is_header:
            tone = "removed"
        yield Line(f"  {escape_invisible(line.replace(chr(9), TAB))}", tone)
