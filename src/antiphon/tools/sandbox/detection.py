"""What protects this machine from commands."""

from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class Sandbox:
    """Protection that this machine offers for commands."""

    confines: bool
    """Unasked commands may run: a read-only workspace, no network and hidden files are enforced."""
    layers: tuple[str, ...] = ()
    """Layers with their versions, such as "landlock 7"."""
    problems: tuple[str, ...] = ()
    """What is missing, and what to install."""


@cache
def find_sandbox() -> Sandbox:
    """Return what protects this machine; found once in each process."""
    return Sandbox(False, (), ("the sandbox is not available yet",))
