"""What a debate adds to its models: latency and CPU time per debater and chunk, and memory.

Debaters stream side by side at a steady pace; a follower of the debate sees every chunk once it is stored.
Held, stored and bare take turns in processes of their own, one at a time, all files in a temporary folder.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from lanes import run_once
from tables import ABSENT, print_table, ratio, report, spread

LIMIT_S = 120
DEBATERS = (2, 3, 4)
PACE_MS = 10
KINDS = ("held", "stored", "bare")
ADDED_GOAL_MS, MEMORY_GOAL_MB = 10, 100
# One debate of four, and many: rounds, and chunks of a reply.
ROUNDS, CHUNKS, MANY = 5, 1_000, 10

Answer = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table: a value of each turn for every number of debaters, and the most that it should be."""

    name: str
    values: Sequence[Sequence[float]]
    highest: float | None = None

    def row(self) -> list[str]:
        """The cells of the line."""
        return [self.name, *(spread(turns) for turns in self.values), self.goal()]

    def goal(self) -> str:
        """The goal, and whether it is met by every number of debaters."""
        if self.highest is None:
            return ABSENT
        return f"< {self.highest:g} {'met' if self.is_met() else 'MISSED'}"

    def is_met(self) -> bool | None:
        """Whether the goal is met, where there is one."""
        if self.highest is None:
            return None
        return all(median(turns) < self.highest for turns in self.values)


def child(module: str, *arguments: object) -> Answer:
    """The line that a child prints."""
    command = [sys.executable, "-m", f"speaking.{module}", *map(str, arguments)]
    answer: Answer = json.loads(run_once(command, limit_s=LIMIT_S))
    return answer


def speak(folder: Path, rounds: int, chunks: int) -> dict[tuple[str, int], list[Answer]]:
    """What every kind of listener says of so many debaters, turn by turn."""
    found: dict[tuple[str, int], list[Answer]] = {(kind, count): [] for kind in KINDS for count in DEBATERS}
    for turn in range(rounds):
        for kind, count in found:
            report(f"round {turn + 1} of {rounds}: {count} debaters, {kind}")
            file = () if kind == "bare" else (folder / f"{kind}-{count}-{turn}.db",)
            found[kind, count].append(child(kind, *file, count, chunks, PACE_MS))
    return found


def figures(found: dict[tuple[str, int], list[Answer]]) -> list[Figure]:
    """The lines of the first table."""

    def of(kind: str, value: Callable[[Answer], float]) -> list[list[float]]:
        return [[value(answer) for answer in found[kind, count]] for count in DEBATERS]

    def at(kind: str, span: str, part: str) -> list[list[float]]:
        return of(kind, lambda answer: answer[span][part])

    over = [
        [ours["cpu_us"] - bare["cpu_us"] for ours, bare in zip(found["held", n], found["bare", n], strict=True)]
        for n in DEBATERS
    ]
    return [
        Figure("added ms per chunk, p50", at("held", "added_ms", "p50")),
        Figure("… p95", at("held", "added_ms", "p95"), ADDED_GOAL_MS),
        Figure("… of a bare loop that stores the same texts, p50", at("stored", "added_ms", "p50")),
        Figure("… p95", at("stored", "added_ms", "p95")),
        Figure("… of the bare streams, p95", at("bare", "added_ms", "p95")),
        Figure("ms waiting to be joined, by design, p50", at("held", "joining_ms", "p50")),
        Figure("… p95", at("held", "joining_ms", "p95")),
        Figure("ms from the model to the follower, all in all, p50", at("held", "whole_ms", "p50")),
        Figure("… p95", at("held", "whole_ms", "p95")),
        Figure("ms of a transaction, p50", at("held", "commit_ms", "p50")),
        Figure("… p95", at("held", "commit_ms", "p95")),
        Figure("chunks in a step", of("held", lambda answer: answer["chunks_per_entry"])),
        Figure("CPU µs per chunk", of("held", lambda answer: answer["cpu_us"])),
        Figure("… over the bare streams'", over),
    ]


def memory(folder: Path) -> tuple[list[list[str]], dict[str, Answer]]:
    """The lines of the second table, and what is in them."""
    rows, answers = [], {}
    for count, name in ((1, "one debate"), (MANY, f"{MANY} debates at once")):
        report(f"memory: {name}")
        answer = answers[name] = child("whole", folder / f"whole-{count}.db", count, DEBATERS[-1], ROUNDS, CHUNKS)
        goal = f"< {MEMORY_GOAL_MB} {'met' if answer['each_mb'] < MEMORY_GOAL_MB else 'MISSED'}"
        rows.append([name, *(ratio(answer[key]) for key in ("empty_mb", "peak_mb", "each_mb")), goal])
    return rows, answers


def read_options() -> Any:
    """The command line."""
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds and shorter speeches")
    parser.add_argument("--json", type=Path, help="write the figures to this file as well")
    return parser.parse_args()


def main() -> None:
    """Take every figure, print them, and write the JSON file if asked to."""
    options = read_options()
    rounds, chunks = (2, 200) if options.quick else (5, 400)
    with TemporaryDirectory(prefix="antiphon-bench-") as folder:
        taken = figures(speak(Path(folder), rounds, chunks))
        rows, answers = memory(Path(folder))
    report("")
    title = f"Debates: chunks every {PACE_MS} ms from each of so many debaters at once"
    print_table(title, ["", *map(str, DEBATERS), "goal"], [figure.row() for figure in taken])
    head = ["", "empty", "peak", "more for each", "goal"]
    print_table(f"MB of memory: {DEBATERS[-1]} debaters, {ROUNDS} rounds, {CHUNKS:,} chunks a reply", head, rows)
    if options.json:
        said = [{**asdict(figure), "is_met": figure.is_met()} for figure in taken]
        options.json.write_text(json.dumps({"chunks": said, "memory": answers}, indent=2) + "\n")


if __name__ == "__main__":
    main()
