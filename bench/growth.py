"""How Antiphon grows: memory per actor, spawning, streamed text, building and importing, beside its goals.

Every figure is taken in processes of its own, in CPU time, and repeated; the median is shown.
"""

from __future__ import annotations

import json
import resource
import sys
from argparse import ArgumentParser
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from lanes import run_once
from peers import PeerUnavailable, Toolchain, provide_peers
from tables import ABSENT, print_table, ratio, report

LIMIT_S = 120
REPEATS = 3
ACTORS = 100_000
WINDOW, CHILDREN = 500, 10_000
CHUNKS = 100_000
BUILDS = 100
IMPORTS = 20

# What `import antiphon` adds to the modules of an empty program, less ours and the standard library's.
FOREIGN_MODULES = """
import sys
before = set(sys.modules)
import antiphon
names = {name.partition(".")[0] for name in set(sys.modules) - before}
print(*sorted(names - {"antiphon"} - set(sys.stdlib_module_names)))
"""


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table; `highest` is the goal."""

    name: str
    ours: float | None
    xstate: float | None = None
    highest: float | None = None

    def row(self) -> list[str]:
        """The cells of the line."""
        goal = ABSENT if self.highest is None else f"≤ {self.highest:g}{self.verdict()}"
        return [self.name, shown(self.ours), shown(self.xstate), shown(quotient(self.xstate, self.ours)), goal]

    def verdict(self) -> str:
        """Whether the goal is met."""
        if self.ours is None or self.highest is None:
            return ""
        return " met" if self.ours <= self.highest else " MISSED"


def shown(value: float | None) -> str:
    """A figure with about three digits, or a dash."""
    if value is None:
        return ABSENT
    return f"{value:.0f}" if value == int(value) else ratio(value)


class Children:
    """Starts the figures' processes, and remembers which of them gave nothing and why."""

    def __init__(self, tools: Toolchain) -> None:
        self.tools = tools
        self.problems: list[str] = []

    def ours(self, *arguments: object) -> dict[str, float]:
        """Antiphon's answer: one module of `figures` run once."""
        figure, *sizes = map(str, arguments)
        return self.answer("antiphon", figure, lambda: [sys.executable, "-m", f"figures.{figure}", *sizes])

    def xstate(self, *arguments: object) -> dict[str, float]:
        """XState's answer to the same question."""
        tools = self.tools
        return self.answer(
            "xstate",
            str(arguments[0]),
            lambda: [tools.node(), "--expose-gc", "figures/xstate.cjs", tools.node_modules(), *map(str, arguments)],
        )

    def answer(self, who: str, figure: str, command: Callable[[], list[str]]) -> dict[str, float]:
        """The line that a child prints, or nothing."""
        report(f"{figure}: {who}")
        try:
            answer: dict[str, float] = json.loads(run_once(command(), limit_s=LIMIT_S))
        except PeerUnavailable as reason:
            self.problems.append(f"{who}, {figure}: {reason}")
            return {}
        return answer


def middle(answers: list[dict[str, float]], key: str) -> float | None:
    """The median of one key over several answers."""
    values = [answer[key] for answer in answers if key in answer]
    return median(values) if values else None


def quotient(one: float | None, other: float | None) -> float | None:
    """One over the other, where both are known."""
    return one / other if one is not None and other else None


def memory(children: Children) -> list[Figure]:
    """What many idle actors keep."""
    ours, theirs = children.ours("memory", ACTORS), children.xstate("memory", ACTORS)
    return [Figure(f"bytes per idle actor, of {ACTORS:,}", ours.get("bytes"), theirs.get("bytes"))]


def spawning(children: Children) -> list[Figure]:
    """Whether the ten-thousandth child costs more than the first."""
    ours = [children.ours("spawning", WINDOW, CHILDREN) for _ in range(REPEATS)]
    # XState's last children take milliseconds each, so it is asked only once.
    theirs = children.xstate("spawning", WINDOW, CHILDREN)
    few, many = middle(ours, "few_us"), middle(ours, "many_us")
    their_few, their_many = theirs.get("few_us"), theirs.get("many_us")
    return [
        Figure(f"µs per spawn, children 1–{WINDOW}", few, their_few),
        Figure(f"µs per spawn, children {CHILDREN - WINDOW + 1:,}–{CHILDREN:,}", many, their_many),
        Figure("… the last over the first", quotient(many, few), quotient(their_many, their_few)),
    ]


def text(children: Children) -> list[Figure]:
    """Whether ten times the chunks take ten times as long."""
    times = [children.ours("text", "compare", CHUNKS) for _ in range(REPEATS)]
    growth = [answer["tenfold_seconds"] / answer["seconds"] for answer in times if answer]
    weight = children.ours("text", "weigh", CHUNKS * 10)
    watched = children.ours("text", "watch", CHUNKS // 10)
    return [
        Figure(f"s to stream {CHUNKS:,} chunks", middle(times, "seconds")),
        Figure(f"s to stream {CHUNKS * 10:,} chunks", middle(times, "tenfold_seconds")),
        Figure("… the latter over the former", median(growth) if growth else None, highest=12),
        Figure(f"s to stream {CHUNKS:,} chunks, the text read after each", watched.get("tenfold_seconds")),
        Figure(
            f"… over the same with {CHUNKS // 10:,} chunks",
            quotient(watched.get("tenfold_seconds"), watched.get("seconds")),
            highest=20,
        ),
        Figure("peak memory over the text's size", weight.get("peak_over_size"), highest=4),
    ]


def building(children: Children) -> list[Figure]:
    """A chart of ordinary size."""
    ours = [children.ours("building", BUILDS) for _ in range(REPEATS)]
    theirs = [children.xstate("building", BUILDS) for _ in range(REPEATS)]
    return [Figure("ms to build the debate chart", middle(ours, "ms"), middle(theirs, "ms"), highest=2)]


def importing(children: Children) -> list[Figure]:
    """What `import antiphon` costs an empty program, and what it drags in."""
    report("importing: antiphon")
    try:
        cpu_ms("import antiphon")
        added = median(cpu_ms("import antiphon") - cpu_ms("pass") for _ in range(IMPORTS))
        foreign = run_once([sys.executable, "-c", FOREIGN_MODULES], limit_s=LIMIT_S).split()
    except PeerUnavailable as reason:
        children.problems.append(f"antiphon, importing: {reason}")
        return [Figure("ms to import", None, highest=60)]
    if foreign:
        children.problems.append(f"antiphon imports third-party modules: {', '.join(foreign)}")
    return [Figure("ms to import", added, highest=60), Figure("third-party modules imported", len(foreign), highest=0)]


def cpu_ms(program: str) -> float:
    """CPU milliseconds of a Python process that runs only this."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run_once([sys.executable, "-c", program], limit_s=LIMIT_S)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000


def read_options() -> Any:
    """The command line."""
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", type=Path, help="write the figures to this file as well")
    parser.add_argument("--cache", type=Path, help="where the peers are installed (default: .bench)")
    return parser.parse_args()


def main() -> None:
    """Take every figure, print them, and write the JSON file if asked to."""
    options = read_options()
    children = Children(provide_peers({"xstate"}, options.cache, report))
    figures = [figure for take in (memory, spawning, text, building, importing) for figure in take(children)]
    report("")
    head = ["", "antiphon", "XState", "XState / antiphon", "goal"]
    print_table("Growth", head, [figure.row() for figure in figures])
    for problem in dict.fromkeys(children.problems):
        print(f"\n– {problem}")
    if options.json:
        options.json.write_text(json.dumps([asdict(figure) for figure in figures], indent=2) + "\n")


if __name__ == "__main__":
    main()
