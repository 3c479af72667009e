"""Adapt JSON Schemas for servers: closed objects, without the bounds that some servers reject."""

from collections.abc import Iterator, Mapping
from typing import Any

# Keywords that constrain values; servers that enforce a schema reject some of them.
BOUNDS = frozenset(
    {
        "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
        "minLength", "maxLength", "pattern", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties",
    }
)  # fmt: skip


def close_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Disallow additional properties and remove bounds, which are checked by us instead."""
    return {key: _close_value(key, value) for key, value in _with_closing(schema).items() if key not in BOUNDS}


def is_strict(schema: Mapping[str, Any]) -> bool:
    """Return whether every object requires all its properties, as OpenAI's strict mode demands."""
    for part in _parts(schema):
        properties = part.get("properties")
        if properties is not None and set(part.get("required", ())) != set(properties):
            return False
        if part.get("type") == "object" and properties is None:
            return False
        if part.get("additionalProperties", False) is not False:
            return False
    return True


def _with_closing(schema: Mapping[str, Any]) -> dict[str, Any]:
    return ({"additionalProperties": False} if "properties" in schema else {}) | dict(schema)


def _close_value(key: str, value: Any) -> Any:
    if key in ("properties", "$defs", "definitions"):
        return {name: close_schema(part) if isinstance(part, dict) else part for name, part in value.items()}
    if key in ("enum", "const", "default", "examples", "required"):
        return value
    if isinstance(value, dict):
        return close_schema(value)
    if isinstance(value, list):
        return [close_schema(part) if isinstance(part, dict) else part for part in value]
    return value


def _parts(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield schema
    for key, value in schema.items():
        if key in ("properties", "$defs", "definitions"):
            for part in value.values():
                yield from _parts(part)
        elif key in ("anyOf", "oneOf", "allOf"):
            for part in value:
                yield from _parts(part)
        elif key == "items" and isinstance(value, dict):
            yield from _parts(value)
