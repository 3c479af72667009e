"""What a relayed delta costs, beside the official SDKs, on the same fake server.

1. Server and clients are processes of their own; only the CPU time of the client counts.
2. The clients of a format take turns, one stream of 2,000 deltas each; only one runs at a time.
3. A cost is the median of the rounds, with the lowest and the highest in brackets; a ratio is taken within a round.
"""

from __future__ import annotations

import json
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from subprocess import PIPE

from peers import SDK_PEERS, PeerUnavailable, open_cache, provide_python
from tables import ABSENT, print_table, report, spread

HERE = Path(__file__).resolve().parent
FORMATS = ("anthropic", "openai", "google", "mistral", "compatible")
SDKS = {"anthropic": "relays.anthropic_sdk", "openai": "relays.openai_sdk"}
GOAL_US = 40
IMPORT_GOAL_MS = 200
IMPORTS = 7
CROWD, WORDS, PER_SECOND = 2_000, 300, 20
LIMIT_S = 90
OURS = "import antiphon.providers.registry"


@contextmanager
def fake_server() -> Iterator[dict[str, str]]:
    """The base URLs of a fake server, for as long as it is needed."""
    command = [sys.executable, "-m", "antiphon.testing.fake_llm", "--port", "0"]
    with subprocess.Popen(command, stdout=PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            lines = [server.stdout.readline().split() for _ in FORMATS]
            yield dict(lines)
        finally:
            server.kill()


class Relay:
    """A client that relays one stream whenever it is told to."""

    def __init__(self, python: str, *arguments: str) -> None:
        self._process = subprocess.Popen([python, "-m", *arguments], cwd=HERE, stdin=PIPE, stdout=PIPE, text=True)
        assert self._line() == "ready", f"{arguments} did not start"

    def turn(self) -> float:
        """One stream; microseconds of CPU time per delta."""
        assert self._process.stdin is not None
        self._process.stdin.write("go\n")
        self._process.stdin.flush()
        return float(self._line())

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


def relay_costs(urls: dict[str, str], sdk_python: str | None, rounds: int) -> dict[tuple[str, str], list[float]]:
    """The cost per delta of every client of every format, round by round."""
    costs: dict[tuple[str, str], list[float]] = {}
    for format, url in urls.items():
        with ExitStack() as stack:
            relays = {"antiphon": Relay(sys.executable, "relays.ours", format, url)}
            if sdk_python is not None and format in SDKS:
                relays["SDK"] = Relay(sdk_python, SDKS[format], url)
            for relay in relays.values():
                stack.callback(relay.close)
            for number in range(rounds):
                report(f"{format}: round {number + 1} of {rounds}")
                for who, relay in relays.items():
                    costs.setdefault((format, who), []).append(relay.turn())
    return costs


def import_ms(python: str, statement: str) -> float:
    """CPU time that an import adds to an empty program."""
    script = f"import time; b = time.process_time(); {statement}; print((time.process_time() - b) * 1000)"
    runs = [subprocess.run([python, "-c", script], capture_output=True, text=True, check=True) for _ in range(IMPORTS)]
    return median(float(run.stdout) for run in runs)


def crowd(count: int) -> dict[str, float]:
    """Many streams at once, from a server that costs little."""
    report(f"{count} streams at once")
    pacer = [sys.executable, "-m", "relays.pacer", str(WORDS)]
    with subprocess.Popen(pacer, cwd=HERE, stdout=PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            url = server.stdout.readline().strip()
            command = [sys.executable, "-m", "relays.crowd", url, str(count), str(WORDS)]
            done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, timeout=LIMIT_S, check=True)
        finally:
            server.kill()
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def print_costs(costs: dict[tuple[str, str], list[float]]) -> None:
    """The table of costs."""
    rows = []
    for format in FORMATS:
        ours, sdk = costs[format, "antiphon"], costs.get((format, "SDK"), [])
        ratios = [theirs / mine for theirs, mine in zip(sdk, ours, strict=False)]
        goal = f"≤ {GOAL_US} {'met' if median(ours) <= GOAL_US else 'MISSED'}" if format in SDKS else ABSENT
        rows.append([format, spread(ours), spread(sdk), spread(ratios), goal])
    print_table("CPU µs per relayed delta", ["format", "antiphon", "official SDK", "times", "goal"], rows)


def print_imports(imports: dict[str, float]) -> None:
    """The table of imports."""
    rows = []
    for name, ms in imports.items():
        goal = f"≤ {IMPORT_GOAL_MS} {'met' if ms <= IMPORT_GOAL_MS else 'MISSED'}" if "antiphon" in name else ABSENT
        rows.append([name, f"{ms:.0f}", goal])
    print_table("CPU ms to import", ["", "ms", "goal"], rows)


def print_crowd(many: dict[str, float], count: int) -> None:
    """The table of streams at once; keeping up with them is the goal."""
    asked = count * PER_SECOND
    rate = many["words per second in these"]
    goals = {
        "words per second in these": f"{asked:,} {'met' if rate >= 0.99 * asked else 'MISSED'}",
        "tasks left": f"0 {'met' if many['tasks left'] == 0 else 'MISSED'}",
    }
    rows = [[name, f"{value:,.1f}", goals.get(name, ABSENT)] for name, value in many.items()]
    print_table(f"Streams at once, {PER_SECOND} words a second each", ["", "", "goal"], rows)


def main() -> None:
    """Measure and print."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--streams", type=int, default=CROWD)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    try:
        sdk_python: str | None = str(provide_python(open_cache(arguments.cache), SDK_PEERS, "sdk"))
    except PeerUnavailable as reason:
        report(f"official SDKs: {reason}\n")
        sdk_python = None
    with fake_server() as urls:
        costs = relay_costs(urls, sdk_python, arguments.rounds)
    many = crowd(arguments.streams)
    imports = {
        "antiphon, all adapters": import_ms(sys.executable, OURS),
        "the same with the HTTP library": import_ms(sys.executable, f"{OURS}, antiphon.providers.http.client"),
    }
    if sdk_python is not None:
        imports |= {name: import_ms(sdk_python, f"import {name}") for name in SDK_PEERS}
    report("")
    print_costs(costs)
    print_imports(imports)
    print_crowd(many, arguments.streams)
    if arguments.json:
        named = {f"{format} {who}": values for (format, who), values in costs.items()}
        arguments.json.write_text(json.dumps({"costs": named, "imports": imports, "crowd": many}, indent=2))


if __name__ == "__main__":
    main()
