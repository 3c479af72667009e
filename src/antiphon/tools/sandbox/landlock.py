"""Landlock rules of a command: what the kernel lets it read and write."""

import ctypes
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from antiphon.tools.sandbox.policy import SandboxPolicy, is_below

# Landlock's system calls have the same numbers on every architecture.
CREATE_RULESET = 444
ASK_VERSION = 1
READ_FILE = 1 << 2
READ_FOLDER = 1 << 3
READ = READ_FILE | READ_FOLDER
# Write, remove, create (but no devices), move, truncate.
WRITE = (1 << 1) | (1 << 4) | (1 << 5) | (1 << 7) | (1 << 8) | (1 << 9) | (1 << 10) | (1 << 12) | (1 << 13) | (1 << 14)
MAKE_DEVICES = (1 << 6) | (1 << 11)
DEVICE_REQUESTS = 1 << 15
# All rights of a version; those of a file are a part of them.
RIGHTS = {1: 0x1FFE, 2: 0x3FFE, 3: 0x7FFE, 4: 0x7FFE, 5: 0xFFFE}
CONNECT_AND_BIND = 3
SCOPE_ABSTRACT_SOCKETS = 1
SCOPE_SIGNALS = 2
# Since this version, signals and abstract sockets are covered.
FULL_VERSION = 6
# Files about the machine, not about processes.
READABLE_MACHINE = (
    "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/version", "/proc/loadavg", "/proc/uptime", "/proc/sys",
    "/proc/filesystems", "/sys/devices/system/cpu", "/sys/devices/system/node", "/sys/fs/cgroup",
    "/sys/kernel/mm/transparent_hugepage",
)  # fmt: skip
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
# Folders that bubblewrap makes for the command alone.
PRIVATE_FOLDERS = ("/tmp", "/var/tmp", "/dev")

Ruleset = dict[str, Any]


def landlock_version() -> int:
    """Return the version of Landlock of this kernel; 0 without one."""
    if sys.platform != "linux":
        return 0
    call = ctypes.CDLL(None, use_errno=True).syscall
    return max(0, int(call(CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(ASK_VERSION))))


def path_rules(policy: SandboxPolicy, version: int) -> Ruleset:
    """Return the rules for a command without namespaces; the supervisor adds its temporary folder."""
    rules: dict[int, list[str]] = {}
    cover = _Cover(policy)
    roots = [(path, READ) for path in policy.readable if not is_below(path, [policy.folder])]
    roots.append((policy.folder, READ | WRITE if policy.writes else READ))
    for root, root_rights in roots:
        for rights, path in cover.rules(root, root_rights):
            rules.setdefault(rights, []).append(path)
    rules.setdefault(READ, []).extend(READABLE_MACHINE)
    rules.setdefault(READ | WRITE, []).extend(DEVICES)
    return {
        "rights": RIGHTS[min(version, 5)],
        "network": CONNECT_AND_BIND if version >= 4 and not policy.network else 0,
        "scopes": SCOPE_ABSTRACT_SOCKETS | SCOPE_SIGNALS if version >= FULL_VERSION else 0,
        "rules": [[rights, paths] for rights, paths in rules.items()],
        "temporary": READ | WRITE,
    }


def scope_rules(policy: SandboxPolicy, version: int) -> Ruleset | None:
    """Return the rules for a command in namespaces: mounts decide about paths, Landlock about signals and sockets.

    Writing is restricted once more, because the superuser owns files of /proc that change the whole machine.
    """
    if version < 1:
        return None
    folders = [*PRIVATE_FOLDERS, policy.folder] if policy.writes else [*PRIVATE_FOLDERS]
    return {
        "rights": RIGHTS[min(version, 5)] & (WRITE | MAKE_DEVICES),
        "network": 0,
        "scopes": SCOPE_ABSTRACT_SOCKETS | SCOPE_SIGNALS if version >= FULL_VERSION else 0,
        "rules": [[WRITE, folders]],
        "temporary": WRITE,
    }


class _Cover:
    """Rules for the paths of a policy; rules can only allow, so what lies beside an exception is listed by name.

    In the folders above an exception nothing can be created, moved or removed, so the exception stays where it is.
    """

    def __init__(self, policy: SandboxPolicy) -> None:
        self._policy = policy
        self._with_hidden = _ancestors(policy.hidden)
        self._with_read_only = _ancestors(policy.read_only)

    def rules(self, path: str, rights: int) -> Iterator[tuple[int, str]]:
        """Yield rules that give these rights on a path, except for hidden and read-only ones beneath it."""
        if path in self._policy.hidden:
            return
        if path in self._policy.read_only:
            rights = READ
        has_read_only = bool(rights & WRITE) and path in self._with_read_only
        if not has_read_only and path not in self._with_hidden:
            yield rights, path
            return
        yield READ_FOLDER, path
        with suppress(OSError):
            for name in os.listdir(path):
                child = os.path.join(path, name)
                if not os.path.islink(child):
                    yield from self.rules(child, rights)


def _ancestors(paths: Iterable[str]) -> set[str]:
    ancestors: set[str] = set()
    for path in paths:
        while (path := os.path.dirname(path)) not in ancestors:
            ancestors.add(path)
    return ancestors
