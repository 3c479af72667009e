"""Copies of file contents: private files that are named by the digest of their content."""

import fcntl
import hashlib
import os
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from antiphon.tools.errors import UndoError

CHUNK = 1024 * 1024
# Smaller files are read whole; larger ones are cloned, where the file system can share their blocks.
CLONED = 256 * 1024
FICLONE = 0x40049409
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


class Copies:
    """Folder of copies, at most `most_bytes` large."""

    def __init__(self, folder: Path, most_bytes: int) -> None:
        self._folder = folder
        self._most_bytes = most_bytes
        folder.mkdir(mode=0o700, exist_ok=True)
        self._sizes: dict[str, int] = {}
        for entry in os.scandir(folder):
            if entry.name.startswith("."):  # left behind by a crash
                os.unlink(entry.path)
            else:
                self._sizes[entry.name] = entry.stat(follow_symlinks=False).st_size
        self._bytes = sum(self._sizes.values())

    def __contains__(self, digest: str) -> bool:
        return digest in self._sizes

    def add(self, file: int) -> str | None:
        """Copy an open file; return its digest, or None if there is no room for it."""
        size = os.fstat(file).st_size
        if size <= CLONED:
            data = os.pread(file, CLONED + 1, 0)
            if len(data) <= CLONED:
                return self.add_bytes(data)
        if self._bytes + size > self._most_bytes:
            # Unless there is such a copy already.
            digest = digest_of(file)
            return digest if digest in self._sizes else None
        return self._add_large(file)

    def add_bytes(self, data: bytes, *, flush: bool = False) -> str | None:
        """Copy some bytes; return their digest, or None if there is no room for them."""
        digest = hashlib.sha256(data).hexdigest()
        if digest in self._sizes:
            return digest
        if self._bytes + len(data) > self._most_bytes:
            return None
        with self._new_file() as (copy, name):
            _write_all(copy, data)
            if flush:
                os.fsync(copy)
            self._keep(name, digest, len(data))
        return digest

    def flush(self, digest: str) -> None:
        """Write a copy to the disk."""
        file = os.open(self._folder / digest, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(file)
        finally:
            os.close(file)

    def check(self, digest: str) -> None:
        """Raise `UndoError` if a copy is missing or damaged."""
        for _ in self.read(digest):
            pass

    def read(self, digest: str) -> Iterator[bytes]:
        """Yield the content of a copy in pieces; raise `UndoError` if it is missing, or in the end if it is damaged."""
        content = hashlib.sha256()
        try:
            with open(self._folder / digest, "rb") as file:
                while data := file.read(CHUNK):
                    content.update(data)
                    yield data
        except OSError as error:
            raise UndoError(f"the copy {digest} cannot be read: {error.strerror}; nothing was undone") from error
        if content.hexdigest() != digest:
            raise UndoError(f"the copy {digest} is damaged; nothing was undone")

    def remove(self, digest: str) -> None:
        """Remove a copy."""
        self._bytes -= self._sizes.pop(digest, 0)
        with suppress(FileNotFoundError):
            os.unlink(self._folder / digest)

    def retain(self, digests: Collection[str]) -> None:
        """Remove all other copies."""
        for digest in set(self._sizes) - set(digests):
            self.remove(digest)

    def _add_large(self, file: int) -> str:
        with self._new_file() as (copy, name):
            try:
                fcntl.ioctl(copy, FICLONE, file)
            except OSError:  # no such file system, or another one
                offset = 0
                while data := os.pread(file, CHUNK, offset):
                    _write_all(copy, data)
                    offset += len(data)
            # The digest is that of the copy: the file may change while it is read.
            digest = digest_of(copy)
            if digest not in self._sizes:
                self._keep(name, digest, os.fstat(copy).st_size)
        return digest

    def _keep(self, name: Path, digest: str, size: int) -> None:
        os.rename(name, self._folder / digest)
        self._sizes[digest] = size
        self._bytes += size

    def _new_file(self) -> "_NewFile":
        return _NewFile(self._folder / f".{token_hex(8)}")


class _NewFile:
    """Temporary file, removed at the end unless it was renamed."""

    __slots__ = ("_file", "_path")

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = -1

    def __enter__(self) -> tuple[int, Path]:
        self._file = os.open(self._path, _NEW, 0o600)
        return self._file, self._path

    def __exit__(self, *_: object) -> None:
        os.close(self._file)
        with suppress(FileNotFoundError):
            os.unlink(self._path)


def digest_of(file: int) -> str:
    """Return the digest of an open file."""
    content = hashlib.sha256()
    offset = 0
    while data := os.pread(file, CHUNK, offset):
        content.update(data)
        offset += len(data)
    return content.hexdigest()


def _write_all(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]
