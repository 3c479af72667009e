"""The arguments of a call, held to the JSON Schema that the model was given."""

from collections.abc import Mapping, Sequence
from typing import Any

from antiphon.json_schema import Checker, SchemaError
from antiphon.messages import ToolCall
from antiphon.providers.base import Tool
from antiphon.tools.errors import ToolCallError, ToolsError

Schema = Mapping[str, Any]


class Parameters:
    """The arguments that a tool takes: a compiled schema and defaults; `ToolsError` if the schema cannot be used."""

    __slots__ = ("_checker", "_defaults")

    def __init__(self, tool: Tool) -> None:
        self._checker = Checker(tool.parameters)
        try:
            # Before the first call, which would hold up everything else while the package is loaded.
            self._checker.compile()
        except SchemaError as error:
            raise ToolsError(f"the tool {tool.name!r} cannot be used: {error}") from None
        properties = tool.parameters.get("properties", {})
        self._defaults = {name: part["default"] for name, part in properties.items() if "default" in part}

    def parse_arguments(self, call: ToolCall) -> dict[str, Any]:
        """Read and check what a model wrote, and add the defaults; `ToolCallError` says what does not fit."""
        try:
            arguments = call.input()
        except (ValueError, RecursionError) as error:
            raise ToolCallError(f"The arguments of {call.name} are no JSON object: {error}.") from None
        if problems := self._checker.problems(arguments):
            raise ToolCallError(f"The arguments of {call.name} do not fit: {'; '.join(problems)}.")
        return {**self._defaults, **{name: _normalize_integers(value) for name, value in arguments.items()}}


def object_schema(properties: Mapping[str, Schema], *, required: Sequence[str]) -> dict[str, Any]:
    """The schema of an object with these properties and no others."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def _normalize_integers(value: Any) -> Any:
    """Replace 3.0 by 3: to JSON Schema it is an integer, to Python it is none."""
    match value:
        case float() if value.is_integer():
            return int(value)
        case dict():
            return {name: _normalize_integers(part) for name, part in value.items()}
        case list():
            return [_normalize_integers(part) for part in value]
        case _:
            return value
