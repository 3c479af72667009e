"""What the first question of a store costs: `antiphon chat QUESTION`, which starts the server, beside `--no-server`.

1. Each round asks once in a new store by a server, once by that server again, and once in one process, in turns.
2. Ratios are of medians of one run. On a shared computer trust them, not the absolute figures.
3. The server of a round is ended, and waited for, before the next measurement.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from argparse import ArgumentParser
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from antiphon.client.local import read_server
from antiphon.client.starting import socket_path
from tables import print_table, ratio

ROUNDS = 15
RATIO = 1.5
LIMIT_S = 60
SCRIPT = '[[replies]]\nsteps = [{ text = "Hello." }]\n'
NAMES = ("first", "second", "alone")


def main() -> None:
    """Measure, and print the table."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    times: dict[str, list[float]] = {name: [] for name in NAMES}
    measure_round()  # files are read from the disk once
    for _ in range(options.rounds):
        for name, seconds in measure_round().items():
            times[name].append(seconds)
    print_times(times)


def measure_round() -> dict[str, float]:
    """Return the seconds of each way to ask, each in a store of its own."""
    with TemporaryDirectory(prefix="antiphon-bench-") as text:
        folder = Path(text)
        environ = {**os.environ, "XDG_RUNTIME_DIR": text, "XDG_STATE_HOME": text, "XDG_CONFIG_HOME": text}
        environ.pop("ANTIPHON_SERVER", None)
        (folder / "script.toml").write_text(SCRIPT, encoding="utf-8")
        served = folder / "served.db"
        alone = ask(environ, folder / "alone.db", "--no-server")
        try:
            first = ask(environ, served)
            second = ask(environ, served)
        finally:
            asyncio.run(end_server(served, environ))
        return {"first": first, "second": second, "alone": alone}


def ask(environ: dict[str, str], store: Path, *options: str) -> float:
    """Return the seconds of one question."""
    began = time.perf_counter()
    model = f"scripted:{store.parent / 'script.toml'}"
    command = [sys.executable, "-m", "antiphon", "chat", "-m", model, "--store", str(store), *options, "Hello"]
    subprocess.run(command, env=environ, check=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_S)
    return time.perf_counter() - began


async def end_server(store: Path, environ: dict[str, str]) -> None:
    """End the server of a store, and wait for its process."""
    server = await read_server(socket_path(store, environ))
    if server is None:
        raise SystemExit("the question started no server")
    os.kill(server.pid, signal.SIGTERM)
    async with asyncio.timeout(LIMIT_S):
        while Path(f"/proc/{server.pid}").exists():
            await asyncio.sleep(0.01)


def print_times(times: dict[str, list[float]]) -> None:
    """Print medians and ratios."""
    medians = {name: median(values) for name, values in times.items()}
    rounds = sorted(first / alone for first, alone in zip(times["first"], times["alone"], strict=True))
    first = medians["first"] / medians["alone"]
    rows = [
        ["in one process", f"{medians['alone'] * 1000:.0f} ms", "1.00"],
        ["first question, starts the server", f"{medians['first'] * 1000:.0f} ms", ratio(first)],
        ["second question", f"{medians['second'] * 1000:.0f} ms", ratio(medians["second"] / medians["alone"])],
    ]
    print_table(f"Questions: medians of {len(rounds)} rounds", ["question", "time", "ratio"], rows)
    spread = f"rounds from {rounds[0]:.2f} to {rounds[-1]:.2f}, median {median(rounds):.2f}"
    print(f"\ngoal ≤ {RATIO:g}: {'met' if first <= RATIO else 'MISSED'}; {spread}")


if __name__ == "__main__":
    main()
