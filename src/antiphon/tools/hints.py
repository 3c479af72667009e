"""Type hints as JSON Schemas, and JSON values read as the types that they describe."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from antiphon.tools.arguments import object_schema

Json = dict[str, Any]
SUPPORTED = (
    "use str, int, float, bool, None, Any, Literal, Enum, list, dict with str keys, a TypedDict, a dataclass, "
    "or a union of them"
)
SCALARS: Mapping[Any, str] = {str: "string", bool: "boolean", int: "integer", NoneType: "null"}
UNIONS = (Union, UnionType)
LISTS = (list, Sequence)
OBJECTS = (dict, Mapping)
MISSING = dataclasses.MISSING


class BadHint(Exception):
    """Raised for a type hint that has no JSON Schema."""


class Mismatch(Exception):
    """Raised for a value that is not of the hinted type."""


@dataclass(frozen=True, slots=True)
class Hint:
    """JSON Schema of a type, and a function that reads a JSON value as this type or raises `Mismatch`."""

    schema: Json
    read: Callable[[Any], Any]


class ParameterField(NamedTuple):
    """Part of an object: its hint, whether it must be present, its default if JSON has it, and a description."""

    hint: Hint
    required: bool
    default: Any = MISSING
    description: str = ""


def compile_hint(hint: Any, outer: tuple[Any, ...] = ()) -> Hint:
    """Compile a type hint; raise `BadHint` if it has no JSON Schema, or contains itself."""
    if get_origin(hint) is Annotated:
        return _annotated(hint, outer)
    if hint is Any or hint is object:
        return Hint({}, lambda value: value)
    if hint is None or hint in SCALARS:
        return _scalar(NoneType if hint is None else hint)
    if hint is float:
        return Hint({"type": "number"}, _read_float)
    if hint in outer:
        raise BadHint(f"{hint.__name__} contains itself, which is not supported")
    origin = get_origin(hint) or hint
    arguments = get_args(hint)
    if origin is Literal:
        return _choice(arguments, arguments)
    if origin in UNIONS:
        return _union([compile_hint(branch, outer) for branch in arguments])
    if origin in LISTS:
        return _list(compile_hint(arguments[0] if arguments else Any, outer))
    if origin in OBJECTS:
        return _dict(arguments, outer)
    if isinstance(origin, type) and issubclass(origin, Enum):
        return _enum(origin)
    if is_typeddict(origin) or dataclasses.is_dataclass(origin):
        return _object(origin, (*outer, origin))
    raise BadHint(f"{hint!r} has no JSON Schema; {SUPPORTED}")


def _scalar(type: Any) -> Hint:
    def read(value: Any) -> Any:
        # A bool is an int in Python, and not in JSON.
        if not isinstance(value, type) or (type is int and isinstance(value, bool)):
            raise Mismatch
        return value

    return Hint({"type": SCALARS[type]}, read)


def _read_float(value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise Mismatch
    return float(value)


def _annotated(type: Any, outer: tuple[Any, ...]) -> Hint:
    hint = compile_hint(get_args(type)[0], outer)
    text = next((note for note in type.__metadata__ if isinstance(note, str)), None)
    return hint if text is None else Hint({**hint.schema, "description": text}, hint.read)


def _choice(stored: Sequence[Any], values: Sequence[Any]) -> Hint:
    if not all(value is None or isinstance(value, str | int) for value in stored):
        raise BadHint(f"only texts, integers, booleans and None can be chosen from, not {list(stored)!r}")

    def read(value: Any) -> Any:
        for key, choice in zip(stored, values, strict=True):
            if key == value and isinstance(key, bool) == isinstance(value, bool):
                return choice
        raise Mismatch

    return Hint({"enum": list(stored)}, read)


def _enum(type: Any) -> Hint:
    members = list(type)
    if not members:
        raise BadHint(f"the enumeration {type.__name__} has no members")
    return _choice([member.value for member in members], members)


def _union(branches: Sequence[Hint]) -> Hint:
    def read(value: Any) -> Any:
        for branch in branches:
            try:
                return branch.read(value)
            except Mismatch:
                continue
        raise Mismatch

    return Hint({"anyOf": [branch.schema for branch in branches]}, read)


def _list(item: Hint) -> Hint:
    def read(value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise Mismatch
        return [item.read(part) for part in value]

    return Hint({"type": "array", "items": item.schema}, read)


def _dict(arguments: tuple[Any, ...], outer: tuple[Any, ...]) -> Hint:
    if arguments and arguments[0] is not str:
        raise BadHint(f"the keys of a dict must be str, not {arguments[0]!r}, because keys of JSON are texts")
    item = compile_hint(arguments[1] if arguments else Any, outer)

    def read(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise Mismatch
        return {key: item.read(part) for key, part in value.items()}

    return Hint({"type": "object", "additionalProperties": item.schema}, read)


def _object(type: Any, outer: tuple[Any, ...]) -> Hint:
    try:
        hints = get_type_hints(type, include_extras=True)
    except NameError as error:
        raise BadHint(f"a hint of {type.__name__} cannot be resolved: {error}") from None
    fields = _keys(type, hints, outer) if is_typeddict(type) else _fields(type, hints, outer)
    make = dict if is_typeddict(type) else type

    def read(value: Any) -> Any:
        return make(**read_fields(fields, value))

    return Hint(fields_schema(fields), read)


def _keys(type: Any, hints: Mapping[str, Any], outer: tuple[Any, ...]) -> dict[str, ParameterField]:
    fields: dict[str, ParameterField] = {}
    for name, hint in hints.items():
        plain = get_args(hint)[0] if get_origin(hint) in (Required, NotRequired) else hint
        fields[name] = ParameterField(compile_hint(plain, outer), name in type.__required_keys__)
    return fields


def _fields(type: Any, hints: Mapping[str, Any], outer: tuple[Any, ...]) -> dict[str, ParameterField]:
    fields: dict[str, ParameterField] = {}
    for field in dataclasses.fields(type):
        if field.init:
            required = field.default is MISSING and field.default_factory is MISSING
            fields[field.name] = ParameterField(
                compile_hint(hints[field.name], outer), required, json_default(field.default)
            )
    return fields


def fields_schema(fields: Mapping[str, ParameterField]) -> Json:
    """Return the JSON Schema of an object with these fields and no others."""
    properties: dict[str, Json] = {}
    for name, field in fields.items():
        schema = dict(field.hint.schema)
        if field.description:
            schema["description"] = field.description
        if field.default is not MISSING:
            schema["default"] = field.default
        properties[name] = schema
    return object_schema(properties, required=[name for name, field in fields.items() if field.required])


def read_fields(fields: Mapping[str, ParameterField], value: Any) -> dict[str, Any]:
    """Read the fields that an object has; a field that it has not keeps the default of its type or function."""
    if not isinstance(value, Mapping) or not value.keys() <= fields.keys():
        raise Mismatch
    if any(field.required and name not in value for name, field in fields.items()):
        raise Mismatch
    return {name: fields[name].hint.read(part) for name, part in value.items()}


def json_default(value: Any) -> Any:
    """Return a default as JSON, or `MISSING` if it is none; the default of the function applies then."""
    if isinstance(value, Enum):
        value = value.value
    return value if value is None or isinstance(value, str | int | float) else MISSING
