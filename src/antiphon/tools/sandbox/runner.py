"""Commands run under the supervisor, with limits and without secrets, and ended with everything they started."""

import asyncio
import json
import os
import re
import signal
import sys
from asyncio.subprocess import PIPE, Process, SubprocessStreamProtocol
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from antiphon.tools.access import WRITABLE, Access
from antiphon.tools.functions import run_in_thread
from antiphon.tools.git_settings import git_environment
from antiphon.tools.programs import system_program, wait_despite_cancellation
from antiphon.tools.sandbox.confinement import (
    NO_CONFINEMENT,
    Confinement,
    WorkspaceTooLarge,
    confine_command,
    supervisor_words,
)
from antiphon.tools.sandbox.scan import move_new_protected
from antiphon.tools.sandbox.seccomp import can_filter, fork_notices

# The variables of our environment that a command gets; all others, such as keys, are withheld.
INHERITED = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "TZ")
# Files and folders with credentials that are hidden even if they are below the workspace or a readable folder.
HIDDEN = (
    "~/.ssh", "~/.gnupg", "~/.aws", "~/.azure", "~/.kube", "~/.docker", "~/.netrc", "~/.git-credentials", "~/.npmrc",
    "~/.pypirc", "~/.config/gcloud", "~/.config/gh", "~/.local/share/keyrings", "~/.cargo/credentials",
    "~/.cargo/credentials.toml", "~/.bash_history", "~/.zsh_history", "~/.python_history", "~/.mozilla",
    "~/.config/google-chrome", "~/.config/chromium", "~/.password-store",
)  # fmt: skip
# Texts by which programs report that they could not write, or not move a folder with a protected path.
PROGRAM = re.compile(r"^\S+?: (line \d+: )?")
ABSOLUTE = re.compile(r"(?<![\w.])/[^\s'\":]+")
DENIALS = re.compile(
    r"Read-only file system|Permission denied|Device or resource busy|Invalid cross-device link"
    r"|EROFS|EACCES|EBUSY|EXDEV|\[Errno (13|16|18|30)\]"
)
NO_VARIABLES: Mapping[str, str] = {}
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
    # Paths outside the workspace that a command can read, besides the system and the programs of PATH.
    readable: Sequence[str] = ()
    hidden: Sequence[str] = HIDDEN
    memory_bytes: int = 4 * 1024 * 1024 * 1024
    open_files: int = 4_096
    # Use bubblewrap where it works.
    bubblewrap: bool = True


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
    """Result of a command; the reason is "ended", "timeout", "processes", "memory", "output", "failed" or "lost"."""

    reason: str
    output: str
    # As returned by waitpid: the exit code in the upper byte, or the signal in the lower.
    status: int | None = None
    # Whether a sandbox was around it.
    confined: bool = False
    problem: str = ""
    # What it failed for and a person could allow: "write" or "protected".
    denied: str | None = None
    # Protected paths that it created and that were renamed.
    refused: tuple[str, ...] = ()


async def run_command(
    folder: Path,
    command: str,
    time_ms: int,
    settings: ShellSettings,
    environment: Mapping[str, str],
    access: Access,
) -> Outcome:
    """Run a command to its end; on cancellation, wait until all its processes have ended."""
    try:
        confinement = await run_in_thread(
            lambda: confine_command(
                folder, access, environment,
                readable=settings.readable, hidden=settings.hidden, bubblewrap=settings.bubblewrap,
            )
        )  # fmt: skip
    except WorkspaceTooLarge as error:
        return Outcome("failed", "", problem=str(error))
    task = _task(folder, command, time_ms, settings, confinement)
    git = await run_in_thread(lambda: git_environment(folder))
    variables = {**git, **command_environment(environment, settings, confinement.variables)}
    refused: list[str] = []
    try:
        result, output = await _run_supervisor(folder, task, variables, settings, confinement)
    finally:
        if confinement.scan is not None and access.writes and not access.protected:
            scan = confinement.scan
            refused = await run_in_thread(lambda: move_new_protected(os.path.realpath(folder), scan))
    return _outcome(folder, result, output, access, confinement is not NO_CONFINEMENT, tuple(refused))


