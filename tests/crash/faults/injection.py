"""Injected errors: calls of a real process that fail with EIO or ENOSPC, once, for a while, or permanently."""

import errno
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from tests.crash.faults.power_cuts import (
    CHECKPOINT_PAGES,
    FLUSHES_US,
    LETTERS,
    branch_at,
    choose_cuts,
    kills_at_refusals,
)
from tests.crash.faults.recording import LASTING, LIMIT_S, STORE, Fault, Recording, record
from tests.crash.process_chain import ProcessChain, Tally

# Calls of a process that can fail: their kind, the ending of the path, and how often they occur.
CALLS = (
    ("write", "-wal", 500),
    ("write", "-wal", 100),
    ("write", STORE, 30),
    ("write", "-shm", 8),
    ("write", "-journal", 2),
    ("flush", "-wal", 60),
    ("flush", "-wal", 20),
    ("flush", STORE, 5),
    ("flush", "/store", 2),
    ("create", "-wal", 1),
    ("create", "-journal", 1),
)
KILLS = 12  # moments at which the file is looked at as after a kill
DURATIONS = {"once": (1, 1), "lifted later": (2, 40), "lasting": (LASTING, LASTING)}
STORE_ERROR = re.compile(r"^antiphon\.runtime\.errors\.Store\w+: ", re.MULTILINE)


def choose_fault(rng: Random) -> tuple[str, Fault]:
    """Return a fault with the name of its kind."""
    call, ending, calls = rng.choice(CALLS)
    code = errno.EIO if call == "flush" else rng.choice((errno.EIO, errno.ENOSPC))
    duration = rng.choice(list(DURATIONS))
    fault = Fault(call, ending, rng.randint(1, calls), rng.randint(*DURATIONS[duration]), code)
    return f"{errno.errorcode[code]} in a {call}, {duration}", fault


class FaultyLives:
    """One folder, and processes that meet errors of its disk one after the other."""

    def __init__(self, folder: Path, seed: int, *, bug: str = "", limit_s: float = LIMIT_S) -> None:
        self._folder = folder / "store"
        self._rebuilt = folder / "rebuilt"
        self._rng = Random(f"faults {seed}")
        self._bug = bug
        self._limit_s = limit_s
        self._chain = ProcessChain(str(self._folder / STORE), seed)
        self._folder.mkdir()

    def run(self, fault: Fault, cuts: int = 3) -> Tally | None:
        """Run a process with a fault, then others without one, also after power cuts; return None if it was not met."""
        rng = self._rng
        chain = self._chain
        chain.tally = Tally(kills=1)
        plan = chain.plan(letters=LETTERS, checkpoint_pages=rng.choice(CHECKPOINT_PAGES))
        flush_us = rng.choice(FLUSHES_US)
        recording = record(self._folder, plan, bug=self._bug, faults=[fault], flush_us=flush_us, limit_s=self._limit_s)
        before = chain.branch(chain.path)
        for message in recording.messages:
            chain.record(message)
        if not recording.faults:
            chain.run_to_rest()
            return None
        chain.tally.problems += unreported_errors(recording)
        chain.check_refusals()
        for cut in kills_at_refusals(recording, self._folder, KILLS, rng):
            branch = branch_at(before, recording, cut, self._rebuilt)
            branch.check_refusals()
            _add(chain.tally, branch.tally)
        for cut in choose_cuts(recording, self._folder, cuts, rng):
            branch = branch_at(before, recording, cut, self._rebuilt)
            branch.check_refusals()
            branch.run_to_rest()
            _add(chain.tally, branch.tally)
        chain.run_to_rest()
        return chain.tally


def unreported_errors(recording: Recording) -> list[str]:
    """Return letters without an answer in a process that ended well, and ends for other reasons than the store."""
    if recording.exit_code is None:
        return ["the process neither answered nor ended"]
    if recording.exit_code != 0:
        is_reported = STORE_ERROR.search(recording.stderr) is not None
        return [] if is_reported else [f"the process ended with {recording.exit_code}: {recording.stderr[-2000:]}"]
    waiting = set(_letters(recording.messages, "sending"))
    answered = {*_letters(recording.messages, "receipt"), *_letters(recording.messages, "refused")}
    return [f"{root}: letter {id} has no answer" for root, id in sorted(waiting - answered)]


def _letters(messages: list[Any], kind: str) -> Iterator[tuple[str, str]]:
    return ((message[1], message[2]) for message in messages if message[0] == kind)


def _add(tally: Tally, other: Tally) -> None:
    tally.lost += other.lost
    tally.doubled += other.doubled
    tally.tasks_doubled += other.tasks_doubled
    tally.problems += other.problems
