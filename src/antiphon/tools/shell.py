"""The shell tool: runs commands with limits and without secrets, and ends everything they started."""

import asyncio
import json
import os
import shutil
import signal
import sys
from asyncio.subprocess import PIPE, Process, SubprocessStreamProtocol
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from antiphon.providers.base import Tool
from antiphon.tools.access import WRITABLE, Access
from antiphon.tools.arguments import object_schema
from antiphon.tools.assessment import Assessment
from antiphon.tools.command_assessment import assess_command
from antiphon.tools.context import CURRENT
from antiphon.tools.errors import ToolCallError
from antiphon.tools.functions import ToolFunction
from antiphon.tools.programs import wait_despite_cancellation
from antiphon.tools.workspace import Workspace

SUPERVISOR = Path(__file__).parent / "sandbox" / "supervisor.py"
# The variables of our environment that a command gets; all others, such as keys, are withheld.
INHERITED = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "TZ")
# Files and folders that usually contain credentials.
HIDDEN = (
    "~/.ssh", "~/.gnupg", "~/.aws", "~/.azure", "~/.kube", "~/.docker", "~/.netrc", "~/.git-credentials", "~/.npmrc",
    "~/.pypirc", "~/.config/antiphon", "~/.config/gcloud", "~/.config/gh", "~/.local/share/keyrings",
)  # fmt: skip
NETWORK = {
    "type": "boolean", "default": False,
    "description": "Whether the command needs the network; a person is asked for it.",
}  # fmt: skip
NO_VARIABLES: Mapping[str, str] = {}
MAX_COMMAND = 32_000
# How long the supervisor may take after the grace time of the command.
SUPERVISOR_MS = 15_000
DRAIN_S = 2.0
PIPE_LIMIT = 64 * 1024


@dataclass(frozen=True, slots=True)
class ShellSettings:
    """Limits and environment of commands."""

    time_ms: int = 120_000
    most_time_ms: int = 600_000
    grace_ms: int = 2_000
    most_characters: int = 30_000
    most_output_bytes: int = 64 * 1024 * 1024
    most_processes: int = 64
    cpu_s: int = 600
    file_bytes: int = 1024 * 1024 * 1024
    # Variables added to the inherited ones.
    environment: Mapping[str, str] = field(default_factory=lambda: NO_VARIABLES, repr=False)
    # What a command may do if the call does not say so.
    access: Access = WRITABLE
    hidden: Sequence[str] = HIDDEN


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
    workspace: Workspace, settings: ShellSettings | None = None, *, environment: Mapping[str, str] | None = None
) -> ToolFunction:
    """Return the tool that runs commands, which inherit a few variables of `environment`."""
    shell_settings = settings or ShellSettings()
    parent_environment = os.environ if environment is None else environment

    async def shell(arguments: Mapping[str, Any]) -> str:
        command = arguments["command"]
        time_ms = arguments["timeout_ms"]
        context = CURRENT.get()
        access = context.access if context is not None and context.access is not None else shell_settings.access
        outcome = await run_command(workspace.folder, command, time_ms, shell_settings, parent_environment, access)
        return format_outcome(outcome, time_ms, shell_settings)

    def assess(arguments: Mapping[str, Any]) -> Assessment:
        return assess_command(workspace, arguments["command"], wants_network=arguments["network"])

    return ToolFunction(shell_tool(shell_settings), shell, assess)


