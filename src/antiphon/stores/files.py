"""The SQLite file of a store: connections, schema, and SQLite errors translated to errors of the store."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from antiphon.runtime.errors import StoreBusy, StoreCorrupt, StoreError, Unstorable
from antiphon.stores.queries import load_migrations
from antiphon.stores.rows import RESTORE

DURABILITY = {"full": "FULL", "normal": "NORMAL"}
OLDEST_SQLITE = (3, 37, 0)  # strict tables
PAGE_SIZE = 8192
CACHE_KB = 65_536  # enough for the pages that many busy actors write to
WAL_LIMIT = 64 * 1024 * 1024  # a longer log is truncated at a checkpoint

# Advice by the primary result code of SQLite.
ADVICE = {
    sqlite3.SQLITE_FULL: "free some space; nothing that was acknowledged is lost, and work continues by itself",
    sqlite3.SQLITE_IOERR: "check the disk and its quotas; nothing that was acknowledged is lost",
    sqlite3.SQLITE_READONLY: "it was opened for reading, or its folder is not writable; copy it to a writable folder",
    sqlite3.SQLITE_CANTOPEN: "check the permissions, or copy it to a writable folder",
    sqlite3.SQLITE_BUSY: "a program that is not Antiphon has locked it",
    sqlite3.SQLITE_CORRUPT: RESTORE,
    sqlite3.SQLITE_NOTADB: "restore a backup, or pass the path of another file",
}
TRANSLATED = (sqlite3.Error, UnicodeError, OverflowError)
KINDS: dict[int, type[StoreError]] = {
    sqlite3.SQLITE_BUSY: StoreBusy,
    sqlite3.SQLITE_CORRUPT: StoreCorrupt,
    sqlite3.SQLITE_NOTADB: StoreCorrupt,
}


@contextmanager
def translate_errors(path: Path | str) -> Iterator[None]:
    """Re-raise errors of SQLite as errors of the store, with advice."""
    try:
        yield
    except TRANSLATED as error:
        raise to_store_error(path, error) from error


def to_store_error(path: Path | str, error: Exception) -> StoreError:
    """Convert an error of SQLite to an error of the store."""
    if isinstance(error, UnicodeDecodeError):
        return StoreCorrupt(f"{path}: a text is damaged: {error}; {RESTORE}")
    if not isinstance(error, sqlite3.Error):
        return Unstorable(f"{path}: a value to be stored is not valid Unicode or too large: {error}")
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    # Our statements name existing tables unless the schema is damaged; undecodable text is reported by Python.
    if str(error).startswith(("no such", "Could not decode")):
        code = sqlite3.SQLITE_CORRUPT
    advice = f"; {ADVICE[code]}" if code in ADVICE else ""
    return KINDS.get(code, StoreError)(f"{path}: {error}{advice}")


def connect(path: Path, durability: str) -> sqlite3.Connection:
    """Open a connection for the writer; a new file is readable by its owner only."""
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        raise StoreError(f"SQLite {sqlite3.sqlite_version} is too old; Antiphon needs 3.37 or newer")
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror}") from error
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        schema_number(connection, path)  # before the journal mode of another program's file is changed
        # Applies to new files only: entries of a few kilobytes fit into pages, so the file is half as large.
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
    """Open a connection that only reads and never checkpoints, beside that of the writer."""
    if not path.is_file():
        raise StoreError(f"{path}: there is no such file")
    uri = f"{path.resolve().as_uri()}?mode=ro"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
    connection.execute("pragma busy_timeout = 5000")
    return connection


def schema_number(connection: sqlite3.Connection, path: Path) -> int:
    """Return the schema number of a file, 0 for an empty one; raise `StoreError` for a file of another program."""
    (number,) = connection.execute("pragma user_version").fetchone()
    tables = {name for (name,) in connection.execute("select name from sqlite_schema where type = 'table'")}
    if (number or tables) and "actor" not in tables:
        raise StoreError(f"{path}: this is the file of another program")
    newest = load_migrations("sqlite")[-1][0]
    if number > newest:
        raise StoreError(
            f"{path}: the file has schema {number}, newer than the {newest} that this version of Antiphon knows; "
            "install the version that wrote it, or a later one"
        )
    return int(number)


def require_current(connection: sqlite3.Connection, path: Path) -> None:
    """Raise `StoreError` unless the schema of a file is the newest."""
    number = schema_number(connection, path)
    newest = load_migrations("sqlite")[-1][0]
    if number < newest:
        raise StoreError(f"{path}: the file has schema {number}, not {newest}; run `antiphon db migrate`")


def migrate(connection: sqlite3.Connection, path: Path) -> tuple[int, int]:
    """Migrate a file to the newest schema, one transaction each; return the schema number before and after."""
    before = after = schema_number(connection, path)
    for number, script in load_migrations("sqlite"):
        if number > before:
            connection.executescript(f"begin immediate;\n{script}\npragma user_version = {number};\ncommit;")
            after = number
    return before, after
