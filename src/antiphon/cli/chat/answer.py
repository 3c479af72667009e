"""The form in which the answer to a question is printed: as it arrives, at its end, one code block, or a value."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from antiphon.answers import json_values
from antiphon.json_schema import Checker

FENCE = re.compile(
    r"^ {0,3}(?P<mark>`{3,}|~{3,})[^\n`]*\n(?P<code>.*?)(?:^ {0,3}(?P=mark)[`~]*[ \t]*$|\Z)", re.M | re.S
)


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """Form of a printed answer; `is_held` prints nothing before its end."""

    schema: Mapping[str, Any] | None = None
    extract: Literal["first", "last"] | None = None
    is_held: bool = False


@dataclass(frozen=True, slots=True)
class PrintedAnswer:
    """The text to print, the value that the schema asked for, and why there is none."""

    text: str
    value: Any = None
    problems: tuple[str, ...] = ()


def form_answer(form: AnswerForm, text: str) -> PrintedAnswer:
    """Return what is printed of the text of an answer."""
    if form.schema is not None:
        return _value_of(text, Checker(form.schema))
    if form.extract is not None:
        blocks = [match["code"] for match in FENCE.finditer(text)]
        return PrintedAnswer(blocks[-1 if form.extract == "last" else 0] if blocks else text)
    return PrintedAnswer(text)


def _value_of(text: str, checker: Checker) -> PrintedAnswer:
    """Return the first value in a text that fits a schema; without one, the text and the problems of the likeliest."""
    problems: list[str] | None = None
    for value in json_values(text):
        problems_here = checker.problems(value)
        if not problems_here:
            return PrintedAnswer(json.dumps(value, indent=2, ensure_ascii=False), value)
        problems = problems_here if problems is None else problems
    return PrintedAnswer(text, None, tuple(problems or ["there is no JSON in it"]))
