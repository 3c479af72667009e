"""Traces compared: object keys in any order, lists in order, errors by kind and names, V8's own texts left out."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from itertools import takewhile
from typing import Any

from error_texts import is_same_error

Json = Any
Path = tuple[str | int, ...]
MISSING = "(missing)"

# Texts that V8 writes when XState itself runs into a bug; no other language has the same words.
V8_ERRORS = (
    "Cannot read properties of",
    "Cannot convert undefined",
    "Maximum call stack",
    "is not a function",
    "is not iterable",
    "is not valid JSON",
)

# What is looked at first when two entries of a trace differ in several places.
ORDER = ("step", "threw", "status", "error", "value", "context", "micro", "actions", "children", "emitted", "nodes")


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place where two answers differ, with both values."""

    path: Path
    expected: Json
    actual: Json

    @property
    def signature(self) -> str:
        """The path up to the first name that belongs to one chart only, without positions."""
        names = (part for part in self.path if isinstance(part, str))
        return ".".join(takewhile(lambda name: not re.search(r"\d", name), names))

    @property
    def step(self) -> int | None:
        """The number of the trace entry in which the difference lies."""
        return next((part for part in self.path if isinstance(part, int)), None)


@dataclass(slots=True)
class Tally:
    """Numbers of what was compared."""

    charts: int = 0
    steps: int = 0
    microsteps: int = 0
    actions: int = 0
    rejected: int = 0
    cut: int = 0
    hung: int = 0
    differing: int = 0

    def add(self, other: "Tally") -> None:
        """Add the numbers of another tally."""
        for field in fields(self):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))


def first_difference(expected: Json, actual: Json, path: Path = ()) -> Difference | None:
    """Return the first difference of two JSON values, or None."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        return first_of_objects(expected, actual, path)
    if isinstance(expected, list) and isinstance(actual, list):
        return first_of_lists(expected, actual, path)
    if isinstance(expected, str) and isinstance(actual, str) and is_same_error(expected, actual):
        return None
    # True equals 1 in Python, but not in JSON.
    if isinstance(expected, bool) is isinstance(actual, bool) and expected == actual:
        return None
    return Difference(path, expected, actual)


def first_of_objects(expected: dict[str, Json], actual: dict[str, Json], path: Path) -> Difference | None:
    """Return the first difference of two objects, the most informative keys first."""
    for key in sorted(expected.keys() | actual.keys(), key=rank):
        difference = first_difference(expected.get(key, MISSING), actual.get(key, MISSING), (*path, key))
        if difference is not None:
            return difference
    return None


def first_of_lists(expected: list[Json], actual: list[Json], path: Path) -> Difference | None:
    """Return the first difference of two lists; one that is too short differs where it ends."""
    for index in range(max(len(expected), len(actual))):
        expected_item = expected[index] if index < len(expected) else MISSING
        actual_item = actual[index] if index < len(actual) else MISSING
        difference = first_difference(expected_item, actual_item, (*path, index))
        if difference is not None:
            return difference
    return None


def rank(key: str) -> tuple[int, str]:
    """Return the sort key of a key when objects are compared."""
    return (ORDER.index(key) if key in ORDER else len(ORDER), key)


def is_v8_error(text: Json) -> bool:
    """Return whether a text is a JavaScript engine's own error message."""
    return isinstance(text, str) and any(sign in text for sign in V8_ERRORS)


def portable(answer: dict[str, Json]) -> Iterator[dict[str, Json]]:
    """Yield the entries of a trace up to the first one in which XState itself crashed."""
    for entry in answer["trace"]:
        if is_v8_error(entry.get("error")):
            return
        yield entry


def mask(expected: dict[str, Json], actual: dict[str, Json]) -> tuple[dict[str, Json], dict[str, Json]]:
    """Return two entries without the text of an error that V8 words in its own way."""
    if is_v8_error(expected.get("threw")) and "threw" in actual:
        return {**expected, "threw": ""}, {**actual, "threw": ""}
    return expected, actual


def compare(expected: dict[str, Json], actual: dict[str, Json]) -> Difference | None:
    """Return the first difference between XState's answer to a spec and another engine's."""
    kinds = kind(expected), kind(actual)
    if kinds != ("trace", "trace"):
        return None if kinds == ("fatal", "fatal") else Difference(kinds, summary(expected), summary(actual))
    expected_entries = list(portable(expected))
    actual_entries = actual["trace"]
    if len(expected_entries) < len(expected["trace"]):
        actual_entries = actual_entries[: len(expected_entries)]
    for index, (expected_entry, actual_entry) in enumerate(zip(expected_entries, actual_entries, strict=False)):
        if is_v8_error(expected_entry.get("threw")) and "threw" not in actual_entry:
            return None
        difference = first_difference(*mask(expected_entry, actual_entry), ("trace", index))
        if difference is not None:
            return difference
    return first_difference(len(expected_entries), len(actual_entries), ("trace", "length"))


def kind(answer: dict[str, Json]) -> str:
    """Return the kind of an answer: `trace`, `fatal` or `hung`."""
    return next(key for key in ("trace", "fatal", "hung") if key in answer)


def summary(answer: dict[str, Json]) -> str:
    """Return a short text of an answer, for when not both engines gave a trace."""
    return (
        f"a trace of {len(answer['trace'])} entries" if "trace" in answer else f"{kind(answer)}: {answer[kind(answer)]}"
    )


def tally(answer: dict[str, Json]) -> Tally:
    """Count what can be compared of one answer of XState."""
    if "trace" not in answer:
        return Tally(charts=1, rejected=1)
    entries = list(portable(answer))
    return Tally(
        charts=1,
        steps=len(entries),
        microsteps=sum(len(entry.get("micro", ())) for entry in entries),
        actions=sum(len(entry.get("actions", ())) for entry in entries),
        cut=int(len(entries) < len(answer["trace"])),
    )
