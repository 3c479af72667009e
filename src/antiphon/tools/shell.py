"""The shell tool: runs commands of a model in the workspace."""

import os
import signal
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from antiphon.providers.base import Tool
from antiphon.tools.arguments import object_schema
from antiphon.tools.assessment import Assessment
from antiphon.tools.command_assessment import assess_command
from antiphon.tools.context import CURRENT
from antiphon.tools.errors import ToolCallError
from antiphon.tools.functions import ToolFunction
from antiphon.tools.sandbox.runner import Outcome, ShellSettings, run_command
from antiphon.tools.sandbox.scan import REFUSED_PREFIX
from antiphon.tools.undo.folder import UndoFolder
from antiphon.tools.undo.recorders import record_command
from antiphon.tools.workspace import Workspace

NETWORK = {
    "type": "boolean", "default": False,
    "description": "Whether the command needs the network; a person is asked for it.",
}  # fmt: skip
DENIED = {
    "write": "the workspace was read-only for this command",
    "protected": "protected paths of the workspace, such as .git and .env, were read-only for this command",
}
MAX_COMMAND = 32_000


def shell_tool(settings: ShellSettings) -> Tool:
    """Return the tool as offered to a model, with the limits of the settings in its schema."""
    time = {
        "type": "integer", "minimum": 100, "maximum": settings.most_time_ms, "default": settings.time_ms,
        "description": "Time limit in milliseconds.",
    }  # fmt: skip
    command = {"type": "string", "minLength": 1, "maxLength": MAX_COMMAND}
    return Tool(
        "shell",
        "Run a shell command in the workspace, without input; returns its output, and the exit code if it is not 0.",
        object_schema({"command": command, "timeout_ms": time, "network": NETWORK}, required=["command"]),
        risk="command",
    )


def shell_function(
    workspace: Workspace,
    settings: ShellSettings | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    undo: UndoFolder | None = None,
) -> ToolFunction:
    """Return the tool that runs commands, which inherit a few variables of `environment`.

    With `undo`, changes by threads are recorded.
    """
    shell_settings = settings or ShellSettings()
    parent_environment = os.environ if environment is None else environment

    async def shell(arguments: Mapping[str, Any]) -> str:
        command = arguments["command"]
        time_ms = arguments["timeout_ms"]
        context = CURRENT.get()
        access = context.access if context is not None and context.access is not None else shell_settings.access
        async with record_command(undo, workspace, command, access):
            outcome = await run_command(workspace.folder, command, time_ms, shell_settings, parent_environment, access)
        if context is not None:
            context.denied = outcome.denied
        return format_outcome(outcome, time_ms, shell_settings)

    def assess(arguments: Mapping[str, Any]) -> Assessment:
        assessment = assess_command(
            workspace,
            arguments["command"],
            wants_network=arguments["network"],
            bubblewrap=shell_settings.bubblewrap,
        )
        if undo is None or assessment.risk == "read":
            return assessment
        return replace(assessment, no_undo=undo.problem(workspace))

    return ToolFunction(shell_tool(shell_settings), shell, assess)


def format_outcome(outcome: Outcome, time_ms: int, settings: ShellSettings) -> str:
    """Format the result for a model; raise `ToolCallError` if the command was stopped."""
    reasons = {
        "timeout": f"stopped: the command took longer than {time_ms / 1000:g} s",
        "processes": f"killed: the command had more than {settings.most_processes} processes at once",
        "memory": f"killed: the command used more than {settings.memory_bytes:,} bytes of memory",
        "output": f"stopped: the command wrote more than {settings.most_output_bytes:,} bytes",
        "failed": f"the command could not be started: {outcome.problem}",
        "lost": "the result of the command is unknown",
    }
    output = outcome.output if not outcome.output or outcome.output.endswith("\n") else outcome.output + "\n"
    if outcome.reason in reasons or outcome.status is None:
        raise ToolCallError(f"{output}[{reasons.get(outcome.reason, reasons['lost'])}]")
    code = os.waitstatus_to_exitcode(outcome.status)
    notes = [f"exit code {code}"] if code > 0 else []
    if code < 0:
        notes.append(f"ended by {signal.Signals(-code).name}")
    if outcome.denied is not None:
        notes.append(DENIED[outcome.denied])
    notes += [f"{path!r} is protected; it was renamed to {REFUSED_PREFIX}…" for path in outcome.refused]
    return output + "\n".join(f"[{note}]" for note in notes) if notes else outcome.output or "[no output]"