class OutputBuffer:
    """Output of a command; of long output only the beginning and the end."""

    __slots__ = ("_half", "_head", "_tail", "size")

    def __init__(self, limit: int) -> None:
        self._half = limit // 2
        self._head = b""
        self._tail = b""
        self.size = 0

    def add(self, data: bytes) -> None:
        """Append data."""
        self.size += len(data)
        room = self._half - len(self._head)
        self._head += data[:room]
        self._tail = (self._tail + data[room:])[-self._half :]

    @property
    def text(self) -> str:
        """Output as text, with a note where bytes were omitted."""
        omitted = self.size - len(self._head) - len(self._tail)
        note = f"\n[… {omitted:,} bytes omitted …]\n".encode() if omitted else b""
        return (self._head + note + self._tail).decode("utf-8", "replace").replace("\0", "\ufffd")


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a command; the reason is "ended", "timeout", "processes", "output", "failed" or "lost"."""

    reason: str
    output: str
    # As returned by waitpid: the exit code in the upper byte, or the signal in the lower.
    status: int | None = None
    # Whether the kernel confined it to the workspace.
    confined: bool = False
    problem: str = ""


async def run_command(
    folder: Path,
    command: str,
    time_ms: int,
    settings: ShellSettings,
    environment: Mapping[str, str],
    access: Access,
) -> Outcome:
    """Run a command to its end; on cancellation, wait until all its processes have ended."""
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.subprocess_exec(
        lambda: SubprocessStreamProtocol(limit=PIPE_LIMIT, loop=loop),
        sys.executable, "-I", "-S", "-X", "utf8", str(SUPERVISOR), stdin=PIPE, stdout=PIPE, stderr=PIPE,
        env=command_environment(environment, settings), cwd=folder, start_new_session=True,
    )  # fmt: skip
    process = Process(transport, protocol, loop)
    assert process.stdin is not None
    output = OutputBuffer(settings.most_characters)
    process.stdin.write(json.dumps(_supervisor_request(folder, command, time_ms, settings, access)).encode() + b"\n")
    work = asyncio.ensure_future(_supervise(process, output, settings))
    try:
        return _outcome(await asyncio.shield(work), output)
    except asyncio.CancelledError:
        process.stdin.close()
        kill_timer = loop.call_later((settings.grace_ms + SUPERVISOR_MS) / 1000, process.kill)
        await wait_despite_cancellation(work)
        kill_timer.cancel()
        raise
    finally:
        transport.close()


def command_environment(parent_environment: Mapping[str, str], settings: ShellSettings) -> dict[str, str]:
    """Return the environment of a command; the supervisor adds a temporary home folder."""
    inherited = {name: parent_environment[name] for name in INHERITED if name in parent_environment}
    return {"PATH": os.defpath, "LANG": "C.UTF-8", **inherited, "TERM": "dumb", **settings.environment}


def _supervisor_request(
    folder: Path, command: str, time_ms: int, settings: ShellSettings, access: Access
) -> dict[str, Any]:
    bash = shutil.which("bash")
    words = [bash, "--noprofile", "--norc", "-c", command] if bash else ["/bin/sh", "-c", command]
    limits = {
        "timeMs": time_ms,
        "graceMs": settings.grace_ms,
        "processes": settings.most_processes,
        "cpuS": settings.cpu_s,
        "fileBytes": settings.file_bytes,
    }
    hidden = [os.path.expanduser(path) for path in settings.hidden]
    return {"words": words, "folder": str(folder), "confine": not access.outside, "hidden": hidden, "limits": limits}


async def _supervise(process: Process, output: OutputBuffer, settings: ShellSettings) -> dict[str, Any]:
    """Read the output of a command until all its processes have ended, and return the supervisor's result."""
    assert process.stdout is not None
    reading = asyncio.ensure_future(_read_output(process, output, settings.most_output_bytes))
    started = json.loads(await process.stdout.readline() or b"{}")
    last_line = await process.stdout.readline()
    # Without a last line the supervisor was killed, so we end the command.
    if not last_line:
        _kill_group(started.get("group"))
    await process.wait()
    # Do not wait forever for a process that keeps the output open.
    await asyncio.wait([reading], timeout=DRAIN_S)
    reading.cancel()
    # If the command could not be started, there is only one line.
    result: dict[str, Any] = json.loads(last_line) if last_line else started
    return result


async def _read_output(process: Process, output: OutputBuffer, limit: int) -> None:
    assert process.stdin is not None
    assert process.stderr is not None
    while data := await process.stderr.read(65_536):
        output.add(data)
        if output.size > limit:
            process.stdin.close()


def _kill_group(group: int | None) -> None:
    if group is not None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


def _outcome(result: Mapping[str, Any], output: OutputBuffer) -> Outcome:
    reason = result.get("reason", "lost")
    if reason == "stopped":
        reason = "output"
    return Outcome(reason, output.text, result.get("status"), result.get("confined", False), result.get("problem", ""))


def format_outcome(outcome: Outcome, time_ms: int, settings: ShellSettings) -> str:
    """Format the result for a model; raise `ToolCallError` if the command was stopped."""
    reasons = {
        "timeout": f"stopped: the command took longer than {time_ms / 1000:g} s",
        "processes": f"killed: the command had more than {settings.most_processes} processes at once",
        "output": f"stopped: the command wrote more than {settings.most_output_bytes:,} bytes",
        "failed": f"the command could not be started: {outcome.problem}",
        "lost": "the result of the command is unknown",
    }
    output = outcome.output if not outcome.output or outcome.output.endswith("\n") else outcome.output + "\n"
    if outcome.reason in reasons or outcome.status is None:
        raise ToolCallError(f"{output}[{reasons.get(outcome.reason, reasons['lost'])}]")
    code = os.waitstatus_to_exitcode(outcome.status)
    if code < 0:
        return f"{output}[ended by {signal.Signals(-code).name}]"
    return f"{output}[exit code {code}]" if code else outcome.output or "[no output]"
