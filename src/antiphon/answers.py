"""Answers that are data: JSON found in what a model said."""

import json
import re
from typing import Any

FENCED = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)
BRACKETS = (("{", "}"), ("[", "]"))


def find_json(text: str) -> Any:
    """The JSON value in a text, bare, in a code block, or between other words; `ValueError` without one."""
    candidates = [text, *FENCED.findall(text)]
    for first, last in BRACKETS:
        start, end = text.find(first), text.rfind(last)
        if 0 <= start < end:
            candidates.append(text[start : end + 1])
    for candidate in candidates:
        try:
            return json.loads(candidate)
        except (ValueError, RecursionError):
            continue
    raise ValueError("there is no JSON in the reply")
