"""Program that runs one command and ends all processes that it started.

It runs as its own process, with the standard library only. Its protocol:
a line of JSON on standard input is the task, the end of the input means "stop"; the command writes to the standard
error of this program, and lines of JSON on standard output give the process group and the result.

1. If the parent process ends, the input ends, and so does the command.
2. It is the subreaper of all descendants, so that a process which leaves its group or its session,
   or whose parent has ended, is still found and ended (Linux; elsewhere the group is ended).
3. To end the command, all processes get SIGTERM, after a grace time SIGSTOP, so that none starts another, and SIGKILL.
4. The task names the layers around the command: Landlock rules, a seccomp filter, capabilities and limits.
   If one of them cannot be set up, the command is not started.
5. The kernel does not limit the processes of the superuser. There, a second filter makes each process and thread
   wait until this program lets it start another (`ForkLimit`).
"""

import ctypes
import errno
import fcntl
import json
import os
import resource
import select
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

POLL_S = 0.05
KILL_S = 10.0
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_DROP_BOUNDING = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PR_AMBIENT = 47
AMBIENT_CLEAR = 4
SECCOMP_FILTER = 2
# The system call seccomp: install a filter, and return a descriptor by which its requests are read and answered.
SET_FILTER = 1
NEW_LISTENER = 8
READ_REQUEST = 0xC0502100
SEND_ANSWER = 0xC0182101
# struct seccomp_notif: identity, process, flags; number of the call, machine, instruction, six arguments.
REQUEST = struct.Struct("=QIIiIQ6Q")
# struct seccomp_notif_resp: identity, value, error, flags.
ANSWER = struct.Struct("=QqiI")
CONTINUE = 1
CLONE_THREAD = 0x10000
CAPABILITY_VERSION = 0x20080522
MOST_CAPABILITIES = 64
# Landlock's system calls have the same numbers on every architecture.
CREATE_RULESET = 444
ADD_RULE = 445
RESTRICT_SELF = 446
PATH_BENEATH = 1
# Rights that apply to files: write, read, truncate, device requests.
FILE_RIGHTS = 0xC006
# The kernel ends a process of the command first if memory is short.
OOM_SCORE = b"500"


def libc() -> Any:
    """Return the C library, for system calls without a Python function."""
    return ctypes.CDLL(None, use_errno=True)


def restrict_paths(ruleset: dict[str, Any], temporary: str) -> None:
    """Let Landlock restrict this process and its descendants; what no rule allows is denied."""
    call = libc().syscall
    attributes = struct.pack("=QQQ", ruleset["rights"], ruleset["network"], ruleset["scopes"])
    # Older kernels know the first fields only.
    while attributes.endswith(bytes(8)) and len(attributes) > 8:
        attributes = attributes[:-8]
    descriptor = call(CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0))
    check(descriptor, "Landlock rules")
    for rights, paths in [*ruleset["rules"], [ruleset["temporary"], [temporary]]]:
        for path in paths:
            allow(call, descriptor, path, rights & ruleset["rights"])
    check(call(RESTRICT_SELF, descriptor, ctypes.c_uint32(0)), "Landlock")
    os.close(descriptor)


def allow(call: Any, ruleset: int, path: str, rights: int) -> None:
    """Add a rule that allows `rights` on a file or folder; one that is gone needs none."""
    if not rights:
        return
    with suppress(OSError):
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC | os.O_NOFOLLOW)
        allowed = rights if stat.S_ISDIR(os.fstat(descriptor).st_mode) else rights & FILE_RIGHTS
        call(ADD_RULE, ruleset, PATH_BENEATH, struct.pack("=Qi", allowed, descriptor), ctypes.c_uint32(0))
        os.close(descriptor)


def drop_capabilities(keep: int) -> None:
    """Give up all privileges of the superuser but those in the bits `keep`."""
    library = libc()
    for number in range(MOST_CAPABILITIES):
        if not keep >> number & 1:
            library.prctl(PR_DROP_BOUNDING, number, 0, 0, 0)
    library.prctl(PR_AMBIENT, AMBIENT_CLEAR, 0, 0, 0)
    with open("/proc/self/status", "rb") as file:
        permitted = int(file.read().partition(b"CapPrm:")[2].split()[0], 16)
    low = keep & permitted & 0xFFFFFFFF
    header = struct.pack("=Ii", CAPABILITY_VERSION, 0)
    check(library.capset(header, struct.pack("=6I", low, low, 0, 0, 0, 0)), "capabilities")


