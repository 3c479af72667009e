"""Kill processes that use real files, cut their power, let their disk fail, and report what was lost.

`python campaigns/crash.py --kills 1000 --cuts 400 --faults 100`; `--bugs` injects known bugs instead.

Kills: every chain is one file: ten processes that are killed with SIGKILL, then one that runs until it is idle, after
which the laws are checked. Half of the kills are at a boundary, where the process waits to be killed; the others are
at any moment.
Power cuts: the file system calls of a process are recorded, and its folder is rebuilt as a disk may have kept it at
some moment; a second process runs on it until it is idle.
Faults: calls of a process fail with EIO or ENOSPC; another process then runs without faults, also after power cuts.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import count, cycle, islice
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.crash.faults.bugs import ALL
from tests.crash.faults.injection import FaultyLives, choose_fault
from tests.crash.faults.power_cuts import PowerCuts
from tests.crash.faults.recording import missing_tool
from tests.crash.faults.search import broken_laws, find_bug
from tests.crash.process_chain import BOUNDARIES, ProcessChain, Tally

CHAIN = 10
CUTS = 20  # of each recorded process
LIVES = 3  # recorded processes on one folder
BUG_SEEDS = 20
STEPS_S = ((-3600.0,), (3600.0, -7200.0), (-0.05, 0.05), (-86_400.0, 1.0))
Run = Callable[[ProcessChain], object]
Runs = Iterator[tuple[str, str, Tally]]  # origin, kind, tally


def main() -> int:
    """Run the campaign that the command line selects."""
    options = parse_options()
    reason = missing_tool()
    if options.bugs:
        if reason is not None:
            print(f"nothing to do: {reason}")
            return 2
        return inject_bugs(options.first)
    started_at = time.monotonic()
    tallies: dict[str, list[Tally]] = {}
    campaigns = [kill_processes(options.first, options.kills)]
    if reason is None:
        campaigns.append(islice(cut_power(options.first), options.cuts))
        campaigns.append(islice(inject_faults(options.first), options.faults))
    else:
        print(f"without power cuts and injected errors: {reason}")
    for campaign in campaigns:
        for origin, kind, tally in campaign:
            tallies.setdefault(kind, []).append(tally)
            for law in broken_laws(tally):
                print(f"{kind}, {origin}: {law}", flush=True)
    print(f"{time.monotonic() - started_at:.0f} s\n")
    print(table(tallies))
    return int(any(broken_laws(tally) for group in tallies.values() for tally in group))


def parse_options() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=1000, help="how many processes to kill")
    parser.add_argument("--cuts", type=int, default=400, help="how many power cuts to rebuild")
    parser.add_argument("--faults", type=int, default=100, help="how many processes meet errors of their disk")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--bugs", action="store_true", help="inject bugs and report which seed finds each")
    return parser.parse_args()


def kill_processes(first: int, kills: int) -> Runs:
    """Run chains of all kinds in turn until enough processes were killed."""
    for seed, (kind, run) in enumerate(kinds(), first):
        if kills <= 0:
            break
        tally = run_chain(seed, run)
        kills -= tally.kills
        yield f"seed {seed}", kind, tally


def kinds() -> Iterator[tuple[str, Run]]:
    """Yield kinds of runs forever: killed at each boundary, at any moment, while the clock jumps, and stopped."""
    steps = cycle(STEPS_S)
    while True:
        for boundary in BOUNDARIES:
            yield f"SIGKILL {boundary}", lambda chain, boundary=boundary: chain.kill_at(boundary)
            yield "SIGKILL at any moment", lambda chain: chain.kill_anywhere()
        yield "SIGKILL while the clock jumps", lambda chain: chain.kill_anywhere(clock_steps_s=next(steps))
        yield "SIGTERM with streams open", lambda chain: chain.terminate(after=60, slow_s=5.0)


def run_chain(seed: int, run: Run) -> Tally:
    """Run some processes on one file, then one until it is idle; return the tally."""
    with tempfile.TemporaryDirectory(prefix="antiphon-crash-") as folder:
        chain = ProcessChain(str(Path(folder) / "threads.db"), seed)
        for _ in range(CHAIN):
            run(chain)
        chain.run_to_rest()
        return chain.tally


def cut_power(first: int) -> Runs:
    """Yield power cuts forever."""
    for seed in count(first):
        with tempfile.TemporaryDirectory(prefix="antiphon-crash-") as folder:
            cuts = PowerCuts(Path(folder), seed)
            for _ in range(LIVES):
                for remainder, tally in cuts.run(CUTS):
                    yield f"seed {seed}", f"power cut that keeps {remainder}", tally


def inject_faults(first: int) -> Runs:
    """Yield processes that have met an error of their disk, forever."""
    for seed in count(first):
        rng = Random(seed)
        with tempfile.TemporaryDirectory(prefix="antiphon-crash-") as folder:
            lives = FaultyLives(Path(folder), seed)
            for _ in range(LIVES):
                kind, fault = choose_fault(rng)
                tally = lives.run(fault)
                if tally is not None:
                    yield f"seed {seed}, fault {fault}", kind, tally


def inject_bugs(first: int) -> int:
    """Inject each bug and report which seed finds it; return how many are not found."""
    print(f"| bug | found by seed | as |\n|{'---|' * 3}")
    missed = 0
    for bug in ALL:
        for seed in range(first, first + BUG_SEEDS):
            with tempfile.TemporaryDirectory(prefix="antiphon-crash-") as folder:
                law = find_bug(bug, Path(folder), seed)
            if law is not None:
                print(f"| {bug.description} | {seed} | {law[:90]} |", flush=True)
                break
        else:
            missed += 1
            print(f"| {bug.description} | none of {BUG_SEEDS} | |", flush=True)
    return missed


def table(tallies: dict[str, list[Tally]]) -> str:
    """Format the tallies of each kind as a table."""
    head = ("kind of fault", "runs", "letters acknowledged", "lost", "doubled", "tasks run", "doubled", "laws broken")
    rows = [
        (
            kind,
            sum(tally.kills for tally in group),
            sum(tally.acknowledged for tally in group),
            sum(tally.lost for tally in group),
            sum(tally.doubled for tally in group),
            sum(tally.tasks for tally in group),
            sum(tally.tasks_doubled for tally in group),
            sum(len(tally.problems) for tally in group),
        )
        for kind, group in tallies.items()
    ]
    total = ("all", *(sum(row[i] for row in rows) for i in range(1, len(head))))
    lines = [head, ("---",) + ("---:",) * (len(head) - 1), *rows, total]
    return "\n".join(
        f"| {' | '.join(f'{cell:,}' if isinstance(cell, int) else cell for cell in row)} |" for row in lines
    )


if __name__ == "__main__":
    sys.exit(main())
