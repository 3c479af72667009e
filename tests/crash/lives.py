"""The parent's side: lives of a process on one file, how each ends, and what must be true in between."""

import multiprocessing
import os
import signal
import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from random import Random
from time import monotonic
from typing import Any

from tests.crash.child import Plan, main

BOUNDARIES = ("before commit", "in transaction", "after commit", "after perform", "before post", "after post")
LIMIT_S = 60.0
_forks = multiprocessing.get_context("forkserver")
_forks.set_forkserver_preload(["tests.crash.child"])


@dataclass
class Tally:
    """What was seen in the lives of one kind."""

    kills: int = 0
    acknowledged: int = 0
    lost: int = 0
    doubled: int = 0
    tasks: int = 0
    tasks_doubled: int = 0
    problems: list[str] = field(default_factory=list)


class Lives:
    """One file, and the processes that live and die on it."""

    def __init__(self, path: str, seed: int) -> None:
        self.path, self.seed, self.rng = path, seed, Random(seed)
        self.life, self.tally = 0, Tally()
        self.unknown: dict[tuple[str, str], tuple[str, str, str, str]] = {}
        self.accepted: dict[tuple[str, str], int] = {}
        self.posted: set[tuple[str, str]] = set()

    def killed_at(self, boundary: str, **how: Any) -> None:
        """A life that ends at a boundary."""
        plan = self._plan(stop_at=(boundary, self.rng.randint(1, 8 if "post" in boundary else 25)), **how)
        self._live(plan, lambda said, count: said is not None and said[0] == "point")

    def killed_anywhere(self, **how: Any) -> None:
        """A life that ends at a moment nobody has chosen."""
        most, wait_s = self.rng.randint(1, 120), self.rng.choice((0.0, 0.0005, 0.003))
        self._live(self._plan(**how), lambda said, count: count >= most, wait_s)

    def asked_to_stop(self, after: int, **how: Any) -> float:
        """A life that ends by SIGTERM after some messages; gives the seconds it took to stop."""
        return self._live(self._plan(**how), lambda said, count: count >= after, signal=signal.SIGTERM)

    def at_rest(self, **how: Any) -> list[str]:
        """A life in which everything comes to rest and ends by itself; gives what is wrong."""
        self._live(self._plan(letters=0, **how), lambda said, count: False)
        return self.tally.problems

    # -- one life ------------------------------------------------------------------------------------------------

    def _plan(self, **how: Any) -> Plan:
        self.life += 1
        return Plan(self.seed, self.life, again=tuple(self.unknown.values()), **how)

    def _live(self, plan: Plan, is_over: Any, wait_s: float = 0.0, signal: int = signal.SIGKILL) -> float:
        """Start a process, hear what it says, and end it when its time has come."""
        ours, theirs = _forks.Pipe()
        process = _forks.Process(target=main, args=(self.path, plan, theirs))
        process.start()
        theirs.close()
        count, seconds = 0, 0.0
        try:
            while (said := self._hear(ours, LIMIT_S)) is not None:
                count += 1
                if is_over(said, count) and process.pid is not None:
                    ours.poll(wait_s)
                    os.kill(process.pid, signal)
                    self.tally.kills += 1
                    seconds = self._last_words(ours)
                    break
            process.join(LIMIT_S)
        finally:
            if process.is_alive():
                process.kill()
                self.tally.problems.append(f"life {plan.life} did not end")
            process.join()
            ours.close()
        self._look_at_the_file()
        return seconds

    def _last_words(self, pipe: Any) -> float:
        """What was said before the end comes out of the pipe after it."""
        began = monotonic()
        while self._hear(pipe, LIMIT_S) is not None:
            pass
        return monotonic() - began

    def _hear(self, pipe: Any, limit_s: float) -> Any:
        try:
            if not pipe.poll(limit_s):
                self.tally.problems.append(f"life {self.life} said nothing for {limit_s} s")
                return None
            said = pipe.recv()
        except (EOFError, ConnectionResetError):
            return None
        match said:
            case ["sending", root, id, to, type, _]:
                self.unknown[root, id] = (root, id, to, type)
            case ["receipt", root, id, status, seq, by_post]:
                self._receipt(root, id, status, seq, by_post)
            case ["laws", problems]:
                self.tally.problems += problems
        return said

    def _receipt(self, root: str, id: str, status: str, seq: int, by_post: bool) -> None:
        self.unknown.pop((root, id), None)
        if status == "accepted":
            self.tally.acknowledged += 1
            if by_post:
                self.posted.add((root, id))
            else:
                self.accepted[root, id] = seq

    # -- what must be true ---------------------------------------------------------------------------------------

    def _look_at_the_file(self) -> None:
        """Every acknowledged letter is there once, there are no gaps, and the file is whole."""
        if not os.path.exists(self.path):
            return
        with closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)) as file:
            (whole,) = file.execute("pragma integrity_check").fetchone()
            if whole != "ok":
                self.tally.problems.append(f"the file is damaged: {whole}")
            entries = file.execute("select actor.id, entry.seq, letter from entry join actor on actor.n = entry.actor")
            stored = [(root, seq, letter) for root, seq, letter in entries]
            waiting = set(file.execute("select actor.id, letter.id from letter join actor on actor.n = letter.actor"))
            actors = dict(file.execute("select id, seq from actor"))
        counts = Counter((root, letter) for root, _, letter in stored if letter is not None)
        where = {(root, letter): seq for root, seq, letter in stored}
        for key, seq in self.accepted.items():
            self.tally.lost += where.get(key) != seq
        for root, id in self.posted:
            taken = (root, id) in where or (root, id) in waiting
            self.tally.lost += not taken and id.startswith("NOTE") and not id.endswith("kid")
        self.tally.doubled += sum(count > 1 for count in counts.values())
        for root, last in actors.items():
            seqs = sorted(seq for other, seq, _ in stored if other == root)
            if seqs != list(range(1, last + 1)):
                self.tally.problems.append(f"{root}: has the entries {seqs}, and should end at {last}")
        self._look_at_what_ran()

    def _look_at_what_ran(self) -> None:
        """No attempt ran twice, and nothing that must not be repeated had a second attempt."""
        with open(self.path + ".ran", encoding="utf-8") as file:
            lines = Counter(file.read().splitlines())
        tasks = [line.split() for line in lines if line.startswith("task")]
        self.tally.tasks = len(tasks)
        twice = [line for line, count in lines.items() if count > 1]
        again = [line for line in tasks if line[3] != "repeat" and line[2] != "1"]
        self.tally.tasks_doubled = len(twice) + len(again)
