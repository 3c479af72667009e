"""Values as JSON text, as stores keep them.

Lone surrogates inside JSON are kept as escapes. Orjson writes what it can, where it is installed: the rest, such as
numbers of more than 64 bits, is written by Python, which takes five times as long.
"""

import json
from collections.abc import Callable
from json import encoder
from typing import Any, NamedTuple

from antiphon.runtime.errors import Unstorable

_encoder = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, check_circular=False)
_escaped = json.JSONEncoder(separators=(",", ":")).encode


class Encoded(NamedTuple):
    """A value that is JSON text already; nobody encodes it again."""

    text: str


def encoded(value: Any) -> str:
    """A value as JSON text."""
    if type(value) is Encoded:
        return value.text
    try:
        return _swiftly(value)
    except TypeError:
        return by_python(value)


def by_python(value: Any) -> str:
    """A value as JSON text, whatever it is made of."""
    try:
        text = _compact(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise Unstorable(f"what is to be stored is not JSON: {error}") from error
    return text if is_text(text) else _escaped(value)


def is_text(text: str) -> bool:
    """Whether a text can be stored: it has no lone surrogates."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _written_at_once() -> Callable[[Any], str]:
    """`JSONEncoder.encode` makes a new encoder in C for every value; where there is one, this makes it once."""
    make = getattr(encoder, "c_make_encoder", None)
    if make is None:
        return _encoder.encode
    write = make(None, _encoder.default, encoder.encode_basestring, None, ":", ",", False, False, True)
    return lambda value: "".join(write(value, 0))


def _swift() -> Callable[[Any], str]:
    """An encoder that raises `TypeError` for what it cannot write, if there is one."""
    try:
        from orjson import OPT_PASSTHROUGH_DATACLASS, OPT_PASSTHROUGH_DATETIME, dumps
    except ImportError:
        return by_python
    option = OPT_PASSTHROUGH_DATACLASS | OPT_PASSTHROUGH_DATETIME  # which are not JSON
    return lambda value: dumps(value, None, option).decode()


_compact, _swiftly = _written_at_once(), _swift()
