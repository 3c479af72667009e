"""Probes of the sandbox: real attempts in it, on a workspace and services made for them."""

import asyncio
import json
import os
import select
import shlex
import socket
import sys
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from antiphon.paths import user_path
from antiphon.tools.access import READ_ONLY, Access
from antiphon.tools.sandbox.runner import ShellSettings, run_command

PROGRAM = Path(__file__).with_name("probe_program.py")
TIME_MS = 20_000
# What each attempt of the program is, in words.
ATTEMPTS: Mapping[str, str] = {
    "write-workspace": "write to the read-only workspace",
    "write-outside": "write outside the workspace",
    "read-outside": "read a file outside the workspace",
    "read-env-file": "read .env of the workspace",
    "read-own-data": "read Antiphon's own data",
    "connect-tcp": "connect to a service of this machine",
    "send-udp": "send a datagram to a service of this machine",
    "connect-abstract": "connect to an abstract socket of another process",
    "connect-path": "connect to a socket file of another process",
    "open-terminal": "open a terminal of the person",
    "type-terminal": "type into a terminal",
    "read-process": "read the environment of another process",
    "signal-process": "signal another process",
    "trace-process": "trace another process",
    "make-namespace": "make a namespace",
    "mount": "mount a file system",
    "write-kernel": "write a setting of the kernel",
    "gain-privileges": "gain privileges by a set-user-ID program",
}


@dataclass(frozen=True, slots=True)
class Probe:
    """One attempt in the sandbox."""

    name: str
    attempt: str
    held: bool


class ProbeFailed(Exception):
    """Raised if the probes could not be run in the sandbox."""


def run_probes(environment: Mapping[str, str], access: Access = READ_ONLY, *, bubblewrap: bool = True) -> list[Probe]:
    """Try everything in the sandbox and return what was held."""
    settings = ShellSettings(bubblewrap=bubblewrap)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="antiphon-doctor-")))
        facts = _make_targets(folder, stack, environment)
        udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        udp.bind(("127.0.0.1", 0))
        facts["udp"] = str(udp.getsockname()[1])
        python = os.path.realpath(sys.executable)
        command = shlex.join([python, "-I", "-S", "probe.py", json.dumps(facts)])
        environment = {**environment, "XDG_STATE_HOME": str(folder / "state")}
        outcome = asyncio.run(run_command(folder / "workspace", command, TIME_MS, settings, environment, access))
        lines = [line for line in outcome.output.splitlines() if line.startswith("{")]
        worked = {probe["name"]: probe["worked"] for probe in map(json.loads, lines)}
        if set(worked) != set(ATTEMPTS):
            raise ProbeFailed(outcome.problem or outcome.output.strip() or outcome.reason)
        worked["send-udp"] = bool(select.select([udp], [], [], 0)[0])
    return [Probe(name, attempt, not worked[name]) for name, attempt in ATTEMPTS.items()]


def _make_targets(folder: Path, stack: ExitStack, environment: Mapping[str, str]) -> dict[str, str]:
    """Make files, sockets and a terminal to attack, and return where they are."""
    own = user_path("state", "secret", environment={**environment, "XDG_STATE_HOME": str(folder / "state")})
    workspace = folder / "workspace"
    for path in (workspace / ".env", folder / "outside" / "secret", own):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("secret")
    (workspace / "probe.py").write_bytes(PROGRAM.read_bytes())
    tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
    abstract = f"antiphon-doctor-{os.getpid()}"
    for address in ("\0" + abstract, str(workspace / "service.sock")):
        service = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        service.bind(address)
        service.listen()
    controller, terminal = os.openpty()
    stack.callback(os.close, terminal)
    stack.callback(os.close, controller)
    return {
        "workspace": str(workspace),
        "outside": str(folder / "outside"),
        "own": str(own),
        "tcp": str(tcp.getsockname()[1]),
        "abstract": abstract,
        "terminal": os.ttyname(terminal),
        "process": str(os.getpid()),
    }
