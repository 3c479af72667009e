"""Simulates many seeds and tells what was survived: `python campaigns/simulate.py --seeds 10000`.

A seed that breaks a law is printed with the end of its trace; `--seed N --trace` gives the same run again.
`--bugs` plants known bugs instead and tells which seed finds each.
"""

import argparse
import os
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import pytest
from tests.simulation.bugs import BUGS
from tests.simulation.machines import MACHINES
from tests.simulation.traffic import check, traffic

from antiphon.testing.simulation.run import LawBroken, simulate

BLOCK = 50


def main() -> int:
    """Run what the command line asks for."""
    asked = arguments()
    if asked.bugs:
        return plant(asked.seeds)
    if asked.seed is not None:
        return again(asked.seed, asked.trace)
    return explore(asked.first, asked.seeds, asked.jobs)


def arguments() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10_000, help="how many seeds")
    parser.add_argument("--first", type=int, default=0, help="the first of them")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="how many processes")
    parser.add_argument("--seed", type=int, help="only this seed")
    parser.add_argument("--trace", action="store_true", help="with --seed: print everything that happened")
    parser.add_argument("--bugs", action="store_true", help="plant bugs and tell which seed finds them")
    return parser.parse_args()


def again(seed: int, trace: bool) -> int:
    """One run once more."""
    try:
        happened = simulate(seed, MACHINES, traffic, check=check).trace
    except LawBroken as broken:
        print(broken)
        happened = broken.world.trace
    else:
        print(f"seed {seed}: all laws hold")
    if trace:
        print("\n".join(f"{at:>8} ms  {text}" for at, text in happened))
    return 0


def explore(first: int, seeds: int, jobs: int) -> int:
    """Run many seeds, print those that break a law, and sum up."""
    began, total, failures = time.monotonic(), Counter[str](), 0
    with ProcessPoolExecutor(jobs) as pool:
        blocks = [
            pool.submit(run_block, start, min(start + BLOCK, first + seeds))
            for start in range(first, first + seeds, BLOCK)
        ]
        for block in as_completed(blocks):
            counts, broken = block.result()
            total.update(counts)
            failures += len(broken)
            for words in broken:
                print(
                    f"\n{words}\n\nagain: python campaigns/simulate.py --trace --seed {words.split()[1][:-1]}",
                    flush=True,
                )
            if sys.stderr.isatty():
                print(f"\r{total['seeds']} of {seeds} seeds", end="", file=sys.stderr, flush=True)
    print(f"\n{total['seeds']:,} seeds in {time.monotonic() - began:.0f} s, {failures} broke a law\n")
    print(table(total))
    return int(failures > 0)


def run_block(start: int, end: int) -> tuple[Counter[str], list[str]]:
    """Some seeds; gives what happened, and what was broken."""
    counts, broken = Counter[str](), []
    for seed in range(start, end):
        counts["seeds"] += 1
        try:
            counts.update(simulate(seed, MACHINES, traffic, check=check).counts)
        except LawBroken as error:
            broken.append(str(error))
    return counts, broken


def plant(seeds: int) -> int:
    """Plant each bug and tell which seed finds it."""
    print(f"| bug | found by seed | as |\n|{'---|' * 3}")
    missed = 0
    for bug in BUGS:
        with pytest.MonkeyPatch.context() as patch:
            store = bug(patch)
            for seed in range(seeds):
                try:
                    simulate(seed, MACHINES, traffic, check=check, store=store)
                except LawBroken as broken:
                    print(f"| {bug.__doc__} | {seed} | {broken.laws[0][:90]} |", flush=True)
                    break
            else:
                missed += 1
                print(f"| {bug.__doc__} | none of {seeds} | |", flush=True)
    return missed


def table(counts: Counter[str]) -> str:
    """Counts as a table, the most frequent first."""
    rows = [f"| {name} | {count:,} |" for name, count in counts.most_common()]
    return "\n".join(["| what happened | times |", "|---|---:|", *rows])


if __name__ == "__main__":
    sys.exit(main())
