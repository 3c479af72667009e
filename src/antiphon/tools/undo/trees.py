"""Trees: the states of all files of a workspace, before a command and after it."""

import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby

from antiphon.tools.errors import UndoError
from antiphon.tools.undo.copies import Copies, digest_of
from antiphon.tools.undo.records import FileChange
from antiphon.tools.undo.scan import Scan, Stamp, open_parent
from antiphon.tools.undo.states import ABSENT, FileState, Keep, read_state


@dataclass(slots=True)
class FileTree:
    """States of all files of a workspace at one time, the inodes of skipped folders, and names of git's objects."""

    states: dict[str, FileState]
    skipped: dict[str, int] = field(default_factory=dict)
    # Stamps of files that cannot change without another stamp.
    settled: dict[str, Stamp] = field(default_factory=dict)
    # Not stored, like the stamps: they are only needed until the command ends.
    objects: Mapping[str, frozenset[str]] = field(default_factory=dict)
    at_ns: int = 0

    def to_bytes(self) -> bytes:
        """Return the tree as JSON, without its stamps."""
        states = {path: state.to_json() for path, state in self.states.items()}
        return json.dumps({"states": states, "skipped": self.skipped}, separators=(",", ":")).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> "FileTree":
        """Return the tree that `to_bytes` returned."""
        try:
            stored = json.loads(data)
            return cls(
                {path: FileState.from_json(state) for path, state in stored["states"].items()}, stored["skipped"]
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UndoError("the list of files before a command is not valid") from error


def copy_tree(root: int, scan: Scan, former: FileTree | None, copies: Copies) -> FileTree:
    """Copy the files of a scan that the former tree does not have as they are; return the tree."""
    tree = FileTree({}, scan.skipped, objects=scan.objects, at_ns=scan.at_ns)
    changed: list[str] = []
    for path, stamp in scan.stamps.items():
        state = former.states.get(path) if former is not None and former.settled.get(path) == stamp else None
        if state is not None and (state.digest is None or state.digest in copies):
            tree.states[path] = state
        else:
            changed.append(path)
    tree.states.update(read_states(root, changed, copies.add))
    # Vanished while they were read.
    tree.states = {path: state for path, state in tree.states.items() if state.kind != "absent"}
    tree.settled = {path: stamp for path, stamp in scan.stamps.items() if stamp.is_settled(scan.at_ns)}
    return tree


def compare_tree(root: int, before: FileTree, scan: Scan, most_bytes: int) -> Iterator[FileChange]:
    """Yield the changes between a tree and a later scan; files of more than `most_bytes` are not read.

    What was in a skipped folder that was moved is left out: nobody has a copy of it, so it must not be deleted.
    """
    hidden = tuple(scan.unreadable)
    moved = tuple(f"{path}/" for path in moved_folders(before, scan).values())
    paths = [
        path
        for path in dict.fromkeys([*before.states, *scan.stamps])
        if (path not in scan.stamps or scan.stamps[path] != before.settled.get(path)) and not path.startswith(hidden)
    ]
    paths = [path for path in paths if path in before.states or not f"{path}/".startswith(moved)]
    yield from compare_paths(root, before, paths, most_bytes)


def compare_paths(root: int, before: FileTree, paths: Iterable[str], most_bytes: int) -> Iterator[FileChange]:
    """Yield the changes of some paths since a tree."""
    for path, after in read_states(root, paths, limited_digest(most_bytes)):
        state = before.states.get(path, ABSENT)
        if not state.matches(after):
            yield FileChange(path, state, after)


def read_states(root: int, paths: Iterable[str], keep: Keep) -> Iterator[tuple[str, FileState]]:
    """Yield paths with their states; paths of one folder are best in a row."""
    for _, group in groupby(paths, lambda path: path.rpartition("/")[0]):
        names = list(group)
        with open_parent(root, names[0]) as parent:
            for path in names:
                yield path, ABSENT if parent is None else read_state(parent[0], path.rpartition("/")[2], keep)


def read_path(root: int, path: str, keep: Keep) -> FileState:
    """Return the state of one path."""
    return next(iter(read_states(root, [path], keep)))[1]


def limited_digest(most_bytes: int) -> Keep:
    """Return a function that returns the digest of an open file, or None for one of more than `most_bytes`."""
    return lambda file: digest_of(file) if os.fstat(file).st_size <= most_bytes else None


def moved_folders(before: FileTree, scan: Scan) -> dict[str, str]:
    """Return where skipped folders of a tree are now, by their paths, if they were moved to where they are not skipped.

    The inode of a deleted folder may be that of a new one, so a folder was moved only if it has files from before.
    """
    lost = {inode: path for path, inode in before.skipped.items() if scan.skipped.get(path) != inode}
    moved: dict[str, str] = {}
    for path, stamp in scan.stamps.items() if lost else ():
        if stat.S_ISDIR(stamp.mode) and stamp.inode in lost and _has_older_file(path, before, scan):
            moved[lost[stamp.inode]] = path
    return moved


def _has_older_file(folder: str, before: FileTree, scan: Scan) -> bool:
    return any(
        path.startswith(f"{folder}/") and not stat.S_ISDIR(stamp.mode) and stamp.ctime_ns <= before.at_ns
        for path, stamp in scan.stamps.items()
    )


def skipped_problems(before: FileTree, scan: Scan) -> list[str]:
    """Return sentences on skipped folders that a command deleted, replaced, moved or created."""
    moved = moved_folders(before, scan)
    problems = [
        f"{path} was moved to {moved[path]}, had not been copied, and is left alone"
        if path in moved
        else f"{path} was deleted or replaced, and had not been copied"
        for path, inode in before.skipped.items()
        if scan.skipped.get(path) != inode
    ]
    new = [path for path in scan.skipped if path not in before.skipped]
    if new:
        count = f" and {len(new) - 1} more" if len(new) > 1 else ""
        problems.append(f"{new[0]}{count} was created, and is left alone")
    for path, names in before.objects.items():
        now = scan.objects.get(path, names)
        # Objects that git packs are deleted as well.
        if names - now and not any(name.endswith(".pack") for name in now - names):
            problems.append(f"objects of version control in {path} were deleted, and had not been copied")
    return problems
