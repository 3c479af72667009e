"""A store's SQLite file: connections to it, its schema, and what SQLite's errors mean for whoever runs it."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from antiphon.runtime.errors import StoreBusy, StoreCorrupt, StoreError, Unstorable
from antiphon.stores.queries import migrations
from antiphon.stores.rows import RESTORE

DURABILITY = {"full": "FULL", "normal": "NORMAL"}
OLDEST_SQLITE = (3, 37, 0)  # strict tables
PAGE_SIZE = 8192
CACHE_KB = 65_536  # the pages that many busy actors write to, with room to spare
WAL_LIMIT = 64 * 1024 * 1024  # a longer one is cut when it has been copied into the file

# What a failing call means, by SQLite's primary result code, and what can be done about it.
ADVICE = {
    sqlite3.SQLITE_FULL: "free some space; nothing that was acknowledged is lost, and work goes on by itself",
    sqlite3.SQLITE_IOERR: "look at the disk and its limits; nothing that was acknowledged is lost",
    sqlite3.SQLITE_READONLY: "it was opened for reading, or is in a folder that may not be written: then copy it",
    sqlite3.SQLITE_CANTOPEN: "look at the permissions, or copy it to a folder that may be written",
    sqlite3.SQLITE_BUSY: "a program that is not Antiphon has locked it",
    sqlite3.SQLITE_CORRUPT: RESTORE,
    sqlite3.SQLITE_NOTADB: "restore a backup, or give the path of another file",
}
EXPLAINED = (sqlite3.Error, UnicodeError, OverflowError)
KINDS: dict[int, type[StoreError]] = {
    sqlite3.SQLITE_BUSY: StoreBusy,
    sqlite3.SQLITE_CORRUPT: StoreCorrupt,
    sqlite3.SQLITE_NOTADB: StoreCorrupt,
}


@contextmanager
def explained(path: Path | str) -> Iterator[None]:
    """Let errors of SQLite out as errors of the store that say what to do."""
    try:
        yield
    except EXPLAINED as error:
        raise explanation(path, error) from error


def explanation(path: Path | str, error: Exception) -> StoreError:
    """An error of SQLite as one of the store."""
    if isinstance(error, UnicodeDecodeError):
        return StoreCorrupt(f"{path}: a text is damaged: {error}; {RESTORE}")
    if not isinstance(error, sqlite3.Error):
        return Unstorable(f"{path}: what is to be stored is not valid Unicode or too large: {error}")
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    # Our own statements name what is there, unless the schema is damaged; bad texts are Python's finding.
    if str(error).startswith(("no such", "Could not decode")):
        code = sqlite3.SQLITE_CORRUPT
    advice = f"; {ADVICE[code]}" if code in ADVICE else ""
    return KINDS.get(code, StoreError)(f"{path}: {error}{advice}")


def connect(path: Path, durability: str) -> sqlite3.Connection:
    """A connection for the one writer; a new file is for its owner's eyes only."""
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        raise StoreError(f"SQLite {sqlite3.sqlite_version} is too old; Antiphon needs 3.37 or newer")
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror}") from error
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        schema_of(connection, path)  # a file that is not ours is not even put into another mode
        # Only a new file takes this: entries of a few kilobytes fit their pages, so the file is half as large.
        connection.execute(f"pragma page_size = {PAGE_SIZE}")
        (mode,) = connection.execute("pragma journal_mode = wal").fetchone()
        if mode != "wal":
            raise StoreError(f"{path}: write-ahead logging does not work here; move the file to a local disk")
        for pragma in (
            f"synchronous = {durability}",
            "wal_autocheckpoint = 1000",
            f"journal_size_limit = {WAL_LIMIT}",
            "busy_timeout = 5000",
            f"cache_size = -{CACHE_KB}",
            "foreign_keys = on",
            "trusted_schema = off",
        ):
            connection.execute(f"pragma {pragma}")
    except BaseException:
        connection.close()
        raise
    return connection


def connect_reader(path: Path) -> sqlite3.Connection:
    """A connection that only reads and never checkpoints, beside the one that writes."""
    if not path.is_file():
        raise StoreError(f"{path}: there is no such file")
    uri = f"{path.resolve().as_uri()}?mode=ro"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
    connection.execute("pragma busy_timeout = 5000")
    return connection


def schema_of(connection: sqlite3.Connection, path: Path) -> int:
    """The number of the schema in a file: 0 in an empty one; a file of another program is refused."""
    (number,) = connection.execute("pragma user_version").fetchone()
    tables = {name for (name,) in connection.execute("select name from sqlite_schema where type = 'table'")}
    if (number or tables) and "actor" not in tables:
        raise StoreError(f"{path}: this is the file of another program")
    newest = migrations("sqlite")[-1][0]
    if number > newest:
        raise StoreError(
            f"{path}: the file has schema {number}, newer than the {newest} that this version of Antiphon knows; "
            "install the version that wrote it, or a later one"
        )
    return int(number)


def require_current(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file whose schema is not the newest."""
    number, newest = schema_of(connection, path), migrations("sqlite")[-1][0]
    if number < newest:
        raise StoreError(f"{path}: the file has schema {number}, not {newest}; run `antiphon db migrate`")


def migrate(connection: sqlite3.Connection, path: Path) -> tuple[int, int]:
    """Bring a file up to date, one migration a transaction; gives the schema before and after."""
    before = after = schema_of(connection, path)
    for number, script in migrations("sqlite"):
        if number > before:
            connection.executescript(f"begin immediate;\n{script}\npragma user_version = {number};\ncommit;")
            after = number
    return before, after
