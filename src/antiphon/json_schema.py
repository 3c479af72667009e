"""Check values by a JSON Schema with jsonschema-rs, and describe their problems.

A schema may come from an untrusted source, so nothing is fetched: a reference out of the schema makes it invalid.
Patterns run in linear time, so look-around and back-references make a schema invalid too.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError, Validator

Path = tuple[str | int, ...]
# The validator recurses on its own stack: a value nested 20,000 deep overflows it.
MAX_DEPTH = 200
MAX_PROBLEMS = 5
MAX_HINTS = 3
MAX_QUOTED = 80
MAX_LISTED = 400
NOT_INSTALLED = "checking JSON Schemas needs jsonschema-rs, which is not installed: pip install 'antiphon[models]'"
OFFLINE = "nothing is fetched, so every reference must point into the schema itself"
UNKNOWN = ("additionalProperties", "unevaluatedProperties")
TEXTS: Mapping[str, str] = {
    "additionalItems": "must have at most {limit} items, not {size}",
    "const": "must be {limit}, not {value}",
    "contains": "has too few or too many items that match the schema under `contains`",
    "enum": "must be one of {limit}, not {value}",
    "exclusiveMaximum": "must be less than {limit}, not {value}",
    "exclusiveMinimum": "must be more than {limit}, not {value}",
    "falseSchema": "is not allowed",
    "format": "must be a regex without look-around and back-references, not {value}",
    "maxItems": "must have at most {limit} items, not {size}",
    "maxLength": "must have at most {limit} characters, not {size}",
    "maxProperties": "must have at most {limit} properties, not {size}",
    "maximum": "must be at most {limit}, not {value}",
    "minItems": "must have at least {limit} items, not {size}",
    "minLength": "must have at least {limit} characters, not {size}",
    "minProperties": "must have at least {limit} properties, not {size}",
    "minimum": "must be at least {limit}, not {value}",
    "multipleOf": "must be a multiple of {limit}, not {value}",
    "not": "must not match the schema under `not`: {limit}",
    "pattern": "must match the pattern {limit}, not {value}",
    "type": "must be of type {limit}, not {value}",
    "unevaluatedItems": "has items that no schema allows",
    "uniqueItems": "must not repeat an item",
}


class SchemaError(Exception):
    """Raised when a schema is not valid, or the package that checks it is not installed."""


class Checker:
    """Checks values by a schema, which is compiled for the first value."""

    __slots__ = ("_schema", "_validator")

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._schema = schema
        self._validator: Validator | None = None

    def compile(self) -> "Validator":
        """Compile the schema, once; raise `SchemaError` if it is not valid."""
        if self._validator is None:
            self._validator = _compile_schema(self._schema)
        return self._validator

    def problems(self, value: Any) -> list[str]:
        """Return the first few problems of a value, each with its path."""
        validator = self.compile()
        if _is_too_deep(value):
            return [f"$ must not be nested deeper than {MAX_DEPTH} levels"]
        try:
            return self._problems(validator, value)
        except UnicodeEncodeError:
            # The validator rejects lone surrogates, so they are replaced.
            text = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
            return self._problems(validator, json.loads(text))

    def _problems(self, validator: "Validator", value: Any) -> list[str]:
        if validator.is_valid(value):
            return []
        texts = (text for error in validator.iter_errors(value) for text in _texts(error, self._schema))
        return list(islice(dict.fromkeys(islice(texts, 10 * MAX_PROBLEMS)), MAX_PROBLEMS))


def _compile_schema(schema: Mapping[str, Any]) -> "Validator":
    try:
        # Imported here because it takes 30 ms.
        import jsonschema_rs
    except ModuleNotFoundError:
        raise SchemaError(NOT_INSTALLED) from None
    try:
        return jsonschema_rs.validator_for(
            json.dumps(schema, default=_mapping),
            # Drafts disagree on formats; in the newest they are annotations.
            validate_formats=False,
            pattern_options=jsonschema_rs.RegexOptions(),
            offline=True,
        )
    except jsonschema_rs.ValidationError as error:
        is_reference = isinstance(error.kind, jsonschema_rs.ValidationErrorKind.Referencing)
        text = f"{OFFLINE}: {error.message}" if is_reference else "; ".join(_texts(error, {}))
        raise SchemaError(f"the schema is not valid: {text}") from None
    except (TypeError, ValueError, RecursionError) as error:
        raise SchemaError(f"the schema is not valid: {error}") from None


def _mapping(value: Any) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{value!r} is not JSON")


def _texts(error: "ValidationError", schema: Mapping[str, Any], hints: int = MAX_HINTS) -> Iterator[str]:
    """Describe an error; one that names several properties is several problems."""
    path: Path = tuple(error.instance_path)
    keyword = error.kind.name
    detail: Any = error.kind.value
    if keyword == "required":
        yield f"{_place((*path, detail))} is missing"
    elif keyword in UNKNOWN:
        properties = _cut(", ".join(_properties(schema, error.schema_path[:-1])), MAX_LISTED)
        for name in detail:
            yield f"{_place((*path, name))} is unknown" + (f"; known: {properties}" if properties else "")
    elif keyword == "propertyNames":
        for text in _texts(detail, {}):
            yield f"the name {_quote(detail.instance)} in {_place(path)} {text.removeprefix('$ ')}"
    elif keyword in ("anyOf", "oneOf"):
        yield f"{_place(path)} {_alternatives(keyword, detail, hints)}"
    else:
        yield f"{_place(path)} {_requirement(error)}"


def _requirement(error: "ValidationError") -> str:
    keyword = error.kind.name
    if keyword == "falseSchema" and error.schema_path[-1:] == ["additionalProperties"]:
        # The library names neither the property nor its place.
        return "must have no properties"
    detail = error.kind.value
    limit = _choice(keyword, detail) if keyword in ("enum", "type") else _quote(detail)
    size = len(error.instance) if isinstance(error.instance, str | list | dict) else 0
    template = TEXTS.get(keyword, "{message}")
    return template.format(limit=limit, size=size, value=_quote(error.instance), message=error.message)


def _choice(keyword: str, options: Iterable[Any]) -> str:
    return " or ".join(options) if keyword == "type" else _cut(", ".join(map(_quote, options)), MAX_LISTED)


def _alternatives(keyword: str, errors: list[list["ValidationError"]], hints: int) -> str:
    matches = sum(not branch for branch in errors)
    if matches:
        return f"matches {matches} of the {len(errors)} `{keyword}` schemas instead of one"
    first = (text for branch in errors[:hints] for text in islice(_texts(branch[0], {}, hints=0), 1))
    reasons = "; or ".join(first)
    return f"matches none of the {len(errors)} `{keyword}` schemas" + (f": {reasons}" if reasons else "")


def _place(path: Path) -> str:
    parts = (f".{name}" if isinstance(name, str) and name.isidentifier() else f"[{_quote(name)}]" for name in path)
    return "$" + "".join(parts)


def _properties(schema: Any, path: Iterable[str | int]) -> list[str]:
    try:
        for name in path:
            schema = schema[name]
        return list(schema.get("properties", ()))
    except (LookupError, TypeError, AttributeError):
        # The error belongs to a schema with its own `$id`.
        return []


def _quote(value: Any) -> str:
    return _cut(json.dumps(value, ensure_ascii=False, default=str), MAX_QUOTED)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}…"


def _is_too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        inner = [part.values() if isinstance(part, dict) else part for part in level if isinstance(part, dict | list)]
        if not inner:
            return False
        level = [part for parts in inner for part in parts]
    return True
