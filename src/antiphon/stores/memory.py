"""Store in memory, for tests, simulations and demonstrations.

It keeps the same rows as a durable store, so that both accept and return the same values.
"""

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field

from antiphon.runtime.encoding import encode, encode_json, is_text
from antiphon.runtime.errors import UnknownRoot, Unstorable
from antiphon.runtime.histories import change_history
from antiphon.runtime.records import (
    Commit,
    Entry,
    Incident,
    Letter,
    Origin,
    Posting,
    Receipt,
    Saved,
    Task,
    TreeFailure,
    TreeSummary,
)
from antiphon.stores import rows
from antiphon.stores.conflicts import StoredPlace, check_conflicts, check_tenure
from antiphon.stores.memory_index import IndexedTree, MemoryIndex, PreparedChange, prepare_change
from antiphon.stores.rows import Row
from antiphon.stores.snapshots import (
    ENTRY_OVERHEAD,
    SnapshotSize,
    StoredJournal,
    StoredSnapshot,
    find_base,
    load_at,
    superfluous_snapshots,
)

MAX_INTEGER = 2**63


@dataclass(slots=True)
class _Tree:
    origin: Row
    status: str
    seq: int = 0
    updated: int = 0
    snapshots: dict[int, tuple[SnapshotSize, StoredSnapshot]] = field(default_factory=dict)  # by step, in order
    entries: list[Row] = field(default_factory=list)
    letters: dict[str, Row] = field(default_factory=dict)
    tasks: dict[str, Row] = field(default_factory=dict)
    applied: dict[str, int] = field(default_factory=dict)
    dead: dict[str, Row] = field(default_factory=dict)
    rejections: dict[str, Row] = field(default_factory=dict)
    incidents: list[Row] = field(default_factory=list)
    failure: TreeFailure | None = None
    mark: int = 0
    tenure: int = 0
    indexed: IndexedTree = field(default_factory=IndexedTree)
    projection: int = 0


@dataclass(slots=True)
class _Rows:
    """Rows of a commit, checked."""

    commit: Commit
    origin: Row | None
    migrated: Row | None
    entries: list[Row]
    letters: list[tuple[str, Row]]
    tasks: list[Row]
    dead: list[Row]
    rejections: list[Row]
    snapshot: str | None
    open: str | None
    index: PreparedChange | None


