"""Program that runs one command and ends all processes that it started.

It runs as its own process, with the standard library only. Its protocol:
a line of JSON on standard input is the task, the end of the input means "stop"; the command writes to the standard
error of this program, and lines of JSON on standard output give the process group and the result.

1. If the parent process ends, the input ends, and so does the command.
2. It is the subreaper of all descendants, so that a process which leaves its group or its session,
   or whose parent has ended, is still found and ended (Linux; elsewhere the group is ended).
3. To end the command, all processes get SIGTERM, after a grace time SIGSTOP, so that none starts another, and SIGKILL.
4. Where the kernel can (Linux with Landlock), the command writes only below the workspace and a temporary folder
   of its own, reads neither `/proc`, because environments of other processes contain secrets, nor hidden paths,
   and cannot signal this process.
"""

import ctypes
import json
import os
import resource
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

POLL_S = 0.05
KILL_S = 10.0
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
# Landlock's system calls have the same numbers on every architecture.
CREATE_RULESET = 444
ADD_RULE = 445
RESTRICT_SELF = 446
PATH_BENEATH = 1
# Write access rights by Landlock version: write, create, remove, move, truncate.
WRITES = {1: 0x1FF2, 2: 0x3FF2, 3: 0x7FF2}
# Write access rights that apply to files: open for writing, and truncate.
FILE_WRITES = 0x4002
# Since version 6, signals to outside processes can be forbidden too.
SCOPE_SIGNALS = 2
READS_FILES = 1 << 2
# Files in /proc about the machine, not about processes.
READABLE_PROC = (
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/version",
    "/proc/loadavg",
    "/proc/uptime",
    "/proc/sys",
)
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/random", "/dev/urandom", "/dev/shm", "/dev/pts")


def libc() -> Any:
    """Return the C library, for system calls without a Python function."""
    return ctypes.CDLL(None, use_errno=True)


def confine(folders: list[str], hidden: list[str]) -> bool:
    """Restrict this process and its descendants to writing below `folders` and not reading `hidden`.

    Return whether the kernel supports it.
    """
    if sys.platform != "linux":
        return False
    call = libc().syscall
    version = call(CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    if version < 1:
        return False
    rights = WRITES[min(version, 3)] | READS_FILES
    attributes = struct.pack("=QQQ", rights, 0, SCOPE_SIGNALS) if version >= 6 else struct.pack("=Q", rights)
    ruleset = call(CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0))
    if ruleset < 0:
        return False
    for path in visible("/", {os.path.realpath(path) for path in ("/proc", *hidden)}):
        allow(call, ruleset, path, READS_FILES)
    for path in READABLE_PROC:
        allow(call, ruleset, path, READS_FILES)
    for path in (*folders, *DEVICES):
        allow(call, ruleset, path, rights)
    libc().prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    done: bool = call(RESTRICT_SELF, ruleset, ctypes.c_uint32(0)) == 0
    os.close(ruleset)
    return done


def visible(folder: str, hidden: set[str]) -> Iterator[str]:
    """Yield the paths in a folder that are not hidden; rules can only allow, so all other paths are listed."""
    with suppress(OSError):
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            if path in hidden or os.path.islink(path):
                continue
            if any(entry.startswith(path + "/") for entry in hidden):
                yield from visible(path, hidden)
            else:
                yield path


def allow(call: Any, ruleset: int, path: str, rights: int) -> None:
    """Add a rule that allows `rights` on a file or folder."""
    with suppress(OSError):
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        allowed = rights if os.path.isdir(path) else rights & (FILE_WRITES | READS_FILES)
        call(ADD_RULE, ruleset, PATH_BENEATH, struct.pack("=Qi", allowed, descriptor), ctypes.c_uint32(0))
        os.close(descriptor)


def set_limits(limits: dict[str, int], processes: int) -> None:
    """Set the resource limits of the processes of the command."""
    bounds = {
        resource.RLIMIT_CPU: limits["cpuS"],
        resource.RLIMIT_FSIZE: limits["fileBytes"],
        resource.RLIMIT_CORE: 0,
        # Counts all processes of the user, and is ignored for the superuser, so `watch` counts too.
        resource.RLIMIT_NPROC: processes + limits["processes"],
    }
    for kind, limit in bounds.items():
        _, hard = resource.getrlimit(kind)
        soft = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        # The hard limit is one second later, so that a process can still report the soft one.
        new_hard = soft + 1 if kind == resource.RLIMIT_CPU and hard == resource.RLIM_INFINITY else soft
        with suppress(ValueError, OSError):
            resource.setrlimit(kind, (soft, new_hard))


def parents() -> dict[int, int]:
    """Return the parent of every visible process."""
    by_process = {}
    with suppress(OSError):
        for name in os.listdir("/proc"):
            if name.isdigit():
                with suppress(OSError, ValueError, IndexError), open(f"/proc/{name}/stat", "rb") as file:
                    state, parent = file.read().rpartition(b")")[2].split()[:2]
                    if state not in (b"Z", b"X"):
                        by_process[int(name)] = int(parent)
    return by_process


def descendants(root: int) -> set[int]:
    """Return all living descendants of a process."""
    children: dict[int, list[int]] = {}
    for process, parent in parents().items():
        children.setdefault(parent, []).append(process)
    processes: set[int] = set()
    pending = [root]
    while pending:
        new = [process for process in children.get(pending.pop(), []) if process not in processes]
        processes.update(new)
        pending += new
    return processes


