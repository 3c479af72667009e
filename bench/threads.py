"""What threads cost as they grow and as they become many: whole turns, lists, searches, and the index per turn.

CPU time of one process with all its threads, kernel included. The stores of conversations are in a temporary folder;
the one with 100,000 threads and 1,000,000 messages is written once, by SQL, into `.bench`.
"""

from __future__ import annotations

import asyncio
import json
import sys
from argparse import ArgumentParser
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

from antiphon.app import open_library
from antiphon.threads import Library
from indexed.conversation import Conversation, make_runtime
from indexed.library_file import FIRST_MS, STEP_MS, THREADS, library_file
from peers import REPOSITORY
from tables import ABSENT, print_table, ratio, report

SHORT = 50
LONG = 1200
GROWTH = 1.3  # at most so many times the cost of a turn of a short conversation
LIST_MS = 5.0
SEARCH_MS = 50.0
ROUNDS = 15
SEARCHES = {
    "a rare word": "zebra",
    "a word in 10 %": "tenth",
    "a word in all": "message",
    "a rare and a common word": "zebra message",
    "a beginning of 2 letters, in all": "me",
    "a beginning of 3 letters, in all": "mes",
    "a beginning of 5 letters, in all": "topic",
    "a beginning of 5 letters, rare": "zebr",
    "2 Chinese characters, in a third": "天气",
    "4 Chinese characters, in 1 of 40": "北京大学",
    "nothing": "absentee",
}


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table, with the goal it is held to."""

    name: str
    value: float
    unit: str
    highest: float | None = None

    @property
    def is_met(self) -> bool:
        """Whether the goal is met, if there is one."""
        return self.highest is None or self.value <= self.highest

    def row(self) -> list[str]:
        """The cells of the line."""
        goal = ABSENT if self.highest is None else f"≤ {self.highest:g} {'met' if self.is_met else 'MISSED'}"
        return [self.name, f"{ratio(self.value)} {self.unit}".strip(), goal]


async def growth(folder: Path, turns: int) -> list[Figure]:
    """Turns of a short and of a long conversation, one after the other."""
    report(f"growth: {LONG:,} turns")
    async with make_runtime(folder / "growth.db") as runtime:
        short = Conversation(runtime)
        long = Conversation(runtime)
        await short.grow(SHORT - turns // 2)
        await long.grow(LONG - turns // 2)
        costs = [(await short.turn(), await long.turn()) for _ in range(turns)]
    few = median(cost for cost, _ in costs)
    many = median(cost for _, cost in costs)
    return [
        Figure(f"CPU of a whole turn at {SHORT} turns", few, "ms"),
        Figure(f"CPU of a whole turn at {LONG:,} turns", many, "ms"),
        Figure("… the latter over the former", median(b / a for a, b in costs), "", GROWTH),
    ]


async def price(folder: Path, turns: int) -> list[Figure]:
    """Turns with and without the index, one after the other."""
    report("price of the index")
    async with make_runtime(folder / "a.db") as indexed, make_runtime(folder / "b.db", is_indexed=False) as plain:
        one = Conversation(indexed)
        other = Conversation(plain)
        await one.grow(SHORT)
        await other.grow(SHORT)
        costs = [(await one.turn(), await other.turn()) for _ in range(turns)]
    return [
        Figure("CPU of a whole turn without the index", median(cost for _, cost in costs), "ms"),
        Figure("… what the index adds, in its commits", median(a - b for a, b in costs), "ms"),
    ]


async def cpu_ms(work: Callable[[], Awaitable[Any]], rounds: int) -> float:
    """Return the CPU milliseconds of a call, the median of some rounds after a first one."""
    await work()
    costs = []
    for _ in range(rounds):
        started = process_time()
        await work()
        costs.append((process_time() - started) * 1000)
    return median(costs)


async def lists(library: Library, rounds: int) -> list[Figure]:
    """Pages of 20 out of all threads."""
    report("lists")
    middle = f"{FIRST_MS + THREADS // 2 * STEP_MS}:"
    pages: dict[str, Callable[[], Awaitable[Any]]] = {
        "the latest": library.latest,
        "the next page": lambda: library.latest(after=last),
        "in the middle": lambda: library.latest(after=middle),
        "of a kind": lambda: library.latest(kind="debate"),
        "of a status": lambda: library.latest(status="failed"),
        "of an owner": lambda: library.latest(owner="owner7"),
        "archived": lambda: library.latest(archived=True),
    }
    last = (await library.latest())[-1].cursor
    for name, page in pages.items():
        assert len(await page()) == 20, name
    found = [(f"a page of the list: {name}", await cpu_ms(page, rounds)) for name, page in pages.items()]
    return [Figure(name, value, "ms", LIST_MS) for name, value in found]


async def searches(library: Library, rounds: int) -> list[Figure]:
    """Pages of 20 matches out of all messages, the newest first."""
    figures = []
    for name, words in SEARCHES.items():
        report(f"search: {name}")
        value = await cpu_ms(lambda words=words: library.search(words), rounds)  # type: ignore[misc]
        figures.append(Figure(f"search for {name}", value, "ms", SEARCH_MS))
    first = await library.search("message")
    value = await cpu_ms(lambda: library.search("message", after=first[-1].cursor), rounds)
    return [*figures, Figure("… the next page, for a word in all", value, "ms", SEARCH_MS)]


async def measure(folder: Path, file: Path, *, is_quick: bool) -> list[Figure]:
    """Take every figure."""
    rounds = 3 if is_quick else ROUNDS
    turns = 10 if is_quick else 40
    figures = [*await growth(folder, turns), *await price(folder, turns * 2)]
    async with open_library(file) as library:
        return [*figures, *await lists(library, rounds), *await searches(library, rounds)]


def main() -> int:
    """Measure, print, and return 1 if a goal is missed."""
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures as JSON")
    parser.add_argument("--cache", type=Path, metavar="FOLDER", help="where the file is written (default: .bench)")
    options = parser.parse_args()
    report(f"a store of {THREADS:,} threads, written once")
    file = library_file(options.cache or REPOSITORY / ".bench")
    with TemporaryDirectory(prefix="antiphon-bench-") as folder:
        figures = asyncio.run(measure(Path(folder), file, is_quick=options.quick))
    report("")
    print_table("Threads", ["", "figure", "goal"], [figure.row() for figure in figures])
    if options.json:
        options.json.write_text(json.dumps([asdict(figure) for figure in figures], indent=2) + "\n")
    return 0 if all(figure.is_met for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
