"""Several toolboxes as one, and what of one an agent may use."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Protocol

from antiphon.messages import ToolCall, ToolResult
from antiphon.providers.base import Tool
from antiphon.tools.errors import NameTaken
from antiphon.tools.risk import command_in
from antiphon.tools.shell_syntax import CommandFilter


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


@dataclass(frozen=True, slots=True)
class Allowance:
    """What an agent may use: names or patterns of tools, and which commands; blocked wins."""

    allowed: Sequence[str] | None = None
    blocked: Sequence[str] = ()
    commands: CommandFilter | None = None

    def has(self, name: str) -> bool:
        """Whether a tool may be used."""
        if any(fnmatchcase(name, pattern) for pattern in self.blocked):
            return False
        return self.allowed is None or any(fnmatchcase(name, pattern) for pattern in self.allowed)


class Restricted:
    """A toolbox as one agent sees it: what is not allowed is neither listed nor called."""

    __slots__ = ("_allowance", "_box")

    def __init__(self, box: Box, allowance: Allowance) -> None:
        self._box = box
        self._allowance = allowance

    @property
    def tools(self) -> tuple[Tool, ...]:
        """What the agent may use."""
        return tuple(tool for tool in self._box.tools if self._allowance.has(tool.name))

    async def call(self, call: ToolCall) -> ToolResult:
        """Call a tool if the agent may."""
        if not self._allowance.has(call.name):
            return ToolResult.of(call, f"There is no tool {call.name!r}.", is_error=True)
        problem = self._problem(call)
        if problem is not None:
            return ToolResult.of(call, f"Not run: {problem}.", is_error=True)
        return await self._box.call(call)

    def _problem(self, call: ToolCall) -> str | None:
        if self._allowance.commands is None or call.name != "shell":
            return None
        command = command_in(call.arguments)
        return "there is no command" if command is None else self._allowance.commands.problem(command)
