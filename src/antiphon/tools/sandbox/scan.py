"""Walk through a workspace for secrets and protected paths, before and after a command."""

import os
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache

from antiphon.tools.protected import START_UP_NAMES, is_protected
from antiphon.tools.sandbox.names import PACKAGE_FOLDERS, is_key, is_secret

MOST_VISITED = 200_000
REFUSED_PREFIX = "refused-"
REFUSED_SUFFIX = ".refused"
# Names repeat from command to command.
is_protected_name = lru_cache(MOST_VISITED)(is_protected)


@dataclass(frozen=True, slots=True)
class SensitivePaths:
    """Paths of a workspace that need protection; folders are not looked into once they are protected or secret."""

    secrets: tuple[str, ...] = ()
    # Protected paths with their inodes, so that one that was moved is recognised.
    protected: dict[str, int] = field(default_factory=dict)
    # Whether all names were visited.
    is_complete: bool = True


def scan_workspace(folder: str, *, secrets: bool = True) -> SensitivePaths:
    """Find secrets and protected paths in a workspace, breadth first; secrets within a limit of visited names."""
    secret_paths: list[str] = []
    protected: dict[str, int] = {}
    for visited, entry in enumerate(_entries(folder)):
        if secrets and visited >= MOST_VISITED:
            return SensitivePaths(tuple(secret_paths), protected, is_complete=False)
        if _is_protected_entry(entry):
            protected[entry.path] = entry.inode()
        if secrets and (is_secret(entry.name) or is_key(entry.path, entry.name) or _is_closed(entry)):
            secret_paths.append(entry.path)
    return SensitivePaths(tuple(secret_paths), protected)


def _is_closed(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a folder that cannot be looked into, but that a command could open by its mode."""
    return entry.is_dir(follow_symlinks=False) and not os.access(entry.path, os.R_OK | os.X_OK)


def _entries(folder: str) -> Iterator[os.DirEntry[str]]:
    pending = deque([folder])
    while pending:
        with suppress(OSError), os.scandir(pending.popleft()) as entries:
            for entry in entries:
                yield entry
                if entry.is_dir(follow_symlinks=False) and not _is_leaf(entry):
                    pending.append(entry.path)


def _is_leaf(entry: os.DirEntry[str]) -> bool:
    return entry.name in PACKAGE_FOLDERS or _is_protected_entry(entry) or is_secret(entry.name)


def _is_protected_entry(entry: os.DirEntry[str]) -> bool:
    if is_protected_name(entry.name):
        return True
    return entry.name in START_UP_NAMES and is_protected_name("/".join(entry.path.split("/")[-2:]))


def move_new_protected(folder: str, before: SensitivePaths) -> list[str]:
    """Rename protected paths that a command has created, so that no program trusts them; return their names.

    Its processes have ended, so nothing changes while this runs.
    """
    moved = []
    known = set(before.protected.values())
    for path, inode in scan_workspace(folder, secrets=False).protected.items():
        # One that was moved by the command is still the person's own, unless it has replaced another.
        is_moved = inode in known and path not in before.protected and not os.path.lexists(_former(before, inode))
        if before.protected.get(path) == inode or is_moved:
            continue
        with suppress(OSError):
            os.rename(path, _free_name(path))
            moved.append(os.path.relpath(path, folder))
    return sorted(moved)


def _former(before: SensitivePaths, inode: int) -> str:
    return next(path for path, known in before.protected.items() if known == inode)


def _free_name(path: str) -> str:
    parent, name = os.path.split(path)
    # A pattern such as *.mk fits with a prefix too.
    name += REFUSED_SUFFIX if is_protected(REFUSED_PREFIX + name) else ""
    candidate = os.path.join(parent, REFUSED_PREFIX + name)
    number = 1
    while os.path.lexists(candidate):
        number += 1
        candidate = os.path.join(parent, f"{REFUSED_PREFIX}{number}-{name}")
    return candidate
