"""Kill processes that use real files, and report what was lost: `python campaigns/crash.py --kills 1000`.

Every chain is one file: ten processes that are killed with SIGKILL, then one that runs until it is idle, after which
the laws are checked. Half of the kills are at a boundary, where the process waits to be killed; the others are at any
moment.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.crash.process_chain import BOUNDARIES, ProcessChain, Tally

CHAIN = 10
STEPS_S = ((-3600.0,), (3600.0, -7200.0), (-0.05, 0.05), (-86_400.0, 1.0))
Run = Callable[[ProcessChain], object]


def main() -> int:
    """Run chains of all kinds in turn until enough processes were killed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=1000, help="how many processes to kill")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    options = parser.parse_args()
    started_at = time.monotonic()
    kills = 0
    tallies: dict[str, list[Tally]] = {}
    for seed, (kind, run) in enumerate(kinds(), options.first):
        if kills >= options.kills:
            break
        tally = run_chain(seed, run)
        tallies.setdefault(kind, []).append(tally)
        kills += tally.kills
        for problem in tally.problems:
            print(f"{kind}, seed {seed}: {problem}", flush=True)
    print(f"{kills} kills in {time.monotonic() - started_at:.0f} s\n")
    print(table(tallies))
    all_tallies = [tally for group in tallies.values() for tally in group]
    return int(any(tally.lost or tally.doubled or tally.tasks_doubled or tally.problems for tally in all_tallies))


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
