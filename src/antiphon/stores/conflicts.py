"""Commits that do not continue what is stored.

Both stores refuse a commit for its place first and for its values last, so that an owner that has been replaced
learns of it even where its values cannot be stored.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from antiphon.runtime.errors import Conflict, RootExists, Superseded, UnknownRoot
from antiphon.runtime.records import Commit


class StoredPlace(NamedTuple):
    """Last step of a stored tree and its latest tenure."""

    seq: int
    tenure: int


def check_conflicts(
    commits: Sequence[Commit],
    place_of: Callable[[str], StoredPlace | None],
    is_applied: Callable[[str, str], bool],
) -> None:
    """Refuse commits of which one does not continue the stored tree and the commits before it."""
    places: dict[str, StoredPlace] = {}
    applied: set[tuple[str, str]] = set()
    for commit in commits:
        root = commit.root
        stored = places.get(root) or place_of(root)
        if commit.origin is not None:
            if stored is not None:
                raise RootExists(f"there is a root actor {root!r} already")
            stored = StoredPlace(0, 0)
        if stored is None:
            raise UnknownRoot(f"there is no root actor {root!r}")
        _check_place(commit, stored)
        check_order(commit)
        for entry in commit.entries:
            letter = entry.letter
            if letter is not None:
                if (root, letter) in applied or is_applied(root, letter):
                    raise Conflict(f"letter {letter!r} was applied before")
                applied.add((root, letter))
        places[root] = StoredPlace(commit.seq, max(stored.tenure, commit.tenure))


def check_order(commit: Commit) -> None:
    """Refuse a commit whose entries do not continue the stored journal without a gap."""
    for seq, entry in enumerate(commit.entries, commit.expected + 1):
        if entry.seq != seq or entry.root != commit.root:
            raise Conflict(f"step {entry.seq} of {entry.root!r} cannot be stored as step {seq} of {commit.root!r}")


def check_tenure(root: str, tenure: int, latest: int) -> None:
    """Refuse what comes from an owner of an earlier tenure than the latest; 0 is not checked."""
    if 0 < tenure < latest:
        raise Superseded(f"{root!r} has another owner: tenure {latest} follows {tenure}")


def _check_place(commit: Commit, stored: StoredPlace) -> None:
    """Refuse a commit of an earlier tenure, or of another step than the last."""
    check_tenure(commit.root, commit.tenure, stored.tenure)
    if commit.expected != stored.seq:
        raise Conflict(f"{commit.root!r} is no longer at step {commit.expected}")
