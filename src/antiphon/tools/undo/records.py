"""Records of changes: one file per thread, to which lines are appended.

1. A line begins with a digest of itself and of all lines before it, so that a file that was edited is noticed.
2. A line that was not written to its end, because of a crash, is dropped.
3. The state before a change is stored before the change is made; the state after it may be missing after a crash.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from antiphon.tools.errors import UndoError
from antiphon.tools.undo.states import FileState

FIRST = "0" * 64
UNDO = "undo"
REDO = "redo"


@dataclass(frozen=True, slots=True)
class FileChange:
    """Change of one path; `after` is None if it is not known."""

    path: str
    before: FileState
    after: FileState | None

    def to_json(self) -> dict[str, Any]:
        """Return the change as JSON."""
        after = None if self.after is None else self.after.to_json()
        return {"path": self.path, "before": self.before.to_json(), "after": after}


@dataclass(slots=True)
class RecordedCall:
    """Call of a tool that changed a workspace, or an undo."""

    number: int
    """Line of the record at which it began."""
    key: str
    tool: str
    about: str
    """Path or command, for people."""
    at: int
    workspace: str
    tree: str | None = None
    """Digest of the list of all files before a command."""
    problem: str | None = None
    """Reason why the call cannot be undone, or only in part."""
    end: int | None = None
    """Line at which it ended; None if it did not."""
    is_certain: bool = True
    """False if a command was interrupted: other programs may have made the same changes."""
    changes: dict[str, FileChange] = field(default_factory=dict)


class RecordFile:
    """File of records, opened for one thread."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._last = FIRST
        self._lines = 0

    def close(self) -> None:
        """Close the file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def read(self) -> dict[int, RecordedCall]:
        """Read all records, drop an incomplete line at the end, and return the calls by their numbers."""
        data = self._path.read_bytes()
        lines = data.split(b"\n")
        torn = lines.pop()
        if torn:
            os.ftruncate(self._file, len(data) - len(torn))
        calls, self._last = _read_lines(self._path, lines)
        self._lines = len(lines)
        return calls

    def append(self, entries: Iterable[Mapping[str, Any]], *, flush: bool) -> int:
        """Append entries; return the number of the last line."""
        lines = []
        for entry in entries:
            text = json.dumps(entry, separators=(",", ":")).encode()
            self._last = _digest(self._last, text)
            self._lines += 1
            lines.append(self._last.encode() + b" " + text + b"\n")
        data = b"".join(lines)
        if os.write(self._file, data) != len(data):
            raise UndoError(f"{self._path}: cannot be written to its end; the disk may be full")
        if flush:
            os.fsync(self._file)
        return self._lines

    def __del__(self) -> None:
        with suppress(OSError):
            self.close()


def begin_entry(call: RecordedCall) -> dict[str, Any]:
    """Return the entry that begins a call."""
    names = ("key", "tool", "about", "at", "workspace", "tree", "problem")
    return {"type": "begin", **{name: getattr(call, name) for name in names}}


def change_entry(number: int, change: FileChange) -> dict[str, Any]:
    """Return the entry of a change that is about to be made."""
    return {"type": "change", "call": number, **change.to_json()}


def end_entry(call: RecordedCall, changes: Iterable[FileChange]) -> dict[str, Any]:
    """Return the entry that ends a call, with its changes as they were made."""
    return {
        "type": "end",
        "call": call.number,
        "problem": call.problem,
        "certain": call.is_certain,
        "changes": [change.to_json() for change in changes],
    }


def _apply(calls: dict[int, RecordedCall], number: int, entry: Any) -> None:
    match entry["type"]:
        case "begin":
            key, tool, about, workspace = (_text(entry[name]) for name in ("key", "tool", "about", "workspace"))
            calls[number] = RecordedCall(
                number, key, tool, about, int(entry["at"]), workspace, entry["tree"], entry["problem"]
            )
        case "change":
            change = _change(entry)
            calls[entry["call"]].changes[change.path] = change
        case "end":
            call = calls[entry["call"]]
            call.problem = entry["problem"]
            call.is_certain = entry["certain"] is True
            call.end = number
            call.changes.update({change.path: change for change in map(_change, entry["changes"])})
        case type:
            raise UndoError(f"{type!r} is not a type of record")


def _change(stored: Mapping[str, Any]) -> FileChange:
    path = _text(stored["path"])
    names = path.split("/")
    if not path or "\0" in path or any(name in ("", ".", "..") for name in names):
        raise UndoError(f"{path!r} is not a path of a workspace")
    after = stored["after"]
    return FileChange(
        path, FileState.from_json(stored["before"]), None if after is None else FileState.from_json(after)
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise UndoError(f"{value!r} is not a text")
    return value


def _digest(last: str, text: bytes) -> str:
    return hashlib.sha256(last.encode() + text).hexdigest()


def read_records(path: Path) -> dict[int, RecordedCall]:
    """Return the calls of a file of records by their numbers, also while another process writes it."""
    # The last line may be incomplete.
    return _read_lines(path, path.read_bytes().split(b"\n")[:-1])[0]


def _read_lines(path: Path, lines: Sequence[bytes]) -> tuple[dict[int, RecordedCall], str]:
    """Return the calls of some lines, and the digest of the last one."""
    last = FIRST
    calls: dict[int, RecordedCall] = {}
    for number, line in enumerate(lines, 1):
        digest, _, text = line.partition(b" ")
        last = _digest(last, text)
        try:
            if digest.decode() != last:
                raise UndoError("it was changed")
            _apply(calls, number, json.loads(text))
        except (UndoError, ValueError, KeyError, TypeError) as error:
            raise UndoError(f"{path}: line {number} is not valid: {error}; nothing was undone") from error
    return calls, last
