"""Tools that Antiphon has itself: what a model is told of each, and what it does."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from antiphon.messages import ToolCall, ToolResult
from antiphon.providers.base import Tool
from antiphon.tools.arguments import Parameters
from antiphon.tools.errors import ToolCallError

Perform = Callable[[Mapping[str, Any]], Awaitable[str]]
Done = TypeVar("Done")


@dataclass(frozen=True, slots=True)
class ToolFunction:
    """A tool and what it does; a `ToolCallError` or an `OSError` of it is told to the model."""

    tool: Tool
    perform: Perform


class FunctionToolbox:
    """A toolbox of instruments: arguments are checked, and whatever goes wrong is a result."""

    __slots__ = ("_known", "_parameters", "tools")

    def __init__(self, instruments: Iterable[ToolFunction]) -> None:
        self._known = {one.tool.name: one for one in instruments}
        self._parameters = {name: Parameters(one.tool) for name, one in self._known.items()}
        self.tools = tuple(one.tool for one in self._known.values())

    def __repr__(self) -> str:
        return f"FunctionToolbox({', '.join(self._known)})"

    async def call(self, call: ToolCall) -> ToolResult:
        """Call a tool; whatever goes wrong is a result with `is_error`."""
        found = self._known.get(call.name)
        if found is None:
            return ToolResult.of(call, f"There is no tool {call.name!r}.", is_error=True)
        try:
            return ToolResult.of(call, await found.perform(self._parameters[call.name].parse_arguments(call)))
        except ToolCallError as refused:
            return ToolResult.of(call, str(refused), is_error=True)
        except OSError as error:
            # The words of the system only: a path of this machine is none of the model's business.
            return ToolResult.of(call, f"{call.name} failed: {error.strerror or type(error).__name__}.", is_error=True)


async def run_in_thread(work: Callable[[], Done], halted: threading.Event | None = None) -> Done:
    """Do some blocking work; who is cancelled sets `halted` and waits for the end, so nothing is half known."""
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        if halted is not None:
            halted.set()
        await asyncio.wait([task])
        raise
