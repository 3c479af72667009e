"""Ownership of trees: which of them this process runs.

One process that owns a whole store owns all its trees. Where several processes share a store, each tree has one owner
at a time; a tenure is the number of its ownership, greater than any before, and a store refuses the commits of an
earlier tenure. An owner that was replaced need not know it: its commits and posts are refused, and then it gives the
tree up.
"""

from collections.abc import Callable, Sequence
from typing import Protocol


class Ownership(Protocol):
    """Which trees this process runs."""

    def start(self, boot: int) -> None:
        """Begin with the number of this boot."""
        ...

    @property
    def owns_all(self) -> bool:
        """True if this process runs every tree of the store."""
        ...

    def tenure(self, root: str) -> int | None:
        """Return the tenure of a tree that is run here, or None."""
        ...

    async def claim(self, root: str) -> int:
        """Become the owner of a tree and return the tenure, or raise `NotOwner` with the name of its owner."""
        ...

    async def release(self, roots: Sequence[str]) -> None:
        """Give trees up."""
        ...

    def on_loss(self, callback: Callable[[str], None]) -> None:
        """Call a function with every tree that is lost to another owner."""
        ...

    def drop(self, root: str, tenure: int) -> None:
        """Learn from a refused commit that a tree has an owner with a later tenure than this one."""
        ...


class Whole:
    """Ownership of a whole store by one process: every tree is run here, and its tenure is the boot."""

    owns_all = True

    def __init__(self) -> None:
        self._boot = 0

    def start(self, boot: int) -> None:
        """Begin with the number of this boot."""
        self._boot = boot

    def tenure(self, root: str) -> int | None:
        """Return the boot."""
        return self._boot

    async def claim(self, root: str) -> int:
        """Return the boot."""
        return self._boot

    async def release(self, roots: Sequence[str]) -> None:
        """Keep all trees: they are given up when the store is closed."""

    def on_loss(self, callback: Callable[[str], None]) -> None:
        """Do nothing: no tree is ever lost."""

    def drop(self, root: str, tenure: int) -> None:
        """Keep the tree: only a restart of this process can tell why a later boot has written to it."""
