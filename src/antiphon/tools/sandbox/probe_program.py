"""Program that runs in the sandbox and tries what commands must not do; prints what worked, as JSON.

It runs as its own process, with the standard library only; its argument is the facts about its targets, as JSON.
"""

import ctypes
import errno
import json
import os
import signal
import socket
import sys
from collections.abc import Callable

TIOCSTI = 0x5412
# Unlike PTRACE_ATTACH it does not stop the process.
PTRACE_SEIZE = 0x4206
NEW_USER_NAMESPACE = 0x10000000
PR_GET_NO_NEW_PRIVS = 39
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS)
SECONDS = 2.0


def is_reached(result: int) -> bool:
    """Whether a C function got past the sandbox, also if it then failed for another reason."""
    return result >= 0 or ctypes.get_errno() not in REFUSALS


def create(path: str) -> bool:
    """Try to create a file."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
    return True


def read(path: str) -> bool:
    """Try to read a file."""
    with open(path, "rb") as file:
        return bool(file.read(16))


def connect(family: int, address: str | tuple[str, int]) -> bool:
    """Try to connect to a service."""
    with socket.socket(family, socket.SOCK_STREAM) as client:
        client.settimeout(SECONDS)
        client.connect(address)
    return True


def send(port: int) -> bool:
    """Send a datagram; whether it arrives is seen by whoever waits for it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.sendto(b"x", ("127.0.0.1", port))
    return False


def write_kernel_setting() -> bool:
    """Try to open a setting of the kernel for writing; as another user than the superuser it is refused anyway."""
    os.close(os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY))
    return True


def probes(facts: dict[str, str]) -> dict[str, Callable[[], bool]]:
    """Return each attempt by its name; it raises OSError or returns False if it was refused."""
    libc = ctypes.CDLL(None, use_errno=True)
    process = int(facts["process"])
    return {
        "write-workspace": lambda: create(os.path.join(facts["workspace"], "written")),
        "write-outside": lambda: create(os.path.join(facts["outside"], "written")),
        "read-outside": lambda: read(os.path.join(facts["outside"], "secret")),
        "read-env-file": lambda: read(os.path.join(facts["workspace"], ".env")),
        "read-own-data": lambda: read(facts["own"]),
        "connect-tcp": lambda: connect(socket.AF_INET, ("127.0.0.1", int(facts["tcp"]))),
        "send-udp": lambda: send(int(facts["udp"])),
        "connect-abstract": lambda: connect(socket.AF_UNIX, "\0" + facts["abstract"]),
        "connect-path": lambda: connect(socket.AF_UNIX, os.path.join(facts["workspace"], "service.sock")),
        "open-terminal": lambda: os.open(facts["terminal"], os.O_RDWR | os.O_NOCTTY) >= 0,
        "type-terminal": lambda: is_reached(libc.ioctl(0, TIOCSTI, b"x")),
        "read-process": lambda: read(f"/proc/{process}/environ"),
        "signal-process": lambda: bool(libc.kill(process, 0) == 0),
        "trace-process": lambda: is_reached(libc.ptrace(PTRACE_SEIZE, process, 0, 0)),
        "make-namespace": lambda: is_reached(libc.unshare(NEW_USER_NAMESPACE)),
        "mount": lambda: is_reached(libc.mount(b"none", b"/nowhere", b"tmpfs", 0, 0)),
        "write-kernel": write_kernel_setting,
        "gain-privileges": lambda: libc.prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0,
    }


def main() -> None:
    """Try everything, each in a process of its own."""
    facts = json.loads(sys.argv[1])
    for name, attempt in probes(facts).items():
        child = os.fork()
        if child == 0:
            signal.alarm(int(2 * SECONDS))
            try:
                os._exit(int(attempt()))
            except OSError:
                os._exit(0)
        status = os.waitpid(child, 0)[1]
        print(json.dumps({"name": name, "worked": os.waitstatus_to_exitcode(status) == 1}))


if __name__ == "__main__":
    main()
