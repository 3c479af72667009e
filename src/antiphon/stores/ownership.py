"""Ownership of a file by one process: a lock that the operating system gives back when the process dies."""

import fcntl
import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import IO

from antiphon.runtime.errors import StoreBusy, StoreError


class Ownership:
    """A lock file beside the store, with a note on who holds it."""

    def __init__(self, path: Path) -> None:
        self._of, self._path = path, _lock_of(path)
        self._file: IO[str] | None = None

    def take(self) -> None:
        """Become the owner, or say who is."""
        try:
            number = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StoreError(f"{self._path}: cannot be written: {error.strerror}") from error
        file = open(number, "r+", encoding="utf-8")  # noqa: SIM115 (it stays open as long as the lock is held)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            note = file.read()
            file.close()
            advice = "stop it, name another file, or open this one read-only"
            raise StoreBusy(f"{self._of} is in use by {_owner(note)}; {advice}") from None
        except OSError as error:
            file.close()
            raise StoreError(f"{self._path}: cannot be locked: {error.strerror}; move it to a local disk") from error
        self._file = file
        # The note is a courtesy: a full disk has no room for it.
        with suppress(OSError):
            file.truncate(0)
            file.write(json.dumps({"pid": os.getpid(), "since": int(time.time())}))
            file.flush()

    def give_up(self) -> None:
        """Own no more."""
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):
                file.truncate(0)
            with suppress(OSError):
                file.close()


def owner_of(path: str | Path) -> int | None:
    """The process that owns a file, by its note; one that has died does not count."""
    path = Path(path)
    try:
        pid = int(json.loads(_lock_of(path).read_text(encoding="utf-8"))["pid"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return pid if _is_alive(pid) else None


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # it lives, and is somebody else's
    # One that was killed is still known until its parent has heard of it; where there is no /proc, it counts.
    with suppress(OSError):
        _, _, state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")
        return not state.lstrip().startswith(("Z", "X"))
    return True


def _lock_of(path: Path) -> Path:
    # Whoever comes by another name, through a link for one, must meet the same lock.
    real = path.resolve()
    return real.with_name(real.name + ".lock")


def _owner(note: str) -> str:
    try:
        said = json.loads(note)
        since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(said["since"]))
        return f"process {said['pid']} since {since}"
    except (ValueError, KeyError, TypeError):
        return "another process"
