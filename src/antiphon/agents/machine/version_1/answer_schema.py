"""Validation of agents' answers by the common part of JSON Schema, without third-party packages."""

import re
from collections.abc import Iterator, Mapping
from typing import TypedDict, cast

from antiphon.answers import find_json

MOST_PROBLEMS = 5
TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "null": (type(None),),
    "number": (int, float),
    "integer": (int,),
}
# The keywords that are checked; all others are ignored.
Keywords = TypedDict(
    "Keywords",
    {
        "$ref": str,
        "type": "str | list[str]",
        "enum": list[object],
        "const": object,
        "allOf": list[object],
        "anyOf": list[object],
        "oneOf": list[object],
        "not": object,
        "properties": Mapping[str, object],
        "required": list[str],
        "additionalProperties": object,
        "minProperties": int,
        "maxProperties": int,
        "prefixItems": list[object],
        "items": object,
        "minItems": int,
        "maxItems": int,
        "uniqueItems": bool,
        "minLength": int,
        "maxLength": int,
        "pattern": str,
        "minimum": float,
        "maximum": float,
        "exclusiveMinimum": float,
        "exclusiveMaximum": float,
        "multipleOf": float,
    },
    total=False,
)


def schema_problem(text: str, schema: Mapping[str, object]) -> str | None:
    """Return why a text holds no value that fits a schema, or None if it holds one."""
    try:
        messages = problems(find_json(text), schema)
    except (ValueError, RecursionError) as error:
        return str(error)
    return "; ".join(messages[:MOST_PROBLEMS]) or None


def problems(value: object, schema: Mapping[str, object]) -> list[str]:
    """Return the problems of a value, each with its place; unknown keywords are ignored."""
    return list(_problems(value, schema, schema, "$"))


def _problems(value: object, schema: object, root: Mapping[str, object], place: str) -> Iterator[str]:
    if schema is False:
        yield f"{place} is not allowed"
    if not isinstance(schema, Mapping):
        return
    keywords = cast(Keywords, schema)
    if "$ref" in keywords:
        yield from _problems(value, _resolve(keywords["$ref"], root), root, place)
    types = keywords.get("type")
    if types is not None and not _has_type(value, types):
        yield f"{place} is not of type {types}"
        return
    if "enum" in keywords and value not in keywords["enum"]:
        yield f"{place} is none of {keywords['enum']}"
    if "const" in keywords and value != keywords["const"]:
        yield f"{place} is not {keywords['const']!r}"
    yield from _combination_problems(value, keywords, root, place)
    if isinstance(value, dict):
        yield from _object_problems(value, keywords, root, place)
    elif isinstance(value, list):
        yield from _array_problems(value, keywords, root, place)
    elif isinstance(value, str):
        yield from _string_problems(value, keywords, place)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield from _number_problems(value, keywords, place)


def _has_type(value: object, types: str | list[str]) -> bool:
    for name in [types] if isinstance(types, str) else types:
        if isinstance(value, bool):
            fits = name == "boolean"
        elif name == "integer" and isinstance(value, float):
            fits = value.is_integer()
        else:
            fits = isinstance(value, TYPES.get(name, (object,)))
        if fits:
            return True
    return False


def _resolve(reference: str, root: Mapping[str, object]) -> object:
    node: object = root
    for name in reference.removeprefix("#").strip("/").split("/"):
        if name:
            node = cast("Mapping[str, object]", node).get(name.replace("~1", "/").replace("~0", "~"), {})
    return node


def _combination_problems(value: object, schema: Keywords, root: Mapping[str, object], place: str) -> Iterator[str]:
    for part in schema.get("allOf", ()):
        yield from _problems(value, part, root, place)
    if "anyOf" in schema and all(any(_problems(value, part, root, place)) for part in schema["anyOf"]):
        yield f"{place} matches none of the {len(schema['anyOf'])} schemas under `anyOf`"
    if "oneOf" in schema:
        matching = sum(not any(_problems(value, part, root, place)) for part in schema["oneOf"])
        if matching != 1:
            yield f"{place} matches {matching} of the {len(schema['oneOf'])} schemas under `oneOf`, not exactly one"
    if "not" in schema and not any(_problems(value, schema["not"], root, place)):
        yield f"{place} must not match the schema under `not`"


def _object_problems(
    value: dict[str, object], schema: Keywords, root: Mapping[str, object], place: str
) -> Iterator[str]:
    properties = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{place} lacks {name!r}"
    additional = schema.get("additionalProperties", True)
    for name, item in value.items():
        if name in properties:
            yield from _problems(item, properties[name], root, f"{place}.{name}")
        elif additional is False:
            yield f"{place} has {name!r}, which is not asked for"
        else:
            yield from _problems(item, additional, root, f"{place}.{name}")
    if not schema.get("minProperties", 0) <= len(value) <= schema.get("maxProperties", len(value)):
        yield f"{place} has {len(value)} properties"


def _array_problems(value: list[object], schema: Keywords, root: Mapping[str, object], place: str) -> Iterator[str]:
    first = schema.get("prefixItems", [])
    for index, item in enumerate(value):
        part = first[index] if index < len(first) else schema.get("items", True)
        yield from _problems(item, part, root, f"{place}[{index}]")
    if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        yield f"{place} has {len(value)} items"
    if schema.get("uniqueItems") and any(item in value[:index] for index, item in enumerate(value)):
        yield f"{place} repeats an item"


def _string_problems(value: str, schema: Keywords, place: str) -> Iterator[str]:
    if not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value)):
        yield f"{place} has {len(value)} characters"
    if "pattern" in schema and not _matches(schema["pattern"], value):
        yield f"{place} does not match {schema['pattern']!r}"


def _matches(pattern: str, value: str) -> bool:
    try:
        return re.search(pattern, value) is not None
    except re.error:
        # The problem names the pattern, so the author of the schema sees it; no value matches an invalid pattern.
        return False


def _number_problems(value: float, schema: Keywords, place: str) -> Iterator[str]:
    if not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        yield f"{place} is out of range: {value}"
    if value <= schema.get("exclusiveMinimum", value - 1) or value >= schema.get("exclusiveMaximum", value + 1):
        yield f"{place} is out of range: {value}"
    step = schema.get("multipleOf")
    if step and value % step:
        yield f"{place} is not a multiple of {step}"
