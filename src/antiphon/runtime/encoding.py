"""Values encoded as JSON text for stores.

Lone surrogates inside JSON are kept as escapes. Where orjson is installed it encodes what it can; everything else,
such as numbers of more than 64 bits, is encoded by Python, which takes five times as long.
"""

import json
from collections.abc import Callable, Mapping
from json import encoder
from typing import Any, NamedTuple

from antiphon.runtime.errors import Unstorable

_encoder = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, check_circular=False)
_encode_ascii = json.JSONEncoder(separators=(",", ":")).encode


class Encoded(NamedTuple):
    """A value that is encoded already; `encode` returns its text."""

    text: str


def encode(value: Any) -> str:
    """Encode a value as JSON text."""
    if type(value) is Encoded:
        return value.text
    try:
        return _encode_fast(value)
    except TypeError:
        return encode_in_python(value)


def encode_in_python(value: Any) -> str:
    """Encode a value with the standard library, which supports every JSON value."""
    try:
        text = _encode_compact(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise Unstorable(f"the value to be stored is not JSON: {error}") from error
    return text if is_text(text) else _encode_ascii(value)


def estimate_size(event: Mapping[str, Any]) -> int:
    """Estimate the size of an event in the journal."""
    size = 64
    for value in event.values():
        size += len(value) if isinstance(value, str) else 16
    return size


def is_text(text: str) -> bool:
    """Return whether a text can be stored: it has no lone surrogates."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _compact_encoder() -> Callable[[Any], str]:
    """Return an encoder that is created once: `JSONEncoder.encode` creates a new one in C for every value."""
    make = getattr(encoder, "c_make_encoder", None)
    if make is None:
        return _encoder.encode
    write = make(None, _encoder.default, encoder.encode_basestring, None, ":", ",", False, False, True)
    return lambda value: "".join(write(value, 0))


def _fastest_encoder() -> Callable[[Any], str]:
    """Return orjson's encoder, which raises `TypeError` for values it does not support, if it is installed."""
    try:
        from orjson import OPT_PASSTHROUGH_DATACLASS, OPT_PASSTHROUGH_DATETIME, dumps
    except ImportError:
        return encode_in_python
    option = OPT_PASSTHROUGH_DATACLASS | OPT_PASSTHROUGH_DATETIME  # which are not JSON
    return lambda value: dumps(value, None, option).decode()


_encode_compact = _compact_encoder()
_encode_fast = _fastest_encoder()
