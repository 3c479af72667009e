"""The audit log: one line of JSON for each change by a token, and for each attempt that was refused.

A line says who did it, by which token, through which route, with which thread and with which outcome. It has neither
bodies nor queries nor headers, so no secret can be in it. Files are replaced when they are full: `audit.jsonl` is the
newest, then come `audit.jsonl.1` and so on.
"""

import json
import logging
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from io import FileIO
from pathlib import Path
from typing import Any

FILE = "audit.jsonl"
_log = logging.getLogger("antiphon.server")


@dataclass(frozen=True, slots=True)
class AuditEvent:
    """A change or a refused attempt; `at` is milliseconds since 1970."""

    at: int
    request: str
    user: str
    token: str | None
    address: str
    method: str
    route: str
    thread: str | None
    status: int
    code: str | None = None


class AuditLog:
    """The audit log of a server in a folder; without a folder nothing is written."""

    def __init__(self, folder: Path | None, most_bytes: int, most_files: int) -> None:
        self._path = None if folder is None else folder / FILE
        self._most_bytes = most_bytes
        self._most_files = most_files
        self._file: FileIO | None = None
        self._size = 0
        self._number = 0

    def write(self, event: AuditEvent) -> None:
        """Append an event; an error of the disk is logged, because the change has been made."""
        if self._path is None:
            return
        try:
            file = self._file or self._open(self._path)
            line = f"{json.dumps({'n': self._number + 1, **asdict(event)})}\n".encode()
            if self._size and self._size + len(line) > self._most_bytes:
                file = self._rotate(self._path)
            file.write(line)
        except OSError as error:
            _log.error("%s: an event was not written: %s", self._path, error.strerror or error)
            return
        self._number += 1
        self._size += len(line)

    def close(self) -> None:
        """Close the file; the next event opens it again."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _open(self, path: Path) -> FileIO:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        last = next(read_audit(path.parent), None)
        self._number = 0 if last is None else last["n"]
        file = _append_to(path)
        self._size = path.stat().st_size
        if self._size and not _ends_line(path):  # a process was killed while it wrote
            self._size += file.write(b"\n")
        self._file = file
        return file

    def _rotate(self, path: Path) -> FileIO:
        self.close()
        for number in range(self._most_files - 1, 0, -1):
            source = path if number == 1 else _numbered(path, number - 1)
            if source.exists():
                source.replace(_numbered(path, number))
        if self._most_files == 1:
            path.unlink()
        self._file = _append_to(path)
        self._size = 0
        return self._file


def _append_to(path: Path) -> FileIO:
    return FileIO(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600), "a")


def _numbered(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}.{number}")


def _ends_line(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def read_audit(folder: Path, before: int | None = None) -> Iterator[dict[str, Any]]:
    """Iterate over the events of a folder, the newest first, from that before a number on."""
    path = folder / FILE
    number = 0
    while True:
        try:
            lines = (path if number == 0 else _numbered(path, number)).read_bytes().splitlines()
        except FileNotFoundError:
            return
        for line in reversed(lines):
            event = _parse(line)
            if event is not None and (before is None or event["n"] < before):
                yield event
        number += 1


def _parse(line: bytes) -> dict[str, Any] | None:
    """Return the event of a line; None for one that was cut."""
    try:
        event = json.loads(line)
    except ValueError:
        return None
    return event if isinstance(event, dict) and isinstance(event.get("n"), int) else None
