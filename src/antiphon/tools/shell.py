"""Commands in the workspace: bounded, without secrets, and ended with everything they started."""

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
from antiphon.tools.arguments import object_schema
from antiphon.tools.errors import ToolCallError
from antiphon.tools.functions import ToolFunction
from antiphon.tools.programs import wait_despite_cancellation
from antiphon.tools.workspace import Workspace

SUPERVISOR = Path(__file__).with_name("supervisor.py")
# What a command gets of our environment; everything else, and so every key, stays here.
PASSED_ON = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "TZ")
# Where people keep what opens other doors.
HIDDEN = (
    "~/.ssh", "~/.gnupg", "~/.aws", "~/.azure", "~/.kube", "~/.docker", "~/.netrc", "~/.git-credentials", "~/.npmrc",
    "~/.pypirc", "~/.config/antiphon", "~/.config/gcloud", "~/.config/gh", "~/.local/share/keyrings",
)  # fmt: skip
NO_VARIABLES: Mapping[str, str] = {}
MOST_COMMAND = 32_000
# How long the supervisor may take beyond the time that it gives the command to end.
SUPERVISOR_MS = 15_000
LAST_WORDS_S = 2.0
PIPED = 64 * 1024


@dataclass(frozen=True, slots=True)
class ShellSettings:
    """What a command may use, and how it is started."""

    time_ms: int = 120_000
    most_time_ms: int = 600_000
    grace_ms: int = 2_000
    most_characters: int = 30_000
    most_output_bytes: int = 64 * 1024 * 1024
    most_processes: int = 64
    cpu_s: int = 600
    file_bytes: int = 1024 * 1024 * 1024
    # Variables of its own, added to the few that are passed on.
    environment: Mapping[str, str] = field(default_factory=lambda: NO_VARIABLES, repr=False)
    # Let the kernel refuse writing outside the workspace, and reading what is hidden, where it can.
    confine: bool = True
    hidden: Sequence[str] = HIDDEN


def shell_tool(settings: ShellSettings) -> Tool:
    """The tool as a model is told of it; its schema has the bounds of the settings."""
    time = {
        "type": "integer", "minimum": 100, "maximum": settings.most_time_ms, "default": settings.time_ms,
        "description": "After how many milliseconds it is stopped.",
    }  # fmt: skip
    command = {"type": "string", "minLength": 1, "maxLength": MOST_COMMAND}
    return Tool(
        "shell",
        "Run a shell command in the workspace, without input; gives its output, the exit code if it is not 0.",
        object_schema({"command": command, "timeout_ms": time}, required=["command"]),
        risk="command",
    )


def shell_function(
    workspace: Workspace, settings: ShellSettings | None = None, *, environment: Mapping[str, str] | None = None
) -> ToolFunction:
    """The tool that runs commands; the environment is the one of which a little is passed on."""
    chosen = settings or ShellSettings()
    ours = os.environ if environment is None else environment

    async def shell(given: Mapping[str, Any]) -> str:
        outcome = await run_command(workspace.folder, given["command"], given["timeout_ms"], chosen, ours)
        return format_outcome(outcome, given["timeout_ms"], chosen)

    return ToolFunction(shell_tool(chosen), shell)


