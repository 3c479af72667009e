"""A store's file in the hands of a command: to read beside its owner, or to own."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from antiphon.runtime.errors import StoreError
from antiphon.stores import files
from antiphon.stores.ownership import Ownership


@contextmanager
def reading(path: str | Path, *, any_schema: bool = False) -> Iterator[sqlite3.Connection]:
    """A connection that shows the file as it is now, whatever its owner does meanwhile."""
    path = Path(path)
    with files.explained(path):
        connection = files.connect_reader(path)
        try:
            connection.execute("begin")
            if any_schema:
                files.schema_of(connection, path)
            else:
                files.require_current(connection, path)
            yield connection
        finally:
            connection.close()


@contextmanager
def owning(path: str | Path, *, any_schema: bool = False) -> Iterator[sqlite3.Connection]:
    """A connection that may change the file, which nobody else owns meanwhile."""
    path = Path(path)
    ownership = Ownership(path)
    ownership.take()
    try:
        with files.explained(path):
            connection = files.connect(path, files.DURABILITY["full"])
            try:
                if not any_schema:
                    files.require_current(connection, path)
                yield connection
            finally:
                connection.close()
    finally:
        ownership.give_up()


@contextmanager
def whole(target: str | Path) -> Iterator[Path]:
    """A path to write a new file to, which appears under its name once it is complete, or never."""
    target = Path(target)
    if target.exists():
        raise StoreError(f"{target}: there is a file already, and nothing is overwritten")
    part = target.with_name(target.name + ".part")
    try:
        part.unlink(missing_ok=True)
        os.close(os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        yield part
        _sync(part, os.O_RDWR)
        part.rename(target)
        _sync(target.parent, os.O_RDONLY)
    except OSError as error:
        raise StoreError(f"{target}: cannot be written: {error.strerror}") from error
    finally:
        part.unlink(missing_ok=True)


def _sync(place: Path, flags: int) -> None:
    number = os.open(place, flags)
    try:
        os.fsync(number)
    finally:
        os.close(number)
