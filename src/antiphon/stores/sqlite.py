"""The embedded store: one SQLite file, one process that writes, one thread that does.

The thread that writes also checkpoints and reads, so there is never a second checkpointer: SQLite before
3.51.3 can lose committed pages when there are two. Everything a call changes is in one transaction.
"""

import asyncio
import json
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from antiphon.runtime.errors import Conflict, RootExists, StoreCorrupt, StoreError, UnknownRoot
from antiphon.runtime.records import Birth, Commit, Entry, Letter, Saved, Summary, Task
from antiphon.stores.ownership import Ownership
from antiphon.stores.queries import migrations, queries
from antiphon.stores.rows import entry_body, entry_from, letter_body, letter_from

T = TypeVar("T")
DURABILITY = {"full": "FULL", "normal": "NORMAL"}


class SqliteStore:
    """A store in a file."""

    def __init__(self, path: str | Path, *, durability: str = "full", read_only: bool = False) -> None:
        if durability not in DURABILITY:
            raise ValueError(f"no durability named {durability!r}; known: {', '.join(DURABILITY)}")
        self.path, self._durability, self._read_only = Path(path), DURABILITY[durability], read_only
        self._sql = queries("sqlite")
        self._numbers: dict[str, int] = {}
        self._ownership = Ownership(self.path)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="antiphon-store")
        self._connection: sqlite3.Connection | None = None

    # -- the port ------------------------------------------------------------------------------------------------

    async def open(self) -> int:
        """Take ownership of the file and bring it up to date."""
        return await self._on_thread(self._open)

    async def close(self) -> None:
        """Finish what was begun and give the file up."""
        await self._on_thread(self._close)
        self._thread.shutdown(wait=True)

    async def post(self, letters: Sequence[Letter]) -> list[bool]:
        """Put letters into inboxes."""
        return await self._in_transaction(lambda: [self._put(letter) for letter in letters])

    async def commit(self, commits: Sequence[Commit]) -> None:
        """Make all commits durable at once."""
        await self._in_transaction(lambda: self._apply_all(commits))

    async def load(self, root: str) -> Saved | None:
        """A tree, if there is one of that id."""
        return await self._on_thread(lambda: self._load(root))

    async def entries(self, root: str, after: int = 0, limit: int = 1000) -> list[Entry]:
        """The journal after a sequence number."""
        return await self._on_thread(lambda: self._entries(root, self._number(root), after, limit))

    async def waiting(self) -> list[tuple[str, int]]:
        """Which trees have letters, and when the first is due."""
        return await self._on_thread(lambda: self._all("waiting"))

    async def running(self) -> list[Task]:
        """The tasks that were running when they were last heard of."""
        return await self._on_thread(
            lambda: [
                Task(row[0], row[1], row[2], row[3], json.loads(row[4]), *row[5:]) for row in self._all("running_tasks")
            ]
        )

    async def roots(self, after: str = "", limit: int = 1000) -> list[Summary]:
        """The trees there are, by id."""
        return await self._on_thread(lambda: [Summary(*row) for row in self._all("roots", after, limit)])

    async def applied(self, root: str, letter: str) -> int | None:
        """The sequence at which a letter was applied."""
        return await self._on_thread(lambda: self._applied(self._number(root), letter))

    # -- the thread ----------------------------------------------------------------------------------------------

    async def _on_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, _translated, self.path, work)

    async def _in_transaction(self, work: Callable[[], T]) -> T:
        return await self._on_thread(lambda: self._transaction(work))

    def _transaction(self, work: Callable[[], T]) -> T:
        connection = self._db()
        connection.execute("begin immediate")
        try:
            result = work()
            connection.execute("commit")
        except BaseException:
            # SQLite has rolled back by itself after some errors, a full disk for one.
            if connection.in_transaction:
                connection.execute("rollback")
            raise
        return result

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
        if self._read_only:
            self._connection = sqlite3.connect(f"file:{self.path}?mode=ro", uri=True, isolation_level=None)
            return 0
        self._ownership.take()
        try:
            self._connection = connect(self.path, self._durability)
            migrate(self._connection)
            return int(self._transaction(lambda: self._one("begin_boot"))[0])
        except BaseException:
            self._close()
            raise

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        self._ownership.give_up()

    # -- writing -------------------------------------------------------------------------------------------------

    def _put(self, letter: Letter) -> bool:
        n = self._number(letter.root)
        if self._applied(n, letter.id) is not None:
            return False
        added = self._db().execute(self._sql["add_letter"], (n, letter.id, letter.at, letter.due, letter_body(letter)))
        return added.rowcount > 0

    def _apply_all(self, commits: Sequence[Commit]) -> None:
        born = [commit.root for commit in commits if commit.birth is not None]
        try:
            for commit in commits:
                self._apply(commit)
        except BaseException:
            for root in born:
                self._numbers.pop(root, None)
            raise

    def _apply(self, commit: Commit) -> None:
        n = self._add_actor(commit, commit.birth) if commit.birth is not None else self._number(commit.root)
        execute, sql = self._db().execute, self._sql
        fence = {"n": n, "seq": commit.seq, "status": commit.status, "at": commit.at, "expected": commit.expected}
        if execute(sql["move_actor"], fence).rowcount == 0:
            raise Conflict(f"{commit.root!r} has moved on from {commit.expected}")
        if commit.moved is not None:
            execute(sql["change_version"], (json.dumps(commit.moved.version), commit.moved.hash, n))
        for entry in commit.entries:
            execute(sql["add_entry"], (n, entry.seq, entry.at, entry.to, entry.letter, entry_body(entry)))
        for id in commit.taken:
            execute(sql["drop_letter"], (n, id))
        for task in commit.tasks:
            values = (task.safety, task.attempt, task.state, task.epoch)
            execute(sql["add_task"], (task.id, n, task.to, task.src, json.dumps(task.input), *values))
        for id, state in commit.ended:
            execute(sql["end_task"], (state, id))
        if commit.snapshot is not None:
            execute(sql["save_snapshot"], (json.dumps(commit.snapshot), commit.seq, n))
        for letter, error in commit.dead:
            execute(sql["add_dead_letter"], (n, letter.id, commit.at, letter_body(letter), error))
        for letter in commit.letters:
            if letter.root == commit.root or self._find(letter.root) is not None:
                self._put(letter)

    def _add_actor(self, commit: Commit, birth: Birth) -> int:
        row = (
            self._db()
            .execute(
                self._sql["add_actor"],
                {
                    "id": commit.root,
                    "incarnation": birth.incarnation,
                    "machine": birth.machine,
                    "version": json.dumps(birth.version),
                    "hash": birth.hash,
                    "input": json.dumps(birth.input),
                    "forked_from": birth.forked_from,
                    "forked_seq": birth.forked_seq,
                    "status": commit.status,
                    "at": commit.at,
                },
            )
            .fetchone()
        )
        if row is None:
            raise RootExists(f"there is a root actor {commit.root!r} already")
        self._numbers[commit.root] = int(row[0])
        return int(row[0])

    # -- reading -------------------------------------------------------------------------------------------------

    def _find(self, root: str) -> int | None:
        n = self._numbers.get(root)
        if n is None:
            row = self._one("find_actor", root)
            if row is None:
                return None
            n = self._numbers[root] = int(row[0])
        return n

    def _number(self, root: str) -> int:
        n = self._find(root)
        if n is None:
            raise UnknownRoot(f"there is no root actor {root!r}")
        return n

    def _applied(self, n: int, letter: str) -> int | None:
        row = self._one("applied_at", n, letter)
        return None if row is None else int(row[0])

    def _load(self, root: str) -> Saved | None:
        row = self._one("load_actor", root)
        if row is None:
            return None
        n, incarnation, machine, version, hash, input, forked_from, forked_seq, status, seq, at, snapshot = row
        self._numbers[root] = n
        return Saved(
            root,
            Birth(incarnation, machine, json.loads(version), hash, json.loads(input), forked_from, forked_seq),
            status,
            seq,
            None if snapshot is None else json.loads(snapshot),
            at,
            tuple(self._entries(root, n, at, -1)),
            tuple(letter_from(root, *letter) for letter in self._all("letters_of", n)),
            tuple(self._task(root, row) for row in self._all("tasks_of", n)),
        )

    def _entries(self, root: str, n: int, after: int, limit: int) -> list[Entry]:
        return [entry_from(root, *row) for row in self._all("entries_after", n, after, limit)]

    def _task(self, root: str, row: Any) -> Task:
        return Task(row[0], root, row[1], row[2], json.loads(row[3]), *row[4:])


