"""FileLock of a file by one process: locks that the operating system releases when the process dies.

The first lock is on a file beside the store, with a note of its owner. The second is on one byte of the store itself,
far behind its end: it is found under every name of the file (hard links), and when the lock file was deleted. Only
Linux has locks for that which SQLite does not release with its own; elsewhere the flag of an open file (`files.py`)
has to do. Both locks last as long as any process has their files open, so a forked child closes them.
"""

import fcntl
import json
import os
import struct
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import IO

from antiphon.runtime.errors import StoreBusy, StoreError
from antiphon.stores import forks

PLACE = 2**62  # of the locked byte; SQLite locks bytes at 2**30
COPY = "copy the store to a folder of yours, or name another with --store"
ADVICE = "stop it, or name another file with --store or ANTIPHON_STORE"
# Sets or releases a lock that belongs to an open file rather than to a process, where there are such locks.
SET_LOCK: int | None = getattr(fcntl, "F_OFD_SETLK", None) if sys.maxsize > 2**32 else None
_stores: set[forks.FileId] = set()  # that this process owns


class FileLock:
    """Locks of a store, with a note of the process that holds them."""

    def __init__(self, path: Path) -> None:
        self._target = path
        self._path = _lock_path(path)
        self._file: IO[str] | None = None
        self._store: int | None = None  # descriptor of the store

    def take(self) -> None:
        """Take the locks, and create the file if there is none; or raise `StoreBusy` with the process that owns it."""
        with forks.GUARD:
            self._file = self._lock_file()
            try:
                self._store = self._lock_store()
            except BaseException:
                self._file.close()
                self._file = None
                raise
        forks.register(self)
        # The note is optional: a full disk has no room for it.
        with suppress(OSError):
            self._file.truncate(0)
            self._file.write(json.dumps({"pid": os.getpid(), "since": int(time.time())}))
            self._file.flush()

    def release(self) -> None:
        """Release the locks, if they are held; the connections of this owner are closed."""
        file = self._file
        descriptor = self._store
        self._file = None
        self._store = None
        if descriptor is not None:
            with forks.GUARD:
                _stores.discard(forks.file_id(os.fstat(descriptor)))
                _set_lock(descriptor, fcntl.F_UNLCK)
                forks.close_later(descriptor)
        if file is not None:
            with suppress(OSError):
                file.truncate(0)
            with suppress(OSError):
                file.close()

    def on_fork(self) -> None:
        """Leave the locks to the parent."""
        file = self._file
        descriptor = self._store
        self._file = None
        self._store = None
        _stores.clear()
        if file is not None:
            file.close()
        if descriptor is not None:
            os.close(descriptor)

    def _lock_file(self) -> IO[str]:
        try:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StoreError(f"{self._path}: cannot be written: {error.strerror}; {COPY}") from error
        file = open(descriptor, "r+", encoding="utf-8")  # noqa: SIM115 (open as long as the lock is held)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            note = file.read()
            file.close()
            raise StoreBusy(f"{self._target} is in use by {_format_owner(note)}; {ADVICE}") from None
        except OSError as error:
            file.close()
            raise StoreError(f"{self._path}: cannot be locked: {error.strerror}; move it to a local disk") from error
        return file

    def _lock_store(self) -> int:
        try:
            descriptor = os.open(self._target, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StoreError(f"{self._target}: cannot be written: {error.strerror}; {COPY}") from error
        store = forks.file_id(os.fstat(descriptor))
        try:
            if store in _stores:
                raise BlockingIOError
            _set_lock(descriptor, fcntl.F_WRLCK)
        except BlockingIOError:
            forks.close_later(descriptor)
            raise StoreBusy(f"{self._target} is in use, perhaps under another name (a hard link); {ADVICE}") from None
        _stores.add(store)
        return descriptor


def _set_lock(descriptor: int, kind: int) -> None:
    """Lock or unlock the byte; raise `BlockingIOError` if it is locked, ignore that there are no such locks."""
    if SET_LOCK is not None:
        try:
            fcntl.fcntl(descriptor, SET_LOCK, struct.pack("hhqqi4x", kind, os.SEEK_SET, PLACE, 1, 0))
        except PermissionError:
            raise BlockingIOError from None
        except BlockingIOError:
            raise
        except OSError:
            return


def owner_of(path: str | Path) -> int | None:
    """Return the process that owns a file, according to its note, if it is alive."""
    path = Path(path)
    try:
        pid = int(json.loads(_lock_path(path).read_text(encoding="utf-8"))["pid"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return pid if _is_alive(pid) else None


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # it runs as another user
    # A zombie that its parent has not waited for is dead; without /proc it cannot be told apart.
    with suppress(OSError):
        _, _, state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")
        return not state.lstrip().startswith(("Z", "X"))
    return True


def _lock_path(path: Path) -> Path:
    # The same lock for every name of the file, such as a symbolic link.
    real = path.resolve()
    return real.with_name(real.name + ".lock")


def _format_owner(note: str) -> str:
    try:
        owner = json.loads(note)
        since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(owner["since"]))
        return f"process {owner['pid']} since {since}"
    except (ValueError, KeyError, TypeError):
        return "another process"
