"""Events per second of Antiphon beside XState and the Python statechart libraries, on the same four machines.

How the figures are made, because the machine they are made on is never quiet:

1. A contestant plays a machine in a process of its own, started afresh in every round.
2. In a round the contestants take turns, one burst of a few milliseconds each; only one runs at a time.
3. Only CPU time counts, and the Python collector is off while it is taken.
4. A speed is the upper quartile of a round's bursts, then the median of the rounds.
5. A ratio is taken within a turn, where both sides meet the same disturbance; its median is the round's,
   and the median of the rounds is the figure, with the lowest and the highest round in brackets.
"""

from __future__ import annotations

import json
import platform
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from statistics import geometric_mean, median

from contestants.machines import NAMES as MACHINES
from peers import PYTHON_PEERS, XSTATE, provide_peers
from results import Contestant, Results
from rounds import SLICE_MS, Pace, run
from tables import print_table, report, spread, thousands

OURS = "antiphon"

# Ours and XState stand side by side, so that the two halves of a ratio are taken back to back.
CONTESTANTS = (
    Contestant(OURS, "send"),
    Contestant("xstate", "send"),
    Contestant(OURS, "transition"),
    Contestant("xstate", "transition"),
    Contestant("xstate-statemachine", "send"),
    Contestant("xstate-statemachine", "transition"),
    Contestant("transitions", "send"),
    Contestant("sismic", "send"),
    Contestant("python-statemachine", "send"),
)

THOROUGH = Pace(rounds=5, turns=10, warm_ms=100, warm_node_ms=1200, limit_s=210)
QUICK = Pace(rounds=2, turns=4, warm_ms=50, warm_node_ms=700, limit_s=36)


def print_speeds(results: Results, contestants: list[Contestant]) -> None:
    """Events per second of everyone."""
    rows = [[str(who), *(thousands(results.speed(who, machine)) for machine in MACHINES)] for who in contestants]
    print_table("Thousand events per second (CPU time)", ["", *MACHINES], rows)


def print_ratios(title: str, results: Results, pairs: list[tuple[Contestant, Contestant]]) -> None:
    """How many times faster the first of each pair is."""
    rows = []
    for one, other in pairs:
        ratios = [results.ratios(one, other, machine) for machine in MACHINES]
        known = [median(values) for values in ratios if values]
        mean = f"{geometric_mean(known):.2f}" if len(known) == len(MACHINES) else "–"
        rows.append([f"{one} / {other}", *(spread(values) for values in ratios), mean])
    if rows:
        print_table(title, ["", *MACHINES, "geometric mean"], rows)


def print_missing(results: Results) -> None:
    """Why there are gaps, each reason once."""
    gaps: dict[tuple[str, str], list[str]] = {}
    for (who, machine), reason in results.missing.items():
        gaps.setdefault((str(who), reason), []).append(machine)
    for (name, reason), machines in gaps.items():
        print(f"\n– {name} ({', '.join(machines)}): {reason}")


def pairs_with(contestants: list[Contestant], names: Iterable[str]) -> list[tuple[Contestant, Contestant]]:
    """Ours against each of them that takes events in the same way."""
    return [
        (ours, other)
        for ours in contestants
        for other in contestants
        if ours.name == OURS and other.name in names and other.mode == ours.mode
    ]


def as_json(results: Results, contestants: list[Contestant], pace: Pace) -> dict[str, object]:
    """Every figure of the tables, for a program."""
    return {
        "python": platform.python_version(),
        "versions": {"xstate": XSTATE, **PYTHON_PEERS},
        "pace": {"rounds": pace.rounds, "turns": pace.turns, "slice_ms": SLICE_MS},
        "events_per_s": {
            str(who): {machine: results.speed(who, machine) for machine in MACHINES} for who in contestants
        },
        "ratios_by_round": {
            f"{one} / {other}": {machine: results.ratios(one, other, machine) for machine in MACHINES}
            for one, other in pairs_with(contestants, {"xstate", *PYTHON_PEERS})
        },
        "missing": {f"{who} on {machine}": reason for (who, machine), reason in results.missing.items()},
    }


def read_options() -> Namespace:
    """The command line."""
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, help="how many rounds (default: 5, or 2 when quick)")
    parser.add_argument("--only", help="comma-separated libraries, e.g. antiphon,xstate")
    parser.add_argument("--quick", action="store_true", help="a rough answer in less than 45 seconds")
    parser.add_argument("--json", type=Path, help="write the figures to this file as well")
    parser.add_argument("--cache", type=Path, help="where the peers are installed (default: .bench)")
    return parser.parse_args()


def choose(only: str | None) -> list[Contestant]:
    """The contestants of those names, or all."""
    names = {who.name for who in CONTESTANTS}
    wanted = set(only.split(",")) if only else names
    if unknown := wanted - names:
        raise SystemExit(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(sorted(names))}")
    return [who for who in CONTESTANTS if who.name in wanted]


def main() -> None:
    """Run, print, and write the JSON file if asked to."""
    options = read_options()
    contestants = choose(options.only)
    pace = QUICK if options.quick else THOROUGH
    if options.rounds:
        pace = replace(pace, rounds=options.rounds, limit_s=float("inf"))
    tools = provide_peers({who.name for who in contestants}, options.cache, report)
    results = run(tools, contestants, pace, report)
    report("")
    print_speeds(results, contestants)
    print_ratios("Times faster than XState", results, pairs_with(contestants, {"xstate"}))
    print_ratios("Times faster than the Python libraries", results, pairs_with(contestants, PYTHON_PEERS))
    print_missing(results)
    if options.json:
        options.json.write_text(json.dumps(as_json(results, contestants, pace), indent=2) + "\n")


if __name__ == "__main__":
    main()
