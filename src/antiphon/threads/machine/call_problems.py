"""Problems of tool calls that are known before anything is called: unknown tools and broken arguments.

A call with a problem is answered with it, and no person is asked. The names of the arguments are checked here; the tool
itself checks their values.
"""

import json
from collections.abc import Mapping
from typing import Any


def problem_with_call(call: Mapping[str, Any], tools: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Return why a call cannot be made, in words for the model, or None; `tools` are the offered ones by name."""
    name: str = call["name"]
    if name not in tools:
        return f"There is no tool {name!r}."
    arguments = _parse(call["arguments"])
    if not isinstance(arguments, Mapping):
        return f"The arguments of {name} are not a JSON object."
    schema: Mapping[str, Any] = tools[name].get("parameters") or {}
    missing = [key for key in schema.get("required", ()) if key not in arguments]
    if missing:
        return f"The arguments of {name} lack {', '.join(missing)}."
    unknown = [key for key in arguments if key not in schema.get("properties", {})]
    if unknown and schema.get("additionalProperties") is False and "patternProperties" not in schema:
        return f"The arguments of {name} have {', '.join(unknown)}, which it does not take."
    return None


def _parse(arguments: object) -> object:
    if not isinstance(arguments, str):
        return arguments
    try:
        return json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return None
