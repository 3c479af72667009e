"""Folder for tools, with paths that cannot lead out of it.

1. A path is walked name by name from the open folder; each name is opened relative to the previous directory, and
   never through a symlink. Checking and using a path are therefore the same system calls: nothing can be
   replaced in between.
2. `..` returns to the previous directory of the walk, whatever the file system says; the folder is the top.
3. A symlink is read and walked like a path, so it is followed only if it stays inside.
4. Only regular files and folders are opened, no pipes and no devices.
5. Nothing is written into the folders of version control, because a hook there is a command without permission.
6. Antiphon's own data in the folder is neither read nor written.
"""

import errno
import os
import stat
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from types import TracebackType
from typing import Protocol, Self

from antiphon.tools.errors import ToolCallError, ToolsError
from antiphon.tools.guarded_paths import GuardedPaths
from antiphon.tools.protected import VERSION_CONTROL
from antiphon.tools.sandbox.names import contains_key, is_secret_path

SECRET_MESSAGE = "{!r} usually holds keys, and no permission covers reading it."
MAX_SYMLINKS = 40
MAX_PATH = 4_096
OPEN_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
# Without O_NONBLOCK, opening a named pipe would block until its other end is opened.
OPEN_FILE = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


class ChangeRecorder(Protocol):
    """Records changes before they are made."""

    def before_folder(self, path: str) -> None:
        """Record that a folder is about to be created."""
        ...

    def before_file(self, folder: int, name: str, path: str, data: bytes) -> None:
        """Record that a file is about to be written: its name in an open folder, its path, and its new content."""
        ...


@dataclass(slots=True)
class _Walk:
    """State of a walk: the open directories from the workspace to the current one, and their names."""

    folders: list[int]
    recorder: ChangeRecorder | None = None
    names: list[str] = field(default_factory=list)
    # The last name of the path, if it is not a folder.
    last: str | None = None

    def up(self) -> None:
        """Return to the previous directory."""
        if not self.names:
            raise ToolCallError("The path leads out of the workspace.")
        self.names.pop()
        os.close(self.folders.pop())

    def into(self, name: str) -> None:
        """Enter a folder."""
        self.folders.append(os.open(name, OPEN_FOLDER, dir_fd=self.folders[-1]))
        self.names.append(name)

    def kind(self, name: str) -> int | None:
        """Return the file type of a name in the current directory; None if it does not exist."""
        try:
            return stat.S_IFMT(os.stat(name, dir_fd=self.folders[-1], follow_symlinks=False).st_mode)
        except FileNotFoundError:
            return None

    @property
    def path(self) -> str:
        """Path that was really walked."""
        return "/".join([*self.names, *([self.last] if self.last is not None else [])]) or "."


