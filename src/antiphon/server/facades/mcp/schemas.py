"""Declared types as JSON Schemas that stand alone, with the descriptions of their keys, and checks by them."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from antiphon.chart.checks.types import TypeChecks
from antiphon.server.problems import ProblemError

checks = TypeChecks()


@cache
def schema_of(kind: type) -> dict[str, Any]:
    """Return the schema of a declared type with all that it refers to."""
    schema = _described(kind)
    definitions: dict[str, Any] = {}
    pending = [*_references(schema)]
    shapes = {shape.name: shape for shape in checks.shapes.values()}
    while pending:
        name = pending.pop()
        if name not in definitions:
            definitions[name] = shapes[name].schema()
            pending += _references(definitions[name])
    return {**schema, **({"$defs": dict(sorted(definitions.items()))} if definitions else {})}


def _described(kind: type) -> dict[str, Any]:
    """Return the schema of a type whose keys have the descriptions of their annotations."""
    schema = checks.shape(kind).schema()
    descriptions = {key: _description(hint) for key, hint in get_type_hints(kind, include_extras=True).items()}
    keys = {
        key: {"description": descriptions[key], **value} if descriptions[key] else value
        for key, value in schema["properties"].items()
    }
    return {**schema, "properties": keys}


def _description(hint: Any) -> str | None:
    if get_origin(hint) is Annotated:
        return str(get_args(hint)[1])
    return next((text for part in get_args(hint) if (text := _description(part))), None)


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, Mapping):
        if isinstance(schema.get("$ref"), str):
            yield schema["$ref"].rpartition("/")[2]
        for value in schema.values():
            yield from _references(value)
    elif isinstance(schema, list):
        for item in schema:
            yield from _references(item)


def check_arguments(kind: type, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call that have their declared type; raise `ProblemError` otherwise."""
    fault = checks.shape(kind).check(arguments)
    if fault is not None:
        problem = fault.problem("arguments")
        raise ProblemError("bad_body", problem.text, path=problem.path)
    return dict(arguments)


def check_range(arguments: Mapping[str, Any], name: str, default: float, low: float, high: float) -> float:
    """Return an argument that is a number within a range; raise `ProblemError` for one outside of it."""
    number: float = arguments.get(name, default)
    if not low <= number <= high:
        raise ProblemError("bad_body", f"arguments: {name} is {number:g}; use {low:g} to {high:g}", path=name)
    return number
