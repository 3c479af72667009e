"""The libraries we are measured against: exact versions, installed into a folder that can be thrown away."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tables import report

XSTATE = "5.33.3"
PYTHON_PEERS = {
    "python-statemachine": "3.2.2",
    "transitions": "0.9.3",
    "sismic": "1.6.14",
    "xstate-statemachine": "0.11.0",
}
RUNTIME_PEERS = {
    "langgraph": "1.2.20",
    "langgraph-checkpoint-sqlite": "3.1.2",
    "apache-burr": "0.43.0",
}
SERVER_PEERS = {
    "langgraph": "1.2.20",
    "langgraph-checkpoint-sqlite": "3.1.2",
    "fastapi": "0.162.7",
    "uvicorn": "0.54.0",
    "uvloop": "0.23.0",
    "orjson": "3.13.0",
}
CHAINLIT_PEERS = {"chainlit": "2.12.0", "orjson": "3.13.0"}
SDK_PEERS = {"anthropic": "2.8.0", "openai": "3.49.0"}
REPOSITORY = Path(__file__).resolve().parent.parent
INSTALL_LIMIT_S = 180


class PeerUnavailable(Exception):
    """A peer cannot be run here; the message says why."""


@dataclass(frozen=True, slots=True)
class Toolchain:
    """What the children are started with; asking for what is not there says why."""

    python: str
    xstate: Path | PeerUnavailable

    def node(self) -> str:
        """The `node` command."""
        return find_node()

    def node_modules(self) -> str:
        """The folder whose `node_modules` holds XState."""
        if isinstance(self.xstate, PeerUnavailable):
            raise self.xstate
        return str(self.xstate)


def provide_peers(names: set[str], folder: Path | None, report: Callable[[str], None]) -> Toolchain:
    """The peers of those names that can be had; without the Python ones, ours still runs on this interpreter."""
    cache = open_cache(folder)
    python = sys.executable
    xstate: Path | PeerUnavailable = PeerUnavailable("not asked for")
    report("installing the peers")
    if names & set(PYTHON_PEERS):
        try:
            python = str(provide_python(cache))
        except PeerUnavailable as reason:
            report(f"Python peers: {reason}\n")
    if "xstate" in names:
        try:
            xstate = provide_xstate(cache)
        except PeerUnavailable as reason:
            xstate = reason
    return Toolchain(python, xstate)


def open_cache(folder: Path | None) -> Path:
    """The folder that holds the peers, `.bench` in the repository by default; git never sees its content."""
    cache = (folder or REPOSITORY / ".bench").resolve()
    cache.mkdir(parents=True, exist_ok=True)
    (cache / ".gitignore").write_text("*\n")
    return cache


def provide_python(cache: Path, peers: Mapping[str, str] = PYTHON_PEERS, kind: str = "python") -> Path:
    """An interpreter of our own version that can import every one of these peers."""
    wanted = [f"{name}=={version}" for name, version in peers.items()]
    folder = cache / f"{kind}-{sys.version_info.major}.{sys.version_info.minor}.{sys.version_info.micro}"
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    installed = folder / "peers.txt"
    if installed.exists() and installed.read_text().split() == wanted:
        return python
    venv.create(folder, clear=True, with_pip=True)
    install([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted])
    installed.write_text("\n".join(wanted))
    return python


def find_node() -> str:
    """The `node` command."""
    node = shutil.which("node")
    if node is None:
        raise PeerUnavailable("Node.js is not installed (no `node` on the PATH)")
    return node


def provide_xstate(cache: Path) -> Path:
    """The folder whose `node_modules` holds XState."""
    find_node()
    folder = cache / f"xstate-{XSTATE}"
    if (folder / "node_modules" / "xstate" / "package.json").exists():
        return folder
    npm = shutil.which("npm")
    if npm is None:
        raise PeerUnavailable("npm is not installed, and XState is not in the cache")
    folder.mkdir(exist_ok=True)
    (folder / "package.json").write_text('{"private": true}\n')
    install([npm, "install", "--no-audit", "--no-fund", "--silent", "--prefix", str(folder), f"xstate@{XSTATE}"])
    return folder


def install(command: list[str]) -> None:
    """Run an installer, bounded in time."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_LIMIT_S)
    except subprocess.TimeoutExpired as error:
        raise PeerUnavailable(f"installation took more than {INSTALL_LIMIT_S} s") from error
    if done.returncode != 0:
        raise PeerUnavailable(f"installation failed: {last_line(done.stderr)}")


def last_line(text: str) -> str:
    """The last line that says something."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no message"


def runtime_python(cache: Path | None) -> Path | PeerUnavailable:
    """The interpreter that has LangGraph and Burr, or why there is none."""
    report("installing the peers")
    try:
        return provide_python(open_cache(cache), RUNTIME_PEERS, "runtime")
    except PeerUnavailable as reason:
        return reason
