"""The search for injected bugs by power cuts and injected errors."""

import re
from collections.abc import Iterator
from pathlib import Path

from tests.crash.faults.bugs import Bug
from tests.crash.faults.injection import FaultyLives
from tests.crash.faults.power_cuts import PowerCuts
from tests.crash.process_chain import Tally

CUTS = 10  # of each process
LIMIT_S = 10.0  # for a process that gives no answer


def find_bug(bug: Bug, folder: Path, seed: int) -> str | None:
    """Run a process with a bug; return the expected law as it was broken, or None if it was not."""
    return next((law for law in _broken_laws(bug, folder, seed) if re.search(bug.law, law)), None)


def broken_laws(tally: Tally) -> list[str]:
    """Return what is wrong according to a tally."""
    counts = {
        "letters lost": tally.lost,
        "letters doubled": tally.doubled,
        "tasks doubled": tally.tasks_doubled,
    }
    return [f"{count} {name}" for name, count in counts.items() if count] + tally.problems


def _broken_laws(bug: Bug, folder: Path, seed: int) -> Iterator[str]:
    name = bug.inject.__name__
    faults = () if bug.fault is None else (bug.fault,)
    if bug.is_about_errors:
        tally = FaultyLives(folder, seed, bug=name, limit_s=LIMIT_S).run(*faults)
        yield from [] if tally is None else broken_laws(tally)
    else:
        for _, tally in PowerCuts(folder, seed, bug=name, faults=faults).run(CUTS):
            yield from broken_laws(tally)
