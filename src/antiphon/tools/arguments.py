"""Check the arguments of a tool call by the JSON Schema of the tool."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from antiphon.json_schema import Checker, SchemaError
from antiphon.messages import ToolCall
from antiphon.providers.base import Tool
from antiphon.tools.errors import ToolCallError, ToolsError

Schema = Mapping[str, Any]
SURROGATE = re.compile("[\ud800-\udfff]")
CONTENTS = ("$.content", "$.old", "$.new")


class Parameters:
    """Compiled schema and defaults of a tool; raises `ToolsError` if the schema is not valid."""

    __slots__ = ("_checker", "_defaults")

    def __init__(self, tool: Tool) -> None:
        self._checker = Checker(tool.parameters)
        try:
            # Compiled now, because loading the package during the first call would block the event loop.
            self._checker.compile()
        except SchemaError as error:
            raise ToolsError(f"the tool {tool.name!r} cannot be used: {error}") from None
        properties = tool.parameters.get("properties", {})
        self._defaults = {name: part["default"] for name, part in properties.items() if "default" in part}

    def parse_arguments(self, call: ToolCall) -> dict[str, Any]:
        """Parse and check the arguments of a call, and add defaults; raise `ToolCallError` if they are not valid."""
        try:
            arguments = call.input()
        except (ValueError, RecursionError) as error:
            raise ToolCallError(f"The arguments of {call.name} are not a JSON object: {error}.") from None
        if unusable := next(_unusable_texts(arguments), None):
            raise ToolCallError(f"The arguments of {call.name} are not valid: {unusable}.")
        if problems := self._checker.problems(arguments):
            raise ToolCallError(f"The arguments of {call.name} are not valid: {'; '.join(problems)}.")
        return {**self._defaults, **{name: _normalize_integers(value) for name, value in arguments.items()}}


def object_schema(properties: Mapping[str, Schema], *, required: Sequence[str]) -> dict[str, Any]:
    """Return the schema of an object with these properties and no others."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def _unusable_texts(arguments: Mapping[str, Any]) -> Iterator[str]:
    """Yield problems of texts that no file name, command or store can hold; the content of a file may have NUL."""
    pending = [(f"$.{name}", value) for name, value in arguments.items()]
    while pending:
        path, value = pending.pop()
        match value:
            case str() if half := SURROGATE.search(value):
                yield f"{path} has a lone surrogate, U+{ord(half.group()):04X}; write the whole character"
            case str() if "\0" in value and path not in CONTENTS:
                yield f"{path} has a NUL character; remove it"
            case dict():
                pending += [(f"{path}.{name}", part) for name, part in value.items()]
            case list():
                pending += [(f"{path}[{number}]", part) for number, part in enumerate(value)]


def _normalize_integers(value: Any) -> Any:
    """Replace 3.0 by 3: an integer in JSON Schema, but not in Python."""
    match value:
        case float() if value.is_integer():
            return int(value)
        case dict():
            return {name: _normalize_integers(part) for name, part in value.items()}
        case list():
            return [_normalize_integers(part) for part in value]
        case _:
            return value
