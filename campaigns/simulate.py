"""Simulate many seeds and report the faults that occurred: `python campaigns/simulate.py --seeds 10000`.

A seed that breaks a law is printed with the end of its trace; `--seed N --trace` repeats its run.
`--bugs` injects known bugs instead and reports which seed finds each.
With `--owners`, all of this is done for two owners on one store, not for one process after another.
"""

import argparse
import os
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import pytest
from tests.simulation import owner_bugs
from tests.simulation.bugs import BUGS, FAULTS
from tests.simulation.machines import MACHINES, RELEASES
from tests.simulation.owner_traffic import owner_traffic
from tests.simulation.traffic import check, traffic

from antiphon.testing.simulation.owner_run import simulate_owners
from antiphon.testing.simulation.run import LawBroken, SimulationReport, simulate

BLOCK = 50


def main() -> int:
    """Run the campaign that the command line selects."""
    options = parse_options()
    if options.bugs:
        return inject_bugs(options.seeds, options.owners)
    if options.seed is not None:
        return repeat(options.seed, options.trace, options.owners)
    return explore(options.first, options.seeds, options.jobs, options.owners)


def parse_options() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10_000, help="how many seeds")
    parser.add_argument("--first", type=int, default=0, help="the first of them")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="how many processes")
    parser.add_argument("--seed", type=int, help="only this seed")
    parser.add_argument("--trace", action="store_true", help="with --seed: print everything that happened")
    parser.add_argument("--bugs", action="store_true", help="inject bugs and report which seed finds each")
    parser.add_argument("--owners", action="store_true", help="two owners on one store")
    return parser.parse_args()


def run(seed: int, owners: bool, **options: Any) -> SimulationReport:
    """Run a seed, with one process after another or with two owners."""
    if owners:
        return simulate_owners(seed, MACHINES, owner_traffic, check=check, **options)
    return simulate(seed, MACHINES, traffic, check=check, restores=True, releases=RELEASES, **options)


def repeat(seed: int, trace: bool, owners: bool) -> int:
    """Repeat the run of a seed."""
    try:
        lines = run(seed, owners).trace
    except LawBroken as broken:
        print(broken)
        lines = broken.world.trace
    else:
        print(f"seed {seed}: all laws hold")
    if trace:
        print("\n".join(f"{at:>8} ms  {text}" for at, text in lines))
    return 0


def explore(first: int, seeds: int, jobs: int, owners: bool) -> int:
    """Run many seeds, print those that break a law, and a summary."""
    started_at = time.monotonic()
    total = Counter[str]()
    failures = 0
    with ProcessPoolExecutor(jobs) as pool:
        blocks = [
            pool.submit(run_block, start, min(start + BLOCK, first + seeds), owners)
            for start in range(first, first + seeds, BLOCK)
        ]
        for block in as_completed(blocks):
            counts, broken = block.result()
            total.update(counts)
            failures += len(broken)
            for report in broken:
                command = f"python campaigns/simulate.py {'--owners ' if owners else ''}--trace"
                print(f"\n{report}\n\nrepeat: {command} --seed {report.split()[1][:-1]}", flush=True)
            if sys.stderr.isatty():
                print(f"\r{total['seeds']} of {seeds} seeds", end="", file=sys.stderr, flush=True)
    print(f"\n{total['seeds']:,} seeds in {time.monotonic() - started_at:.0f} s, {failures} broke a law\n")
    print(table(total))
    return int(failures > 0)


def run_block(start: int, end: int, owners: bool) -> tuple[Counter[str], list[str]]:
    """Run some seeds; return the counts of faults, and the reports of broken laws."""
    counts = Counter[str]()
    broken = []
    for seed in range(start, end):
        counts["seeds"] += 1
        try:
            counts.update(run(seed, owners).counts)
        except LawBroken as error:
            broken.append(str(error))
    return counts, broken


def inject_bugs(seeds: int, owners: bool) -> int:
    """Inject each bug and report which seed finds it."""
    print(f"| bug | found by seed | as |\n|{'---|' * 3}")
    missed = 0
    for bug in owner_bugs.BUGS if owners else BUGS:
        with pytest.MonkeyPatch.context() as patch:
            store = bug(patch)
            for seed in range(seeds):
                try:
                    run(seed, owners, store=store, faults=(owner_bugs.FAULTS if owners else FAULTS).get(bug))
                except LawBroken as broken:
                    print(f"| {bug.__doc__} | {seed} | {broken.laws[0][:90]} |", flush=True)
                    break
            else:
                missed += 1
                print(f"| {bug.__doc__} | none of {seeds} | |", flush=True)
    return missed


def table(counts: Counter[str]) -> str:
    """Format counts as a table, the most frequent first."""
    rows = [f"| {name} | {count:,} |" for name, count in counts.most_common()]
    return "\n".join(["| what happened | times |", "|---|---:|", *rows])


if __name__ == "__main__":
    sys.exit(main())
