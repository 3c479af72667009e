"""JSON of clients, read strictly: UTF-8, finite numbers, no key twice, no NUL, not too deep."""

import json
import re
from math import isfinite
from typing import Any

from antiphon.server.problems import ProblemError

MEDIA_TYPE = "application/json"
STRINGS = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
SQUARE = bytes.maketrans(b"{}", b"[]")
NOT_BRACKETS = bytes(byte for byte in range(256) if byte not in b"[]{}")


def parse_json(body: bytes, deepest: int) -> Any:
    """Parse a JSON text; raise `ProblemError` with the reason if it is not one that the server reads."""
    if _is_deeper(body, deepest):
        raise _bad(f"it is nested more than {deepest} levels deep")
    try:
        value = json.loads(
            body.decode("utf-8"),
            object_pairs_hook=_object,
            parse_constant=_refuse_constant,
            parse_float=_finite,
        )
    except UnicodeDecodeError as error:
        raise _bad(f"byte {error.start} is not UTF-8") from error
    except (ValueError, RecursionError) as error:
        raise _bad(str(error)) from error
    if b"\\u" in body or b"\x00" in body:
        _check_texts(value)
    return value


def is_json(content_type: str) -> bool:
    """Return whether the media type of a body is JSON, in UTF-8."""
    media_type, *parameters = (part.strip().lower() for part in content_type.split(";"))
    return media_type == MEDIA_TYPE and all(part in ("charset=utf-8", 'charset="utf-8"') for part in parameters)


def _is_deeper(body: bytes, deepest: int) -> bool:
    """Return whether the brackets of a JSON text are nested more than so many levels deep.

    Each pass removes the innermost level, so that no byte is looked at by Python code.
    """
    brackets = STRINGS.sub(b"", body).translate(SQUARE, NOT_BRACKETS)
    for _ in range(deepest):
        if not brackets:
            return False
        brackets = brackets.replace(b"[]", b"")
    return brackets.count(b"[") > deepest or b"[]" in brackets


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice[:80]!r} comes twice in one object")
    return value


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number of JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"the number {text[:40]} is too large")
    return number


def _check_texts(value: Any) -> None:
    """Raise `ProblemError` for a text with a NUL or with half of a character."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            if "\x00" in item:
                raise _bad("a text contains the character NUL")
            if any("\ud800" <= character <= "\udfff" for character in item):
                raise _bad("a text contains half of a surrogate pair")
        elif isinstance(item, dict):
            pending += [*item, *item.values()]
        elif isinstance(item, list):
            pending += item


def _bad(reason: str) -> ProblemError:
    return ProblemError("bad_json", f"the body cannot be read: {reason}")
