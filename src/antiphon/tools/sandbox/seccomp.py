"""Seccomp filter of commands: system calls that they never need, and those that Landlock does not cover.

1. Everything is compared by number, so only the native ABI passes: i386 and x32 have other numbers.
2. A call that is newer than this list is reported as unknown; programs then use an older one.
3. A pointer cannot be followed, so calls that pass flags in memory (clone3, io_uring) are reported as unknown.
4. Only the lower 32 bits of an argument are compared, as the kernel does for flags, families and ioctl numbers.
"""

import errno
import platform
import struct
from collections.abc import Iterable
from typing import Any

from antiphon.tools.sandbox.system_calls import NUMBERS

# Name of the machine, its audit number, and its column in `NUMBERS`.
MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
X32_BIT = 0x40000000
NEWEST = 462
LOAD = 0x20
JUMP_EQUAL = 0x15
JUMP_GREATER = 0x25
JUMP_BITS = 0x45
AND = 0x54
RETURN = 0x06
ALLOW = 0x7FFF0000
ERROR = 0x00050000
NOTIFY = 0x7FC00000
REFUSED = ERROR | errno.EPERM
UNKNOWN = ERROR | errno.ENOSYS
NUMBER_OFFSET = 0
MACHINE_OFFSET = 4
ARGUMENTS_OFFSET = 16

# Other processes, the kernel, mounts, namespaces, keys, the clock.
NEVER = (
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease", "kcmp", "pidfd_getfd",
    "kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "bpf", "perf_event_open",
    "userfaultfd", "syslog", "acct", "reboot", "swapon", "swapoff", "iopl", "ioperm", "modify_ldt", "uselib",
    "mount", "umount2", "pivot_root", "chroot", "setns", "open_tree", "move_mount", "fsopen", "fsconfig", "fsmount",
    "fspick", "mount_setattr", "statmount", "listmount", "lsm_set_self_attr", "quotactl", "quotactl_fd",
    "open_by_handle_at", "name_to_handle_at", "fanotify_init", "fanotify_mark", "lookup_dcookie", "vhangup",
    "keyctl", "add_key", "request_key", "move_pages", "migrate_pages", "sethostname", "setdomainname",
    "settimeofday", "clock_settime", "clock_adjtime",
)  # fmt: skip
# Programs have another way: clone, read and write, a file in the temporary folder.
ABSENT = ("clone3", "io_uring_setup", "io_uring_enter", "io_uring_register", "memfd_create", "memfd_secret")
# Without namespaces these reach objects of other processes of the user.
SHARED_OBJECTS = (
    "shmget", "shmat", "shmctl", "semget", "semop", "semtimedop", "semctl", "msgget", "msgsnd", "msgrcv", "msgctl",
    "mq_open", "mq_unlink",
)  # fmt: skip
# Landlock does not cover modes, owners, times and attributes of files.
METADATA = (
    "chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "lchown", "fchown", "fchownat", "utime", "utimes",
    "futimesat", "utimensat", "setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr",
)  # fmt: skip
# Calls that can change another process, with the argument that names it; 0 is the caller.
OTHER_PROCESS = {
    "prlimit64": 0, "setpriority": 1, "ioprio_set": 1, "sched_setaffinity": 0, "sched_setscheduler": 0,
    "sched_setparam": 0, "sched_setattr": 0,
}  # fmt: skip
NAMESPACES = 0x7E020000
# Calls that start a process or a thread.
FORKS = ("clone", "clone3", "fork", "vfork")
TIME_NAMESPACE = 0x80
FILE_TYPE = 0o170000
DEVICES = (0o020000, 0o060000)
# TIOCSTI, TIOCLINUX and TIOCCONS put characters into a terminal or take its output.
TERMINAL_REQUESTS = (0x5412, 0x541C, 0x541D)
# FS_IOC_SETFLAGS and FS_IOC_FSSETXATTR set attributes of files.
ATTRIBUTE_REQUESTS = (0x40086602, 0x401C5820)
PERSONALITIES = (0, 0xFFFFFFFF)
AF_UNIX = 1
AF_INET = 2
AF_INET6 = 10
AF_NETLINK = 16
SOCKET_TYPE = 0xF
# Not datagrams: such a socket could still send to any path.
PAIR_TYPES = (1, 5)

Instruction = tuple[int, int, int, int]
Block = list[Instruction]


def can_filter(machine: str | None = None) -> bool:
    """Whether a filter is known for this machine."""
    return (machine or platform.machine()) in MACHINES


def build_filter(*, inet: bool, namespaces: bool, metadata: bool, machine: str | None = None) -> bytes:
    """Return the filter as a BPF program.

    `inet` allows sockets of the Internet; `namespaces` says that processes, IPC and network of the command are its own;
    `metadata` allows changing modes, owners, times and attributes of files.
    """
    audit_number, column = MACHINES[machine or platform.machine()]
    program: Block = [
        (LOAD, 0, 0, MACHINE_OFFSET),
        (JUMP_EQUAL, 1, 0, audit_number),
        (RETURN, 0, 0, UNKNOWN),
        # Also refuses x32, whose numbers have a high bit.
        (LOAD, 0, 0, NUMBER_OFFSET),
        (JUMP_GREATER, 0, 1, NEWEST),
        (RETURN, 0, 0, UNKNOWN),
    ]
    for name, block in _blocks(inet, namespaces, metadata):
        number = NUMBERS[name][column]
        if number is not None:
            program += [(JUMP_EQUAL, 0, len(block), number), *block]
    program.append((RETURN, 0, 0, ALLOW))
    return _encode(program)


