"""The arguments of a call, held to the JSON Schema that the model was given."""

from collections.abc import Mapping, Sequence
from typing import Any

from antiphon.messages import ToolCall
from antiphon.tools.errors import Refused

Schema = Mapping[str, Any]
KINDS: Mapping[str, Any] = {
    "string": str,
    "integer": int,
    "boolean": bool,
    "array": list,
    "object": dict,
}


def an_object(properties: Mapping[str, Schema], *, required: Sequence[str]) -> dict[str, Any]:
    """The schema of an object with these properties and no others."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def arguments_of(call: ToolCall, schema: Schema) -> dict[str, Any]:
    """What a model wrote, checked; what it left out has its default; `Refused` says what does not fit."""
    try:
        given = call.input()
    except (ValueError, RecursionError) as error:
        raise Refused(f"The arguments of {call.name} are no JSON object: {error}.") from None
    _check(given, schema, "")
    defaults = {name: one["default"] for name, one in schema["properties"].items() if "default" in one}
    return {**defaults, **given}


def _check(value: Any, schema: Schema, place: str) -> None:
    kind = schema["type"]
    allowed = KINDS[kind]
    # To Python, a boolean is an integer.
    if not isinstance(value, allowed) or (kind == "integer" and isinstance(value, bool)):
        raise Refused(f"{place or 'The arguments'} must be of type {kind}, not {value!r}.")
    if "enum" in schema and value not in schema["enum"]:
        raise Refused(f"{place} must be one of {', '.join(map(repr, schema['enum']))}, not {value!r}.")
    if kind == "object":
        _check_object(value, schema, place)
    elif kind == "array":
        _check_size(len(value), schema, place, ("minItems", "maxItems"), " items")
        for number, item in enumerate(value):
            _check(item, schema["items"], f"{place}[{number}]")
    elif kind == "string":
        _check_size(len(value), schema, place, ("minLength", "maxLength"), " characters")
    elif kind == "integer":
        _check_size(value, schema, place, ("minimum", "maximum"), "")


def _check_object(value: Mapping[str, Any], schema: Schema, place: str) -> None:
    known = schema["properties"]
    prefix = f"{place}." if place else ""
    for name in schema["required"]:
        if name not in value:
            raise Refused(f"{prefix}{name} is missing.")
    for name, item in value.items():
        if name not in known:
            raise Refused(f"{prefix}{name} is unknown; known: {', '.join(known)}.")
        _check(item, known[name], f"{prefix}{name}")


def _check_size(size: int, schema: Schema, place: str, keys: tuple[str, str], unit: str) -> None:
    least, most = (schema.get(key) for key in keys)
    if least is not None and size < least:
        raise Refused(f"{place} is {size:,}{unit}; at least {least:,} are needed.")
    if most is not None and size > most:
        raise Refused(f"{place} is {size:,}{unit}; at most {most:,} are allowed.")
