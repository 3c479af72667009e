"""Processes that use one file one after the other: how each is ended, and checks of the file after each."""

import multiprocessing
import os
import signal
import sqlite3
from collections import Counter
from contextlib import closing, suppress
from dataclasses import dataclass, field
from random import Random
from time import monotonic
from typing import Any

from tests.crash.child import Plan, main

BOUNDARIES = ("before commit", "in transaction", "after commit", "after perform", "before post", "after post")
LIMIT_S = 60.0
UNCERTAIN = {"StoreStopped"}  # errors after which a letter may be stored all the same
_forks = multiprocessing.get_context("forkserver")
_forks.set_forkserver_preload(["tests.crash.child"])


@dataclass
class Tally:
    """Counts over the processes of one chain."""

    kills: int = 0
    acknowledged: int = 0
    lost: int = 0
    doubled: int = 0
    tasks: int = 0
    tasks_doubled: int = 0
    problems: list[str] = field(default_factory=list)


class ProcessChain:
    """One file, and the processes that use it one after the other."""

    def __init__(self, path: str, seed: int) -> None:
        self.path = path
        self.seed = seed
        self.rng = Random(seed)
        self.life = 0
        self.tally = Tally()
        self.unknown: dict[tuple[str, str], tuple[str, str, str, str]] = {}
        self.accepted: dict[tuple[str, str], int] = {}
        self.posted: set[tuple[str, str]] = set()
        self.refused: set[tuple[str, str]] = set()  # by an error that promises that nothing was stored
        self._has_ended = False

    def kill_at(self, boundary: str, **options: Any) -> None:
        """Run a process and kill it at a boundary."""
        plan = self.plan(stop_at=(boundary, self.rng.randint(1, 8 if "post" in boundary else 25)), **options)
        self._run_process(plan, lambda message, count: message is not None and message[0] == "point")

    def kill_anywhere(self, **options: Any) -> None:
        """Run a process and kill it at a random moment."""
        limit = self.rng.randint(1, 120)
        wait_s = self.rng.choice((0.0, 0.0005, 0.003))
        self._run_process(self.plan(**options), lambda message, count: count >= limit, wait_s)

    def terminate(self, after: int, **options: Any) -> float:
        """Run a process and end it by SIGTERM after some messages; return the seconds it took to stop."""
        return self._run_process(self.plan(**options), lambda message, count: count >= after, signal=signal.SIGTERM)

    def run_to_rest(self, **options: Any) -> list[str]:
        """Run a process until it is idle and ends by itself; return the problems."""
        self._has_ended = False
        self._run_process(self.plan(letters=0, **options), lambda message, count: False)
        if not self._has_ended:
            self.tally.problems.append(f"process {self.life} did not run to its end")
        return self.tally.problems

    def branch(self, path: str) -> "ProcessChain":
        """Return a chain that knows the same letters and continues with another file."""
        chain = ProcessChain(path, self.seed)
        chain.life = self.life
        chain.unknown = dict(self.unknown)
        chain.accepted = dict(self.accepted)
        chain.posted = set(self.posted)
        chain.refused = set(self.refused)
        return chain

    def plan(self, **options: Any) -> Plan:
        """Return the parameters of the next process."""
        self.life += 1
        return Plan(self.seed, self.life, again=tuple(self.unknown.values()), **options)

    def _run_process(self, plan: Plan, is_over: Any, wait_s: float = 0.0, signal: int = signal.SIGKILL) -> float:
        """Start a process, receive its messages, and end it when `is_over` says so."""
        ours, theirs = _forks.Pipe()
        process = _forks.Process(target=main, args=(self.path, plan, theirs))
        process.start()
        theirs.close()
        count = 0
        seconds = 0.0
        try:
            while (message := self._receive(ours, LIMIT_S)) is not None:
                count += 1
                if is_over(message, count) and process.pid is not None:
                    ours.poll(wait_s)
                    os.kill(process.pid, signal)
                    self.tally.kills += 1
                    seconds = self._drain(ours)
                    break
            process.join(LIMIT_S)
        finally:
            if process.is_alive():
                process.kill()
                self.tally.problems.append(f"process {plan.life} did not end")
            process.join()
            ours.close()
        self.check_file()
        return seconds

    def _drain(self, pipe: Any) -> float:
        """Receive the messages that were sent before the end; return the seconds until the pipe was closed."""
        started_at = monotonic()
        while self._receive(pipe, LIMIT_S) is not None:
            pass
        return monotonic() - started_at

    def _receive(self, pipe: Any, limit_s: float) -> Any:
        try:
            if not pipe.poll(limit_s):
                self.tally.problems.append(f"process {self.life} sent no message for {limit_s} s")
                return None
            message = pipe.recv()
        except (EOFError, ConnectionResetError):
            return None
        self.record(message)
        return message

    def record(self, message: Any) -> None:
        """Take note of a message of a process."""
        match message:
            case ["sending", root, id, to, type, _]:
                self.unknown[root, id] = (root, id, to, type)
                self.refused.discard((root, id))
            case ["receipt", root, id, status, seq, by_post]:
                self._record_receipt(root, id, status, seq, by_post)
            case ["refused", root, id, kinds, _]:
                if not UNCERTAIN.intersection(kinds):
                    self.refused.add((root, id))
            case ["laws", problems]:
                self.tally.problems += problems
            case ["stopped"]:
                self._has_ended = True

    def _record_receipt(self, root: str, id: str, status: str, seq: int, by_post: bool) -> None:
        self.unknown.pop((root, id), None)
        if status == "accepted":
            self.tally.acknowledged += 1
            if by_post:
                self.posted.add((root, id))
            else:
                self.accepted[root, id] = seq

    def check_refusals(self) -> None:
        """Check that no letter is stored that was refused by an error which promises that nothing was stored."""
        stored: set[tuple[str, str]] = set()
        with suppress(sqlite3.OperationalError), closing(self._connect()) as file:  # there may be no file or no table
            stored |= set(file.execute("select actor.id, letter from entry join actor on actor.n = entry.actor"))
            stored |= set(file.execute("select actor.id, letter.id from letter join actor on actor.n = letter.actor"))
        for root, id in sorted(stored & self.refused):
            self.tally.problems.append(f"{root}: letter {id} was refused as if nothing was stored, and is stored")

    def check_file(self) -> None:
        """Check that every acknowledged letter is stored once, journals have no gaps, and the file is intact."""
        if not os.path.exists(self.path):
            return
        try:
            self._check_stored_letters()
        except sqlite3.DatabaseError as error:
            self.tally.problems.append(f"the file cannot be read: {error}")
        self._check_executions()

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)

    def _check_stored_letters(self) -> None:
        with closing(self._connect()) as file:
            (result,) = file.execute("pragma integrity_check").fetchone()
            if result != "ok":
                self.tally.problems.append(f"the file is damaged: {result}")
            entries = file.execute("select actor.id, entry.seq, letter from entry join actor on actor.n = entry.actor")
            stored = [(root, seq, letter) for root, seq, letter in entries]
            waiting = set(file.execute("select actor.id, letter.id from letter join actor on actor.n = letter.actor"))
            actors = dict(file.execute("select id, seq from actor"))
        counts = Counter((root, letter) for root, _, letter in stored if letter is not None)
        where = {(root, letter): seq for root, seq, letter in stored}
        for key, seq in self.accepted.items():
            self.tally.lost += where.get(key) != seq
        for root, id in self.posted:
            is_stored = (root, id) in where or (root, id) in waiting
            self.tally.lost += not is_stored and id.startswith("NOTE") and not id.endswith("kid")
        self.tally.doubled += sum(count > 1 for count in counts.values())
        for root, last in actors.items():
            seqs = sorted(seq for owner, seq, _ in stored if owner == root)
            if seqs != list(range(1, last + 1)):
                self.tally.problems.append(f"{root}: has the entries {seqs}, and should end at {last}")

    def _check_executions(self) -> None:
        """Check that no attempt ran twice, and no task that must not be repeated had a second attempt."""
        with open(self.path + ".ran", encoding="utf-8") as file:
            lines = Counter(file.read().splitlines())
        tasks = [line.split() for line in lines if line.startswith("task")]
        self.tally.tasks = len(tasks)
        twice = [line for line, count in lines.items() if count > 1]
        again = [line for line in tasks if line[3] != "repeat" and line[2] != "1"]
        self.tally.tasks_doubled = len(twice) + len(again)
