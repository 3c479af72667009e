"""Ownership of a file by one process: a lock that the operating system gives back when the process dies."""

import fcntl
import json
import os
import time
from pathlib import Path
from typing import IO

from antiphon.runtime.errors import StoreBusy, StoreError


class Ownership:
    """A lock file beside the store, with a note on who holds it."""

    def __init__(self, path: Path) -> None:
        self._path = path.with_name(path.name + ".lock")
        self._file: IO[str] | None = None

    def take(self) -> None:
        """Become the owner, or say who is."""
        try:
            file = open(self._path, "a+", encoding="utf-8")  # noqa: SIM115 (it stays open as long as the lock is held)
        except OSError as error:
            raise StoreError(f"{self._path}: cannot be written: {error.strerror}") from error
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            note = file.read()
            file.close()
            raise StoreBusy(
                f"{self._path.with_suffix('')} is in use by {_owner(note)}; stop it, or open read-only"
            ) from None
        file.truncate(0)
        file.write(json.dumps({"pid": os.getpid(), "since": int(time.time())}))
        file.flush()
        self._file = file

    def give_up(self) -> None:
        """Own no more."""
        if self._file is not None:
            self._file.truncate(0)
            self._file.close()
            self._file = None


def _owner(note: str) -> str:
    try:
        said = json.loads(note)
        since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(said["since"]))
        return f"process {said['pid']} since {since}"
    except (ValueError, KeyError, TypeError):
        return "another process"