def filter_calls(program: bytes) -> None:
    """Install a seccomp filter for this process and its descendants."""
    instructions = ctypes.create_string_buffer(program, len(program))
    check(libc().prctl(PR_SET_SECCOMP, SECCOMP_FILTER, filter_header(instructions), 0, 0), "seccomp")


def filter_header(instructions: Any) -> bytes:
    """Return struct sock_fprog: the number of instructions, and their address."""
    return struct.pack("@HP", len(instructions) // 8, ctypes.addressof(instructions))


def check(result: int, layer: str) -> None:
    """Raise OSError if a call has failed."""
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{layer}: {os.strerror(ctypes.get_errno())}")


def confine(layers: dict[str, Any], temporary: str) -> None:
    """Restrict this process by the layers of the task; the filter comes last, because it refuses what they need."""
    libc().prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if layers["capabilities"] is not None:
        drop_capabilities(layers["capabilities"])
    if layers["landlock"] is not None:
        restrict_paths(layers["landlock"], temporary)
    if layers["filter"] is not None:
        filter_calls(bytes.fromhex(layers["filter"]))


def set_limits(limits: dict[str, int], processes: int) -> None:
    """Set the resource limits of the processes of the command."""
    bounds = {
        resource.RLIMIT_CPU: limits["cpuS"],
        resource.RLIMIT_FSIZE: limits["fileBytes"],
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NOFILE: limits["openFiles"],
        # Private memory that can be written; address space alone is not counted, because runtimes reserve much of it.
        resource.RLIMIT_DATA: limits["memoryBytes"],
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


def quick_descendants(root: int) -> dict[int, int]:
    """Return the descendants of a process with their numbers of threads, quickly; one that starts may be missed."""
    processes: dict[int, int] = {}
    pending = [root]
    while pending:
        process = pending.pop()
        with suppress(OSError):
            threads = os.listdir(f"/proc/{process}/task")
            processes[process] = len(threads)
            for thread in threads:
                with open(f"/proc/{process}/task/{thread}/children", "rb") as file:
                    pending += [int(child) for child in file.read().split()]
    processes.pop(root, None)
    return processes


def memory_of(processes: Iterable[int]) -> int:
    """Return the bytes of memory of processes that are not backed by files."""
    kilobytes = 0
    for process in processes:
        with suppress(OSError, ValueError, IndexError), open(f"/proc/{process}/status", "rb") as file:
            status = file.read()
            kilobytes += sum(int(status.partition(name)[2].split()[0]) for name in (b"RssAnon:", b"RssShmem:"))
    return kilobytes * 1024


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


class ForkLimit:
    """Limit on processes and threads of a command, which wait here before they start others; it cannot be nested."""

    def __init__(self, forks: dict[str, Any], limit: int) -> None:
        self.forks = forks
        self.limit = limit
        self.receiver, self.sender = socket.socketpair()
        self.listeners: list[int] = []  # the descriptor by which requests are read, or none
        self.room = 0  # how many can be started before they are counted again
        # Whether a process was refused, which is more than threads that a program tries to have.
        self.is_exceeded = False

    def install(self) -> None:
        """Install the filter in the process of the command, and send its descriptor."""
        program = bytes.fromhex(self.forks["filter"])
        instructions = ctypes.create_string_buffer(program, len(program))
        header = filter_header(instructions)
        library = libc()
        arguments = (self.forks["seccomp"], SET_FILTER, ctypes.c_ulong(NEW_LISTENER), header)
        listener = library.syscall(*arguments)
        if listener < 0:
            # A superuser without CAP_SYS_ADMIN, as in a container, gives up what programs could add.
            library.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
            listener = library.syscall(*arguments)
        if listener >= 0:
            socket.send_fds(self.sender, [b"\n"], [listener])

    def receive(self) -> None:
        """Receive the descriptor, after the command has started."""
        self.sender.close()
        _, self.listeners, _, _ = socket.recv_fds(self.receiver, 1, 1)
        self.receiver.close()

    def answer(self) -> None:
        """Answer the request of a process or thread that starts another."""
        request = bytearray(REQUEST.size)
        if self.room <= 0:
            self.room = self.limit - sum(quick_descendants(os.getpid()).values())
        # A process that was killed needs no answer.
        with suppress(OSError):
            fcntl.ioctl(self.listeners[0], READ_REQUEST, request)
            id, _, _, number, _, _, flags, *_ = REQUEST.unpack(request)
            is_allowed = self.room > 0
            self.room -= is_allowed
            self.is_exceeded |= not is_allowed and not self.is_thread(number, flags)
            answer = ANSWER.pack(id, 0, *((0, CONTINUE) if is_allowed else (-errno.EAGAIN, 0)))
            fcntl.ioctl(self.listeners[0], SEND_ANSWER, answer)

    def is_thread(self, number: int, flags: int) -> bool:
        """Return whether a call starts a thread; the flags of clone3 cannot be read, and it is used for threads."""
        return number == self.forks["clone3"] or (number == self.forks["clone"] and bool(flags & CLONE_THREAD))


class SupervisedCommand:
    """Command, from its start to the end of all its processes."""

    def __init__(self, task: dict[str, Any], temporary: str) -> None:
        self.task = task
        self.temporary = temporary
        self.status: int | None = None
        forks = task["forks"]
        self.fork_limit = None if forks is None else ForkLimit(forks, task["limits"]["processes"])
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
            with suppress(OSError), open("/proc/self/oom_score_adj", "wb") as file:
                file.write(OOM_SCORE)
            if self.fork_limit is not None:
                self.fork_limit.install()
            if task["layers"] is not None:
                try:
                    confine(task["layers"], self.temporary)
                except OSError as error:
                    os.write(writes, str(error.strerror).encode())
                    raise

        # Running Python between fork and exec is safe here, because this process has no threads.
        try:
            process = subprocess.Popen(
                task["words"], stdin=subprocess.DEVNULL, stdout=2, stderr=2, cwd=task["folder"],
                env={**os.environ, "HOME": self.temporary, "TMPDIR": self.temporary},
                start_new_session=True, preexec_fn=prepare,
            )  # fmt: skip
        except subprocess.SubprocessError:
            os.set_blocking(reads, False)
            raise OSError(0, f"the sandbox could not be set up: {os.read(reads, 1_000).decode()}") from None
        os.close(output)
        os.close(writes)
        os.close(reads)
        if self.fork_limit is not None:
            self.fork_limit.receive()
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
        next_count = 0.0
        while True:
            self.reap()
            if self.status is not None:
                return "ended"
            now = time.monotonic()
            if now >= deadline:
                return "timeout"
            if now >= next_count and (reason := self.exceeded_limit()):
                return reason
            next_count = max(next_count, now + POLL_S)
            if self.wait(POLL_S, 0) and not os.read(0, 1):
                return "stopped"
            if self.fork_limit is not None and self.fork_limit.is_exceeded:
                return "processes"

    def exceeded_limit(self) -> str | None:
        """Count processes and memory; return the limit that is exceeded."""
        processes = quick_descendants(os.getpid())
        if len(processes) > self.task["limits"]["processes"]:
            return "processes"
        return "memory" if memory_of(processes) > self.task["limits"]["memoryBytes"] else None

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
        """Wait until a child ends or starts, an input is readable or the time is up; return whether an input is."""
        listeners = [] if self.fork_limit is None else self.fork_limit.listeners
        ready, _, _ = select.select([self.wakeup, *listeners, *inputs], [], [], seconds)
        if self.wakeup in ready:
            os.read(self.wakeup, 4_096)
        if self.fork_limit is not None and any(listener in ready for listener in listeners):
            self.fork_limit.answer()
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
        # The command cannot read or change the memory of this process.
        libc().prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    task = json.loads(first_line())
    temporary = tempfile.mkdtemp(prefix="antiphon-")
    try:
        command = SupervisedCommand(task, temporary)
        reason = command.watch()
        command.end(reason)
        result = {"reason": reason, "status": command.status}
    except OSError as error:
        result = {"reason": "failed", "status": None, "problem": error.strerror}
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    os.write(1, json.dumps(result).encode() + b"\n")


if __name__ == "__main__":
    main()