class OutputBuffer:
    """What a command wrote: of much, the beginning and the end."""

    __slots__ = ("_half", "_head", "_tail", "size")

    def __init__(self, most: int) -> None:
        self._half = most // 2
        self._head = b""
        self._tail = b""
        self.size = 0

    def add(self, data: bytes) -> None:
        """More of it."""
        self.size += len(data)
        room = self._half - len(self._head)
        self._head += data[:room]
        self._tail = (self._tail + data[room:])[-self._half :]

    @property
    def text(self) -> str:
        """What is shown of it."""
        left_out = self.size - len(self._head) - len(self._tail)
        note = f"\n[… {left_out:,} bytes left out …]\n".encode() if left_out else b""
        return (self._head + note + self._tail).decode("utf-8", "replace").replace("\0", "\ufffd")


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a command ended: the reason is "ended", "timeout", "processes", "output", "failed" or "lost"."""

    reason: str
    output: str
    # As the system has it: the exit code in the upper byte, or the signal in the lower.
    status: int | None = None
    # Whether the kernel held it to the workspace.
    confined: bool = False
    problem: str = ""


async def run_command(
    folder: Path, command: str, time_ms: int, settings: ShellSettings, ours: Mapping[str, str]
) -> Outcome:
    """Run a command to its end; whoever is cancelled waits until nothing of it is left."""
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.subprocess_exec(
        lambda: SubprocessStreamProtocol(limit=PIPED, loop=loop),
        sys.executable, "-I", "-S", "-X", "utf8", str(SUPERVISOR), stdin=PIPE, stdout=PIPE, stderr=PIPE,
        env=command_environment(ours, settings), cwd=folder, start_new_session=True,
    )  # fmt: skip
    process = Process(transport, protocol, loop)
    assert process.stdin is not None
    kept = OutputBuffer(settings.most_characters)
    process.stdin.write(json.dumps(_supervisor_request(folder, command, time_ms, settings)).encode() + b"\n")
    work = asyncio.ensure_future(_supervise(process, kept, settings))
    try:
        return _outcome(await asyncio.shield(work), kept)
    except asyncio.CancelledError:
        process.stdin.close()
        late = loop.call_later((settings.grace_ms + SUPERVISOR_MS) / 1000, process.kill)
        await wait_despite_cancellation(work)
        late.cancel()
        raise
    finally:
        transport.close()


def command_environment(ours: Mapping[str, str], settings: ShellSettings) -> dict[str, str]:
    """The environment of a command; its home is a temporary folder that the supervisor adds."""
    passed = {name: ours[name] for name in PASSED_ON if name in ours}
    return {"PATH": os.defpath, "LANG": "C.UTF-8", **passed, "TERM": "dumb", **settings.environment}


def _supervisor_request(folder: Path, command: str, time_ms: int, settings: ShellSettings) -> dict[str, Any]:
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
    return {"words": words, "folder": str(folder), "confine": settings.confine, "hidden": hidden, "limits": limits}


async def _supervise(process: Process, kept: OutputBuffer, settings: ShellSettings) -> dict[str, Any]:
    """Read what a command writes until it and all that it started are gone, and what the supervisor says."""
    assert process.stdout is not None
    reading = asyncio.ensure_future(_read(process, kept, settings.most_output_bytes))
    started = json.loads(await process.stdout.readline() or b"{}")
    last = await process.stdout.readline()
    # Without last words of the supervisor somebody has killed it, and the command is left to us.
    if not last:
        _kill_group(started.get("group"))
    await process.wait()
    # Should anything be left that holds the output open, nobody waits for it.
    await asyncio.wait([reading], timeout=LAST_WORDS_S)
    reading.cancel()
    # Of a command that could not be started there is one line only.
    result: dict[str, Any] = json.loads(last) if last else started
    return result


async def _read(process: Process, kept: OutputBuffer, most: int) -> None:
    assert process.stdin is not None
    assert process.stderr is not None
    while data := await process.stderr.read(65_536):
        kept.add(data)
        if kept.size > most:
            process.stdin.close()


def _kill_group(group: int | None) -> None:
    if group is not None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


def _outcome(last: Mapping[str, Any], kept: OutputBuffer) -> Outcome:
    reason = last.get("reason", "lost")
    if reason == "stopped":
        reason = "output"
    return Outcome(reason, kept.text, last.get("status"), last.get("confined", False), last.get("problem", ""))


def format_outcome(outcome: Outcome, time_ms: int, settings: ShellSettings) -> str:
    """What a model is told; `ToolCallError` when the command did not come to its own end."""
    reasons = {
        "timeout": f"stopped: it took longer than {time_ms / 1000:g} s",
        "processes": f"killed: it had more than {settings.most_processes} processes at once",
        "output": f"stopped: it wrote more than {settings.most_output_bytes:,} bytes",
        "failed": f"it could not be started: {outcome.problem}",
        "lost": "nobody knows how it ended",
    }
    output = outcome.output if not outcome.output or outcome.output.endswith("\n") else outcome.output + "\n"
    if outcome.reason in reasons or outcome.status is None:
        raise ToolCallError(f"{output}[{reasons.get(outcome.reason, reasons['lost'])}]")
    code = os.waitstatus_to_exitcode(outcome.status)
    if code < 0:
        return f"{output}[ended by {signal.Signals(-code).name}]"
    return f"{output}[exit code {code}]" if code else outcome.output or "[no output]"
