"""Several toolboxes combined into one."""

from collections.abc import Sequence
from typing import Protocol

from antiphon.messages import ToolCall, ToolResult
from antiphon.providers.base import Tool
from antiphon.tools.assessment import Assessment
from antiphon.tools.errors import NameTaken
from antiphon.tools.functions import FunctionToolbox, ToolFunction, assess_by_tool


class ToolSource(Protocol):
    """Tools, and a method to call them."""

    @property
    def tools(self) -> Sequence[Tool]:
        """Available tools."""
        ...

    async def call(self, call: ToolCall) -> ToolResult:
        """Call a tool."""
        ...


def has_assessment(box: ToolSource | None, name: str) -> bool:
    """Return whether assessing a call of a tool may take some time, so that it belongs into a thread."""
    has = getattr(box, "has_assessment", None)
    return bool(has(name)) if has is not None else hasattr(box, "assess")


def assess_call(box: ToolSource | None, call: ToolCall) -> Assessment:
    """Return what a call would do: as its toolbox says, or by the risk of its tool if the toolbox assesses nothing."""
    assess = getattr(box, "assess", None)
    if assess is not None:
        assessment: Assessment = assess(call)
        return assessment
    tools = () if box is None else box.tools
    return assess_by_tool(next((tool for tool in tools if tool.name == call.name), None))


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

    def has_assessment(self, name: str) -> bool:
        """Return whether calls of a tool are assessed by a function of its own, which may take some time."""
        return has_assessment(self._boxes.get(name), name)

    def assess(self, call: ToolCall) -> Assessment:
        """Return what a call would do, by the toolbox that has its tool."""
        return assess_call(self._boxes.get(call.name), call)

    async def call(self, call: ToolCall) -> ToolResult:
        """Call a tool of the toolbox that has it."""
        box = self._boxes.get(call.name)
        if box is None:
            return ToolResult.of(call, f"There is no tool {call.name!r}.", is_error=True)
        return await box.call(call)
