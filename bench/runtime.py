"""What durability costs: the runtime on SQLite beside LangGraph and Burr, a bare loop, and its own goals.

Contestants take turns in processes of their own, and all files are in a temporary folder.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from durable.turns import MESSAGE_LENGTH
from lanes import run_once
from loops import Loop, Loops, middle, quotients
from peers import PeerUnavailable, runtime_python
from tables import ABSENT, print_table, ratio, report, spread

LIMIT_S = 120
ACTORS, IDLE, ENTRIES = 100, 100_000, 10_000
CROWDS = {256: 0.65, 1000: 0.45}  # busy actors, and the goal of their share of a bare group-commit loop
CALLERS, MOST_TRANSACTIONS = 64, 8  # who create actors at once, and the transactions that this may take
PEERS = {"langgraph": "durable.langgraph_peer", "burr": "durable.burr_peer"}
# The machine, and how many entries after its latest snapshot an actor has at most: there restoring is dearest.
SHORT, LONG = ("loop", 99), ("talk", 999)


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table; `highest` or `lowest` is the goal."""

    name: str
    antiphon: float | None
    langgraph: float | None = None
    burr: float | None = None
    highest: float | None = None
    lowest: float | None = None
    spread: str = ""

    def row(self) -> list[str]:
        """The cells of the line."""
        return [self.name, self.spread or shown(self.antiphon), shown(self.langgraph), shown(self.burr), self.goal()]

    def goal(self) -> str:
        """The goal, and whether it is met."""
        if self.highest is None and self.lowest is None:
            return ABSENT
        text = f"≤ {self.highest:g}" if self.highest is not None else f"≥ {self.lowest:g}"
        is_met = self.is_met()
        return text if is_met is None else f"{text} {'met' if is_met else 'MISSED'}"

    def is_met(self) -> bool | None:
        """Whether the goal is met, where there is one and something to hold against it."""
        if self.antiphon is None or (self.highest is None and self.lowest is None):
            return None
        return (self.highest is None or self.antiphon <= self.highest) and (
            self.lowest is None or self.antiphon >= self.lowest
        )


def shown(value: float | None) -> str:
    """A figure with about three digits, or a dash."""
    if value is None:
        return ABSENT
    return f"{value:,.0f}" if value >= 100 or value == int(value) else ratio(value)


class Bench:
    """Starts the children, and remembers which of them gave nothing and why."""

    def __init__(self, folder: Path, python: Path | PeerUnavailable, *, is_quick: bool) -> None:
        self.folder, self.python, self.is_quick = str(folder), python, is_quick
        self.problems: list[str] = []

    def ours(self, module: str, *arguments: object) -> list[str]:
        """The command of a child that is ours."""
        return [sys.executable, "-m", f"durable.{module}", *map(str, arguments)]

    def peer(self, name: str, *arguments: object) -> list[str]:
        """The command of a peer's child."""
        if isinstance(self.python, PeerUnavailable):
            raise self.python
        return [str(self.python), "-m", PEERS[name], *map(str, arguments)]

    def answer(self, name: str, command: Callable[[], list[str]]) -> dict[str, float]:
        """The line that a child prints, or nothing."""
        report(name)
        try:
            answer: dict[str, float] = json.loads(run_once(command(), limit_s=LIMIT_S))
        except PeerUnavailable as reason:
            self.problem(name, reason)
            return {}
        return answer

    def problem(self, name: str, reason: Exception) -> None:
        """Remember that there is something missing."""
        self.problems.append(f"{name}: {reason}")


def busy(bench: Bench) -> list[Figure]:
    """The two-step loop, of many actors at once."""
    report("busy actors: starting")
    with Loops(bench.problem) as loops:
        ours, bare = start_pair(bench, loops, ACTORS)
        served = loops.start("served", lambda: bench.ours("served", bench.folder, ACTORS))
        peers = [loops.start(name, lambda name=name: bench.peer(name, "loop", bench.folder, ACTORS)) for name in PEERS]
        take_turns(loops, ACTORS, 6 if bench.is_quick else 20)
    share, of_rows = quotients(ours.rates(), served.rates()), quotients(ours.rates(), bare.rates())
    costs, rates = ([middle(values(loop)) for loop in (ours, *peers)] for values in (Loop.cpu_us, Loop.rates))
    dearer = [middle(quotients(peer.cpu_us(), ours.cpu_us())) for peer in peers]
    return [
        Figure(f"CPU µs per durable event, {ACTORS} busy actors", *costs, highest=100, spread=spread(ours.cpu_us())),
        Figure("… theirs over Antiphon's", None, *dearer),
        Figure("durable events per second", *rates),
        Figure("… in one transaction", ours.facts.get("events_per_transaction")),
        Figure("commits per second over a bare group-commit loop's", middle(share), lowest=0.6, spread=spread(share)),
        Figure("… over the same rows, for which nobody waits", middle(of_rows), spread=spread(of_rows)),
    ]


def crowds(bench: Bench) -> list[Figure]:
    """More busy actors at once, beside the bare group-commit loop."""
    figures = []
    for actors, goal in CROWDS.items():
        report(f"{actors} busy actors: starting")
        with Loops(bench.problem) as loops:
            ours = loops.start("antiphon", lambda actors=actors: bench.ours("busy", bench.folder, actors))
            served = loops.start("served", lambda actors=actors: bench.ours("served", bench.folder, actors))
            take_turns(loops, actors, 4 if bench.is_quick else 12)
        share = quotients(ours.rates(), served.rates())
        title = f"commits per second over a bare group-commit loop's, {actors:,} busy actors"
        figures += [
            Figure(title, middle(share), lowest=goal, spread=spread(share)),
            Figure("… events in one transaction", ours.facts.get("events_per_transaction")),
            Figure("… in one of the bare loop", served.facts.get("events_per_transaction")),
        ]
    return figures


