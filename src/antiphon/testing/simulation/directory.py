"""Directory of owners: which process runs a tree, and in which tenure, as a table of a shared database would say it."""

import asyncio
from collections.abc import Callable, Sequence
from typing import NamedTuple

from antiphon.runtime.errors import NotOwner
from antiphon.runtime.wakeup import Broadcast


class Assignment(NamedTuple):
    """The process that owns a tree, and its tenure."""

    process: int
    tenure: int


class Directory:
    """Assigns trees to processes; every assignment of a tree has a greater tenure than the one before."""

    def __init__(self) -> None:
        self._assignments: dict[str, Assignment] = {}
        self._tenures: dict[str, int] = {}
        self.changed = Broadcast()

    def owner(self, root: str) -> Assignment | None:
        """Return the assignment of a tree, or None if it has no owner."""
        return self._assignments.get(root)

    def roots_of(self, process: int) -> list[str]:
        """Return the trees that a process owns."""
        return [root for root, assignment in self._assignments.items() if assignment.process == process]

    def assign(self, root: str, process: int) -> int:
        """Make a process the owner of a tree and return its tenure."""
        tenure = self._tenures[root] = self._tenures.get(root, 0) + 1
        self._assignments[root] = Assignment(process, tenure)
        self.changed.notify()
        return tenure

    def claim(self, root: str, process: int) -> int:
        """Make a process the owner of a tree that has none; raise `NotOwner` if another process owns it."""
        assignment = self._assignments.get(root)
        if assignment is None:
            return self.assign(root, process)
        if assignment.process != process:
            raise NotOwner(f"{root!r} is run by process {assignment.process}")
        return assignment.tenure

    def remove(self, root: str, assignment: Assignment) -> None:
        """Leave a tree without an owner, unless it has been assigned again."""
        if self._assignments.get(root) == assignment:
            del self._assignments[root]
            self.changed.notify()


class Assigned:
    """Ownership by a directory, as one process knows it; it may have lost a tree without being told."""

    owns_all = False

    def __init__(self, directory: Directory, process: int) -> None:
        self._directory = directory
        self._process = process
        self._tenures: dict[str, int] = {}
        self._lost: dict[str, int] = {}  # the latest tenure that is known to be over; messages may come in any order
        self._on_loss: list[Callable[[str], None]] = []

    @property
    def roots(self) -> list[str]:
        """The trees that this process believes to own."""
        return list(self._tenures)

    def start(self, boot: int) -> None:
        """Begin without trees, whatever earlier boots owned."""

    def tenure(self, root: str) -> int | None:
        """Return the tenure of a tree that is run here, or None."""
        return self._tenures.get(root)

    async def claim(self, root: str) -> int:
        """Ask the directory to become the owner."""
        await asyncio.sleep(0)
        return self.accept(root, self._directory.claim(root, self._process))

    def accept(self, root: str, tenure: int) -> int:
        """Become the owner of a tree, unless a later tenure is known here; return the tenure."""
        if tenure > max(self._lost.get(root, 0), self._tenures.get(root, 0)):
            self._tenures[root] = tenure
        return tenure

    async def release(self, roots: Sequence[str]) -> None:
        """Give trees up."""
        for root in roots:
            tenure = self._tenures.pop(root, None)
            if tenure is not None:
                self._directory.remove(root, Assignment(self._process, tenure))

    def on_loss(self, callback: Callable[[str], None]) -> None:
        """Call a function with every tree that is lost to another owner."""
        self._on_loss.append(callback)

    def drop(self, root: str, tenure: int) -> None:
        """Learn from a refused commit that a tree has an owner with a later tenure than this one."""
        self._lost[root] = max(tenure, self._lost.get(root, 0))
        if self._tenures.get(root, tenure + 1) <= tenure:
            del self._tenures[root]

    def lose(self, root: str, tenure: int) -> None:
        """Learn from the directory that a tenure is over."""
        is_known = root in self._tenures
        self.drop(root, tenure)
        for callback in self._on_loss if is_known and root not in self._tenures else ():
            callback(root)
