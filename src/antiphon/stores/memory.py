"""A store that forgets everything when the process ends: for tests, simulations and demonstrations.

It keeps the rows that a durable store would keep, so that what works here works there.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from antiphon.runtime.encoding import encoded, is_text
from antiphon.runtime.errors import Conflict, RootExists, UnknownRoot, Unstorable
from antiphon.runtime.records import Commit, Entry, Letter, Saved, Summary, Task
from antiphon.stores import rows
from antiphon.stores.rows import Row

LARGEST = 2**63


@dataclass(slots=True)
class _Tree:
    birth: Row
    status: str
    seq: int = 0
    updated: int = 0
    snapshot: str | None = None
    snapshot_seq: int = 0
    entries: list[Row] = field(default_factory=list)
    letters: dict[str, Row] = field(default_factory=dict)
    tasks: dict[str, Row] = field(default_factory=dict)
    applied: dict[str, int] = field(default_factory=dict)
    dead: dict[str, Row] = field(default_factory=dict)


@dataclass(slots=True)
class _Rows:
    """A commit in rows that can all be stored."""

    commit: Commit
    birth: Row | None
    moved: Row | None
    entries: list[Row]
    letters: list[tuple[str, Row]]
    tasks: list[Row]
    dead: list[Row]
    snapshot: str | None


class MemoryStore:
    """All trees in one dict."""

    is_swift = True

    def __init__(self) -> None:
        self.trees: dict[str, _Tree] = {}
        self.epoch = 0

    async def open(self) -> int:
        """Begin a new boot."""
        self.epoch += 1
        return self.epoch

    async def close(self) -> None:
        """Nothing to give up."""

    async def post(self, letters: Sequence[Letter]) -> list[bool]:
        """Put letters into inboxes."""
        posted = [(self._tree(letter.root), _checked(rows.letter_row(letter))) for letter in letters]
        return [_put(tree, row) for tree, row in posted]

    async def commit(self, commits: Sequence[Commit], written: Callable[[], None] | None = None) -> None:
        """Check all commits, then make all of them; letters go last, when every new tree is there."""
        seqs: dict[str, int] = {}
        applied: set[tuple[str, str]] = set()
        prepared = []
        for commit in commits:
            self._check(commit, seqs, applied)
            prepared.append(_prepared(commit))
        for each in prepared:
            self._apply(each)
        for each in prepared:
            for root, row in each.letters:
                if root in self.trees:
                    _put(self.trees[root], row)
        if written is not None:
            written()

    async def load(self, root: str) -> Saved | None:
        """A tree, if there is one of that id."""
        tree = self.trees.get(root)
        if tree is None:
            return None
        return Saved(
            root,
            rows.birth_from(root, tree.birth),
            tree.status,
            tree.seq,
            None if tree.snapshot is None else rows.decoded(tree.snapshot, f"the snapshot of {root!r}"),
            tree.snapshot_seq,
            tuple(rows.entry_from(root, row) for row in tree.entries[tree.snapshot_seq :]),
            tuple(sorted((rows.letter_from(root, row) for row in tree.letters.values()), key=_inbox_order)),
            tuple(_running(root, tree)),
        )

    async def entries(self, root: str, after: int = 0, limit: int = 1000) -> list[Entry]:
        """The journal after a sequence number."""
        start = max(0, after)
        found = self._tree(root).entries[start : start + max(0, limit)]
        return [rows.entry_from(root, row) for row in found]

    async def waiting(self) -> list[tuple[str, int]]:
        """Which trees have letters, and when the first is due."""
        found = [
            (root, min(due for _, _, due, _ in tree.letters.values()))
            for root, tree in self.trees.items()
            if tree.letters
        ]
        return sorted(found, key=lambda pair: (pair[1], pair[0]))

    async def running(self) -> list[Task]:
        """The tasks that were running when they were last heard of."""
        found = [task for root, tree in self.trees.items() for task in _running(root, tree)]
        return sorted(found, key=lambda task: (task.id, task.root))

    async def roots(self, after: str = "", limit: int = 1000) -> list[Summary]:
        """The trees there are, by id."""
        names = sorted(root for root in self.trees if root > after)[: max(0, limit)]
        found = [(root, self.trees[root]) for root in names]
        return [Summary(root, tree.birth[1], tree.status, tree.seq, tree.updated) for root, tree in found]

    async def applied(self, root: str, letter: str) -> int | None:
        """The sequence at which a letter was applied."""
        return self._tree(root).applied.get(letter)

    async def dead(self, root: str) -> list[tuple[Letter, str]]:
        """The letters that no step of a tree could take, and why."""
        found = sorted(self._tree(root).dead.values(), key=lambda row: (row[1], row[0]))
        return [rows.dead_from(root, row) for row in found]

    def _tree(self, root: str) -> _Tree:
        tree = self.trees.get(root)
        if tree is None:
            raise UnknownRoot(f"there is no root actor {root!r}")
        return tree

    def _check(self, commit: Commit, seqs: dict[str, int], applied: set[tuple[str, str]]) -> None:
        """Refuse a commit that cannot follow on what is stored and on the commits before it."""
        root = commit.root
        if commit.birth is not None:
            if root in self.trees or root in seqs:
                raise RootExists(f"there is a root actor {root!r} already")
            seqs[root] = 0
        seq = seqs[root] if root in seqs else self._tree(root).seq
        if seq != commit.expected:
            raise Conflict(f"{root!r} has moved on from {commit.expected}")
        rows.check_order(commit)
        known = self.trees[root].applied if root in self.trees else {}
        for entry in commit.entries:
            if entry.letter is not None:
                if entry.letter in known or (root, entry.letter) in applied:
                    raise Conflict(f"{root!r} has applied letter {entry.letter!r} before")
                applied.add((root, entry.letter))
        seqs[root] = commit.seq

    def _apply(self, prepared: _Rows) -> None:
        commit = prepared.commit
        if prepared.birth is not None:
            self.trees[commit.root] = _Tree(prepared.birth, commit.status)
        tree = self._tree(commit.root)
        tree.seq, tree.status, tree.updated = commit.seq, commit.status, commit.at
        if prepared.moved is not None:
            tree.birth = (*tree.birth[:2], *prepared.moved[2:4], *tree.birth[4:])
        tree.entries.extend(prepared.entries)
        tree.applied.update({entry.letter: entry.seq for entry in commit.entries if entry.letter is not None})
        for letter in commit.taken:
            tree.letters.pop(letter, None)
        for row in prepared.tasks:
            tree.tasks[row[0]] = row
        for id in commit.ended:
            tree.tasks.pop(id, None)
        if prepared.snapshot is not None:
            tree.snapshot, tree.snapshot_seq = prepared.snapshot, commit.seq
        for row in prepared.dead:
            tree.dead.setdefault(row[0], row)


def _prepared(commit: Commit) -> _Rows:
    """The rows of a commit, if all of them can be stored."""
    _checked((commit.root, commit.status, commit.at, *commit.taken, *commit.ended))
    return _Rows(
        commit,
        None if commit.birth is None else _checked(rows.birth_row(commit.birth)),
        None if commit.moved is None else _checked(rows.birth_row(commit.moved)),
        [_checked(rows.entry_row(entry)) for entry in commit.entries],
        [(letter.root, _checked(rows.letter_row(letter))) for letter in commit.letters],
        [_checked(rows.task_row(task)) for task in commit.tasks],
        [_checked(rows.dead_row(letter, error, commit.at)) for letter, error in commit.dead],
        None if commit.snapshot is None else encoded(commit.snapshot),
    )


def _put(tree: _Tree, row: Row) -> bool:
    id = row[0]
    if id in tree.letters or id in tree.applied:
        return False
    tree.letters[id] = row
    return True


def _running(root: str, tree: _Tree) -> list[Task]:
    return [rows.task_from(root, tree.tasks[id]) for id in sorted(tree.tasks)]


def _inbox_order(letter: Letter) -> tuple[int, int, str]:
    return letter.due, letter.at, letter.id


def _checked(row: Row) -> Row:
    """A row, if a database could keep it."""
    for value in row:
        if isinstance(value, str):
            if not (value.isascii() or is_text(value)):
                raise Unstorable(f"{value!r} cannot be stored: it is not valid Unicode")
        elif isinstance(value, int) and not -LARGEST <= value < LARGEST:
            raise Unstorable(f"{value} cannot be stored: it has more than 64 bits")
    return row
