"""Toolboxes: the tools of a thread, their risks, and a call as a task."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Protocol

from antiphon.actors.tasks import AsyncLogic, from_task
from antiphon.messages import ToolCall, ToolResult, part_to_json
from antiphon.providers.base import Tool
from antiphon.runtime import tasks
from antiphon.runtime.histories import history_of_token
from antiphon.threads.errors import NotPermitted, Refused
from antiphon.threads.tracing import call_traced
from antiphon.tools.access import Access
from antiphon.tools.context import CURRENT, Context
from antiphon.tools.functions import ToolFunction

OfferedTool = Tool | ToolFunction | Mapping[str, Any]
"""Tool as the settings of a thread take it: as an object, or as JSON."""


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


class ThreadTools(Toolbox, Protocol):
    """Toolbox whose tools act on another folder for each thread."""

    def lease(self, thread: str) -> AbstractAsyncContextManager[Toolbox]:
        """Return the toolbox of a thread, which stays open for the time of the context."""
        ...


@asynccontextmanager
async def lease_toolbox(toolbox: Toolbox, thread: str | None) -> AsyncIterator[Toolbox]:
    """Yield the toolbox of a thread: a toolbox itself, unless it has one for each thread."""
    if thread is None or not has_leases(toolbox):
        yield toolbox
        return
    leases: ThreadTools = toolbox  # type: ignore[assignment]
    async with leases.lease(thread) as box:
        yield box


def has_leases(toolbox: Toolbox) -> bool:
    """Return whether a toolbox has one for each thread."""
    return hasattr(toolbox, "lease")


class CallScope(Protocol):
    """The part of a task's scope that a call needs."""

    def report(self, value: Any) -> None:
        """Store a report of the task."""
        ...


def tools_to_json(tools: Sequence[OfferedTool], risks: Mapping[str, str] | None = None) -> list[dict[str, Any]]:
    """Return tools as JSON for the settings of a thread; `risks` override the risks of the tools themselves."""
    if isinstance(tools, str | Mapping) or not isinstance(tools, Iterable):
        raise Refused(f"tools is {tools!r}; it must be a list of tools")
    overrides = risks or {}
    return [_tool_to_json(tool.tool if isinstance(tool, ToolFunction) else tool, overrides) for tool in tools]


def _tool_to_json(tool: Tool | Mapping[str, Any], risks: Mapping[str, str]) -> dict[str, Any]:
    if isinstance(tool, Mapping):
        return dict(tool)
    if not isinstance(tool, Tool):
        raise Refused(f"{tool!r} is not a tool; pass a function with @tool, a Tool, or its JSON")
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": dict(tool.parameters),
        "risk": risks.get(tool.name, tool.risk),
    }


def call_tool(toolbox: Toolbox) -> AsyncLogic:
    """Return the logic for `tool`, which makes one call and is not repeated after a crash."""

    async def run(input: Mapping[str, Any], scope: CallScope) -> dict[str, Any]:
        part: Mapping[str, Any] = input["call"]
        key: str | None = getattr(scope, "key", None)
        # A permission is given in the history of a thread; one that came with a file is of another.
        if input.get("history") != history_of_token(key):
            raise NotPermitted(f"{part['name']} was assessed in another history of this thread, and is not called")
        call = ToolCall(part["id"], part["name"], part["arguments"], part.get("signature"))
        granted = input.get("access")
        # A variable of the task, so that toolboxes that need no context have no parameter for it.
        task = tasks.CURRENT.get()
        thread = None if task is None else task.root
        access = None if granted is None else Access.from_json(granted)
        context = Context(key, scope.report, access, thread=thread)
        CURRENT.set(context)
        async with lease_toolbox(toolbox, thread) as box:
            result = part_to_json(await call_traced(call, box.call, lambda: box.tools))
        if part.get("edited"):
            # For those who follow the thread: the arguments that the call was made with.
            result["edited"] = call.input()
        return result if context.denied is None else {**result, "denied": context.denied}

    return from_task(run, safety="once")
