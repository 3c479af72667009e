"""Tools implemented as Python functions, and the toolbox that calls them."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from antiphon.messages import ToolCall, ToolResult
from antiphon.providers.base import Tool
from antiphon.tools.arguments import Parameters
from antiphon.tools.assessment import Assessment
from antiphon.tools.errors import ToolCallError
from antiphon.tools.risks import ORDER

Function = Callable[[Mapping[str, Any]], Awaitable[str]]
Assess = Callable[[Mapping[str, Any]], Assessment]
"""Function that assesses a call by its checked arguments; it changes nothing, and may read files."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ToolFunction:
    """Tool and its function; a `ToolCallError` or `OSError` that it raises is reported to the model.

    `assess` says what a call would do; without it, a call has the risk of the tool.
    """

    tool: Tool
    function: Function
    assess: Assess | None = None


class FunctionToolbox:
    """Toolbox of functions: checks arguments, and returns failures as results."""

    __slots__ = ("_functions", "_parameters", "tools")

    def __init__(self, functions: Iterable[ToolFunction]) -> None:
        self._functions = {function.tool.name: function for function in functions}
        self._parameters = {name: Parameters(function.tool) for name, function in self._functions.items()}
        self.tools = tuple(function.tool for function in self._functions.values())

    def __repr__(self) -> str:
        return f"FunctionToolbox({', '.join(self._functions)})"

    def has_assessment(self, name: str) -> bool:
        """Return whether calls of a tool are assessed by a function of its own, which may take some time."""
        return name in self._functions and self._functions[name].assess is not None

    def assess(self, call: ToolCall) -> Assessment:
        """Return what a call would do; one that cannot be made has a problem."""
        tool_function = self._functions.get(call.name)
        if tool_function is None:
            return Assessment(problem=f"There is no tool {call.name!r}.")
        try:
            arguments = self._parameters[call.name].parse_arguments(call)
            if tool_function.assess is not None:
                return tool_function.assess(arguments)
        except ToolCallError as error:
            return Assessment(problem=str(error))
        return assess_by_tool(tool_function.tool)

    async def call(self, call: ToolCall) -> ToolResult:
        """Call a tool; a failure is a result with `is_error`."""
        tool_function = self._functions.get(call.name)
        if tool_function is None:
            return ToolResult.of(call, f"There is no tool {call.name!r}.", is_error=True)
        try:
            return ToolResult.of(call, await tool_function.function(self._parameters[call.name].parse_arguments(call)))
        except ToolCallError as error:
            return ToolResult.of(call, str(error), is_error=True)
        except OSError as error:
            # Without the path, because paths of this machine are not shown to models.
            return ToolResult.of(call, f"{call.name} failed: {error.strerror or type(error).__name__}.", is_error=True)


def assess_by_tool(tool: Tool | None) -> Assessment:
    """Return the assessment of a call of which nothing but its tool is known."""
    return Assessment(risk=next((risk for risk in ORDER if tool is not None and risk == tool.risk), "destructive"))


async def run_in_thread(work: Callable[[], T], stop: threading.Event | None = None) -> T:
    """Run blocking work in a thread; on cancellation set `stop` and wait for the work to end."""
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        if stop is not None:
            stop.set()
        await asyncio.wait([task])
        _ = task.exception()  # looked at, because asyncio logs errors that are not
        raise
