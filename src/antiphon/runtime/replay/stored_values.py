"""Values as they are once they were stored and read, and their weight."""

from collections.abc import Mapping
from typing import Any

from antiphon.chart.codecs import find_codec
from antiphon.chart.persist import PLAIN, is_plain, to_json_error
from antiphon.chart.text import GrowingText


def is_actor(value: Any) -> bool:
    """Return whether a value is an actor or a reference to one."""
    return hasattr(value, "get_snapshot") and hasattr(value, "send")


def restored_value(value: Any) -> Any:
    """Return a value as it is once it was stored and read, if its kind differs: actors may have ended by then."""
    if isinstance(value, BaseException):
        return to_json_error(value)
    return None if is_actor(value) else value


def stored_kind(value: Any) -> type | None:
    """Return the type that a text, list or dict has once it was stored and read, or None for other values."""
    if isinstance(value, list | tuple):
        return list
    if isinstance(value, str | GrowingText):
        return str
    return dict if isinstance(value, Mapping) else None


def weigh(value: Any, room: int) -> int:
    """Return what is left of `room` after a value, negative as soon as it is used up."""
    kind = type(value)
    if kind is str or kind is GrowingText:
        return room - len(value)
    if kind in PLAIN or kind is float:
        return room - 8
    if kind is list or isinstance(value, list | tuple):
        room -= 2 * len(value)
        for inner in value:
            if room < 0:
                break
            room = room - len(inner) if type(inner) is str else weigh(inner, room)
        return room
    if kind is dict or isinstance(value, Mapping):
        room -= 4 * len(value)
        for key, inner in value.items():
            if room < 0:
                break
            room -= len(key)
            room = room - len(inner) if type(inner) is str else weigh(inner, room)
        return room
    codec = find_codec(kind)
    if codec is not None:
        return weigh(codec.encode(value), room)
    restored = restored_value(value)
    return room - 8 if restored is value else weigh(restored, room)


def stored_form(value: Any) -> Any:
    """Return a value of at most 1 kB as it is once it was stored and read."""
    if is_plain(value):
        return value
    if isinstance(value, str | GrowingText):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): stored_form(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [stored_form(inner) for inner in value]
    codec = find_codec(type(value))
    if codec is not None:
        return [codec.tag, stored_form(codec.encode(value))]
    restored = restored_value(value)
    if restored is not value:
        return restored
    return next((base(value) for base in (int, float) if isinstance(value, base)), type(value).__name__)
