"""Ownership of a file by one process: a lock that the operating system releases when the process dies."""

import fcntl
import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import IO

from antiphon.runtime.errors import StoreBusy, StoreError


class FileLock:
    """Lock file beside the store, with a note of the process that holds it."""

    def __init__(self, path: Path) -> None:
        self._target = path
        self._path = _lock_path(path)
        self._file: IO[str] | None = None

    def take(self) -> None:
        """Take the lock, or raise `StoreBusy` with the process that holds it."""
        try:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StoreError(f"{self._path}: cannot be written: {error.strerror}") from error
        file = open(descriptor, "r+", encoding="utf-8")  # noqa: SIM115 (open as long as the lock is held)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            note = file.read()
            file.close()
            advice = "stop it, name another file, or open this one read-only"
            raise StoreBusy(f"{self._target} is in use by {_format_owner(note)}; {advice}") from None
        except OSError as error:
            file.close()
            raise StoreError(f"{self._path}: cannot be locked: {error.strerror}; move it to a local disk") from error
        self._file = file
        # The note is optional: a full disk has no room for it.
        with suppress(OSError):
            file.truncate(0)
            file.write(json.dumps({"pid": os.getpid(), "since": int(time.time())}))
            file.flush()

    def release(self) -> None:
        """Release the lock, if it is held."""
        file = self._file
        self._file = None
        if file is not None:
            with suppress(OSError):
                file.truncate(0)
            with suppress(OSError):
                file.close()


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
