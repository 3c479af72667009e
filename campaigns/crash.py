"""Kills processes on real files and tells what was lost: `python campaigns/crash.py --kills 1000`.

Every chain is one file: ten lives that are killed with SIGKILL, then one in which everything comes to rest and the
laws are checked. Half of the kills are at a boundary, where the process waits to be killed; the others are anywhere.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.crash.lives import BOUNDARIES, Lives, Tally

CHAIN = 10
STEPS_S = ((-3600.0,), (3600.0, -7200.0), (-0.05, 0.05), (-86_400.0, 1.0))
Life = Callable[[Lives], object]


def main() -> int:
    """Run chains of all kinds in turn until there were enough kills."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=1000, help="how many processes to kill")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    asked = parser.parse_args()
    began, kills = time.monotonic(), 0
    tallies: dict[str, list[Tally]] = {}
    for seed, (kind, life) in enumerate(kinds(), asked.first):
        if kills >= asked.kills:
            break
        tally = chain(seed, life)
        tallies.setdefault(kind, []).append(tally)
        kills += tally.kills
        for problem in tally.problems:
            print(f"{kind}, seed {seed}: {problem}", flush=True)
    print(f"{kills} kills in {time.monotonic() - began:.0f} s\n")
    print(table(tallies))
    bad = [one for each in tallies.values() for one in each]
    return int(any(one.lost or one.doubled or one.tasks_doubled or one.problems for one in bad))


def kinds() -> Iterator[tuple[str, Life]]:
    """Kinds of lives, for ever: a boundary, then any moment, and now and then a clock that jumps."""
    steps = cycle(STEPS_S)
    while True:
        for boundary in BOUNDARIES:
            yield f"SIGKILL {boundary}", lambda lives, boundary=boundary: lives.killed_at(boundary)
            yield "SIGKILL at any moment", lambda lives: lives.killed_anywhere()
        yield "SIGKILL while the clock jumps", lambda lives: lives.killed_anywhere(clock_steps_s=next(steps))
        yield "SIGTERM with streams open", lambda lives: lives.asked_to_stop(after=60, slow_s=5.0)


def chain(seed: int, life: Life) -> Tally:
    """Some lives on one file, then rest."""
    with tempfile.TemporaryDirectory(prefix="antiphon-crash-") as folder:
        lives = Lives(str(Path(folder) / "threads.db"), seed)
        for _ in range(CHAIN):
            life(lives)
        lives.at_rest(ahead_s=7200.0)
        return lives.tally


def table(tallies: dict[str, list[Tally]]) -> str:
    """What became of each kind."""
    head = ("kind of fault", "runs", "letters acknowledged", "lost", "doubled", "tasks run", "doubled", "laws broken")
    rows = [
        (
            kind,
            sum(one.kills for one in each),
            sum(one.acknowledged for one in each),
            sum(one.lost for one in each),
            sum(one.doubled for one in each),
            sum(one.tasks for one in each),
            sum(one.tasks_doubled for one in each),
            sum(len(one.problems) for one in each),
        )
        for kind, each in tallies.items()
    ]
    total = ("all", *(sum(row[i] for row in rows) for i in range(1, len(head))))
    lines = [head, ("---",) + ("---:",) * (len(head) - 1), *rows, total]
    return "\n".join(
        f"| {' | '.join(f'{cell:,}' if isinstance(cell, int) else cell for cell in row)} |" for row in lines
    )


if __name__ == "__main__":
    sys.exit(main())
