"""Undo log of one thread: its records and copies, locked by the process that uses them.

1. Records and copies of a change are on the disk before the change is made. Only the copies before a command are not
   flushed one by one: they survive a crash of the process, and one that a power cut damages is noticed by its digest.
2. A change by a file tool is recorded with the content that it is about to write, so that after a crash the file is in
   one of two known states.
3. A command is recorded with the states of all files before it. If it was interrupted, the next user of the log
   compares these with the workspace.
"""

import fcntl
import os
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from antiphon.tools.errors import ToolsError, UndoError
from antiphon.tools.undo.copies import Copies
from antiphon.tools.undo.records import (
    FileChange,
    RecordedCall,
    RecordFile,
    begin_entry,
    change_entry,
    end_entry,
)
from antiphon.tools.undo.scan import Scan, TooLarge
from antiphon.tools.undo.settings import UndoSettings
from antiphon.tools.undo.trees import FileTree, compare_paths, compare_tree, skipped_problems
from antiphon.tools.workspace import Workspace

RECORDS = "records"
COPIES = "copies"
LOCK = "lock"
# How many times more files than before a command are compared after it.
GROWTH = 10


class UndoLog:
    """Open undo log of a thread; methods can be called in any thread of the operating system."""

    def __init__(self, folder: Path, settings: UndoSettings, excluded: Iterable[Path] = ()) -> None:
        self.settings = settings
        self.guard = threading.RLock()
        self._excluded = tuple(excluded)
        self._active: set[int] = set()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = lock_folder(folder)
        try:
            self.copies = Copies(folder / COPIES, settings.most_thread_bytes)
            self._records = RecordFile(folder / RECORDS)
            self.calls = self._records.read()
        except BaseException:
            os.close(self._lock)
            raise
        self.trees: dict[str, FileTree] = {}

    def close(self) -> None:
        """Remove copies that no record needs, and release the lock."""
        with self.guard:
            if self._lock >= 0:
                self.copies.retain(self._needed())
                self._records.close()
                os.close(self._lock)
                self._lock = -1

    @property
    def is_active(self) -> bool:
        """Whether a call is being recorded."""
        return bool(self._active)

    def scan(self, workspace: Workspace, *, growth: int = 1, most_bytes: float | None = None) -> Scan:
        """Scan a workspace; raise `TooLarge` beyond the limits."""
        most = self.settings.most_bytes if most_bytes is None else most_bytes
        excluded = tuple(
            str(path.relative_to(workspace.folder)) for path in self._excluded if path.is_relative_to(workspace.folder)
        )
        return Scan(self.settings, self.settings.most_files * growth, most, excluded).run(workspace.descriptor)

    def begin(self, call: RecordedCall, changes: Sequence[FileChange] = ()) -> RecordedCall:
        """Record the beginning of a call, with changes that it is about to make; return the call with its number."""
        with self.guard:
            call.number = self._records.append([begin_entry(call)], flush=call.tree is not None)
            self.calls[call.number] = call
            self._active.add(call.number)
            self.add(call, changes)
            return call

    def add(self, call: RecordedCall, changes: Sequence[FileChange]) -> None:
        """Record changes that a call is about to make."""
        with self.guard:
            for change in changes:
                call.changes[change.path] = change
                if change.before.digest is not None:
                    self.copies.flush(change.before.digest)
            if changes:
                self._records.append([change_entry(call.number, change) for change in changes], flush=True)

    def end(self, call: RecordedCall, changes: Iterable[FileChange] = ()) -> None:
        """Record the end of a call, with its changes as they were made."""
        with self.guard:
            made = list(changes)
            call.changes.update({change.path: change for change in made})
            call.end = self._records.append([end_entry(call, made)], flush=False)
            self._active.discard(call.number)
            if call.tree is not None and call.tree not in {other.tree for other in self._unfinished()}:
                self.copies.remove(call.tree)

    def abandon(self, call: RecordedCall) -> None:
        """Leave a call whose end cannot be recorded like one that was interrupted."""
        with self.guard:
            self._active.discard(call.number)

    def compare(self, call: RecordedCall, before: FileTree, workspace: Workspace) -> list[FileChange]:
        """Return the changes in a workspace since a tree; note in the call what cannot be compared."""
        root = workspace.descriptor
        most_bytes = self.settings.most_bytes
        try:
            scan = self.scan(workspace, growth=GROWTH, most_bytes=float("inf"))
        except TooLarge as error:
            call.problem = f"created files were not recorded: {error}"
            return list(compare_paths(root, before, before.states, most_bytes))
        call.problem = "; ".join(skipped_problems(before, scan)) or None
        return list(compare_tree(root, before, scan, most_bytes))

    def finish_interrupted(self) -> None:
        """Record the changes of commands whose process ended before they did."""
        with self.guard:
            for call in self._unfinished():
                if call.tree is not None and call.number not in self._active:
                    before = FileTree.from_bytes(b"".join(self.copies.read(call.tree)))
                    with open_workspace(call.workspace) as workspace:
                        changes = self.compare(call, before, workspace)
                    call.is_certain = False
                    self.end(call, changes)

    def _unfinished(self) -> list[RecordedCall]:
        return [call for call in self.calls.values() if call.end is None]

    def _needed(self) -> set[str]:
        states = {change.before.digest for call in self.calls.values() for change in call.changes.values()}
        trees = [call.tree for call in self._unfinished() if call.tree is not None]
        # A command that was interrupted needs the copies of all files before it.
        for tree in trees:
            if tree in self.copies:
                before = FileTree.from_bytes(b"".join(self.copies.read(tree)))
                states |= {state.digest for state in before.states.values()}
        return {digest for digest in [*states, *trees] if digest is not None}


def new_call(key: str, tool: str, about: str, workspace: Workspace) -> RecordedCall:
    """Return a call that begins now."""
    return RecordedCall(0, key, tool, about, int(time.time() * 1000), str(workspace.folder))


def lock_folder(folder: Path) -> int:
    """Lock the folder of a thread for this process, and return the descriptor; raise `UndoError` if it is in use."""
    descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise UndoError("another process is working in this thread; stop it first") from None
    return descriptor


@contextmanager
def open_workspace(folder: str) -> Iterator[Workspace]:
    """Open the workspace of a record; raise `UndoError` if it is not the folder it was."""
    try:
        workspace = Workspace(folder)
    except ToolsError as error:
        raise UndoError(f"{error}; nothing was undone") from error
    with workspace:
        if str(workspace.folder) != folder:
            raise UndoError(f"{folder}: the workspace was replaced by a symlink; nothing was undone")
        yield workspace
