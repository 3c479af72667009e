"""Access of a store to its SQLite file: one connection, used by a writer thread or by the event loop, never by both.

After a failed flush nothing more is written: what the disk has is unknown.
"""

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Lock
from time import perf_counter
from typing import Any, TypeVar

from antiphon.runtime.errors import StoreCorrupt, StoreError, StoreStopped
from antiphon.stores import files, forks
from antiphon.stores.index import FileIndex
from antiphon.stores.ownership import FileLock
from antiphon.stores.queries import load_queries
from antiphon.stores.restores import begin_histories

T = TypeVar("T")
# If a flush takes less than this, committing inline blocks the event loop for less time than handing the commit to a
# thread costs: two wake-ups, and contention for Python's lock.
INLINE_FLUSH_S = 0.005
# The average time of a flush: the weight of the latest one, and a cap, so that a single slow one is soon forgotten.
LATEST_WEIGHT = 0.1
MAX_FLUSH_S = 0.05
# Commits that go to the thread before an inline one shows how fast the disk is; twice as many after each slow one.
FIRST_REST = 12
LONGEST_REST = 400
RESTART = "nothing that was acknowledged is lost; check the disk, then restart the program"


class FileStore:
    """Store in an SQLite file, opened and closed; its transactions and queries."""

    def __init__(self, path: str | Path, *, durability: str = "full", read_only: bool = False) -> None:
        if durability not in files.DURABILITY:
            raise ValueError(f"no durability is named {durability!r}; choose one of: {', '.join(files.DURABILITY)}")
        if str(path) == ":memory:":
            raise StoreError("':memory:' is not a file; use MemoryStore(), or App(\":memory:\")")
        self.path = Path(path)
        self._durability = files.DURABILITY[durability]
        self._read_only = read_only
        self._sql = load_queries("sqlite")
        self._numbers: dict[str, int] = {}  # primary keys of root actors, by id
        self._ownership = FileLock(self.path)
        self._thread: ThreadPoolExecutor | None = None
        self._lock = Lock()  # held by the thread or by the event loop while it uses the connection
        self._flush_s = 0.0  # average time of a flush to disk by the event loop
        self._last_flush_s = 0.0
        self._rest = FIRST_REST
        self._rested = 0  # commits that went to the thread since the last inline one
        self._busy_ms = files.BUSY_MS  # wait for a lock of another program; none on the event loop
        self._failed_flush: str | None = None
        self._is_forked = False
        self._connection: forks.StoreConnection | None = None
        self.unclean_starts = 0
        self.index = FileIndex(self)

    @property
    def commits_inline(self) -> bool:
        """True if the disk is fast enough to commit on the event loop, and the thread is not using the connection."""
        return (self._flush_s < INLINE_FLUSH_S or self._rested >= self._rest) and not self._lock.locked()

    async def open(self) -> int:
        """Take ownership of the file and migrate it; a read-only store does neither."""
        if self._thread is not None:
            raise StoreError(f"{self.path}: the store is open already")
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="antiphon-store")
        try:
            return await self._on_thread(self._open)
        except BaseException:
            self._end_thread()
            self._close()  # if this was cancelled, the thread may have opened the file nevertheless
            raise

    async def close(self) -> None:
        """Finish pending work and release the file."""
        if self._thread is not None:
            try:
                await self._on_thread(self._close)
            finally:
                self._end_thread()

    async def query(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run queries on one state of the file."""
        return await self._on_thread(lambda: self._read_consistently(lambda: work(self._db())))

    async def change(self, work: Callable[[sqlite3.Connection], None]) -> None:
        """Change the file in one transaction."""
        await self._on_thread(lambda: self._transaction(lambda: work(self._db())))

    async def _on_thread(self, work: Callable[[], T]) -> T:
        if self._thread is None:
            raise self._not_open()
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._run_locked, work)

    def _run_locked(self, work: Callable[[], T]) -> T:
        with self._lock, files.translate_errors(self.path):
            if self._busy_ms != files.BUSY_MS:
                self._wait_when_busy(files.BUSY_MS)
            return work()

    def _wait_when_busy(self, milliseconds: int) -> None:
        """Set how long to wait for a lock of another program."""
        if self._connection is not None:
            self._connection.execute(f"pragma busy_timeout = {milliseconds}")
            self._busy_ms = milliseconds

    def _end_thread(self) -> None:
        if self._thread is not None:
            self._thread.shutdown(wait=True)
            self._thread = None

    def _transaction(self, work: Callable[[], T]) -> T:
        connection = self._db()
        if self._failed_flush is not None:
            raise StoreStopped(f"{self.path}: not written: an earlier commit failed ({self._failed_flush}); {RESTART}")
        connection.execute("begin immediate")
        try:
            result = work()
            written_at = perf_counter()
            self._flush(connection)
            self._last_flush_s = perf_counter() - written_at
        except BaseException:
            # The number of a root actor that was rolled back is given to the next one.
            self._numbers.clear()
            # SQLite has already rolled back after some errors, such as a full disk.
            with suppress(sqlite3.Error):
                if connection.in_transaction:
                    connection.execute("rollback")
            raise
        return result

    def _note_inline_flush(self) -> None:
        """Update the average time of a flush by the event loop.

        On the thread it would include the wait for Python's lock, which a busy event loop holds for 5 ms at a time.
        """
        took_s = self._last_flush_s
        if self._flush_s < INLINE_FLUSH_S:
            self._flush_s += (min(took_s, MAX_FLUSH_S) - self._flush_s) * LATEST_WEIGHT
            self._rest = FIRST_REST
        elif took_s < INLINE_FLUSH_S:
            self._flush_s = took_s
        else:
            self._rest = min(LONGEST_REST, 2 * self._rest)
        self._rested = 0

    def _flush(self, connection: sqlite3.Connection) -> None:
        """End a transaction; stop writing if its outcome is unknown."""
        try:
            connection.execute("commit")
        except sqlite3.Error as error:
            if not files.is_undecided(error):
                raise
            self._failed_flush = str(error)
            raise StoreStopped(f"{self.path}: {error}; the outcome of the commit is unknown; {RESTART}") from error

    def _read_consistently(self, work: Callable[[], T]) -> T:
        """Run several queries on one state of the file; only a reader beside the writer needs a transaction."""
        if not self._read_only:
            return work()
        connection = self._db()
        connection.execute("begin")
        try:
            return work()
        finally:
            connection.execute("rollback")

    def _db(self) -> forks.StoreConnection:
        if self._connection is None:
            raise self._not_open()
        return self._connection

    def _not_open(self) -> StoreError:
        return StoreError(f"{self.path}: {forks.FORKED if self._is_forked else 'the store is not open'}")

    def on_fork(self) -> None:
        """Leave the connection and its thread to the parent, in a forked child."""
        if self._thread is not None:
            self._is_forked = True
            self._connection = None
            self._thread = None

    def _all(self, name: str, *values: Any) -> list[Any]:
        return self._db().execute(self._sql[name], values).fetchall()

    def _one(self, name: str, *values: Any) -> Any:
        return self._db().execute(self._sql[name], values).fetchone()

    def _open(self) -> int:
        self._failed_flush = None
        self._busy_ms = files.BUSY_MS
        forks.register(self)
        try:
            if self._read_only:
                self._connection = files.connect_reader(self.path)
                files.require_current(self._connection, self.path)
                return self._boot("current_boot")
            self._ownership.take()
            self._connection = files.connect(self.path, self._durability)
            files.migrate(self._connection, self.path)
            boot = self._transaction(self._begin_boot)
            files.flush_folder(self.path)
            files.copy_log(self._connection)
            return boot
        except BaseException:
            self._close()
            raise

    def _begin_boot(self) -> int:
        row = self._one("unclean_starts")
        self.unclean_starts = 0 if row is None else int(row[0])
        self._db().execute(self._sql["set_unclean_starts"], (self.unclean_starts + 1,))
        begin_histories(self._db())
        boot = self._boot("begin_boot")
        files.flag_open(self._db())
        return boot

    def _boot(self, query: str) -> int:
        row = self._one(query)
        if row is None or not isinstance(row[0], int):
            raise StoreCorrupt(f"{self.path}: the number of its last boot is missing; restore a backup")
        return int(row[0])

    def _close(self) -> None:
        self._numbers.clear()
        connection = self._connection
        self._connection = None
        try:
            if connection is not None:
                # If this fails, as on a full disk, the log is kept and the next start counts as an unclean one.
                if not self._read_only and self._failed_flush is None:
                    with suppress(sqlite3.Error):
                        connection.execute(self._sql["set_unclean_starts"], (0,))
                        files.flag_closed(connection)
                connection.close()
        finally:
            self._ownership.release()
