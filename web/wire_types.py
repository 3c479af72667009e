"""Write src/wire/types.ts: the types of the server's bodies, from the schemas of its OpenAPI document."""

import sys
from pathlib import Path
from typing import Any

from antiphon.server.asgi import contracts
from antiphon.server.contracts import SCHEMAS, Contract, checks, schemas
from antiphon.server.replies import ProblemReply

TARGET = Path(__file__).parent / "src" / "wire" / "types.ts"
HEAD = "// Made by `make web-types` from the OpenAPI document of the server; do not edit.\n"
PLAIN = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
# Facades speak protocols that the app does not use.
LEFT_OUT = ("openai", "ag-ui", "vercel", "mcp", "local")


def type_of(schema: Any) -> str:
    """Return a JSON Schema as a type."""
    if schema in ({}, True):
        return "unknown"
    if "$ref" in schema:
        return str(schema["$ref"]).removeprefix(SCHEMAS).strip("_")
    if "const" in schema:
        return f"'{schema['const']}'"
    if "enum" in schema:
        return " | ".join("null" if value is None else f"'{value}'" for value in schema["enum"])
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return " | ".join(dict.fromkeys(type_of(item) for item in schema[key]))
    kind = schema.get("type")
    if isinstance(kind, list):
        return " | ".join(dict.fromkeys(type_of({**schema, "type": name}) for name in kind))
    if kind == "array":
        item = type_of(schema.get("items", {}))
        return f"({item})[]" if " " in item else f"{item}[]"
    if kind == "object" or "properties" in schema:
        return object_type(schema)
    return PLAIN.get(str(kind), "unknown")


def object_type(schema: dict[str, Any]) -> str:
    """Return a schema of objects as a type."""
    if "properties" not in schema:
        values = schema.get("additionalProperties", {})
        return f"Record<string, {type_of(values)}>"
    required = schema.get("required", [])
    fields = [
        f"  {name}{'' if name in required else '?'}: {type_of(value)};" for name, value in schema["properties"].items()
    ]
    return "\n".join(["{", *fields, "}"])


def names_of(schema: Any) -> set[str]:
    """Return the names of the schemas that a schema refers to."""
    if isinstance(schema, dict):
        own = {schema["$ref"].removeprefix(SCHEMAS)} if "$ref" in schema else set()
        return own.union(*(names_of(value) for value in schema.values()))
    return set().union(*(names_of(item) for item in schema)) if isinstance(schema, list) else set()


def used_schemas(loaded: list[tuple[str, Contract]]) -> dict[str, Any]:
    """Return the schemas that the routes of the app use, by their names."""
    names = {checks.shape(ProblemReply).name}
    for tag, contract in loaded:
        if tag not in LEFT_OUT:
            names |= {checks.shape(kind).name for kind in (*contract.takes, contract.gives) if kind is not None}
    known = schemas()  # of the types that were read above
    while True:
        more = names.union(*(names_of(known[name]) for name in names))
        if more == names:
            return {name: known[name] for name in sorted(names)}
        names = more


def document() -> str:
    """Return the text of the module."""
    parts = [HEAD]
    for name, schema in used_schemas(contracts()).items():
        about = schema.get("description")
        comment = f"/** {about} */\n" if about else ""
        parts.append(f"{comment}export type {name.strip('_')} = {type_of(schema)};\n")
    return "\n".join(parts)


if __name__ == "__main__":
    TARGET.write_text(document())
    print(f"{TARGET.name}: {len(document().splitlines())} lines", file=sys.stderr)
