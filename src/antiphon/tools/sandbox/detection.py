"""What protects this machine from commands, found by trying."""

import ctypes
import errno
import os
import platform
import sys
from dataclasses import dataclass
from functools import cache

from antiphon.tools.sandbox.bubblewrap import bubblewrap_program, bubblewrap_version
from antiphon.tools.sandbox.landlock import FULL_VERSION, landlock_version
from antiphon.tools.sandbox.seatbelt import PROGRAM as SANDBOX_EXEC
from antiphon.tools.sandbox.seccomp import can_filter

PR_SET_SECCOMP = 22
SECCOMP_FILTER = 2
INSTALL = "install bubblewrap (Debian, Ubuntu: apt install bubblewrap; Fedora: dnf install bubblewrap)"


@dataclass(frozen=True, slots=True)
class Sandbox:
    """Protection that this machine offers for commands."""

    confines: bool
    """Unasked commands may run: a read-only workspace, no network, hidden files and terminals are enforced."""
    layers: tuple[str, ...] = ()
    """Layers with their versions, such as "landlock 7"."""
    problems: tuple[str, ...] = ()
    """What is missing, and what to install."""
    landlock: int = 0
    """Version of Landlock; 0 without it."""
    filters: bool = False
    """System calls can be filtered."""
    program: str | None = None
    """Path of bubblewrap, or of `sandbox-exec` on macOS, if it works here."""


@cache
def find_sandbox() -> Sandbox:
    """Return what protects this machine; found once in each process."""
    if sys.platform == "linux":
        return _find_on_linux()
    if sys.platform == "darwin":
        return _find_on_macos()
    problem = "commands are not confined on this system; run Antiphon in Linux (on Windows: in WSL 2)"
    return Sandbox(False, (), (problem,))


def without_bubblewrap(sandbox: Sandbox) -> Sandbox:
    """Return what is left if bubblewrap is not used."""
    layers = tuple(layer for layer in sandbox.layers if not layer.startswith("bubblewrap"))
    confines = sandbox.filters and sandbox.landlock >= FULL_VERSION
    return Sandbox(confines, layers, sandbox.problems, sandbox.landlock, sandbox.filters, None)


def _find_on_linux() -> Sandbox:
    version = landlock_version()
    filters = can_filter() and _kernel_filters()
    program = bubblewrap_program()
    layers = [f"landlock {version}"] if version else []
    problems = []
    if filters:
        layers.append("seccomp")
    elif not can_filter():
        problems.append(f"system calls are not filtered on {platform.machine()}; x86_64 and aarch64 are known")
    else:
        problems.append("the kernel has no seccomp filters; use one with CONFIG_SECCOMP_FILTER")
    if program is None:
        problems.append(f"bubblewrap is missing; {INSTALL}")
    else:
        try:
            layers.append(f"bubblewrap {bubblewrap_version(program)}")
        except OSError as error:
            program = None
            problems.append(f"bubblewrap does not work here ({error}); allow user namespaces, or update it")
    if version < FULL_VERSION and program is None:
        kernel = f"Landlock {version}" if version else "no Landlock"
        problems.append(f"the kernel has {kernel}, which confines too little alone; use Linux 6.12 or {INSTALL}")
    confines = filters and (program is not None or version >= FULL_VERSION)
    return Sandbox(confines, tuple(layers), tuple(problems), version, filters, program)


def _kernel_filters() -> bool:
    """Whether the kernel has seccomp filters: it then looks at the address, which is invalid here."""
    library = ctypes.CDLL(None, use_errno=True)
    library.prctl(PR_SET_SECCOMP, SECCOMP_FILTER, None, 0, 0)
    return ctypes.get_errno() == errno.EFAULT


def _find_on_macos() -> Sandbox:
    if not os.access(SANDBOX_EXEC, os.X_OK):
        return Sandbox(False, (), ("sandbox-exec is missing",))
    # The profile has not been tried on macOS, so it protects further, but permits nothing.
    problem = "the profile for sandbox-exec has not been tried on macOS; every command is asked about"
    return Sandbox(False, ("sandbox-exec",), (problem,), program=SANDBOX_EXEC)
