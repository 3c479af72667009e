"""Tools as a chat sees them: what there is, how risky it is, and one call as a task."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from antiphon.actors.tasks import AsyncLogic, from_task
from antiphon.messages import ToolCall, ToolResult, part_to_json
from antiphon.providers.base import Tool


class Toolbox(Protocol):
    """Some tools, and the one who calls them; whatever goes wrong is a result with `is_error`."""

    @property
    def tools(self) -> Sequence[Tool]:
        """What there is."""
        ...

    async def call(self, call: ToolCall) -> ToolResult:
        """Call a tool."""
        ...


class NoTools:
    """A toolbox with nothing in it."""

    tools: tuple[Tool, ...] = ()

    async def call(self, call: ToolCall) -> ToolResult:
        """Say that there is no such tool."""
        return ToolResult.of(call, f"There is no tool {call.name!r}.", is_error=True)


def tools_to_json(tools: Sequence[Tool], risks: Mapping[str, str] | None = None) -> list[dict[str, Any]]:
    """Tools as a chat's or a run's settings have them: as risky as they say, unless something else is known."""
    known = risks or {}
    return [
        {
            "name": tool.name,
            "description": tool.description,
            "parameters": dict(tool.parameters),
            "risk": known.get(tool.name, tool.risk),
        }
        for tool in tools
    ]


def call_tool(toolbox: Toolbox) -> AsyncLogic:
    """The logic to provide as `tool`: one call; after a crash nobody knows whether it was made."""

    async def run(input: Mapping[str, Any]) -> dict[str, Any]:
        asked = input["call"]
        call = ToolCall(asked["id"], asked["name"], asked["arguments"], asked.get("signature"))
        return part_to_json(await toolbox.call(call))

    return from_task(run, safety="once")
