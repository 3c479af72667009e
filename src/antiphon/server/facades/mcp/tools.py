"""The tools of the MCP server: what each takes and gives, what it may change, and what it does."""

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from antiphon.server.facades.mcp import arguments as takes
from antiphon.server.facades.mcp import results as gives
from antiphon.server.facades.mcp.actions import (
    answer_request,
    read_run,
    send_message,
    start_debate,
    start_run,
    stop_thread,
)
from antiphon.server.facades.mcp.calls import McpCall
from antiphon.server.facades.mcp.reading import ToolOutput, list_threads, read_models, read_thread, search_threads


class ToolKind(NamedTuple):
    """A tool: its name, its words, its types, and the hints that clients decide by."""

    name: str
    title: str
    about: str
    takes: type
    gives: type
    run: Callable[[McpCall, dict[str, Any]], Awaitable[ToolOutput]]
    is_read_only: bool = False
    is_destructive: bool = False
    uses_tools: bool = False  # it is destructive where threads have tools that act on the host
    is_idempotent: bool = False
    is_open: bool = False  # it makes models work, which are elsewhere


TOOLS: tuple[ToolKind, ...] = (
    ToolKind(
        "list_models",
        "List models",
        "List the models that chats, runs and debates of this server can use.",
        takes.ListModelsArguments,
        gives.ModelsResult,
        read_models,
        is_read_only=True,
    ),
    ToolKind(
        "list_threads",
        "List threads",
        "List chats, runs and debates, the latest changed first.",
        takes.ListThreadsArguments,
        gives.ThreadsResult,
        list_threads,
        is_read_only=True,
    ),
    ToolKind(
        "search_threads",
        "Search threads",
        "Search the texts of all chats, runs and debates for words.",
        takes.SearchThreadsArguments,
        gives.ThreadsResult,
        search_threads,
        is_read_only=True,
    ),
    ToolKind(
        "read_thread",
        "Read a thread",
        "Read a chat, a run or a debate as Markdown, from its end backwards, with its open requests.",
        takes.ReadThreadArguments,
        gives.ThreadText,
        read_thread,
        is_read_only=True,
    ),
    ToolKind(
        "send_message",
        "Send a message",
        "Send a message to a model in a new chat, or in a thread, and wait for the reply.",
        takes.SendMessageArguments,
        gives.ThreadResult,
        send_message,
        uses_tools=True,
        is_open=True,
    ),
    ToolKind(
        "start_run",
        "Start a run",
        "Let agents work on a task. The run continues after the call; read_run shows how far it is.",
        takes.StartRunArguments,
        gives.ThreadResult,
        start_run,
        uses_tools=True,
        is_open=True,
    ),
    ToolKind(
        "read_run",
        "Read a run",
        "Read how far a run is: its plan, its turns, its open requests and its outcome.",
        takes.ReadRunArguments,
        gives.RunResult,
        read_run,
        is_read_only=True,
    ),
    ToolKind(
        "answer_request",
        "Answer a request",
        "Answer a question, or decide about a permission or a limit, that a thread waits for. "
        "Decisions are those of a person: ask before a call with `allow`.",
        takes.AnswerRequestArguments,
        gives.ThreadResult,
        answer_request,
        is_destructive=True,
        is_open=True,
    ),
    ToolKind(
        "start_debate",
        "Start a debate",
        "Let models debate a topic in rounds, decided by a judge. The debate continues after the call.",
        takes.StartDebateArguments,
        gives.ThreadResult,
        start_debate,
        is_open=True,
    ),
    ToolKind(
        "stop_thread",
        "Stop a thread",
        "Stop the work of a chat, a run or a debate; what was said is kept, and it can be continued.",
        takes.StopThreadArguments,
        gives.ThreadResult,
        stop_thread,
        is_destructive=True,
        is_idempotent=True,
    ),
)
BY_NAME = {tool.name: tool for tool in TOOLS}
