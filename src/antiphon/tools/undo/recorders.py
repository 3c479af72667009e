"""Recorders of calls: of a file tool, change by change, and of a command, by comparing the workspace."""

import hashlib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace

from antiphon.tools.access import Access
from antiphon.tools.context import CURRENT
from antiphon.tools.errors import ToolCallError, UndoError
from antiphon.tools.functions import run_in_thread
from antiphon.tools.undo.copies import digest_of
from antiphon.tools.undo.folder import UndoFolder
from antiphon.tools.undo.log import UndoLog, new_call
from antiphon.tools.undo.records import FileChange, RecordedCall
from antiphon.tools.undo.scan import TooLarge
from antiphon.tools.undo.states import ABSENT, FileState, read_state
from antiphon.tools.undo.trees import FileTree, copy_tree, read_path
from antiphon.tools.workspace import ChangeRecorder, Workspace


class FileRecorder:
    """Records the changes of a file tool; a `ChangeRecorder`."""

    def __init__(self, log: UndoLog, call: RecordedCall, workspace: Workspace) -> None:
        self._log = log
        self._call = call
        self._workspace = workspace

    def before_folder(self, path: str) -> None:
        """Record that a folder is about to be created."""
        self._add(FileChange(path, ABSENT, FileState("folder")))

    def before_file(self, folder: int, name: str, path: str, data: bytes) -> None:
        """Record that a file is about to be written: its name in an open folder, its path, and its new content."""
        before = read_state(folder, name, self._log.copies.add)
        if before.kind == "file" and before.digest is None:
            self._call.problem = "the copies of this thread have reached their limit"
        after = FileState("file", None, hashlib.sha256(data).hexdigest(), len(data))
        self._add(FileChange(path, before, after))

    def end(self) -> None:
        """Record the states after the call."""
        if self._call.number:
            root = self._workspace.descriptor
            self._log.end(
                self._call,
                [
                    replace(change, after=read_path(root, change.path, digest_of))
                    for change in self._call.changes.values()
                ],
            )

    def _add(self, change: FileChange) -> None:
        try:
            if not self._call.number:
                self._log.begin(self._call)
            self._log.add(self._call, [change])
        except (OSError, UndoError) as error:
            raise ToolCallError(f"The change was not made, because it cannot be recorded for undo: {error}") from error


@contextmanager
def record_files(
    undo: UndoFolder | None, workspace: Workspace, tool: str, path: str
) -> Iterator[ChangeRecorder | None]:
    """Record the changes of a file tool, if it is called by a thread."""
    log = _open_log(undo, workspace)
    if log is None:
        yield None
        return
    with log.guard:
        recorder = FileRecorder(log, new_call(_key(), tool, path, workspace), workspace)
        try:
            yield recorder
        finally:
            recorder.end()


@asynccontextmanager
async def record_command(
    undo: UndoFolder | None, workspace: Workspace, command: str, access: Access | None
) -> AsyncIterator[None]:
    """Record the changes of a command, if it is called by a thread and can change anything."""
    is_reading = access is not None and not (access.writes or access.outside)
    log = None if is_reading else await run_in_thread(lambda: _open_log(undo, workspace))
    if log is None:
        yield
        return
    call = new_call(_key(), "shell", command, workspace)
    before = await run_in_thread(lambda: _begin_command(log, call, workspace))
    try:
        yield
    finally:
        await run_in_thread(lambda: _end_command(log, call, before, workspace))


def _begin_command(log: UndoLog, call: RecordedCall, workspace: Workspace) -> FileTree | None:
    with log.guard:
        try:
            tree = _copy_workspace(log, call, workspace)
            log.begin(call)
        except (OSError, UndoError) as error:
            raise ToolCallError(f"The command was not run, because it cannot be recorded for undo: {error}") from error
        return tree


def _copy_workspace(log: UndoLog, call: RecordedCall, workspace: Workspace) -> FileTree | None:
    try:
        scan = log.scan(workspace)
    except TooLarge as error:
        call.problem = f"undo is off for commands: {error}"
        return None
    tree = copy_tree(workspace.descriptor, scan, log.trees.get(call.workspace), log.copies)
    log.trees[call.workspace] = tree
    call.tree = log.copies.add_bytes(tree.to_bytes(), flush=True)
    if call.tree is None:
        call.problem = "the copies of this thread have reached their limit"
        return None
    return tree


def _end_command(log: UndoLog, call: RecordedCall, before: FileTree | None, workspace: Workspace) -> None:
    with log.guard:
        try:
            log.end(call, [] if before is None else log.compare(call, before, workspace))
        except (OSError, UndoError):
            # The command has run, and its result counts; its changes are compared when they are undone.
            log.abandon(call)


def _open_log(undo: UndoFolder | None, workspace: Workspace) -> UndoLog | None:
    context = CURRENT.get()
    if undo is None or context is None or context.thread is None:
        return None
    try:
        return undo.log(context.thread, workspace)
    except (OSError, UndoError) as error:
        raise ToolCallError(f"The change cannot be recorded for undo: {error}") from error


def _key() -> str:
    context = CURRENT.get()
    return "" if context is None else context.key