def fork_notices(machine: str | None = None) -> dict[str, Any]:
    """Return a filter by which the supervisor is asked before a process or thread is started, and the calls it uses."""
    audit_number, column = MACHINES[machine or platform.machine()]
    numbers = {name: number for name in FORKS if (number := NUMBERS[name][column]) is not None}
    program: Block = [
        (LOAD, 0, 0, MACHINE_OFFSET),
        (JUMP_EQUAL, 1, 0, audit_number),
        (RETURN, 0, 0, ALLOW),
        (LOAD, 0, 0, NUMBER_OFFSET),
    ]
    for number in numbers.values():
        program += [(JUMP_EQUAL, 0, 1, number), (RETURN, 0, 0, NOTIFY)]
    program.append((RETURN, 0, 0, ALLOW))
    return {
        "filter": _encode(program).hex(),
        "seccomp": NUMBERS["seccomp"][column],
        "clone": numbers["clone"],
        "clone3": numbers["clone3"],
    }


def _encode(program: Block) -> bytes:
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in program)


def _blocks(inet: bool, namespaces: bool, metadata: bool) -> Iterable[tuple[str, Block]]:
    for name in NEVER:
        yield name, [(RETURN, 0, 0, REFUSED)]
    for name in (*ABSENT, *(() if namespaces else SHARED_OBJECTS)):
        yield name, [(RETURN, 0, 0, UNKNOWN)]
    for name in () if metadata else METADATA:
        yield name, [(RETURN, 0, 0, REFUSED)]
    for name, argument in OTHER_PROCESS.items():
        yield name, _only(argument, (0,))
    yield "clone", _without_bits(0, NAMESPACES)
    yield "unshare", _without_bits(0, NAMESPACES | TIME_NAMESPACE)
    yield "mknod", _except(1, DEVICES, mask=FILE_TYPE)
    yield "mknodat", _except(2, DEVICES, mask=FILE_TYPE)
    yield "personality", _only(0, PERSONALITIES)
    yield "ioctl", _except(1, TERMINAL_REQUESTS + (() if metadata else ATTRIBUTE_REQUESTS))
    yield "socket", _sockets(inet)
    yield "socketpair", [*_check(0, (AF_UNIX,)), *_only(1, PAIR_TYPES, mask=SOCKET_TYPE)]


def _load(argument: int, mask: int | None = None) -> Block:
    load = (LOAD, 0, 0, ARGUMENTS_OFFSET + 8 * argument)
    return [load] if mask is None else [load, (AND, 0, 0, mask)]


def _check(argument: int, values: tuple[int, ...]) -> Block:
    """Refuse other values, and go on with these."""
    tests = [(JUMP_EQUAL, len(values) - index, 0, value) for index, value in enumerate(values)]
    return [*_load(argument), *tests, (RETURN, 0, 0, REFUSED)]


def _only(argument: int, values: tuple[int, ...], *, mask: int | None = None) -> Block:
    """Refuse other values, and allow these."""
    tests = [(JUMP_EQUAL, len(values) - index, 0, value) for index, value in enumerate(values)]
    return [*_load(argument, mask), *tests, (RETURN, 0, 0, REFUSED), (RETURN, 0, 0, ALLOW)]


def _except(argument: int, values: tuple[int, ...], *, mask: int | None = None) -> Block:
    """Refuse these values, and allow others."""
    tests = [(JUMP_EQUAL, len(values) - index, 0, value) for index, value in enumerate(values)]
    return [*_load(argument, mask), *tests, (RETURN, 0, 0, ALLOW), (RETURN, 0, 0, REFUSED)]


def _without_bits(argument: int, bits: int) -> Block:
    """Refuse a value with any of these bits, and allow others."""
    return [*_load(argument), (JUMP_BITS, 0, 1, bits), (RETURN, 0, 0, REFUSED), (RETURN, 0, 0, ALLOW)]


def _sockets(inet: bool) -> Block:
    if not inet:
        return [(RETURN, 0, 0, REFUSED)]
    # Programs list addresses by NETLINK_ROUTE, which is protocol 0; other protocols reach the kernel.
    return [
        *_load(0),
        (JUMP_EQUAL, 5, 0, AF_INET),
        (JUMP_EQUAL, 4, 0, AF_INET6),
        (JUMP_EQUAL, 1, 0, AF_NETLINK),
        (RETURN, 0, 0, REFUSED),
        *_load(2),
        (JUMP_EQUAL, 0, 1, 0),
        (RETURN, 0, 0, ALLOW),
        (RETURN, 0, 0, REFUSED),
    ]
