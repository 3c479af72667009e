"""Arguments of tool calls that the user changes in an editor, each as a section: texts as they are, values as JSON."""

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from antiphon.cli.windows.types import AnyLibrary
from antiphon.json_schema import Checker, SchemaError

Json = Mapping[str, Any]
# Returns the JSON Schema of a tool by its name, if it is known.
SchemaOf = Callable[[str], Awaitable[Json | None]]
MARK = "==="


class BadArguments(Exception):
    """Changed arguments that cannot be used; the message says why."""


def format_arguments(arguments: Json) -> str:
    """Return arguments as a text to edit."""
    mark = _mark(arguments)
    return "".join(f"{mark} {name}\n{_text(value)}\n" for name, value in arguments.items())


def parse_arguments(text: str, original: Json) -> dict[str, Any]:
    """Return the arguments of an edited text; raise `BadArguments` if a section is missing or not JSON."""
    mark = _mark(original)
    arguments: dict[str, Any] = {}
    rest = f"\n{text}"
    names = list(original)
    for number, name in enumerate(names):
        head, separator, rest = rest.partition(f"\n{mark} {name}\n")
        if not separator or (number == 0 and head.strip()):
            raise BadArguments(f"the line {f'{mark} {name}'!r} is missing; keep the lines that name arguments")
        end = rest.find(f"\n{mark} {names[number + 1]}\n") if number + 1 < len(names) else -1
        value = rest[:end] if end >= 0 else rest.removesuffix("\n")
        arguments[name] = _value(name, value, original[name])
    return arguments


async def check_arguments(arguments: Json, schema: Json | None) -> None:
    """Raise `BadArguments` if arguments do not match the schema of their tool; one that is not known says nothing."""
    if schema is None:
        return
    try:
        problems = Checker(schema).problems(dict(arguments))
    except SchemaError:  # the tool itself checks them
        return
    if problems:
        raise BadArguments("; ".join(problems))


async def tool_schema(library: AnyLibrary, thread: str, name: str) -> Json | None:
    """Return the schema of a tool that a thread offers to its models."""
    tools = (await library.config(thread)).get("tools") or ()
    return next((tool["parameters"] for tool in tools if tool["name"] == name), None)


def _mark(arguments: Json) -> str:
    """Return the beginning of the lines that name arguments, which no argument contains."""
    mark = MARK
    while any(f"{mark} " in _text(value) for value in arguments.values()):
        mark += "="
    return mark


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)


def _value(name: str, text: str, original: object) -> Any:
    if isinstance(original, str):
        return text
    try:
        return json.loads(text)
    except ValueError as error:
        raise BadArguments(f'{name} must be JSON, such as true, 3 or "text": {error}') from error
