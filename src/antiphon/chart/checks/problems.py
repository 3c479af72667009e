"""Problems of values that do not have their declared type."""

import json
from collections.abc import Collection
from difflib import get_close_matches
from typing import Any, Literal, NamedTuple

LONGEST_VALUE = 80
MOST_NAMES = 12
CLOSE = 0.75  # `turn` is close to `turns`, `message` is not close to `usage`


class EventProblem(NamedTuple):
    """The reason why an event is refused: the place of a value, the value, and the expected one."""

    event: str  # the type of the event
    path: str  # such as `message.parts[0].text`; empty for the event itself
    value: str | None  # as JSON, shortened; None if it is missing
    expected: str
    text: str  # the whole problem as a sentence

    def __str__(self) -> str:
        return self.text


class Fault:
    """A problem with a part of a value, on its way out to the whole value."""

    __slots__ = ("expected", "kind", "path", "value")

    def __init__(self, kind: Literal["wrong", "missing", "unknown"], value: Any, expected: str, path: str = "") -> None:
        self.kind = kind
        self.value = value
        self.expected = expected
        self.path = path

    def under(self, key: str | int) -> "Fault":
        """Put the key or index of the enclosing value before the path."""
        part = f"[{key}]" if isinstance(key, int) else key
        joint = "" if not self.path or self.path.startswith("[") else "."
        self.path = f"{part}{joint}{self.path}"
        return self

    def problem(self, event: str) -> EventProblem:
        """Return the problem of an event of a type."""
        if self.kind == "missing":
            return EventProblem(event, self.path, None, self.expected, f"{event}: {self.path} is missing: {self}")
        value = shorten(self.value)
        verb = "is unknown" if self.kind == "unknown" else f"is {value}"
        return EventProblem(event, self.path, value, self.expected, f"{event}: {self.path or 'event'} {verb}: {self}")

    def __str__(self) -> str:
        return self.expected if self.kind == "unknown" else f"expected {self.expected}"


def wrong(value: Any, expected: str) -> Fault:
    """Return the fault of a value of another type."""
    return Fault("wrong", value, expected)


def unknown_key(key: str, value: Any, known: Collection[str]) -> Fault:
    """Return the fault of a key that is not declared, with the key that may be meant."""
    return Fault("unknown", value, suggest(key, known), key)


def suggest(name: str, known: Collection[str]) -> str:
    """Return the known name that a wrong one may stand for, or all known names."""
    plain = {_squeeze(each): each for each in sorted(known, reverse=True)}
    near = [plain[_squeeze(name)]] if _squeeze(name) in plain else get_close_matches(name, known, 1, CLOSE)
    if near:
        return f"did you mean {near[0]!r}?"
    names = sorted(known)
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return f"known: {', '.join(names[:MOST_NAMES])}{more}" if names else "no key is known"


def _squeeze(name: str) -> str:
    """Return a name without case and separators: `checkpoint_id` is `checkpointId`."""
    return name.replace("_", "").replace("-", "").replace(".", "").lower()


def shorten(value: Any) -> str:
    """Return a value as JSON, or as Python writes it, with at most `LONGEST_VALUE` characters."""
    if isinstance(value, str):
        value = value[: LONGEST_VALUE + 1]  # a long text is not encoded as a whole
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        text = repr(value)
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"