async def _run_supervisor(
    folder: Path,
    task: Mapping[str, Any],
    variables: Mapping[str, str],
    settings: ShellSettings,
    confinement: Confinement,
) -> tuple[dict[str, Any], OutputBuffer]:
    """Run the supervisor with a task; return its result and the output of the command."""
    loop = asyncio.get_running_loop()
    with supervisor_words(confinement) as (words, descriptors):
        transport, protocol = await loop.subprocess_exec(
            lambda: SubprocessStreamProtocol(limit=PIPE_LIMIT, loop=loop),
            *words, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=variables, cwd=folder, start_new_session=True,
            pass_fds=descriptors,
        )  # fmt: skip
    process = Process(transport, protocol, loop)
    assert process.stdin is not None
    output = OutputBuffer(settings.most_characters)
    process.stdin.write(json.dumps(task).encode() + b"\n")
    work = asyncio.ensure_future(_supervise(process, output, settings, confinement))
    try:
        return await asyncio.shield(work), output
    except asyncio.CancelledError:
        process.stdin.close()
        kill_timer = loop.call_later((settings.grace_ms + SUPERVISOR_MS) / 1000, process.kill)
        await wait_despite_cancellation(work)
        kill_timer.cancel()
        raise
    finally:
        transport.close()


def command_environment(
    parent_environment: Mapping[str, str], settings: ShellSettings, variables: Mapping[str, str] = NO_VARIABLES
) -> dict[str, str]:
    """Return the environment of a command; the supervisor adds a temporary home folder."""
    inherited = {name: parent_environment[name] for name in INHERITED if name in parent_environment}
    return {"PATH": os.defpath, "LANG": "C.UTF-8", **inherited, **variables, "TERM": "dumb", **settings.environment}


def _task(
    folder: Path, command: str, time_ms: int, settings: ShellSettings, confinement: Confinement
) -> dict[str, Any]:
    bash = system_program("bash")
    words = [bash, "--noprofile", "--norc", "-c", command] if bash else ["/bin/sh", "-c", command]
    limits = {
        "timeMs": time_ms,
        "graceMs": settings.grace_ms,
        "processes": settings.most_processes,
        "cpuS": settings.cpu_s,
        "fileBytes": settings.file_bytes,
        "memoryBytes": settings.memory_bytes,
        "openFiles": settings.open_files,
    }
    # The kernel limits the processes of other users.
    forks = fork_notices() if is_superuser() and can_filter() else None
    return {"words": words, "folder": str(folder), "layers": confinement.layers, "limits": limits, "forks": forks}


def is_superuser() -> bool:
    """Whether this process runs as the superuser of Linux."""
    return sys.platform == "linux" and os.geteuid() == 0


async def _supervise(
    process: Process, output: OutputBuffer, settings: ShellSettings, confinement: Confinement
) -> dict[str, Any]:
    """Read the output of a command until all its processes have ended, and return the supervisor's result."""
    assert process.stdout is not None
    reading = asyncio.ensure_future(_read_output(process, output, settings.most_output_bytes))
    started = json.loads(await process.stdout.readline() or b"{}")
    last_line = await process.stdout.readline()
    # Without a last line the supervisor was killed, so we end the command; in namespaces the kernel has done so.
    if not last_line and not confinement.has_own_processes:
        _kill_group(started.get("group"))
    await process.wait()
    # Do not wait forever for a process that keeps the output open.
    await asyncio.wait([reading], timeout=DRAIN_S)
    reading.cancel()
    if not started:
        # The supervisor reports the group before the command runs; what it could not do is in the output.
        return {"reason": "failed", "problem": "the sandbox could not be set up"}
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


def _is_elsewhere(line: str, folder: Path) -> bool:
    """Return whether a line names absolute paths, and all of them are outside the workspace."""
    # The program that reports it comes first.
    paths = ABSOLUTE.findall(PROGRAM.sub("", line))
    return bool(paths) and not any(path.startswith(str(folder)) for path in paths)


def _outcome(
    folder: Path,
    result: Mapping[str, Any],
    output: OutputBuffer,
    access: Access,
    confined: bool,
    refused: tuple[str, ...],
) -> Outcome:
    reason = result.get("reason", "lost")
    if reason == "stopped":
        reason = "output"
    text = output.text
    status = result.get("status")
    denied = None
    if confined and reason == "ended" and status and not (access.writes and access.protected):
        lines = text.splitlines()
        if any(DENIALS.search(line) and not _is_elsewhere(line, folder) for line in lines):
            denied = "protected" if access.writes else "write"
    return Outcome(reason, text, status, confined, result.get("problem", ""), denied, refused)
