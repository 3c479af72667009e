"""States of paths: content, mode and kind of a file, as they are recorded, compared and restored."""

import os
import re
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from antiphon.tools.errors import UndoError
from antiphon.tools.workspace import OPEN_FILE

KINDS = ("absent", "file", "folder", "symlink", "pipe", "other")
DIGEST = re.compile(r"[0-9a-f]{64}")
FILE_MODE = 0o777
FOLDER_MODE = 0o7777
Keep = Callable[[int], str | None]
"""Function that reads an open file and returns the digest of its content, or None if it is too large."""


@dataclass(frozen=True, slots=True)
class FileState:
    """State of a path in a workspace; what is None is not known, or does not apply to the kind."""

    kind: str
    mode: int | None = None
    digest: str | None = None
    size: int | None = None
    # Only of a file without a digest, which is compared by size and time instead.
    mtime_ns: int | None = None
    target: str | None = None

    def matches(self, state: "FileState") -> bool:
        """Return whether two states are equal, as far as both are known."""
        if self.kind != state.kind or self.target != state.target:
            return False
        if self.mode is not None and state.mode is not None and self.mode != state.mode:
            return False
        if self.kind != "file":
            return True
        if self.digest is not None and state.digest is not None:
            return self.digest == state.digest
        return self.size == state.size and self.mtime_ns is not None and self.mtime_ns == state.mtime_ns

    def to_json(self) -> dict[str, Any]:
        """Return the state as JSON."""
        return {name: getattr(self, name) for name in self.__slots__ if getattr(self, name) is not None}

    @classmethod
    def from_json(cls, stored: Any) -> Self:
        """Return the state that `to_json` returned; raise `UndoError` if it is not valid."""
        if not isinstance(stored, Mapping) or set(stored) - set(cls.__slots__):
            raise UndoError(f"{stored!r} is not the state of a file")
        state = cls(**stored)
        numbers = (state.mode, state.size, state.mtime_ns)
        digest = state.digest
        is_valid = (
            state.kind in KINDS
            and all(number is None or type(number) is int for number in numbers)
            and (state.mode is None or 0 <= state.mode <= FOLDER_MODE)
            and (digest is None or (isinstance(digest, str) and DIGEST.fullmatch(digest) is not None))
            and isinstance(state.target, str) == (state.kind == "symlink")
        )
        if not is_valid:
            raise UndoError(f"{stored!r} is not the state of a file")
        return state


ABSENT = FileState("absent")


def read_state(folder: int, name: str, keep: Keep) -> FileState:
    """Return the state of a name in an open folder; no symlink is followed."""
    try:
        info = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if stat.S_ISREG(info.st_mode):
            return _read_file(folder, name, keep, info)
        if stat.S_ISLNK(info.st_mode):
            return FileState("symlink", target=os.readlink(name, dir_fd=folder))
    except FileNotFoundError:
        return ABSENT
    if stat.S_ISDIR(info.st_mode):
        return FileState("folder", stat.S_IMODE(info.st_mode))
    mode = stat.S_IMODE(info.st_mode) & FILE_MODE
    return FileState("pipe" if stat.S_ISFIFO(info.st_mode) else "other", mode)


def _read_file(folder: int, name: str, keep: Keep, info: os.stat_result) -> FileState:
    try:
        file = os.open(name, OPEN_FILE, dir_fd=folder)
    except PermissionError:
        return FileState("file", info.st_mode & FILE_MODE, None, info.st_size, info.st_mtime_ns)
    try:
        info = os.fstat(file)
        if not stat.S_ISREG(info.st_mode):
            return FileState("other", info.st_mode & FILE_MODE)
        digest = keep(file)
    finally:
        os.close(file)
    # The time of a file with a digest is left out: a file that is only touched has not changed.
    mtime_ns = info.st_mtime_ns if digest is None else None
    return FileState("file", info.st_mode & FILE_MODE, digest, info.st_size, mtime_ns)
