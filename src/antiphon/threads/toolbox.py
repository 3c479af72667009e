"""Toolboxes: the tools of a thread, their risks, and a call as a task."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from antiphon.actors.tasks import AsyncLogic, from_task
from antiphon.messages import ToolCall, ToolResult, part_to_json
from antiphon.providers.base import Tool


class Toolbox(Protocol):
    """Tools that can be called; every failure is a result with `is_error`."""

    @property
    def tools(self) -> Sequence[Tool]:
        """The tools."""
        ...

    async def call(self, call: ToolCall) -> ToolResult:
        """Call a tool."""
        ...


class NoTools:
    """An empty toolbox."""

    tools: tuple[Tool, ...] = ()

    async def call(self, call: ToolCall) -> ToolResult:
        """Return an error result: there is no such tool."""
        return ToolResult.of(call, f"There is no tool {call.name!r}.", is_error=True)


def tools_to_json(tools: Sequence[Tool], risks: Mapping[str, str] | None = None) -> list[dict[str, Any]]:
    """Return tools as JSON for the settings of a thread; `risks` override the risks of the tools themselves."""
    overrides = risks or {}
    return [
        {
            "name": tool.name,
            "description": tool.description,
            "parameters": dict(tool.parameters),
            "risk": overrides.get(tool.name, tool.risk),
        }
        for tool in tools
    ]


def call_tool(toolbox: Toolbox) -> AsyncLogic:
    """Return the logic for `tool`, which makes one call and is not repeated after a crash."""

    async def run(input: Mapping[str, Any]) -> dict[str, Any]:
        part: Mapping[str, Any] = input["call"]
        call = ToolCall(part["id"], part["name"], part["arguments"], part.get("signature"))
        return part_to_json(await toolbox.call(call))

    return from_task(run, safety="once")
