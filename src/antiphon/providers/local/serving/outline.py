"""JSON by a schema: the punctuation and the names are ours, the model only fills in values, so it is always valid."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from antiphon.json_schema import Checker

LONGEST_STRING = 200
MOST_ITEMS = 8
# Whole ranges up to this size are chosen from; larger ones are written digit by digit.
SMALL_RANGE = 20
NUMBER = {"integer": re.compile(r" ?-?\d{0,9}"), "number": re.compile(r" ?-?\d{0,9}(\.\d{0,6})?")}
UNQUOTED = re.compile(r'["\\\x00-\x1f]')


class Pen(Protocol):
    """What can write."""

    def say(self, text: str) -> str:
        """Write a given text."""
        ...

    def choose(self, texts: Sequence[str]) -> str:
        """Write the likeliest of some texts."""
        ...

    def grow(self, fits: Callable[[str], bool], ends: str) -> Iterator[str]:
        """Write freely as long as it fits."""
        ...

    def full(self) -> bool:
        """Whether no more may be written."""
        ...


def values(schema: Any, root: Mapping[str, Any], pen: Pen) -> Iterator[str]:
    """The text of a value that fits a schema, in pieces; it stops where the pen is full."""
    if pen.full():
        return
    part = _resolved(schema, root)
    if "const" in part:
        yield pen.say(_json(part["const"]))
    elif "enum" in part:
        yield pen.choose([_json(value) for value in part["enum"]])
    elif alternatives := part.get("anyOf") or part.get("oneOf"):
        yield from values(alternatives[0], root, pen)
    else:
        yield from _typed(part, root, pen)


def _typed(part: Mapping[str, Any], root: Mapping[str, Any], pen: Pen) -> Iterator[str]:
    kind = part.get("type", "object" if "properties" in part else "string")
    match kind[0] if isinstance(kind, list) else kind:
        case "object":
            yield from _object(part, root, pen)
        case "array":
            yield from _array(part, root, pen)
        case "boolean":
            yield pen.choose(["true", "false"])
        case "null":
            yield pen.say("null")
        case "integer" | "number" as number:
            yield from _number(number, part, pen)
        case _:
            yield from _string(part, pen)


def _object(part: Mapping[str, Any], root: Mapping[str, Any], pen: Pen) -> Iterator[str]:
    yield pen.say("{")
    for place, (name, inner) in enumerate(part.get("properties", {}).items()):
        yield pen.say(f"{', ' if place else ''}{_json(name)}: ")
        yield from values(inner, root, pen)
        if pen.full():
            return
    yield pen.say("}")


def _array(part: Mapping[str, Any], root: Mapping[str, Any], pen: Pen) -> Iterator[str]:
    least, most = part.get("minItems", 0), part.get("maxItems", MOST_ITEMS)
    yield pen.say("[")
    for place in range(most):
        if place >= least and (most == 0 or (place and _over(pen))):
            break
        if place:
            yield pen.say(", ")
        yield from values(part.get("items", {}), root, pen)
        if pen.full():
            return
    yield pen.say("]")


def _over(pen: Pen) -> bool:
    # Asked as the model would write it; what it answers is written by us afterwards.
    return next(iter(pen.grow(lambda text: text in (",", ", "), "]")), "") == ""


def _number(kind: str, part: Mapping[str, Any], pen: Pen) -> Iterator[str]:
    least, most = part.get("minimum"), part.get("maximum")
    if kind == "integer" and least is not None and most is not None and most - least <= SMALL_RANGE:
        yield pen.choose([str(number) for number in range(int(least), int(most) + 1)])
        return
    written = "".join(pen.grow(lambda text: NUMBER[kind].fullmatch(text) is not None, ",}] \n")).strip()
    try:
        found: float = int(written) if kind == "integer" else float(written)
    except ValueError:
        found = 0
    if Checker(part).problems(found):
        found = least if least is not None else most if most is not None else found
    yield _json(found)


def _string(part: Mapping[str, Any], pen: Pen) -> Iterator[str]:
    longest = part.get("maxLength", LONGEST_STRING)
    yield pen.say('"')
    for piece in pen.grow(lambda text: len(text) <= longest and not UNQUOTED.search(text), '"'):
        yield _json(piece)[1:-1]
    if not pen.full():
        yield pen.say('"')


def _resolved(schema: Any, root: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Any = schema
    while isinstance(found, Mapping) and "$ref" in found:
        target: Any = root
        for name in found["$ref"].removeprefix("#").strip("/").split("/"):
            target = target.get(name, {}) if name else target
        found = target
    return found if isinstance(found, Mapping) else {}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