class MemoryStore:
    """Store that keeps all trees in a dict."""

    commits_inline = True

    def __init__(self) -> None:
        self.trees: dict[str, _Tree] = {}
        self.index = MemoryIndex(lambda: self.trees)
        self.boot = 0
        self.unclean_starts = 0
        self._unclean = 0  # what the next boot will find

    async def open(self) -> int:
        """Start a new boot and return its number."""
        self.boot += 1
        self.unclean_starts = self._unclean
        self._unclean += 1
        return self.boot

    async def close(self) -> None:
        """Keep everything for the next boot; there is nothing to release."""
        self._unclean = 0

    async def post(self, letters: Sequence[Letter], tenure: int = 0) -> list[Posting]:
        """Put letters into inboxes."""
        for letter in letters:
            check_tenure(letter.root, tenure, self._tree(letter.root).tenure)
        posted = [(self._tree(letter.root), _check_row(rows.letter_row(letter))) for letter in letters]
        return [_post(tree, row) for tree, row in posted]

    async def commit(self, commits: Sequence[Commit], written: Callable[[], None] | None = None) -> None:
        """Check all commits, then apply them; letters go last, so that they can go to new trees."""
        check_conflicts(commits, self._place_of, self._is_applied)
        prepared = [_prepare(commit) for commit in commits]
        for rows_of_commit in prepared:
            self._apply(rows_of_commit)
        for rows_of_commit in prepared:
            for root, row in rows_of_commit.letters:
                if root in self.trees:
                    _post(self.trees[root], row)
        if written is not None:
            written()

    async def load(self, root: str, seq: int | None = None) -> Saved | None:
        """Load a tree, now or at a step, or return None if there is none of that id."""
        tree = self.trees.get(root)
        if tree is None:
            return None
        origin = rows.origin_from(root, tree.origin)
        journal = _journal(root, origin, tree)
        if seq is not None:
            return load_at(journal, tree.status, seq)
        base = find_base(journal)
        return Saved(
            root,
            origin,
            tree.status,
            tree.seq,
            base.snapshot,
            base.seq,
            tuple(base.entries),
            tuple(sorted((rows.letter_from(root, row) for row in tree.letters.values()), key=_inbox_order)),
            tuple(_tasks_of(root, tree)),
            tree.failure,
            tree.mark,
        )

    async def entries(self, root: str, after: int = 0, limit: int = 1000) -> list[Entry]:
        """Read the journal of a tree after a sequence number."""
        start = max(0, after)
        page = self._tree(root).entries[start : start + max(0, limit)]
        return [rows.entry_from(root, row) for row in page]

    async def correct_times(self, now: int) -> int:
        """Move waiting letters back if some are from after `now`; return by how much."""
        latest = max((at for tree in self.trees.values() for _, at, *_ in tree.letters.values()), default=now)
        lead = max(0, latest - now)
        for tree in self.trees.values() if lead else ():
            for id, (_, at, due, *others) in tree.letters.items():
                tree.letters[id] = (id, at - lead, due - lead, *others)
        return lead

    async def due_times(self) -> list[tuple[str, int]]:
        """List the trees that have letters, with the time at which the first of them is due."""
        times = [
            (root, min(row[2] for row in tree.letters.values())) for root, tree in self.trees.items() if tree.letters
        ]
        return sorted(times, key=lambda pair: (pair[1], pair[0]))

    async def running_tasks(self) -> list[Task]:
        """List the tasks that are stored as running."""
        tasks = [task for root, tree in self.trees.items() for task in _tasks_of(root, tree)]
        return sorted(tasks, key=lambda task: (task.id, task.root))

    async def roots(self, after: str = "", limit: int = 1000) -> list[TreeSummary]:
        """List trees in the order of their ids."""
        ids = sorted(root for root in self.trees if root > after)[: max(0, limit)]
        return [_summary(root, self.trees[root]) for root in ids]

    async def outcome(self, root: str, letter: str) -> Receipt | None:
        """Return the outcome of a letter, or None if it is unknown."""
        tree = self._tree(root)
        if letter in tree.applied:
            return Receipt("accepted", letter, tree.applied[letter])
        if letter in tree.dead:
            return Receipt("failed", letter, error=tree.dead[letter][-1])
        if letter in tree.letters:
            return Receipt("waiting", letter)
        return rows.rejection_from(tree.rejections[letter]) if letter in tree.rejections else None

    async def mark(self, root: str) -> int | None:
        """Return the mark of the latest commit of a tree, or None if there is no tree of that id."""
        tree = self.trees.get(root)
        return None if tree is None else tree.mark

    async def summary(self, root: str) -> TreeSummary | None:
        """Return the row of a tree in the list, or None if there is no tree of that id."""
        return _summary(root, self.trees[root]) if root in self.trees else None

    async def history(self, root: str) -> tuple[str, int]:
        """Return the stored ids of the history of a tree, and its last step."""
        tree = self._tree(root)
        return tree.origin[0], tree.seq

    async def record(self, incidents: Sequence[Incident]) -> None:
        """Store incidents of trees."""
        for incident in incidents:
            tree = self.trees.get(incident.root)
            if tree is not None:
                tree.incidents.append(_check_row(rows.incident_row(incident)))

    async def incidents(self, root: str) -> list[Incident]:
        """Return the incidents of a tree, oldest first."""
        return [Incident(root, *row) for row in self._tree(root).incidents]

    async def dead_letters(self, root: str) -> list[tuple[Letter, str]]:
        """Return the letters that no step of a tree could take, with their errors."""
        dead = sorted(self._tree(root).dead.values(), key=lambda row: (row[1], row[0]))
        return [rows.dead_from(root, row) for row in dead]

    async def delete(self, root: str, tenure: int = 0) -> None:
        """Delete a tree with all that belongs to it."""
        tree = self._tree(root)
        check_tenure(root, tenure, tree.tenure)
        self.index.delete_rows(tree.indexed)
        del self.trees[root]

    def backup(self) -> dict[str, _Tree]:
        """Return a copy of all trees."""
        return deepcopy(self.trees)

    def restore(self, backup: dict[str, _Tree], suffix: str) -> None:
        """Replace all trees by those of a backup, whose histories change."""
        self.trees = deepcopy(backup)
        self.index.read_places()
        for tree in self.trees.values():
            history, *others = tree.origin
            tree.origin = (change_history(history, tree.seq, suffix), *others)

    def _tree(self, root: str) -> _Tree:
        tree = self.trees.get(root)
        if tree is None:
            raise UnknownRoot(f"there is no root actor {root!r}")
        return tree

    def _place_of(self, root: str) -> StoredPlace | None:
        tree = self.trees.get(root)
        return None if tree is None else StoredPlace(tree.seq, tree.tenure)

    def _is_applied(self, root: str, letter: str) -> bool:
        return root in self.trees and letter in self.trees[root].applied

    def _apply(self, prepared: _Rows) -> None:
        commit = prepared.commit
        if prepared.origin is not None:
            self.trees[commit.root] = _Tree(prepared.origin, commit.status)
        tree = self._tree(commit.root)
        tree.seq = commit.seq
        tree.status = commit.status
        tree.updated = commit.at
        tree.mark = commit.mark
        if commit.projection is not None:
            tree.projection = commit.projection
        if prepared.index is not None:
            self.index.write(tree.indexed, prepared.index)
        tree.tenure = max(tree.tenure, commit.tenure)
        if prepared.migrated is not None:
            tree.origin = (*tree.origin[:2], *prepared.migrated[2:4], *tree.origin[4:])
        tree.entries.extend(prepared.entries)
        tree.applied.update({entry.letter: entry.seq for entry in commit.entries if entry.letter is not None})
        for letter in commit.taken:
            tree.letters.pop(letter, None)
        for row in prepared.tasks:
            tree.tasks[row[0]] = row
        for id in commit.ended:
            tree.tasks.pop(id, None)
        if prepared.snapshot is not None:
            _save_snapshot(tree, prepared.snapshot, prepared.open)
        for id in commit.revived:
            tree.dead.pop(id, None)
        for row in prepared.rejections:
            tree.rejections[row[0]] = row
        if commit.failure is not None:
            tree.failure = commit.failure if commit.failure.attempts else None
        for row in prepared.dead:
            tree.dead.setdefault(row[0], row)


