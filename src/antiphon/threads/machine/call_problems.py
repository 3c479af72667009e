"""Problems of tool calls that are known before anything is called: unknown tools and broken arguments.

A call with a problem is answered with it, and no person is asked. Names and types of the arguments are checked here;
the tool itself checks everything that its schema says.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "integer": (int, float),  # 3.0 is an integer in JSON Schema
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}


def problem_with_call(call: Mapping[str, Any], tools: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Return why a call cannot be made, in words for the model, or None; `tools` are the offered ones by name."""
    name: str = call["name"]
    if name not in tools:
        return f"There is no tool {name!r}."
    arguments = _parse(call["arguments"])
    if not isinstance(arguments, Mapping):
        return f"The arguments of {name} are not a JSON object."
    problems = list(_problems(arguments, _mapping(tools[name].get("parameters"))))
    return f"The arguments of {name} are not valid: {'; '.join(problems)}." if problems else None


def _problems(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[str]:
    # Schemas of servers may be anything; what is not as expected is left to the tool.
    properties = _mapping(schema.get("properties"))
    required = schema.get("required")
    is_closed = schema.get("additionalProperties") is False and "patternProperties" not in schema
    for key in required if isinstance(required, list | tuple) else ():
        if isinstance(key, str) and key not in arguments:
            yield f"$.{key} is missing"
    for key, value in arguments.items():
        if key not in properties:
            if is_closed:
                yield f"$.{key} is unknown; known: {', '.join(properties)}"
        elif not _has_type(value, properties[key]):
            yield f"$.{key} must be of type {properties[key]['type']}"


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _has_type(value: object, schema: object) -> bool:
    name = schema.get("type") if isinstance(schema, Mapping) else None
    types = TYPES.get(name) if isinstance(name, str) else None
    return types is None or (isinstance(value, types) and (bool in types or not isinstance(value, bool)))


def _parse(arguments: object) -> object:
    if not isinstance(arguments, str):
        return arguments
    try:
        return json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return None
