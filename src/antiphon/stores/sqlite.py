"""The embedded store: one SQLite file, one process that writes, one connection.

The connection is used by a writer thread or, where the disk is fast, by the event loop itself, never by both at once.
So there is never a second checkpointer: SQLite before 3.51.3 can lose committed pages when there are two. Each call
changes everything in one transaction.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from typing import TypeVar

from antiphon.runtime.encoding import is_text
from antiphon.runtime.errors import Conflict, RootExists, RuntimeFault, UnknownRoot
from antiphon.runtime.records import Commit, Entry, Incident, Letter, Origin, Posting, Receipt, Saved, Task, TreeSummary
from antiphon.stores import files, rows
from antiphon.stores.conflicts import StoredPlace, check_conflicts, check_order, check_tenure
from antiphon.stores.file_store import MAX_FLUSH_S, FileStore
from antiphon.stores.index import write_change
from antiphon.stores.journals import read_entries, remove_tree, save_snapshot, stored_journal
from antiphon.stores.snapshots import find_base, load_at

T = TypeVar("T")
REFUSED = (RuntimeFault, sqlite3.IntegrityError, UnicodeEncodeError, OverflowError)


class SqliteStore(FileStore):
    """Store in an SQLite file."""

    async def post(self, letters: Sequence[Letter], tenure: int = 0) -> list[Posting]:
        """Put letters into inboxes."""
        return await self._on_thread(lambda: self._transaction(lambda: self._post(letters, tenure)))

    async def commit(self, commits: Sequence[Commit], written: Callable[[], None] | None = None) -> None:
        """Make all commits durable at once; letters go last, so that they can go to new trees."""
        if self.commits_inline and self._lock.acquire(blocking=False) and self._commit_inline(commits):
            return
        loop = asyncio.get_running_loop()
        self._rested += 1

        def apply() -> None:
            self._apply_all(commits)
            if written is not None:
                loop.call_soon_threadsafe(written)

        await self._on_thread(lambda: self._transaction(apply))

    async def load(self, root: str, seq: int | None = None) -> Saved | None:
        """Load a tree, now or at a step, or return None; without a snapshot that can be read, its journal is loaded."""
        return await self._on_thread(lambda: self._read_consistently(lambda: self._load(root, seq)))

    async def entries(self, root: str, after: int = 0, limit: int = 1000) -> list[Entry]:
        """Read the journal of a tree after a sequence number."""

        def read() -> list[Entry]:
            return read_entries(self._db(), root, self._number(root), after, max(0, limit))

        return await self._on_thread(lambda: self._read_consistently(read))

    async def correct_times(self, now: int) -> int:
        """Move waiting letters back if some are from after `now`; return by how much."""
        return await self._on_thread(lambda: self._correct_times(now))

    async def due_times(self) -> list[tuple[str, int]]:
        """List the trees that have letters, with the time at which the first of them is due."""
        return await self._on_thread(lambda: self._all("due_times"))

    async def running_tasks(self) -> list[Task]:
        """List the tasks that are stored as running."""
        tasks = await self._on_thread(lambda: self._all("running_tasks"))
        return [rows.task_from(root, row) for root, *row in tasks]

    async def roots(self, after: str = "", limit: int = 1000) -> list[TreeSummary]:
        """List trees in the order of their ids."""
        return await self._on_thread(lambda: [TreeSummary(*row) for row in self._all("roots", after, max(0, limit))])

    async def outcome(self, root: str, letter: str) -> Receipt | None:
        """Return the outcome of a letter, or None if it is unknown."""
        return await self._on_thread(lambda: self._outcome(self._number(root), letter))

    async def mark(self, root: str) -> int | None:
        """Return the mark of the latest commit of a tree, or None if there is no tree of that id."""
        row = await self._on_thread(lambda: self._one("mark_of", root) if is_text(root) else None)
        return None if row is None else int(row[0])

    async def summary(self, root: str) -> TreeSummary | None:
        """Return the row of a tree in the list, or None if there is no tree of that id."""
        row = await self._on_thread(lambda: self._one("summary", root) if is_text(root) else None)
        return None if row is None else TreeSummary(*row)

    async def history(self, root: str) -> tuple[str, int]:
        """Return the stored ids of the history of a tree, and its last step."""
        history, seq = await self._on_thread(lambda: self._one("history_of", self._number(root)))
        return history, seq

    async def dead_letters(self, root: str) -> list[tuple[Letter, str]]:
        """Return the letters that no step of a tree could take, with their errors."""
        letters = await self._on_thread(lambda: self._all("dead_letters_of", self._number(root)))
        return [rows.dead_from(root, row) for row in letters]

    async def record(self, incidents: Sequence[Incident]) -> None:
        """Store incidents of trees."""
        await self._on_thread(lambda: self._transaction(lambda: self._record(incidents)))

    async def incidents(self, root: str) -> list[Incident]:
        """Return the incidents of a tree, oldest first."""
        stored = await self._on_thread(lambda: self._all("incidents_of", self._number(root)))
        return [Incident(root, *row) for row in stored]

    async def delete(self, root: str, tenure: int = 0) -> None:
        """Delete a tree with all that belongs to it."""
        await self._on_thread(lambda: self._transaction(lambda: self._delete(root, tenure)))

    def _delete(self, root: str, tenure: int) -> None:
        n = self._number(root)
        check_tenure(root, tenure, self._one("place_of", n)[1])
        remove_tree(self._db(), n)
        del self._numbers[root]

    def _commit_inline(self, commits: Sequence[Commit]) -> bool:
        """Commit on the event loop, which holds the lock; return False if another program has locked the file."""
        try:
            if self._busy_ms:
                self._wait_when_busy(0)
            self._transaction(lambda: self._apply_all(commits))
            self._note_inline_flush()
        except files.TRANSLATED as error:
            if isinstance(error, sqlite3.Error) and files.is_busy(error):
                self._flush_s = MAX_FLUSH_S  # the next commits go to the thread, which may wait
                self._rested = 0
                return False
            raise files.to_store_error(self.path, error) from error
        finally:
            self._lock.release()
        return True

    def _correct_times(self, now: int) -> int:
        (latest,) = self._one("latest_letter")
        lead = 0 if latest is None else max(0, latest - now)
        if lead:
            self._transaction(lambda: self._db().execute(self._sql["move_letters"], (lead, lead)))
        return lead

    def _post(self, letters: Sequence[Letter], tenure: int) -> list[Posting]:
        for letter in letters if tenure else ():
            check_tenure(letter.root, tenure, self._one("place_of", self._number(letter.root))[1])
        posted = [(self._number(letter.root), letter.id, rows.letter_row(letter)) for letter in letters]
        return [self._add_letter(*letter) for letter in posted]

    def _add_letter(self, n: int, id: str, row: rows.Row) -> Posting:
        if self._applied_seq(n, id) is not None:
            return "duplicate"
        if self._one("dead_letter", n, id) is not None:
            return "failed"
        execute = self._db().execute
        if execute(self._sql["add_letter"], (n, *row)).rowcount == 0:
            return "duplicate"
        execute(self._sql["drop_rejection"], (n, id))
        return "accepted"

    def _record(self, incidents: Sequence[Incident]) -> None:
        for incident in incidents:
            n = self._find(incident.root)
            if n is not None:
                self._db().execute(self._sql["add_incident"], (n, *rows.incident_row(incident)))

    def _apply_all(self, commits: Sequence[Commit]) -> None:
        try:
            if len(commits) == 1 or len({commit.root for commit in commits}) == len(commits):
                self._apply(commits)
            else:  # several of one tree build on each other
                for commit in commits:
                    self._apply([commit])
            letters = [(letter, rows.letter_row(letter)) for commit in commits for letter in commit.letters]
            for letter, row in letters:
                n = self._find(letter.root)
                if n is not None:
                    self._add_letter(n, letter.id, row)
        except REFUSED:
            # The transaction holds nothing else; a savepoint would copy every changed page.
            self._db().execute("rollback")
            self._numbers.clear()
            self._db().execute("begin immediate")
            check_conflicts(commits, self._place_of, self._is_applied)
            raise

    def _apply(self, commits: Sequence[Commit]) -> None:
        """Store commits of different trees, without their letters."""
        moves: list[rows.Row] = []
        entries: list[rows.Row] = []
        started: list[rows.Row] = []
        ended: list[rows.Row] = []
        detailed: list[tuple[int, Commit]] = []
        for commit in commits:
            n = self._number(commit.root) if commit.origin is None else self._add_actor(commit, commit.origin)
            mark = commit.mark
            projection = commit.projection
            moves.append((commit.seq, commit.status, commit.at, mark, commit.tenure, n, commit.expected, projection))
            check_order(commit)
            entries += [(n, *rows.entry_row(entry)) for entry in commit.entries]
            if not commit.has_only_entries:
                started += [(n, *rows.task_row(task)) for task in commit.tasks]
                ended += [(n, id) for id in commit.ended]
                detailed.append((n, commit))
        write = self._db().executemany
        sql = self._sql
        if write(sql["move_actor"], moves).rowcount != len(moves):
            raise Conflict("a tree is no longer at the step that a commit continues")
        write(sql["add_entry"], entries)
        # A task may both start and end in a step.
        if started:
            write(sql["add_task"], started)
        if ended:
            write(sql["end_task"], ended)
        for n, commit in detailed:
            self._apply_details(n, commit)

    def _place_of(self, root: str) -> StoredPlace | None:
        n = self._find(root)
        return None if n is None else StoredPlace(*self._one("place_of", n))

    def _is_applied(self, root: str, letter: str) -> bool:
        n = self._find(root)
        return n is not None and self._applied_seq(n, letter) is not None

    def _apply_details(self, n: int, commit: Commit) -> None:
        """Store the parts that few commits have: a migration, taken letters, a snapshot, failures."""
        execute = self._db().execute
        sql = self._sql
        if commit.migrated is not None:
            _, _, version, hash, *_ = rows.origin_row(commit.migrated)
            execute(sql["change_version"], (version, hash, n))
        for id in commit.taken:
            execute(sql["drop_letter"], (n, id))
        if commit.index_change is not None:
            write_change(self._db(), n, commit.root, commit.index_change)
        if commit.snapshot is not None:
            save_snapshot(self._db(), n, commit)
        for id in commit.revived:
            execute(sql["drop_dead_letter"], (n, id))
        for rejection in commit.rejected:
            execute(sql["add_rejection"], (n, *rows.rejection_row(rejection, commit.at)))
        if commit.failure is not None:
            execute(sql["set_failure"], (*commit.failure, n))
        for letter, error in commit.dead:
            execute(sql["add_dead_letter"], (n, *rows.dead_row(letter, error, commit.at)))

    def _add_actor(self, commit: Commit, origin: Origin) -> int:
        values = (commit.root, *rows.origin_row(origin), commit.status, commit.at, commit.at)
        row = self._one("add_actor", *values)
        if row is None:
            raise RootExists(f"there is a root actor {commit.root!r} already")
        n = self._numbers[commit.root] = int(row[0])
        return n

    def _find(self, root: str) -> int | None:
        n = self._numbers.get(root)
        if n is None:
            row = self._one("find_actor", root) if is_text(root) else None
            if row is None:
                return None
            n = int(row[0])
            if not self._read_only:  # else the owner may delete the tree, and give its number to another
                self._numbers[root] = n
        return n

    def _number(self, root: str) -> int:
        n = self._numbers.get(root) or self._find(root)
        if n is None:
            raise UnknownRoot(f"there is no root actor {root!r}")
        return n

    def _applied_seq(self, n: int, letter: str) -> int | None:
        row = self._one("applied_at", n, letter) if is_text(letter) else None
        return None if row is None else int(row[0])

    def _outcome(self, n: int, letter: str) -> Receipt | None:
        if not is_text(letter):
            return None
        seq = self._applied_seq(n, letter)
        if seq is not None:
            return Receipt("accepted", letter, seq)
        dead = self._one("dead_letter", n, letter)
        if dead is not None:
            return Receipt("failed", letter, error=dead[0])
        if self._one("letter", n, letter) is not None:
            return Receipt("waiting", letter)
        rejection = self._one("rejection", n, letter)
        return None if rejection is None else rows.rejection_from(rejection)

    def _load(self, root: str, seq: int | None) -> Saved | None:
        row = self._one("load_actor", root) if is_text(root) else None
        if row is None:
            return None
        n, *origin_row, status, last, attempts, reason, mark, first = row
        origin = rows.origin_from(root, tuple(origin_row))
        journal = stored_journal(self._db(), root, n, origin, first, last)
        if seq is not None:
            return load_at(journal, status, seq)
        base = find_base(journal)
        return Saved(
            root,
            origin,
            status,
            last,
            base.snapshot,
            base.seq,
            tuple(base.entries),
            tuple(rows.letter_from(root, letter) for letter in self._all("letters_of", n)),
            tuple(rows.task_from(root, task) for task in self._all("tasks_of", n)),
            rows.failure_from(attempts, reason),
            mark,
            first=first,
        )