def _summary(root: str, tree: _Tree) -> TreeSummary:
    return TreeSummary(root, tree.origin[1], tree.status, tree.seq, tree.updated)


def _prepare(commit: Commit) -> _Rows:
    """Return the rows of a commit; raise `Unstorable` if one of them cannot be stored."""
    _check_row((commit.root, commit.status, commit.at, *commit.taken, *commit.ended, *commit.revived))
    return _Rows(
        commit,
        None if commit.origin is None else _check_row(rows.origin_row(commit.origin)),
        None if commit.migrated is None else _check_row(rows.origin_row(commit.migrated)),
        [_check_row(rows.entry_row(entry)) for entry in commit.entries],
        [(letter.root, _check_row(rows.letter_row(letter))) for letter in commit.letters],
        [_check_row(rows.task_row(task)) for task in commit.tasks],
        [_check_row(rows.dead_row(letter, error, commit.at)) for letter, error in commit.dead],
        [_check_row(rows.rejection_row(rejection, commit.at)) for rejection in commit.rejected],
        None if commit.snapshot is None else encode_json(commit.snapshot),
        None if commit.open is None else encode(commit.open),
        None if commit.index_change is None else prepare_change(commit.root, commit.index_change),
    )


def _save_snapshot(tree: _Tree, body: str, work: str | None) -> None:
    """Store a snapshot of the latest step, and drop superfluous ones."""
    seq = tree.seq
    is_fork = tree.origin[5] is not None
    sizes = [size._replace(is_first=is_fork and step == 1) for step, (size, _) in tree.snapshots.items() if step < seq]
    latest = sizes[-1] if sizes else SnapshotSize(0)
    journal = latest.journal + sum(len(row[-1]) + ENTRY_OVERHEAD for row in tree.entries[latest.seq :])
    size = SnapshotSize(seq, len(body) + len(work or ""), journal)
    tree.snapshots[seq] = (size, StoredSnapshot(seq, tree.origin[2], work, body))
    for step in superfluous_snapshots(sizes, seq):
        del tree.snapshots[step]


def _journal(root: str, origin: Origin, tree: _Tree) -> StoredJournal:
    def snapshot_to(seq: int) -> StoredSnapshot | None:
        return next((stored for step, (_, stored) in reversed(tree.snapshots.items()) if step <= seq), None)

    def version_after(seq: int) -> tuple[int, str] | None:
        return next(((step, stored.version) for step, (_, stored) in tree.snapshots.items() if step > seq), None)

    def entries(after: int, until: int) -> list[Entry]:
        return [rows.entry_from(root, row) for row in tree.entries[after:until]]

    return StoredJournal(root, origin, 1, tree.seq, snapshot_to, version_after, entries)


def _post(tree: _Tree, row: Row) -> Posting:
    id = row[0]
    if id in tree.dead and id not in tree.applied:
        return "failed"
    if id in tree.letters or id in tree.applied:
        return "duplicate"
    tree.letters[id] = row
    tree.rejections.pop(id, None)
    return "accepted"


def _tasks_of(root: str, tree: _Tree) -> list[Task]:
    return [rows.task_from(root, tree.tasks[id]) for id in sorted(tree.tasks)]


def _inbox_order(letter: Letter) -> tuple[int, int, int, str]:
    return letter.due, letter.at, letter.arrival, letter.id


def _check_row(row: Row) -> Row:
    """Return a row; raise `Unstorable` if a database could not store it."""
    for value in row:
        if isinstance(value, str):
            if not (value.isascii() or is_text(value)):
                raise Unstorable(f"{value!r} cannot be stored: it is not valid Unicode")
        elif isinstance(value, int) and not -MAX_INTEGER <= value < MAX_INTEGER:
            raise Unstorable(f"{value} cannot be stored: it has more than 64 bits")
    return row
