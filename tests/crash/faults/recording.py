"""A process that runs under the shim: its file system calls, its messages, and how it ended."""

import atexit
import json
import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from enum import IntEnum
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NamedTuple

from tests.crash.child import Plan
from tests.paths import ROOT

SHIM = Path(__file__).with_name("shim.c")
STORE = "threads.db"
MESSAGES = STORE + ".messages"  # the file to which the process writes instead of a pipe, so that its order is recorded
OUTSIDE = (MESSAGES, STORE + ".ran")  # files that stand for the world outside: no power cut takes anything from them
HEADER = struct.Struct("<BBHiqqII")
LIMIT_S = 60.0
LASTING = 1_000_000_000  # a fault that is not lifted


class Action(IntEnum):
    """Kinds of calls, as in shim.c."""

    OPEN = 1
    CLOSE = 2
    WRITE = 3
    TRUNCATE = 4
    FLUSH = 5  # begins
    FLUSHED = 6  # ends
    RENAME = 7
    UNLINK = 8
    FAULT = 9


class Call(NamedTuple):
    """One recorded call."""

    action: Action
    is_new: bool
    fd: int
    offset: int
    error: int
    path: str
    data: bytes


class Fault(NamedTuple):
    """Calls that fail: of those on files with an ending, the `first` and some after it."""

    call: str  # create, write or flush
    ending: str
    first: int
    times: int
    error: int

    def __str__(self) -> str:
        return " ".join(str(value) for value in self)


@dataclass(frozen=True)
class Recording:
    """One process: the folder before it started, its calls, and how it ended."""

    before: dict[str, bytes]
    calls: list[Call]
    exit_code: int | None  # None: it did not end and was killed
    stderr: str

    @property
    def messages(self) -> list[Any]:
        """All messages of the process."""
        return list(messages_in(self.calls))

    @property
    def faults(self) -> list[Call]:
        """The calls that were made to fail."""
        return [call for call in self.calls if call.action is Action.FAULT]


def missing_tool() -> str | None:
    """Return the reason why nothing can be recorded here, or None."""
    if sys.platform != "linux":
        return "calls are recorded on Linux only"
    if compiler() is None:
        return "there is no C compiler (cc) to build tests/crash/faults/shim.c"
    return None


def compiler() -> str | None:
    """Return the path of the C compiler, or None."""
    return shutil.which("cc") or shutil.which("gcc")


@cache
def library() -> str:
    """Build the shim once for this process; return its path."""
    folder = mkdtemp(prefix="antiphon-shim-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    target = Path(folder) / "shim.so"
    command = [str(compiler()), "-shared", "-fPIC", "-O2", "-o", str(target), str(SHIM), "-ldl", "-lpthread"]
    subprocess.run(command, check=True, capture_output=True)
    return str(target)


def record(
    folder: Path,
    plan: Plan,
    *,
    bug: str = "",
    faults: Sequence[Fault] = (),
    flush_us: int = 0,
    limit_s: float = LIMIT_S,
) -> Recording:
    """Run a process on the store of a folder until it ends, and record its calls."""
    log = folder.with_name(folder.name + ".log")
    log.unlink(missing_ok=True)
    (folder / MESSAGES).write_bytes(b"")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    environment = os.environ | {
        "LD_PRELOAD": library(),
        "ANTIPHON_FAULTS_FOLDER": str(folder),
        "ANTIPHON_FAULTS_LOG": str(log),
        "ANTIPHON_FAULTS_FLUSH_US": str(flush_us),
        "ANTIPHON_FAULTS_PLAN": "; ".join(str(fault) for fault in faults),
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")]),
    }
    is_lasting = any(fault.times == LASTING for fault in faults)
    arguments = [str(folder / STORE), json.dumps(asdict(plan)), bug, "lasting" if is_lasting else ""]
    command = [sys.executable, "-m", "tests.crash.faults.child", *arguments]
    exit_code, stderr = _run(command, environment, limit_s)
    calls = list(_read_calls(log.read_bytes())) if log.exists() else []
    if not any(call.action is Action.OPEN and call.path.endswith(STORE) for call in calls):
        raise RuntimeError(f"no call on {folder / STORE} was recorded: {stderr}")
    log.unlink()
    return Recording(before, calls, exit_code, stderr)


def _run(command: list[str], environment: dict[str, str], limit_s: float) -> tuple[int | None, str]:
    """Run a command; return its exit code, None if it had to be killed, and its standard error."""
    with subprocess.Popen(command, env=environment, cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
        try:
            _, stderr = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            process.kill()
            _, stderr = process.communicate()
            return None, stderr
        return process.returncode, stderr


def messages_in(calls: Sequence[Call]) -> Iterator[Any]:
    """Yield the messages that the process has written in some of its calls."""
    fds = set()
    for call in calls:
        if call.action is Action.OPEN and call.path.endswith(MESSAGES):
            fds.add(call.fd)
        elif call.action is Action.WRITE and call.fd in fds:
            yield json.loads(call.data)


def _read_calls(log: bytes) -> Iterator[Call]:
    at = 0
    while at < len(log):
        action, is_new, _, fd, offset, error, path_size, data_size = HEADER.unpack_from(log, at)
        at += HEADER.size
        path = log[at : at + path_size].decode()
        at += path_size
        yield Call(Action(action), bool(is_new), fd, offset, error, path, log[at : at + data_size])
        at += data_size
