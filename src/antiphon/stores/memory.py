"""A store that forgets everything when the process ends: for tests, simulations and demonstrations.

It keeps what a durable store would keep, as JSON texts, so that what works here works there.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from antiphon.runtime.errors import Conflict, RootExists, UnknownRoot
from antiphon.runtime.records import Birth, Commit, Entry, Letter, Saved, Summary, Task


@dataclass(slots=True)
class _Tree:
    birth: Birth
    status: str
    seq: int = 0
    updated: int = 0
    snapshot: str | None = None
    snapshot_seq: int = 0
    entries: list[Entry] = field(default_factory=list)
    letters: dict[str, Letter] = field(default_factory=dict)
    tasks: dict[str, Task] = field(default_factory=dict)
    applied: dict[str, int] = field(default_factory=dict)
    dead: list[tuple[Letter, str]] = field(default_factory=list)


class MemoryStore:
    """All trees in one dict."""

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
        for letter in letters:
            self._tree(letter.root)
        return [self._put(letter) for letter in letters]

    async def commit(self, commits: Sequence[Commit]) -> None:
        """Check all commits, then make all of them."""
        for commit in commits:
            self._check(commit)
        for commit in commits:
            self._apply(commit)

    async def load(self, root: str) -> Saved | None:
        """A tree, if there is one of that id."""
        tree = self.trees.get(root)
        if tree is None:
            return None
        return Saved(
            root,
            tree.birth,
            tree.status,
            tree.seq,
            None if tree.snapshot is None else json.loads(tree.snapshot),
            tree.snapshot_seq,
            tuple(entry for entry in tree.entries if entry.seq > tree.snapshot_seq),
            tuple(sorted(tree.letters.values(), key=lambda letter: (letter.due, letter.at, letter.id))),
            tuple(task for task in tree.tasks.values() if task.state == "running"),
        )

    async def entries(self, root: str, after: int = 0, limit: int = 1000) -> list[Entry]:
        """The journal after a sequence number."""
        return self._tree(root).entries[after : after + limit]

    async def waiting(self) -> list[tuple[str, int]]:
        """Which trees have letters, and when the first is due."""
        found = [
            (root, min(letter.due for letter in tree.letters.values()))
            for root, tree in self.trees.items()
            if tree.letters
        ]
        return sorted(found, key=lambda pair: (pair[1], pair[0]))

    async def running(self) -> list[Task]:
        """The tasks that were running when they were last heard of."""
        return [task for tree in self.trees.values() for task in tree.tasks.values() if task.state == "running"]

    async def roots(self, after: str = "", limit: int = 1000) -> list[Summary]:
        """The trees there are, by id."""
        names = sorted(root for root in self.trees if root > after)[:limit]
        found = [(root, self.trees[root]) for root in names]
        return [Summary(root, tree.birth.machine, tree.status, tree.seq, tree.updated) for root, tree in found]

    async def applied(self, root: str, letter: str) -> int | None:
        """The sequence at which a letter was applied."""
        return self._tree(root).applied.get(letter)

    def _tree(self, root: str) -> _Tree:
        tree = self.trees.get(root)
        if tree is None:
            raise UnknownRoot(f"there is no root actor {root!r}")
        return tree

    def _put(self, letter: Letter) -> bool:
        tree = self._tree(letter.root)
        if letter.id in tree.letters or letter.id in tree.applied:
            return False
        tree.letters[letter.id] = _through_json(letter)
        return True

    def _check(self, commit: Commit) -> None:
        tree = self.trees.get(commit.root)
        if commit.birth is not None:
            if tree is not None:
                raise RootExists(f"there is a root actor {commit.root!r} already")
            return
        if tree is None:
            raise UnknownRoot(f"there is no root actor {commit.root!r}")
        if tree.seq != commit.expected:
            raise Conflict(f"{commit.root!r} is at {tree.seq}, not at {commit.expected}")

    def _apply(self, commit: Commit) -> None:
        if commit.birth is not None:
            self.trees[commit.root] = _Tree(commit.birth, commit.status)
        tree = self._tree(commit.root)
        tree.seq, tree.status, tree.updated = commit.seq, commit.status, commit.at
        tree.birth = commit.moved or tree.birth
        for entry in commit.entries:
            tree.entries.append(_through_json(entry))
            if entry.letter is not None:
                tree.applied[entry.letter] = entry.seq
        for letter in commit.taken:
            tree.letters.pop(letter, None)
        for task in commit.tasks:
            tree.tasks[task.id] = _through_json(task)
        for id, state in commit.ended:
            if id in tree.tasks:
                tree.tasks[id] = replace(tree.tasks[id], state=state)
        if commit.snapshot is not None:
            tree.snapshot, tree.snapshot_seq = json.dumps(commit.snapshot), commit.seq
        tree.dead.extend(commit.dead)
        for new in commit.letters:
            if new.root in self.trees:
                self._put(new)


def _through_json(record: Any) -> Any:
    """A record whose JSON parts are copies that share nothing with the caller."""
    changed = {
        name: json.loads(json.dumps(getattr(record, name)))
        for name in ("event", "input", "value")
        if getattr(record, name, None) is not None
    }
    return replace(record, **changed)
