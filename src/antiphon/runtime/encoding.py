"""Values encoded as JSON text for stores, and decoded.

What can be stored is decided before anything is encoded, so that it is the same with orjson and without: orjson would
write NaN as null and an Enum as its value, and the standard library an integer key as a string. Lone surrogates inside
JSON are kept as escapes. Where orjson is installed it encodes what it can; everything else, such as numbers of more
than 64 bits, is encoded by Python, which takes five times as long.
"""

import json
from collections.abc import Callable, Mapping
from json import encoder
from typing import Any, NamedTuple

from antiphon.chart.codecs import TAG, decode_coded
from antiphon.chart.errors import CodecError, SnapshotError
from antiphon.chart.persist import is_plain, to_json_value, to_key
from antiphon.runtime.errors import Undecodable, Unstorable

_encoder = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, check_circular=False, allow_nan=False)
_decode_start = json.JSONDecoder().raw_decode
_encode_ascii = json.JSONEncoder(separators=(",", ":")).encode
_TAG_TEXT = f'"{TAG}"'


class Encoded(NamedTuple):
    """A value that is encoded already; `encode` and `encode_json` return its text."""

    text: str


def encode(value: Any, path: str = "value") -> str:
    """Encode a value as JSON text; values whose types have codecs are tagged."""
    if type(value) is Encoded:
        return value.text
    try:
        return encode_checked(value if is_plain(value) else to_json_value(value, path))
    except (SnapshotError, RecursionError) as error:
        raise Unstorable(f"the value to be stored is not JSON: {error}") from error


def encode_body(body: dict[str, Any]) -> str:
    """Encode the body of a record, in which only the event and emitted events can be other values than JSON."""
    try:
        if is_plain(body["event"]) and "emitted" not in body:
            return encode_checked(body)
    except RecursionError:
        pass  # it contains itself, and is refused below
    return encode(body, "record")


def encode_json(value: Any) -> str:
    """Encode a value that is in its stored form already, such as a persisted snapshot; raise if it is not."""
    if type(value) is Encoded:
        return value.text
    try:
        if not is_plain(value):
            _check_json(value, "value")
    except (SnapshotError, RecursionError) as error:
        raise Unstorable(f"the value to be stored is not JSON: {error}") from error
    return encode_checked(value)


def encode_checked(value: Any) -> str:
    """Encode a value that is known to be JSON."""
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


def decode(text: str) -> Any:
    """Decode what `encode` returned; raise `ValueError` if it is not JSON, `Undecodable` if a codec is missing."""
    if _TAG_TEXT not in text:  # as in nearly all texts
        return _decode_plain(text)
    try:
        return json.loads(text, object_hook=decode_coded)
    except CodecError as error:
        raise Undecodable(str(error)) from error


def _decode_plain(text: str) -> Any:
    """Decode a JSON text; stores write no white space around it, and looking for some takes as long as decoding."""
    try:
        value, end = _decode_start(text)
    except ValueError:
        return json.loads(text)
    return value if end == len(text) else json.loads(text)


def _check_json(value: Any, path: str) -> None:
    if isinstance(value, dict):
        for key, inner in value.items():
            to_key(key, path)
            _check_json(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            _check_json(inner, f"{path}[{i}]")
    elif to_json_value(value, path) is not value:
        raise SnapshotError(f"{path}: a {type(value).__name__} is not in its stored form")


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
    write = make(None, _encoder.default, encoder.encode_basestring, None, ":", ",", False, False, False)
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
