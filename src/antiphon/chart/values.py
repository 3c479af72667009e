"""State values and paths: `"a.b"`, `["a", "b"]` and `{"a": "b"}` mean the same."""

from collections.abc import Mapping, Sequence
from typing import Any


def matches_state(partial: Any, value: Any) -> bool:
    """Return whether a state value agrees with a partial one: `"a"` and `{"a": "b"}` match `{"a": "b"}`."""
    expected = to_state_value(partial)
    actual = to_state_value(value)
    if isinstance(actual, str):
        return isinstance(expected, str) and expected == actual
    if isinstance(expected, str):
        return expected in actual
    return all(key in actual and matches_state(expected[key], actual[key]) for key in expected)


def to_state_value(value: Any) -> Any:
    """Return the nested form of a value that may be written as a dotted string."""
    if isinstance(value, str):
        return path_to_state_value(to_path(value))
    return value if isinstance(value, Mapping) else getattr(value, "value", value)


def to_path(text: str) -> list[str]:
    """Split a dotted string into keys; a backslash escapes the next character."""
    parts = []
    part = ""
    escaped = False
    for character in text:
        if escaped:
            part = part + character
            escaped = False
        elif character == "\\":
            escaped = True
        elif character == ".":
            parts.append(part)
            part = ""
        else:
            part += character
    return [*parts, part]


def path_to_state_value(path: Sequence[str]) -> Any:
    """Return the state value at the end of a path: `["a", "b", "c"]` is `{"a": {"b": "c"}}`."""
    value: Any = path[-1]
    for key in reversed(path[:-1]):
        value = {key: value}
    return value


def matches_descriptor(event_type: str, descriptor: str) -> bool:
    """Return whether an event type matches a descriptor: itself, `*`, or `prefix.*`."""
    if descriptor in (event_type, "*"):
        return True
    if not descriptor.endswith(".*"):
        return False
    prefix = descriptor.split(".")[:-1]
    # A star anywhere but at the end has no meaning, so such a descriptor matches only itself.
    return "*" not in prefix and event_type.split(".")[: len(prefix)] == prefix
