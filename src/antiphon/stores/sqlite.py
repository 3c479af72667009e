"""The embedded store: one SQLite file, one process that writes, one connection.

A thread uses it, or, where the disk is swift, the event loop itself: never both at once. So there is never a second
checkpointer either: SQLite before 3.51.3 can lose committed pages when there are two. Everything a call changes is
in one transaction.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Lock
from time import perf_counter
from typing import Any, TypeVar

from antiphon.runtime.encoding import encoded, is_text
from antiphon.runtime.errors import Conflict, RootExists, RuntimeFault, StoreCorrupt, StoreError, UnknownRoot
from antiphon.runtime.records import Birth, Commit, Entry, Letter, Saved, Summary, Task
from antiphon.stores import files, rows
from antiphon.stores.ownership import Ownership
from antiphon.stores.queries import queries
from antiphon.stores.snapshots import base

T = TypeVar("T")
# Where the disk is quicker than this, a commit keeps the event loop less than a thread that has to be woken, that
# takes turns with it for Python's lock, and that has to wake it again.
SWIFT_S = 0.002
LEARNING, WORST_S = 0.1, 0.05  # how much the last flush counts, and as how long at most, so that it is forgotten soon


class SqliteStore:
    """A store in a file."""

    def __init__(self, path: str | Path, *, durability: str = "full", read_only: bool = False) -> None:
        if durability not in files.DURABILITY:
            raise ValueError(f"no durability named {durability!r}; known: {', '.join(files.DURABILITY)}")
        self.path, self._durability, self._read_only = Path(path), files.DURABILITY[durability], read_only
        self._sql = queries("sqlite")
        self._numbers: dict[str, int] = {}  # the keys of root actors in the file, by id
        self._ownership = Ownership(self.path)
        self._thread: ThreadPoolExecutor | None = None
        self._turn = Lock()  # whose turn it is to use the connection: the thread's, or the event loop's
        self._flush_s = 0.0  # how long the disk usually takes
        self._connection: sqlite3.Connection | None = None

    # -- the port ------------------------------------------------------------------------------------------------

    @property
    def is_swift(self) -> bool:
        """Whether the disk is so quick that the event loop had better commit itself."""
        return self._flush_s < SWIFT_S and not self._turn.locked()

    async def open(self) -> int:
        """Take ownership of the file and bring it up to date; to read, only look at it."""
        if self._thread is not None:
            raise StoreError(f"{self.path}: the store is open already")
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="antiphon-store")
        try:
            return await self._on_thread(self._open)
        except BaseException:
            self._end_thread()
            self._close()  # whoever was cancelled while it opened leaves nothing open
            raise

    async def close(self) -> None:
        """Finish what was begun and give the file up."""
        if self._thread is not None:
            try:
                await self._on_thread(self._close)
            finally:
                self._end_thread()

    async def post(self, letters: Sequence[Letter]) -> list[bool]:
        """Put letters into inboxes."""
        return await self._on_thread(lambda: self._transaction(lambda: [self._put(letter) for letter in letters]))

    async def commit(self, commits: Sequence[Commit], written: Callable[[], None] | None = None) -> None:
        """Make all commits durable at once; letters go last, when every new tree is there."""
        if self.is_swift and self._turn.acquire(blocking=False):
            self._on_the_spot(commits)
            return
        loop = asyncio.get_running_loop()

        def apply() -> None:
            self._apply_all(commits)
            if written is not None:
                loop.call_soon_threadsafe(written)

        await self._on_thread(lambda: self._transaction(apply))

    async def load(self, root: str) -> Saved | None:
        """A tree, if there is one of that id; a snapshot that cannot be read is done without."""
        return await self._on_thread(lambda: self._reading(lambda: self._load(root)))

    async def entries(self, root: str, after: int = 0, limit: int = 1000) -> list[Entry]:
        """The journal after a sequence number."""
        return await self._on_thread(lambda: self._entries(root, self._number(root), after, max(0, limit)))

    async def waiting(self) -> list[tuple[str, int]]:
        """Which trees have letters, and when the first is due."""
        return await self._on_thread(lambda: self._all("waiting"))

    async def running(self) -> list[Task]:
        """The tasks that were running when they were last heard of."""
        found = await self._on_thread(lambda: self._all("running_tasks"))
        return [rows.task_from(root, row) for root, *row in found]

    async def roots(self, after: str = "", limit: int = 1000) -> list[Summary]:
        """The trees there are, by id."""
        return await self._on_thread(lambda: [Summary(*row) for row in self._all("roots", after, max(0, limit))])

    async def applied(self, root: str, letter: str) -> int | None:
        """The sequence at which a letter was applied."""
        return await self._on_thread(lambda: self._applied(self._number(root), letter))

    async def dead(self, root: str) -> list[tuple[Letter, str]]:
        """The letters that no step of a tree could take, and why."""
        found = await self._on_thread(lambda: self._all("dead_letters_of", self._number(root)))
        return [rows.dead_from(root, row) for row in found]

    # -- the thread ----------------------------------------------------------------------------------------------

    async def _on_thread(self, work: Callable[[], T]) -> T:
        if self._thread is None:
            raise StoreError(f"{self.path}: the store is not open")
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._explained, work)

    def _explained(self, work: Callable[[], T]) -> T:
        with self._turn, files.explained(self.path):
            return work()

    def _on_the_spot(self, commits: Sequence[Commit]) -> None:
        """Commit in the event loop, whose turn it is."""
        try:
            self._transaction(lambda: self._apply_all(commits))
        except files.EXPLAINED as error:
            raise files.explanation(self.path, error) from error
        finally:
            self._turn.release()

    def _end_thread(self) -> None:
        if self._thread is not None:
            self._thread.shutdown(wait=True)
            self._thread = None

    def _transaction(self, work: Callable[[], T]) -> T:
        connection = self._db()
        connection.execute("begin immediate")
        try:
            result = work()
            written = perf_counter()
            connection.execute("commit")
            self._flush_s += (min(perf_counter() - written, WORST_S) - self._flush_s) * LEARNING
        except BaseException:
            # A root actor that was not stored after all leaves its number to the next one.
            self._numbers.clear()
            # SQLite has rolled back by itself after some errors, a full disk for one.
            with suppress(sqlite3.Error):
                if connection.in_transaction:
                    connection.execute("rollback")
            raise
        return result

    def _reading(self, work: Callable[[], T]) -> T:
        """Read several things as they were at one moment; beside the only writer, that is always so."""
        if not self._read_only:
            return work()
        connection = self._db()
        connection.execute("begin")
        try:
            return work()
        finally:
            connection.execute("rollback")

    def _db(self) -> sqlite3.Connection:
        if self._connection is None:
            raise StoreError(f"{self.path}: the store is not open")
        return self._connection

    def _all(self, name: str, *values: Any) -> list[Any]:
        return self._db().execute(self._sql[name], values).fetchall()

    def _one(self, name: str, *values: Any) -> Any:
        return self._db().execute(self._sql[name], values).fetchone()

    # -- opening -------------------------------------------------------------------------------------------------

    def _open(self) -> int:
        try:
            if self._read_only:
                self._connection = files.connect_reader(self.path)
                files.require_current(self._connection, self.path)
                return self._epoch("current_boot")
            self._ownership.take()
            self._connection = files.connect(self.path, self._durability)
            files.migrate(self._connection, self.path)
            return self._transaction(lambda: self._epoch("begin_boot"))
        except BaseException:
            self._close()
            raise

    def _epoch(self, query: str) -> int:
        row = self._one(query)
        if row is None or not isinstance(row[0], int):
            raise StoreCorrupt(f"{self.path}: the number of its last boot is gone; restore a backup")
        return int(row[0])

    def _close(self) -> None:
        self._numbers.clear()
        connection, self._connection = self._connection, None
        try:
            if connection is not None:
                connection.close()
        finally:
            self._ownership.give_up()

    # -- writing -------------------------------------------------------------------------------------------------

    def _put(self, letter: Letter) -> bool:
        n = self._number(letter.root)
        if self._applied(n, letter.id) is not None:
            return False
        return self._db().execute(self._sql["add_letter"], (n, *rows.letter_row(letter))).rowcount > 0

    def _apply_all(self, commits: Sequence[Commit]) -> None:
        if len(commits) == 1:
            self._apply(commits)
        elif len({commit.root for commit in commits}) == len(commits):
            self._apply_together(commits)
        else:  # those of one tree follow on each other
            self._apply_in_turn(commits)
        for letter in [letter for commit in commits for letter in commit.letters]:
            if self._find(letter.root) is not None:
                self._put(letter)

    def _apply_together(self, commits: Sequence[Commit]) -> None:
        """Store commits of different trees at once; of several that cannot be stored, the first is named."""
        try:
            self._apply(commits)
        except (RuntimeFault, sqlite3.IntegrityError):
            # Nothing came before in this transaction; a savepoint would copy every page that is changed.
            self._db().execute("rollback")
            self._numbers.clear()
            self._db().execute("begin immediate")
            self._apply_in_turn(commits)

    def _apply_in_turn(self, commits: Sequence[Commit]) -> None:
        for commit in commits:
            self._apply([commit])

    def _apply(self, commits: Sequence[Commit]) -> None:
        """Store commits of different trees, apart from their letters."""
        moves, entries, begun, ended = [], [], [], []
        others: list[tuple[int, Commit]] = []
        for commit in commits:
            n = self._number(commit.root) if commit.birth is None else self._add_actor(commit, commit.birth)
            moves.append((commit.seq, commit.status, commit.at, n, commit.expected))
            rows.check_order(commit)
            entries += [(n, *rows.entry_row(entry)) for entry in commit.entries]
            if not commit.has_only_entries:
                begun += [(n, *rows.task_row(task)) for task in commit.tasks]
                ended += [(n, id) for id in commit.ended]
                others.append((n, commit))
        write, sql = self._db().executemany, self._sql
        if write(sql["move_actor"], moves).rowcount != len(moves):
            # Of several commits, storing them in turn finds the one that does not follow on what is there.
            raise Conflict(f"{commits[0].root!r} has moved on from {commits[0].expected}")
        try:
            write(sql["add_entry"], entries)
        except sqlite3.IntegrityError as error:
            self._refuse_letter(entries, error)
        # A task may both begin and end in a step.
        if begun:
            write(sql["add_task"], begun)
        if ended:
            write(sql["end_task"], ended)
        for n, commit in others:
            self._add_others(n, commit)

    def _refuse_letter(self, entries: list[rows.Row], error: sqlite3.IntegrityError) -> None:
        applied = ((n, seq, letter) for n, seq, _, _, letter, _ in entries if letter is not None)
        twice = next((letter for n, seq, letter in applied if self._applied(n, letter) != seq), None)
        raise Conflict(f"letter {twice!r} was applied before") from error

    def _add_others(self, n: int, commit: Commit) -> None:
        """What few steps have."""
        execute, sql = self._db().execute, self._sql
        if commit.moved is not None:
            _, _, version, hash, *_ = rows.birth_row(commit.moved)
            execute(sql["change_version"], (version, hash, n))
        for id in commit.taken:
            execute(sql["drop_letter"], (n, id))
        if commit.snapshot is not None:
            execute(sql["save_snapshot"], (n, commit.seq, encoded(commit.snapshot)))
        for letter, error in commit.dead:
            execute(sql["add_dead_letter"], (n, *rows.dead_row(letter, error, commit.at)))

    def _add_actor(self, commit: Commit, birth: Birth) -> int:
        values = (commit.root, *rows.birth_row(birth), commit.status, commit.at, commit.at)
        row = self._one("add_actor", *values)
        if row is None:
            raise RootExists(f"there is a root actor {commit.root!r} already")
        n = self._numbers[commit.root] = int(row[0])
        return n

    # -- reading -------------------------------------------------------------------------------------------------

    def _find(self, root: str) -> int | None:
        n = self._numbers.get(root)
        if n is None:
            row = self._one("find_actor", root) if is_text(root) else None
            if row is None:
                return None
            n = self._numbers[root] = int(row[0])
        return n

    def _number(self, root: str) -> int:
        n = self._numbers.get(root) or self._find(root)
        if n is None:
            raise UnknownRoot(f"there is no root actor {root!r}")
        return n

    def _applied(self, n: int, letter: str) -> int | None:
        row = self._one("applied_at", n, letter) if is_text(letter) else None
        return None if row is None else int(row[0])

    def _load(self, root: str) -> Saved | None:
        row = self._one("load_actor", root) if is_text(root) else None
        if row is None:
            return None
        n, *birth_row, status, seq, snapshot_seq, stored = row
        birth = rows.birth_from(root, tuple(birth_row))
        self._numbers[root] = n
        snapshot, since, entries = base(
            root, birth, stored, snapshot_seq, lambda after: self._entries(root, n, after, -1)
        )
        if since + len(entries) != seq:
            raise StoreCorrupt(f"the journal of {root!r} ends at {since + len(entries)}, not at {seq}; {rows.RESTORE}")
        return Saved(
            root,
            birth,
            status,
            seq,
            snapshot,
            since,
            tuple(entries),
            tuple(rows.letter_from(root, letter) for letter in self._all("letters_of", n)),
            tuple(rows.task_from(root, task) for task in self._all("tasks_of", n)),
        )

    def _entries(self, root: str, n: int, after: int, limit: int) -> list[Entry]:
        found = [rows.entry_from(root, row) for row in self._all("entries_after", n, after, limit)]
        for seq, entry in enumerate(found, max(0, after) + 1):
            if entry.seq != seq:
                raise StoreCorrupt(f"step {seq} of {root!r} is gone; {rows.RESTORE}")
        return found
