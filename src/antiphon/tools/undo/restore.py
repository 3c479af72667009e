"""Restoring files: the steps of an undo, in an order that always works, and never through a symlink.

1. Nothing is changed before all copies were checked, and the states before the undo are recorded.
2. Paths that go, or become something else, are removed first, the deepest first; then folders are created, then files,
   symlinks and pipes; modes of folders come last, because a folder may be read-only.
3. A file is written beside its path and renamed, so that a hard link elsewhere keeps its content.
"""

import errno
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from secrets import token_hex

from antiphon.tools.errors import ChangedSince
from antiphon.tools.undo.copies import Copies
from antiphon.tools.undo.log import UndoLog, new_call, open_workspace
from antiphon.tools.undo.plan import UndoPlan, UndoStep
from antiphon.tools.undo.records import FileChange
from antiphon.tools.undo.scan import open_parent
from antiphon.tools.undo.states import FileState, read_state
from antiphon.tools.undo.trees import limited_digest, read_path
from antiphon.tools.workspace import Workspace

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
WRITABLE = 0o300
MOST_NAMED = 5


def restore(log: UndoLog, plan: UndoPlan, tool: str, *, force: bool) -> UndoPlan:
    """Make the steps of a plan; return the steps that were made, and the problems that came up."""
    if plan.conflicts and not force:
        named = ", ".join(repr(step.path) for step in plan.conflicts[:MOST_NAMED])
        more = f" and {len(plan.conflicts) - MOST_NAMED} more" if len(plan.conflicts) > MOST_NAMED else ""
        raise ChangedSince(
            f"changes of others would be lost in {named}{more}: {plan.conflicts[0].conflict}; nothing was undone",
            [step.path for step in plan.conflicts],
        )
    for step in plan.steps:
        if step.target.digest is not None:
            log.copies.check(step.target.digest)
    problems = list(plan.problems)
    made: list[UndoStep] = []
    for folder in dict.fromkeys(step.workspace for step in plan.steps):
        steps = [step for step in plan.steps if step.workspace == folder]
        with open_workspace(folder) as workspace:
            failures = _restore_folder(log, steps, workspace, tool)
            problems += failures.values()
            made += [step for step in steps if step.path not in failures]
    return replace(plan, steps=made, problems=problems)


def _restore_folder(log: UndoLog, steps: Sequence[UndoStep], workspace: Workspace, tool: str) -> dict[str, str]:
    """Make the steps in one workspace; return sentences on those that failed, by path."""
    changes = [FileChange(step.path, _keep_state(log, step, workspace), step.target) for step in steps]
    call = log.begin(new_call("", tool, f"{len(steps)} files", workspace), changes)
    work = _Restoration(workspace, log)
    try:
        work.run(steps)
    finally:
        digest = limited_digest(log.settings.most_bytes)
        made = [replace(change, after=read_path(workspace.descriptor, change.path, digest)) for change in changes]
        log.end(call, made)
    return work.failures


def _keep_state(log: UndoLog, step: UndoStep, workspace: Workspace) -> FileState:
    """Copy a file as it is now; raise `ChangedSince` if it is not what was planned with."""
    state = read_path(workspace.descriptor, step.path, log.copies.add)
    if not state.matches(step.now):
        raise ChangedSince(f"{step.path!r} was changed just now; nothing was undone", [step.path])
    return state


class _Restoration:
    """Steps made in one workspace."""

    def __init__(self, workspace: Workspace, log: UndoLog) -> None:
        self._root = workspace.descriptor
        self._copies = log.copies
        self._digest = limited_digest(log.settings.most_bytes)
        self.failures: dict[str, str] = {}

    def run(self, steps: Sequence[UndoStep]) -> None:
        """Make all steps."""
        deepest_first = sorted(steps, key=lambda step: step.path.count("/"), reverse=True)
        for step in deepest_first:
            if step.now.kind != "absent" and step.now.kind != step.target.kind:
                self._make(step, self._remove)
        for step in reversed(deepest_first):
            if step.target.kind == "folder":
                self._make(step, self._make_folder)
        for step in steps:
            if step.target.kind not in ("absent", "folder"):
                self._make(step, self._write)
        for step in deepest_first:
            if step.target.kind == "folder" and step.target.mode is not None:
                self._make(step, self._set_mode)

    def _make(self, step: UndoStep, make: Callable[[UndoStep, int, str], None]) -> None:
        try:
            with open_parent(self._root, step.path) as parent:
                if parent is None:
                    raise NotADirectoryError(errno.ENOTDIR, "its folder does not exist any more")
                with _make_writable(parent[0]):
                    make(step, *parent)
        except OSError as error:
            self.failures.setdefault(step.path, f"{step.path!r} could not be restored: {error.strerror}")

    def _remove(self, step: UndoStep, folder: int, name: str) -> None:
        if step.now.kind == "folder":
            os.rmdir(name, dir_fd=folder)
        else:
            self._check(step, folder, name)
            os.unlink(name, dir_fd=folder)

    def _make_folder(self, step: UndoStep, folder: int, name: str) -> None:
        if step.now.kind != "folder":
            os.mkdir(name, 0o700, dir_fd=folder)

    def _set_mode(self, step: UndoStep, folder: int, name: str) -> None:
        _change_mode(folder, name, step.target.mode)

    def _write(self, step: UndoStep, folder: int, name: str) -> None:
        temporary = f".antiphon-{token_hex(8)}"
        target = step.target
        try:
            if target.kind == "symlink":
                os.symlink(target.target or "", temporary, dir_fd=folder)
            elif target.kind == "pipe":
                os.mkfifo(temporary, 0o600, dir_fd=folder)
                _change_mode(folder, temporary, target.mode)
            else:
                _write_copy(self._copies, target, folder, temporary)
            self._check(step, folder, name)
            os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=folder)

    def _check(self, step: UndoStep, folder: int, name: str) -> None:
        """Raise `OSError` if a path is not what it was when it was recorded."""
        state = read_state(folder, name, self._digest)
        if state.kind != "absent" and not state.matches(step.now):
            raise OSError(errno.EBUSY, "it was changed just now")


def _write_copy(copies: Copies, target: FileState, folder: int, name: str) -> None:
    with open(os.open(name, _NEW, 0o600, dir_fd=folder), "wb") as file:
        for data in copies.read(target.digest or ""):
            file.write(data)
        file.flush()
        os.fchmod(file.fileno(), 0o600 if target.mode is None else target.mode)
        os.fsync(file.fileno())


def _change_mode(folder: int, name: str, mode: int | None) -> None:
    """Change the mode of a name in an open folder; a symlink is not followed."""
    if mode is None:
        return
    if os.chmod in os.supports_follow_symlinks:
        os.chmod(name, mode, dir_fd=folder, follow_symlinks=False)
        return
    # Linux cannot do that before version 6.6, and a folder that is not readable can only be opened as a path.
    descriptor = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        os.chmod(f"/proc/self/fd/{descriptor}", mode)
    finally:
        os.close(descriptor)


@contextmanager
def _make_writable(folder: int) -> Iterator[None]:
    """Make an open folder writable for its owner, and give it its mode back in the end."""
    mode = stat.S_IMODE(os.fstat(folder).st_mode)
    if mode & WRITABLE == WRITABLE:
        yield
        return
    os.fchmod(folder, mode | WRITABLE)
    try:
        yield
    finally:
        os.fchmod(folder, mode)
