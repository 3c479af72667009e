"""What orchestration costs: an arbiter and two agents that speak in turn, beside LangGraph and Burr.

Contestants take turns in processes of their own, and all files are in temporary folders.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from duets.script import CROWD
from lanes import run_once
from loops import Loops, middle, quotients
from peers import PeerUnavailable, runtime_python
from tables import ABSENT, print_table, ratio, report, spread

LIMIT_S = 600  # a busy computer may take long
BARE, AWAITED = ("chart", "functions"), ("chart_async",)  # functions that answer, and coroutines that are waited for
LANGGRAPH, WITH_MODELS = ("langgraph", "langgraph_async"), "langgraph_models"
OURS = (*BARE, *AWAITED, "whole")
PEERS = (*LANGGRAPH, WITH_MODELS, "burr")
NAMES = {
    "chart": "antiphon",
    "chart_async": "antiphon async",
    "functions": "orchestrator",
    "whole": "whole run",
    "langgraph": "LangGraph",
    "langgraph_async": "LangGraph async",
    "langgraph_models": "LangGraph with models",
    "burr": "Burr",
}
STORES = {"none": "no store", "memory": "in memory", "sqlite": "SQLite"}
SHORT, MIDDLE, LONG = 50, 200, 400
Costs = dict[tuple[str, int], list[float]]  # CPU µs per iteration by contestant and length, round by round
LESS_CPU = 5.0  # at least so many times less than LangGraph
GROWTH = 1.25  # at most so much more for a long loop than for a short one, by turn


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of a table: a cell for each contestant; `highest` or `lowest` is the goal, `held` who is held to it."""

    name: str
    cells: dict[str, list[float]]
    highest: float | None = None
    lowest: float | None = None
    held: tuple[str, ...] = OURS

    def row(self) -> list[str]:
        """The cells of the line, with whether ours meet the goal."""
        goal = ABSENT
        if self.highest is not None or self.lowest is not None:
            goal = f"≤ {self.highest:.3g}" if self.highest is not None else f"≥ {self.lowest:g}"
        return [self.name, *(self._cell(name) for name in NAMES), goal]

    def _cell(self, name: str) -> str:
        values = self.cells.get(name, [])
        is_met = self.is_met(name)
        said = "" if is_met is None else " met" if is_met else " MISSED"
        return f"{shown(values)}{said}"

    def is_met(self, name: str) -> bool | None:
        """Whether a contestant meets the goal, where it is held to one."""
        value = middle(self.cells.get(name, []))
        if name not in self.held or value is None or (self.highest is None and self.lowest is None):
            return None
        return (self.highest is None or value <= self.highest) and (self.lowest is None or value >= self.lowest)

    def as_json(self) -> dict[str, Any]:
        """The line for a program."""
        return {**asdict(self), "verdicts": {name: self.is_met(name) for name in OURS}}


def shown(values: Sequence[float]) -> str:
    """The median, and for ratios the lowest and the highest."""
    value = middle(values)
    if value is None:
        return ABSENT
    return f"{value:,.0f}" if value >= 100 else spread(values) if len(values) > 1 else ratio(value)


class Bench:
    """Starts the children, and remembers which of them gave nothing and why."""

    def __init__(self, python: Path | PeerUnavailable, rounds: int) -> None:
        self.python, self.rounds = python, rounds
        self.problems: list[str] = []
        self._folders = ExitStack()

    def __enter__(self) -> Bench:
        return self

    def __exit__(self, *error: object) -> None:
        self._folders.close()

    def command(self, step: str, name: str, store: str, turns: int) -> list[str]:
        """The command of a child, with a folder of its own."""
        if name in PEERS and isinstance(self.python, PeerUnavailable):
            raise self.python
        python, module = (self.python, f"duets.{name}_peer") if name in PEERS else (sys.executable, f"duets.{name}")
        folder = self._folders.enter_context(TemporaryDirectory(prefix="antiphon-bench-"))
        return [str(python), "-m", module, step, store, folder, str(turns)]

    def weight(self, name: str, turns: int) -> list[float]:
        """What a contestant's files weigh over what was said."""
        report(f"disk: {name}, {turns} iterations")
        try:
            answer = json.loads(run_once(self.command("once", name, "sqlite", turns), limit_s=LIMIT_S))
        except PeerUnavailable as reason:
            self.problem(name, reason)
            return []
        return [answer["over_payload"]]

    def problem(self, name: str, reason: Exception) -> None:
        """Remember that there is something missing."""
        self.problems.append(f"{name}: {reason}")


