"""Tools of a workspace, of MCP servers and from Python functions, and the risk of their calls."""

from typing import TYPE_CHECKING

from antiphon.lazy import lazy_names

if TYPE_CHECKING:
    from antiphon.tools.access import Access
    from antiphon.tools.assessment import Assessment
    from antiphon.tools.commands.filters import CommandFilter
    from antiphon.tools.commands.judgement import CommandJudgement, judge_command, risk_of_call, risk_of_command
    from antiphon.tools.context import Context, ToolCancelled
    from antiphon.tools.decorator import PythonTool, tool
    from antiphon.tools.errors import (
        ChangedSince,
        ConfigError,
        InvalidTool,
        NameTaken,
        NotInstalled,
        ToolCallError,
        ToolsError,
        UndoError,
    )
    from antiphon.tools.fetch import FetchSettings
    from antiphon.tools.files import FileLimits
    from antiphon.tools.finding import FindLimits
    from antiphon.tools.mcp.config import AddressServer, CommandServer, load_servers, parse_servers
    from antiphon.tools.mcp.toolbox import McpTools
    from antiphon.tools.sandbox.runner import ShellSettings
    from antiphon.tools.toolbox import workspace_tools
    from antiphon.tools.toolboxes import Bundle
    from antiphon.tools.undo.folder import UndoFolder, undo_problem
    from antiphon.tools.undo.plan import UndoPlan, UndoStep
    from antiphon.tools.undo.settings import UndoSettings
    from antiphon.tools.workspace import Workspace

__getattr__ = lazy_names(
    __name__,
    {
        "access": ("Access",),
        "assessment": ("Assessment",),
        "commands.filters": ("CommandFilter",),
        "commands.judgement": (
            "CommandJudgement",
            "judge_command",
            "risk_of_call",
            "risk_of_command",
        ),
        "context": (
            "Context",
            "ToolCancelled",
        ),
        "decorator": (
            "PythonTool",
            "tool",
        ),
        "errors": (
            "ChangedSince",
            "ConfigError",
            "InvalidTool",
            "NameTaken",
            "NotInstalled",
            "ToolCallError",
            "ToolsError",
            "UndoError",
        ),
        "fetch": ("FetchSettings",),
        "files": ("FileLimits",),
        "finding": ("FindLimits",),
        "mcp.config": (
            "AddressServer",
            "CommandServer",
            "load_servers",
            "parse_servers",
        ),
        "mcp.toolbox": ("McpTools",),
        "sandbox.runner": ("ShellSettings",),
        "toolbox": ("workspace_tools",),
        "toolboxes": ("Bundle",),
        "undo.folder": (
            "UndoFolder",
            "undo_problem",
        ),
        "undo.plan": (
            "UndoPlan",
            "UndoStep",
        ),
        "undo.settings": ("UndoSettings",),
        "workspace": ("Workspace",),
    },
)

__all__ = [
    "Access",
    "AddressServer",
    "Assessment",
    "Bundle",
    "ChangedSince",
    "CommandFilter",
    "CommandJudgement",
    "CommandServer",
    "ConfigError",
    "Context",
    "FetchSettings",
    "FileLimits",
    "FindLimits",
    "InvalidTool",
    "McpTools",
    "NameTaken",
    "NotInstalled",
    "PythonTool",
    "ShellSettings",
    "ToolCallError",
    "ToolCancelled",
    "ToolsError",
    "UndoError",
    "UndoFolder",
    "UndoPlan",
    "UndoSettings",
    "UndoStep",
    "Workspace",
    "judge_command",
    "load_servers",
    "parse_servers",
    "risk_of_call",
    "risk_of_command",
    "tool",
    "undo_problem",
    "workspace_tools",
]
