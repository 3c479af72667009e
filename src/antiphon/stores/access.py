"""Connections of commands to the file of a store: to read beside its owner, or to own it."""

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from antiphon.runtime.errors import StoreError
from antiphon.stores import files
from antiphon.stores.ownership import FileLock


@contextmanager
def open_reader(path: str | Path, *, any_schema: bool = False) -> Iterator[sqlite3.Connection]:
    """Open a connection that sees the file as it is now, whatever its owner writes in the meantime."""
    path = Path(path)
    with files.translate_errors(path):
        connection = files.connect_reader(path)
        try:
            connection.execute("begin")
            if any_schema:
                files.schema_number(connection, path)
            else:
                files.require_current(connection, path)
            yield connection
        finally:
            connection.close()


@contextmanager
def open_owned(
    path: str | Path, *, any_schema: bool = False, without_log: bool = False
) -> Iterator[sqlite3.Connection]:
    """Take ownership of the file and open a connection that may change it."""
    path = Path(path)
    ownership = FileLock(path)
    ownership.take()
    try:
        with files.translate_errors(path):
            connection = files.connect(path, files.DURABILITY["full"], without_log=without_log)
            try:
                if not any_schema:
                    files.require_current(connection, path)
                files.flag_closed(connection)
                yield connection
            finally:
                connection.close()
    finally:
        ownership.release()


@contextmanager
def atomic_file(target: str | Path) -> Iterator[Path]:
    """Yield a path to write to; the file gets its own name only when it is complete, and overwrites no other.

    The path is unique. A process that is killed leaves it behind, as `NAME.….part`.
    """
    target = Path(target)
    _refuse_existing(target)
    part: Path | None = None
    try:
        descriptor, name = tempfile.mkstemp(".part", f"{target.name}.", target.parent)
        os.close(descriptor)
        part = Path(name)
        yield part
        _sync(part, os.O_RDWR)
        _give_name(part, target)
        _sync(target.parent, os.O_RDONLY)
    except OSError as error:
        raise StoreError(f"{target}: cannot be written: {error.strerror}") from error
    finally:
        if part is not None:
            part.unlink(missing_ok=True)


def _give_name(part: Path, target: Path) -> None:
    """Give a file its own name; a link, unlike a rename, overwrites no file that was created in the meantime."""
    try:
        os.link(part, target)
    except FileExistsError:
        _refuse_existing(target)
    except OSError:  # a file system without links
        _refuse_existing(target)
        part.rename(target)


def _refuse_existing(target: Path) -> None:
    if os.path.lexists(target):
        raise StoreError(f"{target}: file exists; not overwritten")


def _sync(path: Path, flags: int) -> None:
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
