"""Values as JSON text, as stores keep them.

Lone surrogates inside JSON are kept as escapes.
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


def _written_at_once() -> Callable[[Any], str]:
    """`JSONEncoder.encode` makes a new encoder in C for every value; where there is one, this makes it once."""
    make = getattr(encoder, "c_make_encoder", None)
    if make is None:
        return _encoder.encode
    write = make(None, _encoder.default, encoder.encode_basestring, None, ":", ",", False, False, True)
    return lambda value: "".join(write(value, 0))


_compact = _written_at_once()


def encoded(value: Any) -> str:
    """A value as JSON text."""
    if type(value) is Encoded:
        return value.text
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
