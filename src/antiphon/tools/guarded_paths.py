"""Paths of a workspace that file tools may not use, or not change unasked, wherever they are and whatever their names.

1. Antiphon's own data (stores, keys, settings, trusted folders, copies for undo) is neither read nor written.
2. The programs that run Antiphon are protected: who changed them would act outside every sandbox.
3. A file that a protected name leads to, as a symlink or a hard link, is protected like that name.
"""

import os
from collections.abc import Iterable
from pathlib import Path

from antiphon.tools.protected import is_protected
from antiphon.tools.sandbox.policy import antiphon_paths, is_below, own_program_folders
from antiphon.tools.sandbox.scan import scan_workspace


class GuardedPaths:
    """Guarded paths of one workspace; paths are relative to it, and resolved."""

    __slots__ = ("_data", "_folder", "_programs")

    def __init__(self, folder: Path, hidden: Iterable[str | os.PathLike[str]] = ()) -> None:
        self._folder = str(folder)
        paths = [*antiphon_paths(os.environ), *(os.fspath(path) for path in hidden)]
        self._data = tuple(sorted({os.path.realpath(path) for path in paths}))
        inside = (path for path in own_program_folders() if is_below(path, [self._folder]))
        self._programs = tuple(path for path in inside if path != self._folder)

    def is_own_data(self, path: str) -> bool:
        """Return whether a path is part of Antiphon's own data."""
        return is_below(self._absolute(path), self._data)

    def is_protected(self, path: str) -> bool:
        """Return whether a path is protected: by its names, as a program of Antiphon, or as the target of a link."""
        return is_protected(path) or is_below(self._absolute(path), self._programs) or self._is_linked(path)

    def _is_linked(self, path: str) -> bool:
        absolute = self._absolute(path)
        try:
            status = os.stat(absolute)
            inode = status.st_ino if status.st_nlink > 1 else None
        except OSError:
            inode = None
        protected = scan_workspace(self._folder, secrets=False).protected
        if inode is not None and inode in protected.values():
            return True
        return any(is_below(absolute, [os.path.realpath(link)]) for link in protected if os.path.islink(link))

    def _absolute(self, path: str) -> str:
        return os.path.normpath(os.path.join(self._folder, path))
