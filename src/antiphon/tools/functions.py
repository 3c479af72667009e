"""Tools implemented as Python functions, and the toolbox that calls them."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from antiphon.messages import ToolCall, ToolResult
from antiphon.providers.base import Tool
from antiphon.tools.arguments import Parameters
from antiphon.tools.errors import ToolCallError

Function = Callable[[Mapping[str, Any]], Awaitable[str]]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ToolFunction:
    """Tool and its function; a `ToolCallError` or `OSError` that it raises is reported to the model."""

    tool: Tool
    function: Function


class FunctionToolbox:
    """Toolbox of functions: checks arguments, and returns failures as results."""

    __slots__ = ("_functions", "_parameters", "tools")

    def __init__(self, functions: Iterable[ToolFunction]) -> None:
        self._functions = {function.tool.name: function for function in functions}
        self._parameters = {name: Parameters(function.tool) for name, function in self._functions.items()}
        self.tools = tuple(function.tool for function in self._functions.values())

    def __repr__(self) -> str:
        return f"FunctionToolbox({', '.join(self._functions)})"

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
