"""A program that runs one command and sees to it that nothing of it is left.

It is run by itself, with the standard library only, and speaks with whoever started it like this:
a line of JSON on its input says what to run, the end of its input means "stop"; the command writes to the error output
of this program, and lines of JSON on its standard output say which process it is, and how it ended.

1. Whoever started it may die: then its input ends, and with it the command.
2. It is the reaper of everything below the command, so that a process which leaves its group or its session,
   or whose parent is gone, is still found and ended (Linux; elsewhere the group is ended).
3. The end: everything is asked to (SIGTERM), has some time, is frozen so that it starts nothing new, and killed.
4. Where the kernel can (Linux with Landlock), the command writes only below the workspace and a temporary folder
   of its own, reads neither `/proc`, where the environments of other processes hold secrets, nor what else is hidden,
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

LOOK_EVERY_S = 0.05
KILLING_S = 10.0
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
# Landlock's system calls have the same numbers on every architecture.
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
PATH_BENEATH = 1
# Which rights a version of the kernel knows: writing, and what makes, removes, moves, truncates.
WRITES = {1: 0x1FF2, 2: 0x3FF2, 3: 0x7FF2}
# What is written to a file, not to a folder: opening for writing, and truncating.
FILE_WRITES = 0x4002
# Since version 6, signals to processes outside can be refused too.
SCOPE_SIGNALS = 2
READS_FILES = 1 << 2
# Of what the kernel tells, this is about the machine and not about processes.
TOLD = ("/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/version", "/proc/loadavg", "/proc/uptime", "/proc/sys")
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/random", "/dev/urandom", "/dev/shm", "/dev/pts")


def libc() -> Any:
    """The functions of the system that Python has no names for."""
    return ctypes.CDLL(None, use_errno=True)


def confine(folders: list[str], hidden: list[str]) -> bool:
    """Let this process, and all that it starts, write below these folders only, and not read what is hidden.

    Whether the kernel can do that is what it gives back.
    """
    if sys.platform != "linux":
        return False
    call = libc().syscall
    version = call(CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    if version < 1:
        return False
    rights = WRITES[min(version, 3)] | READS_FILES
    wanted = struct.pack("=QQQ", rights, 0, SCOPE_SIGNALS) if version >= 6 else struct.pack("=Q", rights)
    ruleset = call(CREATE_RULESET, wanted, ctypes.c_size_t(len(wanted)), ctypes.c_uint32(0))
    if ruleset < 0:
        return False
    for path in visible("/", {os.path.realpath(path) for path in ("/proc", *hidden)}):
        allow(call, ruleset, path, READS_FILES)
    for path in TOLD:
        allow(call, ruleset, path, READS_FILES)
    for path in (*folders, *DEVICES):
        allow(call, ruleset, path, rights)
    libc().prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    done: bool = call(RESTRICT_SELF, ruleset, ctypes.c_uint32(0)) == 0
    os.close(ruleset)
    return done


def visible(folder: str, hidden: set[str]) -> Iterator[str]:
    """What is in a folder and neither hidden nor on the way to it; rules can only allow, so all else is named."""
    with suppress(OSError):
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            if path in hidden or os.path.islink(path):
                continue
            if any(one.startswith(path + "/") for one in hidden):
                yield from visible(path, hidden)
            else:
                yield path


def allow(call: Any, ruleset: int, path: str, rights: int) -> None:
    """Add a folder or a file with what may be done there."""
    with suppress(OSError):
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        meant = rights if os.path.isdir(path) else rights & (FILE_WRITES | READS_FILES)
        call(ADD_RULE, ruleset, PATH_BENEATH, struct.pack("=Qi", meant, place), ctypes.c_uint32(0))
        os.close(place)


def set_limits(limits: dict[str, int], processes: int) -> None:
    """Bound what one process of the command can use."""
    bounds = {
        resource.RLIMIT_CPU: limits["cpuS"],
        resource.RLIMIT_FSIZE: limits["fileBytes"],
        resource.RLIMIT_CORE: 0,
        # Counted for all processes of the user, and not at all for the superuser: the watch below counts too.
        resource.RLIMIT_NPROC: processes + limits["processes"],
    }
    for kind, most in bounds.items():
        _, hard = resource.getrlimit(kind)
        wanted = most if hard == resource.RLIM_INFINITY else min(most, hard)
        # A second more for the hard limit on time: at the soft one a process may still say something.
        last = wanted + 1 if kind == resource.RLIMIT_CPU and hard == resource.RLIM_INFINITY else wanted
        with suppress(ValueError, OSError):
            resource.setrlimit(kind, (wanted, last))


def parents() -> dict[int, int]:
    """The parent of every process that can be seen."""
    found = {}
    with suppress(OSError):
        for name in os.listdir("/proc"):
            if name.isdigit():
                with suppress(OSError, ValueError, IndexError), open(f"/proc/{name}/stat", "rb") as file:
                    state, parent = file.read().rpartition(b")")[2].split()[:2]
                    if state not in (b"Z", b"X"):
                        found[int(name)] = int(parent)
    return found


def below(root: int) -> set[int]:
    """Every living process below another, however deep."""
    known = parents()
    children: dict[int, list[int]] = {}
    for process, parent in known.items():
        children.setdefault(parent, []).append(process)
    found: set[int] = set()
    ahead = [root]
    while ahead:
        new = [process for process in children.get(ahead.pop(), []) if process not in found]
        found.update(new)
        ahead += new
    return found


def count_below(root: int) -> int:
    """How many processes are below another, quickly; one that is just starting may be missed until the next look."""
    count, ahead = 0, [root]
    while ahead:
        process = ahead.pop()
        with suppress(OSError):
            for thread in os.listdir(f"/proc/{process}/task"):
                with open(f"/proc/{process}/task/{thread}/children", "rb") as file:
                    ahead += (children := [int(child) for child in file.read().split()])
                    count += len(children)
    return count


def threads_of_user() -> int:
    """How many processes and threads the user has now."""
    count = 0
    with suppress(OSError):
        for name in os.listdir("/proc"):
            if name.isdigit():
                with suppress(OSError):
                    if os.stat(f"/proc/{name}").st_uid == os.getuid():
                        count += len(os.listdir(f"/proc/{name}/task"))
    return count


class SupervisedCommand:
    """One command from its start to the end of everything it started."""

    def __init__(self, wanted: dict[str, Any], temporary: str) -> None:
        self.wanted = wanted
        self.temporary = temporary
        self.confined = False
        self.status: int | None = None
        # The end of a child wakes the watch.
        self.bell, ringing = os.pipe()
        os.set_blocking(ringing, False)
        signal.set_wakeup_fd(ringing, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        self.command = self.start()

    def start(self) -> int:
        """Start the command, with no input, in a session of its own."""
        wanted, user_has = self.wanted, threads_of_user()
        reads, writes = os.pipe()
        said = os.dup(1)

        def prepare() -> None:
            # Before anything of the command runs: from its first moment on it may kill us, and then others end it.
            os.write(said, json.dumps({"group": os.getpid()}).encode() + b"\n")
            set_limits(wanted["limits"], user_has)
            if wanted["confine"]:
                held = confine([wanted["folder"], self.temporary], wanted["hidden"])
                os.write(writes, b"1" if held else b"0")

        # Only here is it right to run Python between fork and exec: this process has no threads.
        process = subprocess.Popen(
            wanted["words"], stdin=subprocess.DEVNULL, stdout=2, stderr=2, cwd=wanted["folder"],
            env={**os.environ, "HOME": self.temporary, "TMPDIR": self.temporary},
            start_new_session=True, preexec_fn=prepare,
        )  # fmt: skip
        os.close(said)
        os.close(writes)
        self.confined = os.read(reads, 1) == b"1"
        os.close(reads)
        # From here on all that ends is reaped by `reap`, this one too.
        process.returncode = 0
        return process.pid

    def reap(self) -> bool:
        """Take note of all that has ended; whether anything is left.

        Only the kernel can say the latter: while `/proc` is read, children change their parents.
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
        """Wait for the end of the command, or for a reason to end it."""
        deadline = time.monotonic() + self.wanted["limits"]["timeMs"] / 1000
        while True:
            self.reap()
            if self.status is not None:
                return "ended"
            if time.monotonic() >= deadline:
                return "timeout"
            if count_below(os.getpid()) > self.wanted["limits"]["processes"]:
                return "processes"
            if self.rest(LOOK_EVERY_S, 0) and not os.read(0, 1):
                return "stopped"

    def tell_all(self, number: int) -> set[int]:
        """Send everything that is found a signal."""
        # To the group first, because that is one act which no fork can slip past.
        with suppress(OSError):
            os.killpg(self.command, number)
        found = below(os.getpid())
        for process in found:
            with suppress(OSError):
                os.kill(process, number)
        return found

    def end(self, reason: str) -> None:
        """End whatever is left: kindly when there is time, and in any case."""
        if reason in ("timeout", "stopped"):
            self.tell_all(signal.SIGTERM)
            deadline = time.monotonic() + self.wanted["limits"]["graceMs"] / 1000
            while self.reap() and time.monotonic() < deadline:
                self.rest(LOOK_EVERY_S)
        frozen: set[int] = set()
        while self.reap() and (new := self.tell_all(signal.SIGSTOP) - frozen):
            frozen |= new
        # A process that even the kernel cannot end now, in the middle of some input, is not waited for without end.
        deadline = time.monotonic() + KILLING_S
        while self.reap() and time.monotonic() < deadline:
            self.tell_all(signal.SIGKILL)
            self.rest(LOOK_EVERY_S)

    def rest(self, seconds: float, *inputs: int) -> bool:
        """Wait for a while, until a child ends, or until an input has something to say; whether one has."""
        ready, _, _ = select.select([self.bell, *inputs], [], [], seconds)
        if self.bell in ready:
            os.read(self.bell, 4_096)
        return any(one in ready for one in inputs)


def first_line() -> bytes:
    """What to run: one line, after which nothing comes but the end."""
    line = b""
    while not line.endswith(b"\n") and (more := os.read(0, 65_536)):
        line += more
    return line


def main() -> None:
    """Run what the first line of the input says, and say how it ended."""
    if sys.platform == "linux":
        libc().prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    wanted = json.loads(first_line())
    temporary = tempfile.mkdtemp(prefix="antiphon-")
    try:
        run = SupervisedCommand(wanted, temporary)
        reason = run.watch()
        run.end(reason)
        result = {"reason": reason, "status": run.status, "confined": run.confined}
    except OSError as error:
        result = {"reason": "failed", "status": None, "confined": False, "problem": error.strerror}
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    os.write(1, json.dumps(result).encode() + b"\n")


if __name__ == "__main__":
    main()