def creating(bench: Bench) -> list[Figure]:
    """Actors that many callers create at once, beside one caller."""
    report("creating actors: starting")
    with Loops(bench.problem) as loops:
        many = loops.start("many", lambda: bench.ours("creating", bench.folder, CALLERS))
        one = loops.start("one", lambda: bench.ours("creating", bench.folder, 1))
        take_turns(loops, CALLERS, 4 if bench.is_quick else 12)
    gain = quotients(many.rates(), one.rates())
    transactions = many.facts.get("transactions")
    return [
        Figure(f"transactions for {CALLERS} actors created at once", transactions, highest=MOST_TRANSACTIONS),
        Figure("… actors created per second, over one caller's", middle(gain), spread=spread(gain)),
    ]


def start_pair(bench: Bench, loops: Loops, actors: int) -> tuple[Loop, Loop]:
    """The runtime, and its rows alone, with as many events in a transaction."""
    ours = loops.start("antiphon", lambda: bench.ours("busy", bench.folder, actors))
    size = max(1, round(ours.facts.get("events_per_transaction", actors)))
    return ours, loops.start("bare", lambda: bench.ours("bare", bench.folder, actors, size))


def take_turns(loops: Loops, actors: int, turns: int) -> None:
    """So many turns of all contestants."""
    for turn in range(turns):
        report(f"{actors} busy: turn {turn + 1} of {turns}")
        loops.take_turns()


def history(bench: Bench) -> list[Figure]:
    """A conversation whose every message is kept in the context."""
    turns = 100 if bench.is_quick else 300
    answers = [bench.answer("history: antiphon", lambda: bench.ours("history", bench.folder, turns))]
    for name in PEERS:
        answers.append(
            bench.answer(f"history: {name}", lambda name=name: bench.peer(name, "history", bench.folder, turns))
        )
    payload = turns * MESSAGE_LENGTH
    title = f"file over payload, {turns} messages of {MESSAGE_LENGTH} bytes"
    return [
        Figure(title, *(answer["bytes"] / payload if answer else None for answer in answers), highest=3),
        Figure("… CPU µs per message", *(answer["cpu_s"] / turns * 1e6 if answer else None for answer in answers)),
    ]


def idle(bench: Bench) -> list[Figure]:
    """Many actors of whom nobody has heard in this process."""
    bench.answer("idle actors: storing them", lambda: bench.ours("idle", "fill", bench.folder, IDLE))
    answer = bench.answer("idle actors: starting", lambda: bench.ours("idle", "wake", bench.folder, IDLE))
    return [
        Figure(f"s to start with {IDLE:,} idle actors", answer.get("start_s"), highest=1),
        Figure("… and until the first event is stored", answer.get("first_s")),
        Figure("… MB of memory at most", answer.get("rss_mb"), highest=200),
    ]


def restore(bench: Bench) -> list[Figure]:
    """One actor with a long journal."""
    return [
        Figure(f"ms to restore an actor of {ENTRIES:,} entries", restore_ms(bench, *SHORT), highest=20),
        Figure("… at half of its entries, over replaying them all", rebuild_ratio(bench, SHORT[0])),
        Figure("… whose context has a message of 100 bytes for each", restore_ms(bench, *LONG)),
        Figure("… at half of its entries, over replaying them all", rebuild_ratio(bench, LONG[0])),
    ]


def restore_ms(bench: Bench, machine: str, tail: int) -> float | None:
    """Milliseconds to restore an actor that runs this machine, just before its next snapshot."""
    fill = bench.ours("restore", "fill", bench.folder, machine, ENTRIES, tail)
    if not bench.answer(f"restoring {machine!r}: writing the journal", lambda: fill):
        return None
    look = bench.ours("restore", "look", bench.folder, machine)
    return bench.answer(f"restoring {machine!r}", lambda: look).get("ms")


def rebuild_ratio(bench: Bench, machine: str) -> float | None:
    """Rebuild an actor at half of its entries from the nearest snapshot; the time over that of replaying them all."""
    look = bench.ours("restore", "rebuild", bench.folder, machine)
    return bench.answer(f"rebuilding {machine!r}", lambda: look).get("ratio")


def read_options() -> Any:
    """The command line."""
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer turns and a shorter history")
    parser.add_argument("--json", type=Path, help="write the figures to this file as well")
    parser.add_argument("--cache", type=Path, help="where the peers are installed (default: .bench)")
    return parser.parse_args()


def take(bench: Bench) -> Sequence[Figure]:
    """Every figure."""
    return [figure for part in (busy, crowds, creating, history, idle, restore) for figure in part(bench)]


def main() -> None:
    """Take every figure, print them, and write the JSON file if asked to."""
    options = read_options()
    with TemporaryDirectory(prefix="antiphon-bench-") as folder:
        bench = Bench(Path(folder), runtime_python(options.cache), is_quick=options.quick)
        figures = take(bench)
    report("")
    head = ["", "antiphon", "LangGraph", "Burr", "goal"]
    print_table("Durable runtime", head, [figure.row() for figure in figures])
    for problem in dict.fromkeys(bench.problems):
        print(f"\n– {problem}")
    if options.json:
        said = [{**asdict(figure), "is_met": figure.is_met()} for figure in figures]
        options.json.write_text(json.dumps(said, indent=2) + "\n")


if __name__ == "__main__":
    main()