class Workspace:
    """Open folder in which all paths of tools are resolved; close it, or use `with`.

    Tools neither read nor write what is `hidden`, and Antiphon's own data at its usual places.
    """

    __slots__ = ("_guarded", "_root", "folder", "lock")

    def __init__(self, folder: str | os.PathLike[str], *, hidden: Iterable[str | os.PathLike[str]] = ()) -> None:
        if os.open not in os.supports_dir_fd:
            raise ToolsError("a workspace needs a system that can open files relative to directories")
        self.folder = Path(folder).resolve()
        try:
            self._root = os.open(self.folder, OPEN_FOLDER)
        except OSError as error:
            raise ToolsError(f"{str(folder)!r} cannot be a workspace: {error.strerror}") from error
        self._guarded = GuardedPaths(self.folder, hidden)
        # Concurrent edits of one file would lose one of them.
        self.lock = threading.RLock()

    def __repr__(self) -> str:
        return f"Workspace({str(self.folder)!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the folder."""
        if self._root >= 0:
            os.close(self._root)
            self._root = -1

    def read(self, path: str, *, most: int, secrets: bool = True) -> bytes:
        """Read a file; raise `ToolCallError` if it has more than `most` bytes.

        Without `secrets`, a file that usually holds keys is refused, by the path that is really walked.
        """
        with self._walk(path) as walk, open(_open_file(walk, path), "rb") as file:
            name = walk.last or ""
            if not secrets and is_secret_path(walk.path):
                raise ToolCallError(SECRET_MESSAGE.format(path))
            size = os.fstat(file.fileno()).st_size
            data = file.read(most + 1) if size <= most else b""
        if max(size, len(data)) > most:
            raise ToolCallError(f"{path!r} has {size:,} bytes; the limit is {most:,}.")
        if not secrets and contains_key(name, data):
            raise ToolCallError(SECRET_MESSAGE.format(path))
        return data

    @property
    def descriptor(self) -> int:
        """Descriptor of the open folder."""
        if self._root < 0:
            raise ToolCallError("The workspace is closed.")
        return self._root

    def replace(
        self, path: str, data: bytes, recorder: ChangeRecorder | None = None, *, protected: bool = True
    ) -> bool:
        """Write a file atomically, creating missing folders; return whether it existed before.

        Without `protected`, a protected path is refused. It is checked here, on the path that is really walked, because
        a symlink may have changed since a person was asked.
        """
        target = self.resolve(path)
        if not protected and self.is_protected(target):
            raise ToolCallError(f"{path!r} is protected, and no permission covers it; nothing was written.")
        with self._walk(path, making=True, recorder=recorder) as walk:
            if not protected and walk.path != target and self.is_protected(walk.path):
                raise ToolCallError(f"{path!r} is protected, and no permission covers it; nothing was written.")
            if walk.last is None:
                raise ToolCallError(f"{path!r} is a folder.")
            if any(name.lower() in VERSION_CONTROL for name in [*walk.names, walk.last]):
                raise ToolCallError(f"{path!r} belongs to version control; nothing is written there.")
            kind = walk.kind(walk.last)
            if kind not in (None, stat.S_IFREG):
                raise ToolCallError(f"{path!r} is not a regular file.")
            if recorder is not None:
                recorder.before_file(walk.folders[-1], walk.last, walk.path, data)
            _write_atomically(walk.folders[-1], walk.last, data)
            return kind is not None

    def kind(self, path: str) -> str:
        """Return the kind of a path: "file", "folder", "other" or "nothing"."""
        with self._walk(path, missing_ok=True) as walk:
            if walk.last is None:
                return "folder"
            file_type = walk.kind(walk.last)
            return "nothing" if file_type is None else "file" if file_type == stat.S_IFREG else "other"

    def is_protected(self, target: str) -> bool:
        """Return whether a resolved path is protected, by its names or because a protected name leads to it."""
        return self._guarded.is_protected(target)

    def is_own_data(self, target: str) -> bool:
        """Return whether a resolved path is hidden from tools as part of Antiphon's own data."""
        return self._guarded.is_own_data(target)

    def resolve(self, path: str) -> str:
        """Return the path that would really be written, with symlinks and `..` resolved; nothing is created."""
        with self._walk(path, planning=True) as walk:
            return walk.path

    @contextmanager
    def open_folder(self, path: str) -> Iterator[tuple[int, str]]:
        """Open a folder; yield its descriptor and the path that was really walked."""
        with self._walk(path) as walk:
            if walk.last is not None:
                raise ToolCallError(
                    f"{path!r} is not a folder." if walk.kind(walk.last) else f"{path!r} does not exist."
                )
            yield walk.folders[-1], walk.path

    @contextmanager
    def _walk(
        self,
        path: str,
        *,
        making: bool = False,
        missing_ok: bool = False,
        planning: bool = False,
        recorder: ChangeRecorder | None = None,
    ) -> Iterator[_Walk]:
        walk = _Walk([os.dup(self.descriptor)], recorder)
        try:
            self._follow(walk, path, making, missing_ok or making, planning)
            if self._guarded.is_own_data(walk.path):
                raise ToolCallError(f"{path!r} is part of Antiphon's own data, which tools neither read nor write.")
            yield walk
        except OSError as error:
            raise ToolCallError(_describe_os_error(error, path)) from error
        finally:
            for folder in walk.folders:
                os.close(folder)

    def _follow(self, walk: _Walk, path: str, making: bool, missing_ok: bool, planning: bool) -> None:
        pending = deque(self._names(path))
        links = 0
        while pending:
            name = pending.popleft()
            if name == "..":
                walk.up()
                continue
            kind = walk.kind(name)
            if kind == stat.S_IFLNK:
                links += 1
                if links > MAX_SYMLINKS:
                    raise ToolCallError(f"{path!r} has too many symlinks.")
                pending.extendleft(reversed(self._link(walk, name)))
            elif kind == stat.S_IFDIR:
                walk.into(name)
            elif kind is None and making and pending and ".." not in pending:
                _make_folder(walk, name)
            elif kind is None and planning and ".." not in pending:
                walk.last = "/".join([name, *pending])
                return
            elif pending or (kind is None and not missing_ok):
                raise ToolCallError(
                    f"{path!r} does not exist." if kind is None else f"{name!r} in {path!r} is not a folder."
                )
            else:
                walk.last = name

    def _link(self, walk: _Walk, name: str) -> list[str]:
        target = os.readlink(name, dir_fd=walk.folders[-1])
        try:
            names = self._names(target)
        except ToolCallError:
            # The target is not shown, because it is a path of this machine.
            raise ToolCallError("The path leads out of the workspace.") from None
        if target.startswith("/"):
            while walk.names:
                walk.up()
        return names

    def _names(self, path: str) -> list[str]:
        _check_text(path)
        if path.startswith("/"):
            # Models often use absolute paths; those in the workspace are accepted.
            prefix = str(self.folder)
            if path != prefix and not path.startswith(prefix.rstrip("/") + "/"):
                raise ToolCallError(f"{path!r} is not in the workspace; use a relative path.")
            path = path[len(prefix) :]
        return [name for name in path.split("/") if name not in ("", ".")]


