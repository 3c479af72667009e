"""Several toolboxes as one."""

from collections.abc import Sequence
from typing import Protocol

from antiphon.messages import ToolCall, ToolResult
from antiphon.providers.base import Tool
from antiphon.tools.errors import NameTaken


class Box(Protocol):
    """Some tools, and the one who calls them."""

    @property
    def tools(self) -> Sequence[Tool]:
        """What there is."""
        ...

    async def call(self, call: ToolCall) -> ToolResult:
        """Call a tool."""
        ...


class Bundle:
    """Toolboxes as one; `NameTaken` when two have a tool of the same name."""

    __slots__ = ("_boxes", "tools")

    def __init__(self, *boxes: Box) -> None:
        self._boxes: dict[str, Box] = {}
        for box in boxes:
            for tool in box.tools:
                if tool.name in self._boxes:
                    raise NameTaken(f"two toolboxes have a tool {tool.name!r}")
                self._boxes[tool.name] = box
        self.tools = tuple(tool for box in boxes for tool in box.tools)

    async def call(self, call: ToolCall) -> ToolResult:
        """Call a tool of the toolbox that has it."""
        box = self._boxes.get(call.name)
        if box is None:
            return ToolResult.of(call, f"There is no tool {call.name!r}.", is_error=True)
        return await box.call(call)
