"""Folder with the undo logs of all threads."""

import hashlib
import os
import shutil
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from antiphon.tools.errors import UndoError, UnusableUndoFolder
from antiphon.tools.undo.log import RECORDS, UndoLog, lock_folder, open_workspace
from antiphon.tools.undo.plan import UndoPlan, UndoStep, make_plan, undone_calls
from antiphon.tools.undo.records import REDO, UNDO, RecordedCall, read_records
from antiphon.tools.undo.restore import restore
from antiphon.tools.undo.scan import Scan, TooLarge
from antiphon.tools.undo.settings import UndoSettings
from antiphon.tools.workspace import Workspace

DAY_S = 86_400
NAME_LENGTH = 32


class UndoFolder:
    """Undo logs of all threads, in a private folder outside of their workspaces; close it, or use `with`."""

    def __init__(self, folder: str | os.PathLike[str], settings: UndoSettings | None = None) -> None:
        self.folder = Path(folder).resolve()
        self.settings = settings or UndoSettings()
        self._excluded: list[Path] = []
        self._logs: dict[str, UndoLog] = {}
        self._guard = threading.RLock()
        self._is_pruned = False

    def __repr__(self) -> str:
        return f"UndoFolder({str(self.folder)!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the logs, and remove copies that no record needs."""
        with self._guard:
            for log in self._logs.values():
                log.close()
            self._logs.clear()

    def exclude(self, path: str | os.PathLike[str]) -> None:
        """Never record a file, such as a store, and files whose paths begin with its path."""
        self._excluded.append(Path(path).resolve())

    def problem(self, workspace: Workspace) -> str | None:
        """Return why the changes of commands in a workspace cannot be undone, or None if they can."""
        return self.file_problem(workspace) or undo_problem(workspace, self.settings)

    def file_problem(self, workspace: Workspace) -> str | None:
        """Return why no changes in a workspace can be undone, not even those of file tools, or None if they can."""
        if self.folder.is_relative_to(workspace.folder):
            return f"the copies would be kept inside the workspace, in {self.folder}"
        return None

    def calls(self, thread: str) -> list[RecordedCall]:
        """Return the recorded calls of a thread, the oldest first, also while another process records them."""
        with self._guard:
            if thread in self._logs:
                return list(self._logs[thread].calls.values())
            records = self._path(thread) / RECORDS
            try:
                return list(read_records(records).values())
            except FileNotFoundError:
                return []
            except OSError as error:
                raise UndoError(f"{records}: cannot be read: {error.strerror}") from error

    def plan(self, thread: str, *, redo: bool = False) -> UndoPlan:
        """Return the steps that undo all changes of a thread, or with `redo` those that take back its last undos."""
        with self._guard:
            log = self._existing(thread)
            return UndoPlan((), (), ()) if log is None else _plan(log, redo)

    def undo(self, thread: str, *, force: bool = False, redo: bool = False) -> UndoPlan:
        """Undo all changes of a thread, or with `redo` take back its last undos; return what was done.

        Raise `ChangedSince`, and change nothing, if files were changed by others since, unless `force` is set.
        """
        with self._guard:
            log = self._existing(thread)
            if log is None:
                return UndoPlan((), (), ())
            # Tools that begin meanwhile wait.
            with log.guard:
                return restore(log, _plan(log, redo), REDO if redo else UNDO, force=force)

    def contents(self, thread: str, step: UndoStep) -> tuple[bytes, bytes]:
        """Return the content of a file before a step of an undo, and after it; empty for what is not a file."""
        with self._guard, open_workspace(step.workspace) as workspace:
            log = self._existing(thread)
            size = step.now.size if step.now.kind == "file" else None
            now = b"" if size is None else workspace.read(step.path, most=size)
            digest = step.target.digest
            return now, b"" if digest is None or log is None else b"".join(log.copies.read(digest))

    def release(self, thread: str) -> None:
        """Close the log of a thread that no tool uses now, so that another process can open it."""
        with self._guard:
            log = self._logs.get(thread)
            if log is not None and not log.is_active:
                del self._logs[thread]
                log.close()

    def delete(self, thread: str) -> None:
        """Delete the records and copies of a thread."""
        with self._guard:
            log = self._logs.pop(thread, None)
            if log is not None:
                log.close()
            shutil.rmtree(self._path(thread), ignore_errors=True)

    def prune(self) -> None:
        """Delete the logs that are too old, and the oldest beyond the total size, unless they are in use."""
        logs = []
        for path in self.folder.iterdir() if self.folder.is_dir() else ():
            with suppress(OSError):
                logs.append(((path / RECORDS).stat().st_mtime, path))
        total_bytes = 0
        for changed, path in sorted(logs, reverse=True):
            total_bytes += sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
            is_old = changed < time.time() - self.settings.most_days * DAY_S
            if is_old or total_bytes > self.settings.most_total_bytes:
                with suppress(OSError, UndoError):
                    descriptor = lock_folder(path)
                    shutil.rmtree(path, ignore_errors=True)
                    os.close(descriptor)

    def create(self) -> None:
        """Create the folder if it is missing; raise `UndoError` if it cannot be used."""
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise UnusableUndoFolder(self._problem(error.strerror)) from error
        if not os.access(self.folder, os.R_OK | os.W_OK | os.X_OK):
            raise UnusableUndoFolder(self._problem("it cannot be written"))

    def _problem(self, reason: str | None) -> str:
        return f"{self.folder}: copies for undo cannot be kept here: {reason}; name another folder with ANTIPHON_UNDO"

    def log(self, thread: str, workspace: Workspace) -> UndoLog | None:
        """Open the log of a thread to record changes; None if the folder of copies is inside the workspace."""
        if self.folder.is_relative_to(workspace.folder):
            return None
        with self._guard:
            if not self._is_pruned:
                self.create()
                self._is_pruned = True
                self.prune()
            is_new = thread not in self._logs
            log = self._open(thread)
            if is_new:
                # A workspace that is gone is reported when the thread is undone.
                with suppress(UndoError):
                    log.finish_interrupted()
            return log

    def _existing(self, thread: str) -> UndoLog | None:
        return self._open(thread) if thread in self._logs or (self._path(thread) / RECORDS).exists() else None

    def _open(self, thread: str) -> UndoLog:
        if thread not in self._logs:
            try:
                log = UndoLog(self._path(thread), self.settings, self._excluded)
            except OSError as error:
                raise UndoError(f"{self.folder}: cannot be used: {error.strerror}") from error
            self._logs[thread] = log
        return self._logs[thread]

    def _path(self, thread: str) -> Path:
        # An id is any text of a caller, so it cannot be a file name.
        return self.folder / hashlib.sha256(thread.encode("utf-8", "surrogatepass")).hexdigest()[:NAME_LENGTH]


def _plan(log: UndoLog, redo: bool) -> UndoPlan:
    if log.is_active:
        raise UndoError("a tool of this thread is running; stop the thread first")
    log.finish_interrupted()
    calls = list(log.calls.values())
    if redo:
        calls = undone_calls(calls)
        if not calls:
            raise UndoError("there is no undo to take back: tools have made changes since, or none was made")
    return make_plan(log, calls)


def undo_problem(workspace: Workspace, settings: UndoSettings | None = None) -> str | None:
    """Return why the changes of commands in a workspace cannot be undone, or None if they can."""
    bounds = settings or UndoSettings()
    try:
        Scan(bounds, bounds.most_files, bounds.most_bytes, ()).run(workspace.descriptor)
    except TooLarge as error:
        return str(error)
    return None
