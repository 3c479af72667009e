"""Power cuts: the folder of a recorded process, rebuilt as a disk may have kept it, and used again."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from tests.crash.faults.disk import Disk, Remainder
from tests.crash.faults.recording import MESSAGES, STORE, Action, Call, Fault, Recording, messages_in, record
from tests.crash.process_chain import ProcessChain, Tally

LETTERS = 15  # for each tree
FLUSHES_US = (0, 3000)  # a slow flush lets the store commit on its thread, and commits overlap
REFUSED = b'["refused"'
RECEIPT = b'["receipt"'
CHECKPOINT_PAGES = (8, 40, 1000)


class Cut(NamedTuple):
    """Power cut after a number of calls, with what it left of the unflushed changes."""

    calls: int
    remainder: Remainder
    files: dict[str, bytes]


def choose_cuts(recording: Recording, folder: Path, count: int, rng: Random) -> Iterator[Cut]:
    """Yield power cuts at different moments of a process, in the order of time."""
    disk = Disk(str(folder), recording.before, rng)
    for calls in _apply_until(disk, recording, [_choose_moment(recording, rng) for _ in range(count)]):
        remainder = rng.choice(list(Remainder))
        yield Cut(calls, remainder, disk.cut(remainder, rng))


def kills_at_refusals(recording: Recording, folder: Path, count: int, rng: Random) -> Iterator[Cut]:
    """Yield the folder at moments after a letter was refused, as the operating system has it: it survives a kill."""
    moments = _message_moments(recording.calls, REFUSED)
    disk = Disk(str(folder), recording.before, rng, flushed_by_failures=1.0)
    for calls in _apply_until(disk, recording, rng.sample(moments, min(count, len(moments)))):
        yield Cut(calls, Remainder.EVERYTHING, disk.cut(Remainder.EVERYTHING, rng))


def _apply_until(disk: Disk, recording: Recording, moments: list[int]) -> Iterator[int]:
    """Let the calls of a process change a disk, and yield when their number is one of the moments."""
    applied = 0
    for calls in sorted(moments):
        for call in recording.calls[applied:calls]:
            disk.apply(call)
        applied = calls
        yield calls


def _choose_moment(recording: Recording, rng: Random) -> int:
    """Return a number of calls: any, or one that ends with a message, a refusal or a change of the folder."""
    calls = recording.calls
    match rng.randrange(8):
        case 0 | 1 | 2:
            moments = _message_moments(calls, b"")
        case 3 | 4:
            moments = _message_moments(calls, REFUSED) or _message_moments(calls, RECEIPT)
        case 5:
            actions = (Action.UNLINK, Action.RENAME, Action.TRUNCATE)
            moments = [at for at, call in enumerate(calls, 1) if call.is_new or call.action in actions]
        case _:
            moments = list(range(len(calls) + 1))
    return rng.choice(moments or [len(calls)])


def _message_moments(calls: Sequence[Call], beginning: bytes) -> list[int]:
    fds = {call.fd for call in calls if call.path.endswith(MESSAGES)}
    writes = [(at, call) for at, call in enumerate(calls, 1) if call.action is Action.WRITE and call.fd in fds]
    return [at for at, call in writes if call.data.startswith(beginning)]


def rebuild(folder: Path, files: dict[str, bytes]) -> None:
    """Make a folder hold exactly these files."""
    folder.mkdir(exist_ok=True)
    for path in folder.iterdir():
        path.unlink()
    for name, content in files.items():
        (folder / name).write_bytes(content)


class PowerCuts:
    """One folder, and processes that lose their power one after the other."""

    def __init__(self, folder: Path, seed: int, *, bug: str = "", faults: Sequence[Fault] = ()) -> None:
        self._folder = folder / "store"
        self._rebuilt = folder / "rebuilt"
        self._rng = Random(f"power cuts {seed}")
        self._bug = bug
        self._faults = faults
        self._chain = ProcessChain(str(self._folder / STORE), seed)
        self._folder.mkdir()

    def run(self, count: int) -> Iterator[tuple[Remainder, Tally]]:
        """Record a process, and yield the tally of each of its power cuts; a random one is where the next continues."""
        rng = self._rng
        plan = self._chain.plan(letters=LETTERS, checkpoint_pages=rng.choice(CHECKPOINT_PAGES))
        recording = record(self._folder, plan, bug=self._bug, faults=self._faults, flush_us=rng.choice(FLUSHES_US))
        following = rng.randrange(count)
        branch = self._chain
        for number, cut in enumerate(choose_cuts(recording, self._folder, count, rng)):
            chain = branch_at(self._chain, recording, cut, self._rebuilt)
            if number == following:
                branch = chain.branch(self._chain.path)
                rebuild(self._folder, cut.files)
            chain.run_to_rest()
            chain.tally.kills = 1
            chain.tally.problems = [
                f"{problem} (life {self._chain.life}, call {cut.calls}, kept: {cut.remainder})"
                for problem in chain.tally.problems
            ]
            yield cut.remainder, chain.tally
        self._chain = branch


def branch_at(chain: ProcessChain, recording: Recording, cut: Cut, folder: Path) -> ProcessChain:
    """Rebuild a folder after a power cut; return the chain with what the process had reported until then."""
    rebuild(folder, cut.files)
    branch = chain.branch(str(folder / STORE))
    for message in messages_in(recording.calls[: cut.calls]):
        branch.record(message)
    return branch
