"""What the sandbox adds to the start of a command: Landlock with seccomp, and bubblewrap around them.

Wall time of `true` from the call to its result, the median of rounds in which all variants take turns.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from argparse import ArgumentParser
from pathlib import Path
from statistics import median
from time import perf_counter

from antiphon.tools.access import READ_ONLY, WRITABLE, Access
from antiphon.tools.sandbox import find_sandbox
from antiphon.tools.sandbox.runner import ShellSettings, run_command
from tables import print_table

ROUNDS = 30
OUTSIDE = Access(outside=True)
VARIANTS = {
    "without a sandbox": (OUTSIDE, True),
    "Landlock and seccomp, read-only": (READ_ONLY, False),
    "Landlock and seccomp, writable": (WRITABLE, False),
    "with bubblewrap, read-only": (READ_ONLY, True),
    "with bubblewrap, writable": (WRITABLE, True),
}


async def measure(folder: Path, rounds: int) -> dict[str, list[float]]:
    """Return the milliseconds of each variant, by its name."""
    times: dict[str, list[float]] = {name: [] for name in VARIANTS}
    for number in range(rounds + 1):
        for name, (access, bubblewrap) in VARIANTS.items():
            start = perf_counter()
            settings = ShellSettings(bubblewrap=bubblewrap)
            outcome = await run_command(folder, "true", 60_000, settings, dict(os.environ), access)
            assert outcome.status == 0, outcome
            # The first round loads modules and finds the sandbox.
            if number:
                times[name].append((perf_counter() - start) * 1000)
    return times


def main() -> None:
    """Measure and print the table."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path in (".env", ".git/config", "src/main.py"):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text("")
        times = asyncio.run(measure(folder, options.rounds))
    base = median(times["without a sandbox"])
    rows = [
        [name, f"{median(values):.1f}", f"{min(values):.1f}", f"{median(values) / base:.2f}"]
        for name, values in times.items()
    ]
    title = f"The start of a command: {', '.join(find_sandbox().layers)}"
    print_table(title, ["`true`", "ms, median", "ms, least", "ratio"], rows)


if __name__ == "__main__":
    main()
