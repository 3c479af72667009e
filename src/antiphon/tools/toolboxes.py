"""Several toolboxes combined into one."""

from collections.abc import Sequence
from typing import Protocol

from antiphon.messages import ToolCall, ToolResult
from antiphon.providers.base import Tool
from antiphon.tools.errors import NameTaken
from antiphon.tools.functions import FunctionToolbox, ToolFunction


class ToolSource(Protocol):
    """Tools, and a method to call them."""

    @property
    def tools(self) -> Sequence[Tool]:
        """Available tools."""
        ...

    async def call(self, call: ToolCall) -> ToolResult:
        """Call a tool."""
        ...


class Bundle:
    """Combines toolboxes and single tools; raises `NameTaken` if two tools have the same name."""

    __slots__ = ("_boxes", "tools")

    def __init__(self, *sources: ToolSource | ToolFunction) -> None:
        boxes = [FunctionToolbox([source]) if isinstance(source, ToolFunction) else source for source in sources]
        self._boxes: dict[str, ToolSource] = {}
        for box in boxes:
            for tool in box.tools:
                if tool.name in self._boxes:
                    raise NameTaken(f"there are two tools {tool.name!r}; rename one of them")
                self._boxes[tool.name] = box
        self.tools = tuple(tool for box in boxes for tool in box.tools)

    async def call(self, call: ToolCall) -> ToolResult:
        """Call a tool of the toolbox that has it."""
        box = self._boxes.get(call.name)
        if box is None:
            return ToolResult.of(call, f"There is no tool {call.name!r}.", is_error=True)
        return await box.call(call)