def count_descendants(root: int) -> int:
    """Count the descendants of a process, quickly; one that is just starting may be missed."""
    count = 0
    pending = [root]
    while pending:
        process = pending.pop()
        with suppress(OSError):
            for thread in os.listdir(f"/proc/{process}/task"):
                with open(f"/proc/{process}/task/{thread}/children", "rb") as file:
                    pending += (children := [int(child) for child in file.read().split()])
                    count += len(children)
    return count


def threads_of_user() -> int:
    """Count the processes and threads of the user."""
    count = 0
    with suppress(OSError):
        for name in os.listdir("/proc"):
            if name.isdigit():
                with suppress(OSError):
                    if os.stat(f"/proc/{name}").st_uid == os.getuid():
                        count += len(os.listdir(f"/proc/{name}/task"))
    return count


class SupervisedCommand:
    """Command, from its start to the end of all its processes."""

    def __init__(self, task: dict[str, Any], temporary: str) -> None:
        self.task = task
        self.temporary = temporary
        self.confined = False
        self.status: int | None = None
        # SIGCHLD wakes `watch`.
        self.wakeup, wakeup_writer = os.pipe()
        os.set_blocking(wakeup_writer, False)
        signal.set_wakeup_fd(wakeup_writer, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        self.command = self.start()

    def start(self) -> int:
        """Start the command without input, in its own session."""
        task = self.task
        user_threads = threads_of_user()
        reads, writes = os.pipe()
        output = os.dup(1)

        def prepare() -> None:
            # Reported before the command runs, because it may kill us, and then our parent ends the group.
            os.write(output, json.dumps({"group": os.getpid()}).encode() + b"\n")
            set_limits(task["limits"], user_threads)
            if task["confine"]:
                is_confined = confine([task["folder"], self.temporary], task["hidden"])
                os.write(writes, b"1" if is_confined else b"0")

        # Running Python between fork and exec is safe here, because this process has no threads.
        process = subprocess.Popen(
            task["words"], stdin=subprocess.DEVNULL, stdout=2, stderr=2, cwd=task["folder"],
            env={**os.environ, "HOME": self.temporary, "TMPDIR": self.temporary},
            start_new_session=True, preexec_fn=prepare,
        )  # fmt: skip
        os.close(output)
        os.close(writes)
        self.confined = os.read(reads, 1) == b"1"
        os.close(reads)
        # From here on `reap` collects all processes, including this one.
        process.returncode = 0
        return process.pid

    def reap(self) -> bool:
        """Collect ended processes; return whether any process is left.

        Only the kernel knows that: while `/proc` is read, processes may change their parents.
        """
        try:
            while True:
                process, status = os.waitpid(-1, os.WNOHANG)
                if process == 0:
                    return True
                if process == self.command:
                    self.status = status
        except ChildProcessError:
            return False

    def watch(self) -> str:
        """Wait until the command ends or must be ended; return the reason."""
        deadline = time.monotonic() + self.task["limits"]["timeMs"] / 1000
        while True:
            self.reap()
            if self.status is not None:
                return "ended"
            if time.monotonic() >= deadline:
                return "timeout"
            if count_descendants(os.getpid()) > self.task["limits"]["processes"]:
                return "processes"
            if self.wait(POLL_S, 0) and not os.read(0, 1):
                return "stopped"

    def signal_all(self, number: int) -> set[int]:
        """Send a signal to all processes; return those found."""
        # To the group first, because that is atomic, so no fork is missed.
        with suppress(OSError):
            os.killpg(self.command, number)
        processes = descendants(os.getpid())
        for process in processes:
            with suppress(OSError):
                os.kill(process, number)
        return processes

    def end(self, reason: str) -> None:
        """End all remaining processes, with a grace time if the command was stopped."""
        if reason in ("timeout", "stopped"):
            self.signal_all(signal.SIGTERM)
            deadline = time.monotonic() + self.task["limits"]["graceMs"] / 1000
            while self.reap() and time.monotonic() < deadline:
                self.wait(POLL_S)
        frozen: set[int] = set()
        while self.reap() and (new := self.signal_all(signal.SIGSTOP) - frozen):
            frozen |= new
        # The wait is limited, because a process in uninterruptible I/O cannot be killed.
        deadline = time.monotonic() + KILL_S
        while self.reap() and time.monotonic() < deadline:
            self.signal_all(signal.SIGKILL)
            self.wait(POLL_S)

    def wait(self, seconds: float, *inputs: int) -> bool:
        """Wait until a child ends, an input is readable or the time is up; return whether an input is readable."""
        ready, _, _ = select.select([self.wakeup, *inputs], [], [], seconds)
        if self.wakeup in ready:
            os.read(self.wakeup, 4_096)
        return any(descriptor in ready for descriptor in inputs)


def first_line() -> bytes:
    """Read the task: one line, followed by nothing but the end of the input."""
    line = b""
    while not line.endswith(b"\n") and (more := os.read(0, 65_536)):
        line += more
    return line


def main() -> None:
    """Run the command of the task and report how it ended."""
    if sys.platform == "linux":
        libc().prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    task = json.loads(first_line())
    temporary = tempfile.mkdtemp(prefix="antiphon-")
    try:
        command = SupervisedCommand(task, temporary)
        reason = command.watch()
        command.end(reason)
        result = {"reason": reason, "status": command.status, "confined": command.confined}
    except OSError as error:
        result = {"reason": "failed", "status": None, "confined": False, "problem": error.strerror}
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    os.write(1, json.dumps(result).encode() + b"\n")


if __name__ == "__main__":
    main()
