"""Values for events, drawn from their declared types by Hypothesis."""

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from antiphon.chart.checks.event_types import EventTypes

Strategy = st.SearchStrategy[Any]
LONGEST_TEXT = 40
MOST_ITEMS = 4
SCALARS: Mapping[str, Strategy] = {
    "string": st.text(max_size=LONGEST_TEXT),
    "integer": st.integers(-(2**53), 2**53),
    "number": st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False),
    "boolean": st.booleans(),
    "null": st.none(),
}
ANYTHING: Strategy = st.recursive(
    st.none() | st.booleans() | SCALARS["integer"] | SCALARS["string"],
    lambda inner: st.lists(inner, max_size=MOST_ITEMS) | st.dictionaries(SCALARS["string"], inner, max_size=MOST_ITEMS),
    max_leaves=6,
)


def declared_events(types: EventTypes | None) -> dict[str, Strategy]:
    """Return a strategy for each declared event that may come from outside."""
    if types is None:
        return {}
    return {name: schema_values(types.json_schema(name)) for name in types.names if types.is_public(name)}


def schema_values(schema: Mapping[str, Any]) -> Strategy:
    """Return a strategy for the values of a JSON Schema, as `EventTypes` writes them."""
    definitions: dict[str, Strategy] = {}
    for name, inner in (schema.get("$defs") or {}).items():
        definitions[name] = st.deferred(lambda inner=inner: _values(inner, definitions))  # type: ignore[misc]
    return _values(schema, definitions)


def _values(schema: Mapping[str, Any], definitions: Mapping[str, Strategy]) -> Strategy:
    if "$ref" in schema:
        return definitions[schema["$ref"].rpartition("/")[2]]
    if "const" in schema:
        return st.just(schema["const"])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "anyOf" in schema:
        return st.one_of([_values(member, definitions) for member in schema["anyOf"]])
    match schema.get("type"):
        case "array":
            return st.lists(_values(schema["items"], definitions), max_size=MOST_ITEMS)
        case "object":
            return _objects(schema, definitions)
        case str() as name:
            return SCALARS[name]
    return ANYTHING


def _objects(schema: Mapping[str, Any], definitions: Mapping[str, Strategy]) -> Strategy:
    if "properties" not in schema:
        inner = schema.get("additionalProperties")
        values = _values(inner, definitions) if isinstance(inner, Mapping) else ANYTHING
        return st.dictionaries(SCALARS["string"], values, max_size=MOST_ITEMS)
    fields = {key: _values(part, definitions) for key, part in schema["properties"].items()}
    required = schema.get("required") or []
    needed = {key: values for key, values in fields.items() if key in required}
    return st.fixed_dictionaries(needed, optional={key: fields[key] for key in fields if key not in needed})
