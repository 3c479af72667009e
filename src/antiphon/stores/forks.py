"""SQLite connections of this process, and what becomes of them in a forked child.

SQLite keeps its locks in memory, per file and process. A fork copies that memory, but not the locks: a child that used
or closed a connection of its parent, or opened the same file again, could damage the file. So a child loses the
connections of its parent without closing them, and may not open their files.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from pathlib import Path
from threading import RLock
from typing import Any, Protocol
from weakref import WeakSet

from antiphon.runtime.errors import StoreError

FileId = tuple[int, int]  # device and inode: the same for all names of a file
FORKED = (
    "the store is not open in this process: it was forked from one that has it open; "
    "start processes by `spawn`, or open the store after forking"
)


class Holder(Protocol):
    """Object with a connection or a lock of this process."""

    def on_fork(self) -> None:
        """Give up what belongs to the parent, in a forked child."""
        ...


class StoreConnection(sqlite3.Connection):
    """Connection to the file of a store."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.path = Path()
        self.file: FileId = (0, 0)
        self.keeps_log = False  # the log must not be removed when this connection is closed

    def close(self) -> None:
        """Close the connection; the last one removes the log, unless it has to be kept."""
        with _reader_beside(self.path) if self.keeps_log else nullcontext():
            super().close()
        with GUARD:
            _connections.discard(self)
            _close_descriptors()


# Of this module's state and that of ownership, so that a fork never copies it half changed. It may be taken twice by a
# thread: the garbage collector may close a connection at any moment.
GUARD = RLock()
_connections: WeakSet[StoreConnection] = WeakSet()
_holders: WeakSet[Any] = WeakSet()
_descriptors: list[int] = []  # to be closed when no connection uses their files
_inherited: set[FileId] = set()  # files that the parent of this process had open


def connect(path: Path, database: str, *, uri: bool = False) -> StoreConnection:
    """Open a connection to the file at a path; raise `StoreError` if a parent of this process has it open."""
    if _inherited and path.exists() and file_id(os.stat(path)) in _inherited:
        raise StoreError(f"{path}: {FORKED}")
    connection = sqlite3.connect(
        database, uri=uri, isolation_level=None, check_same_thread=False, factory=StoreConnection
    )
    connection.path = path.resolve()
    connection.file = file_id(os.stat(path))
    with GUARD:
        _connections.add(connection)
    return connection


def file_id(status: os.stat_result) -> FileId:
    """Return what identifies a file under all its names."""
    return status.st_dev, status.st_ino


def register(holder: Holder) -> None:
    """Call `holder.on_fork()` in every forked child, as long as the holder exists."""
    with GUARD:
        _holders.add(holder)


def close_later(descriptor: int) -> None:
    """Close a descriptor of a store's file as soon as no connection of this process uses the file.

    Closing any descriptor of a file releases all record locks of the process on it, those of SQLite too.
    The caller holds `GUARD`.
    """
    _descriptors.append(descriptor)
    _close_descriptors()


def _close_descriptors() -> None:
    in_use = {connection.file for connection in _connections}
    for descriptor in [item for item in _descriptors if file_id(os.fstat(item)) not in in_use]:
        _descriptors.remove(descriptor)
        os.close(descriptor)


@contextmanager
def _reader_beside(path: Path) -> Iterator[None]:
    """Keep a reader open while another connection is closed: only the last one, if it may write, removes the log."""
    try:
        reader = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    except sqlite3.Error:  # the file is gone, and its log is of no use
        yield
        return
    with closing(reader):
        with suppress(sqlite3.Error):
            reader.execute("select 1 from sqlite_schema").fetchone()
        yield


def _on_fork() -> None:
    import ctypes

    try:
        for connection in _connections:
            # One reference that is never given back: not even the end of this process closes the connection.
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))
            _inherited.add(connection.file)
        for holder in _holders:
            holder.on_fork()
        for descriptor in _descriptors:
            os.close(descriptor)
        _connections.clear()
        _holders.clear()
        _descriptors.clear()
    finally:
        GUARD.release()


os.register_at_fork(before=GUARD.acquire, after_in_parent=GUARD.release, after_in_child=_on_fork)
