"""Bubblewrap around the supervisor: namespaces in which a command sees only what its policy names."""

import os
import re
import subprocess
from collections.abc import Iterator

from antiphon.tools.programs import SYSTEM_PATH, system_program
from antiphon.tools.sandbox.policy import SYSTEM, SandboxPolicy, is_below

TRIAL_S = 10
# Memory that files in the temporary folders can take.
TEMPORARY_BYTES = 2 * 1024 * 1024 * 1024
SHARED_MEMORY_BYTES = 256 * 1024 * 1024
# Options of this version are used: --size.
OLDEST = (0, 7)
# As the superuser, a command may use files of other owners in the workspace, but no other privilege.
SUPERUSER_CAPABILITIES = ("CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID")

MACHINE_PROC = ("sys", "sysrq-trigger", "irq", "bus", "acpi", "fs")


def bubblewrap_program() -> str | None:
    """Return the path of bubblewrap outside the folders that a project could put into PATH."""
    return system_program("bwrap")


def bubblewrap_version(program: str) -> str:
    """Return the version of bubblewrap if it works here; raise OSError with the reason if not."""
    printed = _trial([program, "--version"])
    match = re.search(r"(\d+)\.(\d+)\.\d+", printed)
    if match is None or (int(match[1]), int(match[2])) < OLDEST:
        raise OSError(f"version {printed.strip()!r} is too old; 0.7 or later is needed")
    _trial([program, *_namespaces(network=False), "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "true"])
    return match[0]


def _trial(words: list[str]) -> str:
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, timeout=TRIAL_S, stdin=subprocess.DEVNULL, env={"PATH": SYSTEM_PATH}
        )
    except subprocess.TimeoutExpired as error:
        raise OSError("it does not answer") from error
    if done.returncode:
        raise OSError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit code {done.returncode}")
    return done.stdout


def bubblewrap_options(policy: SandboxPolicy, supervisor: str) -> list[str]:
    """Return the options for a command with this policy, without the program that is run."""
    visible = [*policy.readable, policy.folder]
    mounts = {path: ["--ro-bind", path, path] for path in policy.readable}
    mounts = {path: words for path, words in mounts.items() if not is_below(path, [policy.folder])}
    mounts |= {path: words for path, words in _special_mounts() if path != policy.folder}
    mounts[policy.folder] = ["--bind" if policy.writes else "--ro-bind", policy.folder, policy.folder]
    # A folder that is a mount cannot be moved.
    mounts |= {path: ["--bind", path, path] for path in policy.pinned}
    # In place of a symlink, its target is read-only.
    mounts |= {path: ["--ro-bind", path, path] for path in policy.read_only if _is_mountable(path)}
    if not is_below(supervisor, visible):
        mounts[supervisor] = ["--ro-bind", supervisor, supervisor]
    words = _namespaces(network=policy.network)
    # A folder comes before what is mounted in it.
    for path in sorted(mounts):
        words += mounts[path]
    for path in sorted(policy.hidden):
        if is_below(path, visible) and not is_below(path, policy.hidden - {path}):
            words += _mask(path)
    return [*words, "--remount-ro", "/", "--chdir", policy.folder]


def _namespaces(*, network: bool) -> list[str]:
    is_superuser = os.geteuid() == 0
    capabilities = [word for name in SUPERUSER_CAPABILITIES for word in ("--cap-add", name)] if is_superuser else []
    return [
        *([] if is_superuser else ["--unshare-user"]),
        "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
        *([] if network else ["--unshare-net"]),
        "--die-with-parent", "--cap-drop", "ALL", *capabilities,
    ]  # fmt: skip


def _special_mounts() -> Iterator[tuple[str, list[str]]]:
    for path in SYSTEM:
        if os.path.islink(path):
            yield path, ["--symlink", os.readlink(path), path]
    yield "/proc", ["--proc", "/proc"]
    # The superuser owns what is in these, and could change the machine by them.
    for name in MACHINE_PROC:
        if os.path.exists(f"/proc/{name}"):
            yield f"/proc/{name}", ["--ro-bind", f"/proc/{name}", f"/proc/{name}"]
    yield "/dev", ["--dev", "/dev"]
    yield "/dev/shm", ["--size", str(SHARED_MEMORY_BYTES), "--perms", "1777", "--tmpfs", "/dev/shm"]
    yield "/tmp", ["--size", str(TEMPORARY_BYTES), "--perms", "1777", "--tmpfs", "/tmp"]
    yield "/var/tmp", ["--size", str(SHARED_MEMORY_BYTES), "--perms", "1777", "--tmpfs", "/var/tmp"]


def _is_mountable(path: str) -> bool:
    return os.path.exists(path) and not os.path.islink(path)


def _mask(path: str) -> list[str]:
    """Return options that put an empty folder, or a device that cannot be opened, in place of a path."""
    if os.path.isdir(path):
        return ["--perms", "0000", "--size", "4096", "--tmpfs", path, "--remount-ro", path]
    return ["--ro-bind", "/dev/null", path]
