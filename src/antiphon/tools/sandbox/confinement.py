"""Confinement of one command: the layers of this machine, filled in for its access."""

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from antiphon.tools.access import Access
from antiphon.tools.sandbox.bubblewrap import bubblewrap_options
from antiphon.tools.sandbox.detection import Sandbox, find_sandbox, without_bubblewrap
from antiphon.tools.sandbox.landlock import path_rules, scope_rules
from antiphon.tools.sandbox.policy import SandboxPolicy, make_policy, tool_chain_variables
from antiphon.tools.sandbox.scan import MOST_VISITED, SensitivePaths, scan_workspace
from antiphon.tools.sandbox.seatbelt import seatbelt_profile
from antiphon.tools.sandbox.seccomp import build_filter

SUPERVISOR = str(Path(__file__).with_name("supervisor.py"))
# Of the privileges of the superuser only CAP_DAC_OVERRIDE is left without namespaces, and these four in them:
# CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_FSETID.
ALONE = 1 << 1
IN_NAMESPACES = 0b11011


@dataclass(frozen=True, slots=True)
class Confinement:
    """How the supervisor is started, and which layers it puts around the command."""

    # Words before those that start the supervisor.
    wrapper: tuple[str, ...] = ()
    # Options of bubblewrap, which reads them from a descriptor.
    options: bytes = b""
    layers: Mapping[str, Any] | None = None
    variables: Mapping[str, str] = field(default_factory=dict)
    scan: SensitivePaths | None = None

    @property
    def has_own_processes(self) -> bool:
        """Whether numbers of processes in the sandbox mean nothing outside."""
        return bool(self.options)


NO_CONFINEMENT = Confinement()
# Workspaces whose last scan was incomplete.
_too_large: set[str] = set()


class WorkspaceTooLarge(Exception):
    """A workspace has too many names to find all its secrets."""


def confines(folder: Path, *, bubblewrap: bool = True) -> bool:
    """Whether commands may run unasked in a workspace: its layers hold, and its last scan has found all secrets."""
    return _layers_here(bubblewrap).confines and os.path.realpath(folder) not in _too_large


def _layers_here(bubblewrap: bool) -> Sandbox:
    return find_sandbox() if bubblewrap else without_bubblewrap(find_sandbox())


def confine_command(
    folder: Path,
    access: Access,
    environment: Mapping[str, str],
    *,
    readable: Sequence[str] = (),
    hidden: Sequence[str] = (),
    bubblewrap: bool = True,
) -> Confinement:
    """Return the confinement of a command; this reads the workspace, so it runs in a thread.

    Raise `WorkspaceTooLarge` if it has too many names.
    """
    if access.outside:
        return NO_CONFINEMENT
    root = os.path.realpath(folder)
    scan = scan_workspace(root)
    if not scan.is_complete:
        _too_large.add(root)
        raise WorkspaceTooLarge(
            f"the workspace has more than {MOST_VISITED:,} files, so not all its secrets can be hidden; "
            "use a smaller folder as the workspace, or let a person allow the command outside the sandbox"
        )
    _too_large.discard(root)
    policy = make_policy(root, access, scan, environment, readable=readable, hidden=hidden)
    sandbox = _layers_here(bubblewrap)
    variables = tool_chain_variables(environment)
    if "sandbox-exec" in sandbox.layers and sandbox.program is not None:
        profile = seatbelt_profile(policy, SUPERVISOR, tempfile.gettempdir())
        return Confinement((sandbox.program, "-p", profile), variables=variables, scan=scan)
    options = b""
    if sandbox.program is not None:
        options = b"\0".join(map(os.fsencode, bubblewrap_options(policy, SUPERVISOR)))
    wrapper = () if sandbox.program is None else (sandbox.program,)
    return Confinement(wrapper, options, _layers(policy, sandbox), variables, scan)


def _layers(policy: SandboxPolicy, sandbox: Sandbox) -> dict[str, Any]:
    wrapped = sandbox.program is not None
    landlock = None
    if wrapped:
        landlock = scope_rules(policy, sandbox.landlock)
    elif sandbox.landlock:
        landlock = path_rules(policy, sandbox.landlock)
    # With namespaces, the network of the command is its own, and mounts protect modes and times of files.
    program = (
        build_filter(inet=policy.network or wrapped, namespaces=wrapped, metadata=wrapped or policy.writes)
        if sandbox.filters
        else None
    )
    return {
        "landlock": landlock,
        "filter": None if program is None else program.hex(),
        "capabilities": (IN_NAMESPACES if wrapped else ALONE) if os.name == "posix" else None,
    }


@contextmanager
def supervisor_words(confinement: Confinement) -> Iterator[tuple[list[str], tuple[int, ...]]]:
    """Give the words that start the supervisor, and the descriptors that it inherits."""
    # Not by the links of a virtual environment, which may not be visible.
    words = [os.path.realpath(sys.executable), "-I", "-S", "-X", "utf8", SUPERVISOR]
    if not confinement.options:
        yield [*confinement.wrapper, *words], ()
        return
    descriptor = os.memfd_create("options")
    try:
        with open(descriptor, "wb", closefd=False) as file:
            file.write(confinement.options)
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield [*confinement.wrapper, "--args", str(descriptor), *words], (descriptor,)
    finally:
        os.close(descriptor)
