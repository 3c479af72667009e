"""Find JSON in the reply of a model.

A reply may be bare JSON, JSON in a code block, or JSON among words. Among words, the rules are:

1. A value is read at each bracket that may begin one, and reading continues after it, so parts of a value are skipped.
2. An object, or an array of objects or arrays, that is invalid is skipped up to its closing bracket, so its
   parts are skipped too. An invalid array that begins with a number or a word is prose, and may contain a value.
3. Objects come before arrays, and longer values before shorter ones: `[1]` is a footnote, `{}` rarely an answer.

The decoder reads each character once and the number of failures is limited, so the time is linear in the text.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

FENCE = "```"
FENCE_NAMES = ("", "json")
BEGIN = re.compile(r'\{\s*["}]|\[\s*[\]\[{"\-0-9tfnNI]')
BRACKET = re.compile(r"[{}\[\]]")
OPENING = {"}": "{", "]": "["}
# Every failure costs a search through the text before it, for the number of the line.
MAX_FAILURES = 1_000
UNREADABLE = (ValueError, RecursionError)


def find_json(text: str) -> Any:
    """Return the likeliest JSON value in a text; raise `ValueError` if there is none."""
    for value in json_values(text):
        return value
    raise ValueError("there is no JSON in the reply")


def json_values(text: str) -> Iterator[Any]:
    """Yield the JSON values in a text, the likeliest first."""
    if whole := _read(text):
        yield from whole
        return
    in_blocks = [value for block in _code_blocks(text) for value in _read(block)]
    yield from (value for value in in_blocks if isinstance(value, dict | list))
    among_words = _values_among_words(text)
    among_words.sort(key=lambda entry: (isinstance(entry[1], dict), entry[0]), reverse=True)
    yield from (value for _, value in among_words)
    yield from (value for value in in_blocks if not isinstance(value, dict | list))


def _read(text: str) -> list[Any]:
    try:
        return [json.loads(text)]
    except UNREADABLE:
        return []


def _code_blocks(text: str) -> Iterator[str]:
    for block in text.split(FENCE)[1::2]:
        name, _, content = block.partition("\n")
        if name.strip().lower() in FENCE_NAMES:
            yield content


def _values_among_words(text: str) -> list[tuple[int, Any]]:
    """Return the objects and arrays between words, each with the length of its text."""
    decoder = json.JSONDecoder()
    closings: dict[int, int] | None = None
    values: list[tuple[int, Any]] = []
    failures = 0
    position = 0
    while failures < MAX_FAILURES and (begin := BEGIN.search(text, position)):
        start = begin.start()
        try:
            value, position = decoder.raw_decode(text, start)
            values.append((position - start, value))
        except UNREADABLE as error:
            failures += 1
            closings = _closings(text) if closings is None else closings
            is_data = text[start] == "{" or begin.group()[-1] in "{["
            # Values nested too deep and numbers too long are errors without a position.
            broken_at = error.pos if isinstance(error, json.JSONDecodeError) else closings.get(start, len(text))
            position = max(broken_at, closings.get(start, 0) if is_data else 0, start + 1)
    return values


def _closings(text: str) -> dict[int, int]:
    """Map each opening bracket to the position after its closing one; brackets in strings count too."""
    closings: dict[int, int] = {}
    opened: dict[str, list[int]] = {"{": [], "[": []}
    for match in BRACKET.finditer(text):
        bracket = match.group()
        if bracket in opened:
            opened[bracket].append(match.start())
        elif starts := opened[OPENING[bracket]]:
            closings[starts.pop()] = match.end()
    return closings
