"""The schema of an answer: a JSON Schema in a file or inline, or fields in a concise form like `name, age int`."""

import json
import re
from pathlib import Path
from typing import Any

from antiphon.cli.frame import UsageError

TYPES = {"str": "string", "int": "integer", "float": "number", "bool": "boolean"}
FIELD = re.compile(r"(?P<name>[A-Za-z_]\w*)(?:\s+(?P<type>\w+))?\s*(?::\s*(?P<about>.*))?", re.DOTALL)
FORMS = "a JSON Schema in a file or inline, or fields like 'name, age int, bio: a short text'"


def parse_schema(text: str, *, is_list: bool = False) -> dict[str, Any]:
    """Return a JSON Schema; with `is_list`, that of an object whose `items` have the given one."""
    schema = _read(text.strip())
    if not is_list:
        return schema
    items = {"type": "array", "items": schema}
    return {"type": "object", "properties": {"items": items}, "required": ["items"]}


def _read(text: str) -> dict[str, Any]:
    if text.startswith("{"):
        return _parse_json(text, "--schema")
    if re.search(r"\.json$|/", text):
        try:
            return _parse_json(Path(text).read_text(encoding="utf-8"), text)
        except OSError as error:
            raise UsageError(f"cannot read {text}: {error.strerror or error}") from error
        except UnicodeDecodeError as error:
            raise UsageError(f"{text} is not a text in UTF-8") from error
    return _parse_fields(text)


def _parse_json(text: str, place: str) -> dict[str, Any]:
    try:
        schema = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{place} is not JSON: {error}") from error
    if not isinstance(schema, dict):
        raise UsageError(f"{place} is not a JSON Schema, which is an object")
    return schema


def _parse_fields(text: str) -> dict[str, Any]:
    """Return the schema of an object by its fields, separated by commas, or by lines, whose texts may have commas."""
    properties: dict[str, Any] = {}
    for field in re.split(r"\n" if "\n" in text else ",", text):
        if not field.strip():
            continue
        match = FIELD.fullmatch(field.strip())
        if match is None:
            raise UsageError(f"cannot read the field {field.strip()!r} of the schema; it must be {FORMS}")
        type = match["type"] or "str"
        if type not in TYPES:
            raise UsageError(f"there is no type {type!r} of a field; known: {', '.join(TYPES)}")
        if match["name"] in properties:
            raise UsageError(f"the field {match['name']!r} occurs twice in the schema; rename or remove one")
        about = {"description": match["about"].strip()} if match["about"] else {}
        properties[match["name"]] = {"type": TYPES[type], **about}
    if not properties:
        raise UsageError(f"the schema has no field; it must be {FORMS}")
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}