def connect(path: Path, durability: str) -> sqlite3.Connection:
    """A connection for the one writer."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    for pragma in (
        "journal_mode = wal",
        f"synchronous = {durability}",
        "wal_autocheckpoint = 1000",
        "busy_timeout = 5000",
        "foreign_keys = on",
        "trusted_schema = off",
    ):
        connection.execute(f"pragma {pragma}")
    return connection


def migrate(connection: sqlite3.Connection) -> int:
    """Bring a file up to date, one migration a transaction; gives how many were needed."""
    (current,) = connection.execute("pragma user_version").fetchone()
    steps = migrations("sqlite")
    newest = steps[-1][0]
    if current > newest:
        raise StoreError(f"the file has schema {current}, newer than the {newest} this version of Antiphon knows")
    pending = [(number, script) for number, script in steps if number > current]
    for number, script in pending:
        connection.executescript(f"begin immediate;\n{script}\npragma user_version = {number};\ncommit;")
    return len(pending)


def _translated(path: Path, work: Callable[[], T]) -> T:
    """Do something with SQLite, and say what went wrong in words that tell what to do."""
    try:
        return work()
    except sqlite3.DatabaseError as error:
        text = str(error)
        if "malformed" in text or "not a database" in text:
            raise StoreCorrupt(f"{path}: {text}; restore a backup, or see what `antiphon db check` finds") from error
        raise StoreError(f"{path}: {text}") from error
