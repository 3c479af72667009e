"""A disk under recorded calls, and the contents that it may have after a power cut.

1. Everything that a file had when its last successful flush began is there.
2. Of the changes after that, any may be there: none, all, the first ones, some of the writes, or some sectors of them;
   a sector that was being written may hold anything.
3. Names are on disk once the folder was flushed; until then a new file may be missing, and a removed one may be back.
4. A flush that failed has flushed some sectors; no later flush makes up for the others, because the operating system
   has marked them as clean.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from random import Random
from typing import TypeVar

from tests.crash.faults.recording import OUTSIDE, Action, Call

T = TypeVar("T", "Change", "Naming")
SECTORS = (512, 4096)
GARBAGE_SHARE = 0.3


class Remainder(StrEnum):
    """What a power cut keeps of the changes that were not flushed."""

    NOTHING = "nothing unflushed"
    EVERYTHING = "everything unflushed"
    FIRST = "the first unflushed writes"
    WRITES = "some unflushed writes"
    SECTORS = "some unflushed sectors"
    GARBAGE = "unflushed sectors, some with garbage"


@dataclass(frozen=True)
class Change:
    """Write to a file, or, without data, its truncation."""

    number: int  # counts all changes of the disk
    offset: int
    data: bytes | None

    def apply(self, content: bytearray) -> None:
        """Change the content of a file."""
        if self.data is None:
            del content[self.offset :]
            content.extend(bytes(self.offset - len(content)))
        else:
            content.extend(bytes(max(0, self.offset - len(content))))
            content[self.offset : self.offset + len(self.data)] = self.data

    def sectors(self, size: int) -> Iterator["Change"]:
        """Yield the parts of a write that lie in one sector each."""
        if self.data is None:
            yield self
            return
        start = self.offset
        end = self.offset + len(self.data)
        while start < end:
            stop = min(end, (start // size + 1) * size)
            yield Change(self.number, start, self.data[start - self.offset : stop - self.offset])
            start = stop


@dataclass
class File:
    """Content of a file on disk, and the changes that were not flushed."""

    flushed: bytearray = field(default_factory=bytearray)
    changes: list[Change] = field(default_factory=list)
    flushing: dict[int, int] = field(default_factory=dict)  # last change before each flush under way, by descriptor


@dataclass(frozen=True)
class Naming:
    """Change of the folder: a name gets a file, or none."""

    number: int
    names: tuple[tuple[str, File | None], ...]


class Disk:
    """A folder on a disk, as calls change it."""

    def __init__(
        self, folder: str, before: dict[str, bytes], rng: Random, flushed_by_failures: float | None = None
    ) -> None:
        self._folder = folder
        self._rng = rng
        self._flushed_by_failures = flushed_by_failures  # share of the sectors; None: random
        self._flushed_names = {name: File(bytearray(content)) for name, content in before.items()}
        self._names = dict(self._flushed_names)
        self._namings: list[Naming] = []
        self._flushing_names: dict[int, int] = {}
        self._open: dict[int, File | None] = {}  # by descriptor; None: the folder itself
        self._number = 0

    def apply(self, call: Call) -> None:
        """Let a call change the disk."""
        self._number += 1
        match call.action:
            case Action.OPEN:
                self._open[call.fd] = self._open_file(call)
            case Action.CLOSE:
                del self._open[call.fd]
            case Action.WRITE:
                self._file(call.fd).changes.append(Change(self._number, call.offset, call.data))
            case Action.TRUNCATE:
                self._file(call.fd).changes.append(Change(self._number, call.offset, None))
            case Action.FLUSH:
                file = self._open[call.fd]
                (self._flushing_names if file is None else file.flushing)[call.fd] = self._number
            case Action.FLUSHED:
                self._end_flush(call)
            case Action.RENAME:
                file = self._names[self._name(call.path)]
                self._name_file((self._name(call.path), None), (self._name(call.data.decode()), file))
            case Action.UNLINK:
                self._name_file((self._name(call.path), None))

    def cut(self, remainder: Remainder, rng: Random) -> dict[str, bytes]:
        """Return the files of the folder as they may be after a power cut at this moment."""
        last = rng.choice(self._unflushed() or [0])
        names = dict(self._flushed_names)
        for naming in _choose(self._namings, remainder, last, rng):
            _apply_naming(names, naming)
        contents = {name: _remains(file, remainder, last, rng) for name, file in names.items() if name not in OUTSIDE}
        for name in OUTSIDE:
            if name in self._names:
                contents[name] = _remains(self._names[name], Remainder.EVERYTHING, last, rng)
        return contents

    def _open_file(self, call: Call) -> File | None:
        if call.path == self._folder:
            return None
        name = self._name(call.path)
        if call.is_new:
            self._name_file((name, File()))
        return self._names[name]

    def _name_file(self, *names: tuple[str, File | None]) -> None:
        naming = Naming(self._number, names)
        self._namings.append(naming)
        _apply_naming(self._names, naming)

    def _name(self, path: str) -> str:
        return path.removeprefix(self._folder + "/")

    def _file(self, fd: int) -> File:
        file = self._open[fd]
        assert file is not None
        return file

    def _end_flush(self, call: Call) -> None:
        file = self._open[call.fd]
        if file is not None:
            self._flush_file(file, file.flushing.pop(call.fd), call.error)
            return
        last = self._flushing_names.pop(call.fd)
        if call.error == 0:
            for naming in [naming for naming in self._namings if naming.number < last]:
                _apply_naming(self._flushed_names, naming)
                self._namings.remove(naming)

    def _flush_file(self, file: File, last: int, error: int) -> None:
        changes = [change for change in file.changes if change.number < last]
        file.changes = [change for change in file.changes if change.number > last]
        share = 1.0
        if error:
            share = self._rng.random() if self._flushed_by_failures is None else self._flushed_by_failures
        for change in _choose_sectors(changes, share, self._rng):
            change.apply(file.flushed)

    def _unflushed(self) -> list[int]:
        """Return the numbers of the changes that were not flushed."""
        files = [file for name, file in self._names.items() if name not in OUTSIDE]
        changes = [change.number for file in files for change in file.changes]
        return changes + [naming.number for naming in self._namings]


def _apply_naming(names: dict[str, File], naming: Naming) -> None:
    for name, file in naming.names:
        if file is None:
            names.pop(name, None)
        else:
            names[name] = file


def _choose(changes: list[T], remainder: Remainder, last: int, rng: Random) -> list[T]:
    """Return the changes that are on disk."""
    match remainder:
        case Remainder.NOTHING:
            return []
        case Remainder.EVERYTHING:
            return changes
        case Remainder.FIRST:
            return [change for change in changes if change.number <= last]
        case _:
            share = rng.random()
            return [change for change in changes if rng.random() < share]


def _choose_sectors(changes: list[Change], share: float, rng: Random) -> Iterator[Change]:
    size = rng.choice(SECTORS)
    for change in changes:
        for sector in change.sectors(size):
            if rng.random() < share:
                yield sector


def _remains(file: File, remainder: Remainder, last: int, rng: Random) -> bytes:
    """Return the content of a file after a power cut."""
    content = bytearray(file.flushed)
    if remainder in (Remainder.SECTORS, Remainder.GARBAGE):
        changes: list[Change] = list(_choose_sectors(file.changes, rng.random(), rng))
    else:
        changes = _choose(file.changes, remainder, last, rng)
    for change in changes:
        if remainder is Remainder.GARBAGE and change.data is not None and rng.random() < GARBAGE_SHARE:
            change = Change(change.number, change.offset, rng.randbytes(len(change.data)))
        change.apply(content)
    return bytes(content)
