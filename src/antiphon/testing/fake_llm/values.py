"""Values that match a JSON Schema, for structured replies."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any


def value_for(schema: Mapping[str, Any], root: Mapping[str, Any] | None = None) -> Any:
    """Return a minimal value that matches a schema."""
    root = root or schema
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return value_for({**root.get("$defs", {}), **root.get("definitions", {})}[name], root)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return value_for(schema[key][0], root)
    kind = schema.get("type", "object")
    match kind if isinstance(kind, str) else kind[0]:
        case "object":
            return {name: value_for(part, root) for name, part in schema.get("properties", {}).items()}
        case "array":
            return [value_for(schema.get("items", {"type": "null"}), root) for _ in range(schema.get("minItems", 1))]
        case "string":
            return "x" * max(1, schema.get("minLength", 0))
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "boolean":
            return True
        case _:
            return None


def schema_in(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the output schema of a request in any format, or None."""
    if form := (body.get("output_config") or {}).get("format"):
        return dict(form["schema"])
    if form := (body.get("response_format") or {}).get("json_schema"):
        return dict(form["schema"])
    schema = (body.get("generationConfig") or {}).get("responseJsonSchema")
    return None if schema is None else dict(schema)


def next_offered_call(body: Mapping[str, Any]) -> tuple[str, str, str] | None:
    """Return the id, name and arguments for the next tool of a request in any format; None if each was called."""
    called = sum(map(_count_results, body.get("messages") or body.get("contents") or ()))
    tools = list(_offered_tools(body.get("tools") or ()))
    if called >= len(tools):
        return None
    name, schema = tools[called]
    return str(called + 1), name, json.dumps(value_for(schema))


def _offered_tools(tools: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the name and the schema of each tool that the client executes."""
    for tool in tools:
        if "function" in tool:
            yield tool["function"]["name"], tool["function"]["parameters"]
        elif "input_schema" in tool:
            yield tool["name"], tool["input_schema"]
        for declared in tool.get("functionDeclarations") or ():
            yield declared["name"], declared.get("parametersJsonSchema") or declared.get("parameters") or {}


def _count_results(message: Mapping[str, Any]) -> int:
    """Return how many results of tools a message has, in any format."""
    if message.get("role") == "tool":
        return 1
    parts = [part for part in message.get("parts") or message.get("content") or () if isinstance(part, dict)]
    return sum("functionResponse" in part or part.get("type") == "tool_result" for part in parts)
