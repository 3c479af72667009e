"""What checking a declared event costs, by the number and kind of its fields, beside the goal of 5 µs for six scalars.

CPU time of one process: the median of rounds, each of which checks the same event many times.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any, Literal, TypedDict

from antiphon.chart.checks.event_types import EventTypes
from tables import print_table

GOAL_US = 5.0
ROUNDS = 15
SCALARS: tuple[tuple[Any, Any], ...] = (
    (str, "text"),
    (int, 3),
    (float, 2.5),
    (bool, True),
    (str | None, None),
    (Literal["once", "thread"], "once"),
)


class Part(TypedDict):
    """A part of a message."""

    type: Literal["text", "image"]
    text: str


class Message(TypedDict):
    """A message of parts."""

    type: Literal["message"]
    parts: list[Part]


def declare(name: str, fields: int) -> tuple[Any, dict[str, Any]]:
    """Return an event type with so many scalar fields, and an event of it."""
    types = {f"field{number}": SCALARS[number % len(SCALARS)] for number in range(fields)}
    kind = TypedDict(name, {"type": Literal[name], **{key: type for key, (type, _) in types.items()}})  # type: ignore
    return kind, {"type": name, **{key: value for key, (_, value) in types.items()}}


def cases() -> dict[str, tuple[Any, dict[str, Any]]]:
    """Return event types with events, by what they show."""
    texts = [{"type": "text", "text": "words"}] * 10
    return {
        "no field": declare("none", 0),
        "6 scalar fields": declare("six", 6),
        "12 scalar fields": declare("twelve", 12),
        "24 scalar fields": declare("many", 24),
        "a list of 10 objects of 2 fields": (Message, {"type": "message", "parts": texts}),
        "6 scalar fields and one that is unknown": (declare("six", 6)[0], {**declare("six", 6)[1], "fielt0": 1}),
    }


def measure(kind: Any, event: dict[str, Any], count: int) -> float:
    """Return the CPU microseconds of one check."""
    check = EventTypes(kind).check_outside
    rounds = []
    for _ in range(ROUNDS):
        started = process_time()
        for _ in range(count):
            check(event)
        rounds.append((process_time() - started) / count * 1e6)
    return median(rounds)


def main() -> int:
    """Measure, print, and return 1 if the goal is missed."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer checks")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures as JSON")
    options = parser.parse_args()
    count = 2_000 if options.quick else 20_000
    # A refusal looks for the key that may be meant, so fewer of them are measured.
    figures = {name: measure(*case, count // (10 if "unknown" in name else 1)) for name, case in cases().items()}
    print_table("CPU time of one check", ["event", "µs"], [(name, f"{figure:.2f}") for name, figure in figures.items()])
    is_met = figures["6 scalar fields"] <= GOAL_US
    print(f"\ngoal: at most {GOAL_US} µs for 6 scalar fields: {'met' if is_met else 'missed'}")
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
