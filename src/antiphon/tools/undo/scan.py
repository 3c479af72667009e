"""Scans of a workspace: the status of all its files, without reading them."""

import errno
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from antiphon.tools.undo.settings import MIB, UndoSettings
from antiphon.tools.workspace import OPEN_FOLDER

MOST_DEPTH = 100
OBJECTS = "/.git/objects"
MOST_OBJECTS = 10_000
# A file that changed within this time before it was read may change again without another time stamp.
SETTLED_NS = 50_000_000


class Stamp(NamedTuple):
    """Status of a file, which changes whenever its content or mode does."""

    mode: int
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int

    def is_settled(self, now_ns: int) -> bool:
        """Return whether a later change must give another stamp."""
        return self.ctime_ns < now_ns - SETTLED_NS


class TooLarge(Exception):
    """Raised for a workspace with too many files or bytes; the message is the reason."""


class Scan:
    """Stamps of all paths of a workspace, the inodes of skipped folders, and the names in stores of git's objects."""

    def __init__(self, settings: UndoSettings, most_files: int, most_bytes: float, excluded: tuple[str, ...]) -> None:
        self._settings = settings
        self._most_files = most_files
        self._most_bytes = most_bytes
        self._excluded = excluded
        self._bytes = 0
        self.stamps: dict[str, Stamp] = {}
        self.skipped: dict[str, int] = {}
        self.objects: dict[str, frozenset[str]] = {}
        self.unreadable: list[str] = []
        self.at_ns = time.time_ns()

    def run(self, root: int) -> "Scan":
        """Scan an open folder; raise `TooLarge` beyond the limits."""
        self._visit(root, "", 0)
        return self

    def _visit(self, folder: int, prefix: str, depth: int) -> None:
        if depth > MOST_DEPTH:
            raise TooLarge(f"the workspace has folders nested deeper than {MOST_DEPTH}")
        inner: list[str] = []
        with os.scandir(folder) as entries:
            for entry in entries:
                path = prefix + entry.name
                if self._excluded and path.startswith(self._excluded):
                    continue
                try:
                    info = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue
                if stat.S_ISDIR(info.st_mode):
                    if self._is_skipped(path):
                        self.skipped[path] = info.st_ino
                        if f"/{path}".endswith(OBJECTS):
                            names = _object_names(folder, entry.name)
                            self.objects.update({} if names is None else {path: names})
                        continue
                    inner.append(entry.name)
                self._add(path, info)
        for name in inner:
            try:
                with _open_folder(folder, name) as descriptor:
                    self._visit(descriptor, f"{prefix}{name}/", depth + 1)
            except PermissionError:
                self.unreadable.append(f"{prefix}{name}/")
            except (FileNotFoundError, NotADirectoryError):
                continue

    def _add(self, path: str, info: os.stat_result) -> None:
        is_folder = stat.S_ISDIR(info.st_mode)
        # The times and the size of a folder change with its entries, which are compared themselves.
        times = (0, 0, 0) if is_folder else (info.st_size, info.st_mtime_ns, info.st_ctime_ns)
        self.stamps[path] = Stamp(info.st_mode, *times, info.st_ino)
        if stat.S_ISREG(info.st_mode):
            self._bytes += info.st_size
        if len(self.stamps) > self._most_files:
            raise TooLarge(f"the workspace has more than {self._most_files:,} files")
        if self._bytes > self._most_bytes:
            raise TooLarge(f"the files of the workspace have more than {self._most_bytes / MIB:g} MiB")

    def _is_skipped(self, path: str) -> bool:
        return any(path == end or path.endswith(f"/{end}") for end in self._settings.skipped)


def _object_names(folder: int, name: str) -> frozenset[str] | None:
    """Return the files of a store of git's objects, or None if they cannot be compared."""
    names: list[str] = []
    with suppress(OSError):
        for parent, _, files, _ in os.fwalk(name, dir_fd=folder):
            names += [f"{parent}/{file}" for file in files]
            if len(names) > MOST_OBJECTS:
                return None
    return frozenset(names)


@contextmanager
def _open_folder(folder: int, name: str) -> Iterator[int]:
    descriptor = os.open(name, OPEN_FOLDER, dir_fd=folder)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def open_parent(root: int, path: str) -> Iterator[tuple[int, str] | None]:
    """Open the folder of a path without following any symlink; yield it with the last name, None if there is none."""
    *folders, name = path.split("/")
    opened = [os.dup(root)]
    try:
        for folder in folders:
            inner = _enter(opened[-1], folder)
            if inner is None:
                break
            opened.append(inner)
        yield (opened[-1], name) if len(opened) > len(folders) else None
    finally:
        for descriptor in opened:
            os.close(descriptor)


def _enter(folder: int, name: str) -> int | None:
    try:
        return os.open(name, OPEN_FOLDER, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            return None
        raise