def play(
    bench: Bench, title: str, step: str, store: str, contestants: Sequence[tuple[str, int]], times: int = 1
) -> Costs:
    """Let contestants take turns with loops of some lengths, in so many times as many rounds."""
    report(f"{title}: starting")
    with Loops(bench.problem, limit_s=LIMIT_S) as turns:
        loops = {
            (name, length): turns.start(
                f"{name}, {title}, {length} iterations", partial(bench.command, step, name, store, length)
            )
            for name, length in contestants
        }
        for number in range(bench.rounds * times):
            report(f"{title}: round {number + 1} of {bench.rounds * times}")
            turns.take_turns()
    return {key: loop.cpu_us() for key, loop in loops.items()}


def alone(bench: Bench, store: str) -> list[Figure]:
    """CPU time per iteration of one run after the other, with one kind of store."""
    title, figures = STORES[store], []
    for length, times in ((SHORT, MIDDLE // SHORT), (MIDDLE, 1)):
        used = play(bench, f"{title}, {length} iterations", "play", store, [(name, length) for name in NAMES], times)
        figures += compared(store, length, used)
    used = play(bench, f"{title}, growth", "play", store, [(name, length) for name in OURS for length in (SHORT, LONG)])
    growth = {name: quotients(used[name, LONG], used[name, SHORT]) for name in OURS}
    return [*figures, Figure(f"{title}, iterations of {LONG} over those of {SHORT}", growth, highest=GROWTH)]


def compared(store: str, length: int, used: Costs) -> list[Figure]:
    """The cost of an iteration, and LangGraph's over everybody's, each beside those that do the same work."""
    costs = {name: used[name, length] for name in NAMES}
    others = (*OURS, "burr")
    return [
        Figure(f"{STORES[store]}, {length} iterations", costs),
        Figure("… LangGraph's over it", dearer("langgraph", others, costs), lowest=LESS_CPU, held=BARE),
        Figure("… LangGraph async's over it", dearer("langgraph_async", others, costs), lowest=LESS_CPU, held=AWAITED),
        Figure("… LangGraph with models' over it", dearer(WITH_MODELS, ("whole",), costs)),
    ]


def dearer(peer: str, others: Sequence[str], costs: dict[str, list[float]]) -> dict[str, list[float]]:
    """A peer's cost over that of others, round by round."""
    return {name: quotients(costs[peer], costs[name]) for name in others}


def crowded(bench: Bench, store: str) -> list[Figure]:
    """CPU time per iteration of many runs at once, and that of LangGraph's cheaper way over ours."""
    title = f"{STORES[store]}, {CROWD} runs at once"
    used = play(bench, title, "crowd", store, [(name, SHORT) for name in (*BARE, *AWAITED, *LANGGRAPH)])
    costs = {name: values for (name, _), values in used.items()}
    ways = [(middle(costs[name]) or 0, name) for name in LANGGRAPH if costs[name]]
    # With one of them missing, it is not known which is the cheaper.
    over = dearer(min(ways)[1], (*BARE, *AWAITED), costs) if len(ways) == len(LANGGRAPH) else {}
    return [
        Figure(f"{title}, {SHORT} iterations", costs),
        Figure("… the cheaper LangGraph's over it", over, lowest=LESS_CPU),
    ]


def disk(bench: Bench) -> list[Figure]:
    """What is left on the disk, of a short loop and of a longer one."""
    weights = {length: {name: bench.weight(name, length) for name in NAMES} for length in (SHORT, MIDDLE)}
    growth = {name: quotients(weights[MIDDLE][name], weights[SHORT][name]) for name in NAMES}
    return [
        *(Figure(f"file over payload, {length} iterations", cells) for length, cells in weights.items()),
        Figure("… the second over the first", growth, highest=1.0),
    ]


def read_options() -> Any:
    """The command line."""
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--json", type=Path, help="write the figures to this file as well")
    parser.add_argument("--cache", type=Path, help="where the peers are installed (default: .bench)")
    return parser.parse_args()


def main() -> None:
    """Take every figure, print them, and write the JSON file if asked to."""
    options = read_options()
    with Bench(runtime_python(options.cache), 3 if options.quick else 7) as bench:
        used = [figure for store in STORES for figure in (*alone(bench, store), *crowded(bench, store))]
        left = disk(bench)
    report("")
    head = ["", *NAMES.values(), "goal"]
    print_table("Orchestration: CPU µs per iteration", head, [figure.row() for figure in used])
    print_table("Orchestration: disk", head, [figure.row() for figure in left])
    for problem in dict.fromkeys(bench.problems):
        print(f"\n– {problem}")
    if options.json:
        options.json.write_text(json.dumps([figure.as_json() for figure in (*used, *left)], indent=2) + "\n")


if __name__ == "__main__":
    main()
