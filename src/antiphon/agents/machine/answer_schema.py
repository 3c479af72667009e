"""The schema of an agent's answer: JSON Schema as far as answers need it, without any package."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "null": (type(None),),
    "number": (int, float),
    "integer": (int,),
}


def problems(value: Any, schema: Mapping[str, Any]) -> list[str]:
    """What is wrong with a value, each with its place; unknown keywords ask for nothing."""
    return list(_problems(value, schema, schema, "$"))


def _problems(value: Any, schema: Any, root: Mapping[str, Any], place: str) -> Iterator[str]:
    if schema is False:
        yield f"{place} is not allowed"
    if not isinstance(schema, Mapping):
        return
    if "$ref" in schema:
        yield from _problems(value, _resolved(schema["$ref"], root), root, place)
    wanted = schema.get("type")
    if wanted is not None and not _has_type(value, wanted):
        yield f"{place} is not of type {wanted}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{place} is none of {schema['enum']}"
    if "const" in schema and value != schema["const"]:
        yield f"{place} is not {schema['const']!r}"
    yield from _combination_problems(value, schema, root, place)
    match value:
        case dict():
            yield from _object_problems(value, schema, root, place)
        case list():
            yield from _array_problems(value, schema, root, place)
        case str():
            yield from _string_problems(value, schema, place)
        case int() | float() if not isinstance(value, bool):
            yield from _number_problems(value, schema, place)


def _has_type(value: Any, wanted: str | list[str]) -> bool:
    for name in [wanted] if isinstance(wanted, str) else wanted:
        if isinstance(value, bool):
            fits = name == "boolean"
        elif name == "integer" and isinstance(value, float):
            fits = value.is_integer()
        else:
            fits = isinstance(value, TYPES.get(name, (object,)))
        if fits:
            return True
    return False


def _resolved(reference: str, root: Mapping[str, Any]) -> Any:
    found: Any = root
    for name in reference.removeprefix("#").strip("/").split("/"):
        if name:
            found = found.get(name.replace("~1", "/").replace("~0", "~"), {})
    return found


def _combination_problems(value: Any, schema: Mapping[str, Any], root: Mapping[str, Any], place: str) -> Iterator[str]:
    for part in schema.get("allOf", ()):
        yield from _problems(value, part, root, place)
    if "anyOf" in schema and all(any(_problems(value, part, root, place)) for part in schema["anyOf"]):
        yield f"{place} fits none of the {len(schema['anyOf'])} alternatives"
    if "oneOf" in schema:
        fitting = sum(not any(_problems(value, part, root, place)) for part in schema["oneOf"])
        if fitting != 1:
            yield f"{place} fits {fitting} of the alternatives instead of one"
    if "not" in schema and not any(_problems(value, schema["not"], root, place)):
        yield f"{place} is what it must not be"


def _object_problems(
    value: dict[str, Any], schema: Mapping[str, Any], root: Mapping[str, Any], place: str
) -> Iterator[str]:
    properties = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{place} lacks {name!r}"
    others = schema.get("additionalProperties", True)
    for name, item in value.items():
        if name in properties:
            yield from _problems(item, properties[name], root, f"{place}.{name}")
        elif others is False:
            yield f"{place} has {name!r}, which is not asked for"
        else:
            yield from _problems(item, others, root, f"{place}.{name}")
    if not schema.get("minProperties", 0) <= len(value) <= schema.get("maxProperties", len(value)):
        yield f"{place} has {len(value)} properties"


def _array_problems(value: list[Any], schema: Mapping[str, Any], root: Mapping[str, Any], place: str) -> Iterator[str]:
    first = schema.get("prefixItems", [])
    for index, item in enumerate(value):
        part = first[index] if index < len(first) else schema.get("items", True)
        yield from _problems(item, part, root, f"{place}[{index}]")
    if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        yield f"{place} has {len(value)} items"
    if schema.get("uniqueItems") and any(item in value[:index] for index, item in enumerate(value)):
        yield f"{place} repeats an item"


def _string_problems(value: str, schema: Mapping[str, Any], place: str) -> Iterator[str]:
    if not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value)):
        yield f"{place} has {len(value)} characters"
    if "pattern" in schema and not _matches(schema["pattern"], value):
        yield f"{place} does not match {schema['pattern']!r}"


def _matches(pattern: str, value: str) -> bool:
    try:
        return re.search(pattern, value) is not None
    except re.error:
        # Whoever wrote the schema sees it named in the problem; nothing fits what cannot be read.
        return False


def _number_problems(value: float, schema: Mapping[str, Any], place: str) -> Iterator[str]:
    if not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        yield f"{place} is out of range: {value}"
    if value <= schema.get("exclusiveMinimum", value - 1) or value >= schema.get("exclusiveMaximum", value + 1):
        yield f"{place} is out of range: {value}"
    step = schema.get("multipleOf")
    if step and value % step:
        yield f"{place} is not a multiple of {step}"