def _check_text(path: str) -> None:
    try:
        size = len(os.fsencode(path))
    except UnicodeEncodeError:
        raise ToolCallError("The path is not a valid file name.") from None
    if "\0" in path or size > MAX_PATH:
        raise ToolCallError("The path is not a valid file name.")


def _make_folder(walk: _Walk, name: str) -> None:
    if name.lower() in VERSION_CONTROL:
        raise ToolCallError(f"{name!r} belongs to version control; nothing is written there.")
    if walk.recorder is not None:
        walk.recorder.before_folder("/".join([*walk.names, name]))
    with suppress(FileExistsError):
        os.mkdir(name, 0o777, dir_fd=walk.folders[-1])
    walk.into(name)


def _open_file(walk: _Walk, path: str) -> int:
    if walk.last is None:
        raise ToolCallError(f"{path!r} is a folder.")
    file = os.open(walk.last, OPEN_FILE, dir_fd=walk.folders[-1])
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise ToolCallError(f"{path!r} is not a regular file.")
    return file


def _write_atomically(folder: int, name: str, data: bytes) -> None:
    """Write a temporary file and rename it, so that readers see the old or the new file and no symlink is followed."""
    temporary = f".antiphon-{token_hex(8)}"
    try:
        mode = stat.S_IMODE(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        mode = None
    file = os.open(temporary, _NEW, 0o666, dir_fd=folder)
    try:
        with open(file, "wb") as written:
            written.write(data)
            written.flush()
            if mode is not None:
                os.fchmod(file, mode & 0o777)
            os.fsync(file)
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise


def _describe_os_error(error: OSError, path: str) -> str:
    if error.errno == errno.ENOENT:
        return f"{path!r} does not exist."
    if error.errno in (errno.ELOOP, errno.ENOTDIR):
        return f"{path!r} changed while it was opened; try again."
    return f"{path!r}: {error.strerror}."
