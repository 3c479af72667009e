"""The SQLite file of a store: connections, schema, log, and SQLite errors translated to errors of the store.

While a store is open, its file is flagged. The flag is copied into the file itself, and removed when the store is
closed; so a flagged file without a log has lost it, and with it perhaps commits that only the log contained.
"""

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from antiphon.runtime.errors import StoreBusy, StoreCorrupt, StoreError, Unstorable
from antiphon.stores import forks
from antiphon.stores.forks import StoreConnection
from antiphon.stores.queries import load_migrations, load_queries
from antiphon.stores.rows import RESTORE

DURABILITY = {"full": "FULL", "normal": "NORMAL"}
OLDEST_SQLITE = (3, 37, 0)  # strict tables
PAGE_SIZE = 8192
BUSY_MS = 5000  # wait for a lock of another program
CACHE_KB = 65_536  # enough for the pages that many busy actors write to
WAL_LIMIT = 64 * 1024 * 1024  # a longer log is truncated at a checkpoint
WAL_HEADER = 32  # a log of this size or less contains nothing

# Advice by the primary result code of SQLite.
ADVICE = {
    sqlite3.SQLITE_FULL: "free some space; nothing that was acknowledged is lost",
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


def is_busy(error: sqlite3.Error) -> bool:
    """Return whether another program has locked the file."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY


def is_undecided(error: sqlite3.Error) -> bool:
    """Return whether a commit that failed may be found in the log nevertheless, now or after a restart.

    A failed write leaves no complete commit. After a failed flush nothing can be said: the operating system may have
    written some pages and dropped others, and does not report that again.
    """
    code = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF == sqlite3.SQLITE_IOERR and code != sqlite3.SQLITE_IOERR_WRITE


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


def connect(path: Path, durability: str, *, without_log: bool = False) -> StoreConnection:
    """Open a connection for the writer; a new file is readable by its owner only.

    Raise `StoreCorrupt` if the log is missing, unless that is accepted by `without_log`.
    """
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        raise StoreError(f"SQLite {sqlite3.sqlite_version} is too old; Antiphon needs 3.37 or newer")
    if not has_fts5():
        raise StoreError("this SQLite was built without FTS5, which searches need; use a Python whose SQLite has it")
    _create(path)
    log_exists = has_log(path)
    connection = forks.connect(path, str(path))
    connection.keeps_log = log_exists
    try:
        # Before anything is changed in the file of another program, or in one without its log.
        is_flagged = schema_number(connection, path) > 0 and expects_log(connection)
        if is_flagged and not (log_exists or without_log):
            raise StoreCorrupt(missing_log(path))
        connection.keeps_log = is_flagged
        # Applies to new files only: entries of a few kilobytes fit into pages, so the file is half as large.
        connection.execute(f"pragma page_size = {PAGE_SIZE}")
        (mode,) = connection.execute("pragma journal_mode = wal").fetchone()
        if mode != "wal":
            raise StoreError(f"{path}: write-ahead logging does not work here; move the file to a local disk")
        for pragma in (
            f"synchronous = {durability}",
            "wal_autocheckpoint = 1000",
            f"journal_size_limit = {WAL_LIMIT}",
            f"busy_timeout = {BUSY_MS}",
            f"cache_size = -{CACHE_KB}",
            "foreign_keys = on",
            "trusted_schema = off",
        ):
            connection.execute(f"pragma {pragma}")
    except BaseException:
        connection.close()
        raise
    return connection


@cache
def has_fts5() -> bool:
    """Return whether SQLite can search texts."""
    connection = sqlite3.connect(":memory:")
    try:
        return connection.execute("select 1 from pragma_module_list where name = 'fts5'").fetchone() is not None
    finally:
        connection.close()


def connect_reader(path: Path) -> StoreConnection:
    """Open a connection that only reads and never checkpoints, beside that of the writer."""
    if not path.is_file():
        raise StoreError(f"{path}: there is no such file")
    log_exists = has_log(path)
    # A reader needs the files beside the store. Where it cannot create them and there are none, nobody writes now.
    is_fixed = not os.access(path.resolve().parent, os.W_OK) and not log_path(path).exists()
    options = "mode=ro&immutable=1" if is_fixed else "mode=ro"
    connection = forks.connect(path, f"{path.resolve().as_uri()}?{options}", uri=True)
    try:
        connection.execute(f"pragma busy_timeout = {BUSY_MS}")
        if not log_exists and path.stat().st_nlink > 1 and lacks_log(connection, path):
            raise StoreBusy(f"{path} is in use under another name (a hard link); open it under that name")
    except BaseException:
        connection.close()
        raise
    return connection


def _create(path: Path) -> None:
    # An existing file is not opened: closing it again would release the locks that SQLite has on it in this process.
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        return
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror}") from error


def log_path(path: Path) -> Path:
    """Return the path of the log of a file; SQLite resolves symbolic links."""
    real = path.resolve()
    return real.with_name(real.name + "-wal")


def has_log(path: Path) -> bool:
    """Return whether a file has a log with any content; opening the file creates an empty one."""
    try:
        return log_path(path).stat().st_size > WAL_HEADER
    except OSError:
        return False


def expects_log(connection: sqlite3.Connection) -> bool:
    """Return whether a file is flagged as open: its commits may be in its log only."""
    return connection.execute(load_queries("sqlite")["is_flagged"]).fetchone() is not None


def lacks_log(connection: sqlite3.Connection, path: Path) -> bool:
    """Return whether a file that is open for reading is flagged as open but has no log."""
    return not has_log(path) and schema_number(connection, path) > 0 and expects_log(connection) and not has_log(path)


def missing_log(path: Path) -> str:
    """Describe a missing log, and what to do."""
    log = log_path(path)
    name = "; it has other names (hard links): the log may be beside one of them" if path.stat().st_nlink > 1 else ""
    return (
        f"{path}: the log {log.name} is missing, and with it the latest commits{name}; put it back beside the file, "
        "restore a backup, or run `antiphon db accept-loss` to continue without it"
    )


def flag_open(connection: StoreConnection) -> None:
    """Flag a file as open; to be called in the transaction that begins a boot."""
    connection.keeps_log = True
    connection.execute(load_queries("sqlite")["flag_open"])


def flag_closed(connection: StoreConnection) -> None:
    """Remove the flag of a file that is open or was not closed; afterwards its log may be removed."""
    if connection.keeps_log:
        connection.execute(load_queries("sqlite")["flag_closed"])
        connection.keeps_log = False


def copy_log(connection: sqlite3.Connection) -> None:
    """Copy the log into the file, as far as readers allow."""
    connection.execute("pragma wal_checkpoint(passive)").fetchall()


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


def flush_folder(path: Path) -> None:
    """Flush the names of the file and its log to disk; SQLite does that too, and ignores errors."""
    try:
        descriptor = os.open(path.resolve().parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # some file systems cannot flush a folder
            raise StoreError(f"{path}: its folder cannot be flushed: {error.strerror}; check the disk") from error
