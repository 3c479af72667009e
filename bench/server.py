"""What the server costs: latency, CPU time, streams at once, memory, replay, lists, and a kill, beside a peer.

1. Everything is on the loopback interface; provider, servers and load are processes of their own.
2. Ratios are of measurements of one run, taken in turns. On a shared computer trust them, not the absolute figures.
3. The CPU time of the load is printed apart from that of the servers.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median
from subprocess import PIPE
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from antiphon.app import App
from indexed.library_file import THREADS, library_file
from lanes import BENCH, environment
from peers import CHAINLIT_PEERS, REPOSITORY, SERVER_PEERS, PeerUnavailable, open_cache, provide_python
from serving.killing import kill_under_load
from serving.proc import others_busy
from serving.quiet import idle_readers, list_pages, replay
from tables import ABSENT, print_table, report, spread

TOKEN = "bench-token-" + "0123456789" * 3
ADDED_MS = 2.0
CPU_RATIO = 3.0
P95_MS = 200.0
LEAST_STREAMS = 250
IDLE_MB = 300.0
REPLAY_MS = 100.0
LIST_MS = 20.0
ENTRIES = 5_000
LIMIT_S = 240


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table, with the goal it is held to."""

    name: str
    value: float | None
    unit: str = ""
    highest: float | None = None
    lowest: float | None = None
    note: str = ""
    rounds: tuple[float, ...] = ()  # the value of each round, if there were several

    def row(self) -> list[str]:
        """The cells of the line."""
        if self.value is None:
            return [self.name, ABSENT, self.note]
        goal = ABSENT
        if self.highest is not None:
            goal = f"≤ {self.highest:g} {'met' if self.value <= self.highest else 'MISSED'}"
        elif self.lowest is not None:
            goal = f"≥ {self.lowest:g} {'met' if self.value >= self.lowest else 'MISSED'}"
        return [self.name, f"{spread(self.rounds or [self.value])} {self.unit}".strip(), goal]


def merge_rounds(rounds: list[list[Figure]]) -> list[Figure]:
    """The figures of all rounds: the median of each; one that must be 0 is its highest."""
    merged = []
    for figure in rounds[0]:
        same = [other for figures in rounds for other in figures if other.name == figure.name]
        values = tuple(other.value for other in same if other.value is not None)
        if values:
            middle = max(values) if figure.highest == 0 else median(values)
            figure = replace(figure, value=middle, rounds=values)
        merged.append(figure)
    return merged


def calibrate() -> str:
    """The speed of a processor, and what others use of all, before the measurement."""
    started = perf_counter()
    sum(number * number for number in range(1_000_000))
    loop_ms = (perf_counter() - started) * 1000
    busy = others_busy()
    return f"calibration: a loop of a million squares takes {loop_ms:.0f} ms; others use {busy:.0%} of the processors"


class Bench:
    """The processes of one run, in a temporary folder."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder = folder
        self._stack = stack
        self._environment = {**environment(), "ANTIPHON_SERVER_TOKEN": TOKEN, "ANTIPHON_SERVER": "off"}
        self._environment["PYTHONPATH"] = os.pathsep.join([self._environment["PYTHONPATH"], str(BENCH)])

    def start(self, *command: str, python: str = sys.executable) -> tuple[subprocess.Popen[str], str]:
        """Start a process that prints its address."""
        log = (self.folder / "log.txt").open("a")
        self._stack.callback(log.close)
        process = subprocess.Popen(
            [python, "-m", *command], cwd=BENCH, env=self._environment, stdout=PIPE, stderr=log, text=True
        )
        self._stack.callback(process.wait)
        self._stack.callback(process.kill)
        assert process.stdout is not None
        address = process.stdout.readline().partition("?")[0].strip()
        if not address:
            raise PeerUnavailable(f"{command[0]} did not start")
        return process, address

    def serve(self, name: str, *options: str, port: int = 0) -> tuple[subprocess.Popen[str], str]:
        """Start `antiphon serve` on a store of this folder."""
        store = str(self.folder / f"{name}.db") if not name.startswith("/") else name
        return self.start("antiphon", "serve", "--port", str(port), "--any-model", "--store", store, *options)

    def load(self, **job: Any) -> dict[str, Any]:
        """Read streams in another process."""
        command = [sys.executable, "-m", "serving.load", json.dumps(job)]
        done = subprocess.run(command, cwd=BENCH, env=self._environment, stdout=PIPE, text=True, timeout=LIMIT_S)
        return json.loads(done.stdout) if done.returncode == 0 else {"failed": "the load has failed"}


@contextmanager
def opened() -> Iterator[Bench]:
    """The processes of one part; all are ended."""
    with TemporaryDirectory() as folder, ExitStack() as stack:
        yield Bench(Path(folder), stack)


def model_of(provider: str) -> str:
    """The reference of the provider's model."""
    return f"openai+{provider}/v1:m-paced"


def latency(words: int) -> list[Figure]:
    """One stream: through the server, without and with a window, and straight from the provider."""
    report("latency of one stream")
    with opened() as bench:
        _, provider = bench.start("serving.provider", str(words))
        direct = bench.load(url=provider, streams=1, words=words, path="/v1/chat/completions")
        servers = {name: bench.serve(name, *options)[1] for name, options in (("a", ["--window-ms", "0"]), ("b", []))}
        job = {"streams": 1, "words": words, "token": TOKEN, "model": model_of(provider)}
        bare, joined = (bench.load(url=url, **job) for url in servers.values())
    added = {name: part.get("p50_ms", 0) - direct["p50_ms"] for name, part in (("bare", bare), ("joined", joined))}
    return [
        Figure("p50 of a word, straight from the provider", direct["p50_ms"], "ms"),
        Figure("… added by the server, without a window", added["bare"], "ms", ADDED_MS),
        Figure("… added with the window of 50 ms, skipped after pauses", added["joined"], "ms"),
    ]


def relayed(streams: int, words: int) -> list[Figure]:
    """CPU time of a word: the server, the bare relay that commits the same rows, and the peer."""
    report(f"CPU time of a word, {streams} streams")
    with opened() as bench:
        _, provider = bench.start("serving.provider", str(words))
        bare, bare_url = bench.start("serving.bare", str(bench.folder), provider, str(streams * 2))
        ours, url = bench.serve("ours")
        job = {"streams": streams, "words": words}
        results = {
            "bare": bench.load(url=bare_url, pid=bare.pid, path="/stream", **job),
            "ours": bench.load(url=url, pid=ours.pid, token=TOKEN, model=model_of(provider), **job),
        }
        peers = {peer.name: run_peer(bench, peer, provider, job) for peer in PEERS}
    figures = relay_figures(results, streams)
    for name, (result, problem) in peers.items():
        figures += peer_figures(name, results["ours"], result, problem, streams)
    return figures


@dataclass(frozen=True, slots=True)
class Peer:
    """Another server that does the same job: its name, module, packages, and the path of a stream."""

    name: str
    module: str
    packages: dict[str, str]
    path: str


PEERS = (
    Peer("FastAPI and LangGraph, which stores no words", "langgraph", SERVER_PEERS, "/stream/{}"),
    Peer("Chainlit, which stores nothing", "chainlit", CHAINLIT_PEERS, "socket.io"),
)


def run_peer(bench: Bench, peer: Peer, provider: str, job: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """The same streams through a peer, or why there are none."""
    try:
        python = str(provide_python(open_cache(None), peer.packages, peer.module))
        process, url = bench.start(f"serving.{peer.module}_peer", str(bench.folder), provider, python=python)
    except PeerUnavailable as reason:
        return {}, str(reason)
    result = bench.load(url=url, pid=process.pid, path=peer.path, **job)
    process.kill()
    return result, ""


def relay_figures(results: dict[str, dict[str, Any]], streams: int) -> list[Figure]:
    """The lines beside the bare relay."""
    ours, bare = results["ours"], results["bare"]
    if "failed" in ours or "failed" in bare:
        return [Figure("CPU of a relayed and committed word", None, note=str(ours.get("failed") or bare["failed"]))]
    return [
        Figure(f"CPU of a relayed and committed word, {streams} streams", ours["cpu_us"], "µs"),
        Figure("… of the bare relay that commits the same rows", bare["cpu_us"], "µs"),
        Figure("… the former over the latter", ours["cpu_us"] / bare["cpu_us"], "", CPU_RATIO),
        Figure("… of the load, apart", ours["load_cpu_us"], "µs"),
        Figure("words that were lost or came twice", ours["wrong"], "", 0),
        Figure("share of time in which the server waited for a processor", ours["waited"]),
        Figure("words per CPU second, antiphon", 1e6 / ours["cpu_us"]),
        Figure("memory of a stream, antiphon", stream_kb(ours, streams), "KB"),
        Figure("p95 of a word, antiphon", ours["p95_ms"], "ms"),
    ]


def stream_kb(part: dict[str, Any], streams: int) -> float:
    """Memory of one stream: that of the process while all run, less that of the idle one."""
    return float(part["memory_mb"] - part["idle_mb"]) * 1024 / streams


def peer_figures(name: str, ours: dict[str, Any], peer: dict[str, Any], problem: str, streams: int) -> list[Figure]:
    """The lines beside a peer."""
    if "failed" in ours or "cpu_us" not in peer:
        return [Figure(f"words per CPU second, {name}", None, note=problem or str(peer.get("failed")))]
    short = name.partition(",")[0]
    return [
        Figure(f"words per CPU second, {name}", 1e6 / peer["cpu_us"]),
        Figure(f"… antiphon over {short}", peer["cpu_us"] / ours["cpu_us"]),
        Figure(f"memory of a stream, {short}", stream_kb(peer, streams), "KB"),
        Figure(f"p95 of a word, {short}", peer["p95_ms"], "ms"),
    ]


def crowds(counts: list[int], words: int) -> list[Figure]:
    """Streams of 20 words a second, more and more at once."""
    best = 0
    is_late = False
    figures = []
    for count in counts:
        report(f"{count} streams at once")
        with opened() as bench:
            _, provider = bench.start("serving.provider", str(words))
            process, url = bench.serve("crowd")
            job = {"streams": count, "words": words, "token": TOKEN, "model": model_of(provider)}
            result = bench.load(url=url, pid=process.pid, **job)
        if "failed" in result:
            figures.append(Figure(f"p95 of a word, {count} streams", None, note=result["failed"]))
            break
        figures += crowd_figures(count, result)
        is_late = is_late or result["p95_ms"] > P95_MS or bool(result["wrong"])
        best = best if is_late else count
    return [
        *figures,
        Figure("streams of 20 words a second in real time", best, "", lowest=min(LEAST_STREAMS, counts[-1])),
    ]


def crowd_figures(count: int, result: dict[str, Any]) -> list[Figure]:
    """The lines of so many streams at once."""
    return [
        Figure(f"p50 of a word, {count} streams", result["p50_ms"], "ms"),
        Figure(f"p95 of a word, {count} streams", result["p95_ms"], "ms"),
        Figure(f"… words lost or twice, {count} streams", result["wrong"], "", 0),
        Figure(f"… CPU of a word, {count} streams", result["cpu_us"], "µs"),
        Figure(f"… share of time in which the server waited for a processor, {count} streams", result["waited"]),
    ]


async def write_entries(path: Path, entries: int) -> str:
    """Write a thread whose reply has so many texts; return its id."""
    script = path.with_suffix(".toml")
    steps = ",".join('{ text = "word " }, { delay_ms = 1 }' for _ in range(entries))
    script.write_text(f"[[replies]]\nsteps = [{steps}]\n")
    async with App(path, window_ms=0) as app:
        id = await app.threads.create("chat", model=f"scripted:{script}")
        await app.threads.say(id, "Hello")
        await app.threads.until_idle(id)
    return id


def quiet(readers: int, entries: int, cache: Path | None) -> list[Figure]:
    """Idle readers, a replay, and pages of a long list."""
    with opened() as bench:
        report("replay")
        thread = asyncio.run(write_entries(bench.folder / "quiet.db", entries))
        process, url = bench.serve("quiet")
        number, replay_ms = asyncio.run(replay(url, TOKEN, thread))
        report(f"{readers} idle readers")
        idle_mb = asyncio.run(idle_readers(url, TOKEN, thread, readers, process.pid))
    figures = [
        Figure(f"replay of {number:,} entries", replay_ms * ENTRIES / max(1, number), "ms for 5,000", REPLAY_MS),
        Figure(f"memory with {readers:,} idle readers", idle_mb, "MB", IDLE_MB),
    ]
    if cache is None:
        return figures
    report(f"a list of {THREADS:,} threads")
    with opened() as bench:
        _, url = bench.serve(str(library_file(cache)))
        p95_ms = asyncio.run(list_pages(url, TOKEN))
    return [*figures, Figure(f"a page of a list of {THREADS:,} threads, p95", p95_ms, "ms", LIST_MS)]


def killed(streams: int, words: int) -> list[Figure]:
    """A server that is killed under load, and started again."""
    report(f"kill -9 under {streams} streams")
    with opened() as bench:
        _, provider = bench.start("serving.provider", str(words))
        process, url = bench.serve("killed")
        port = int(re.search(r":(\d+)", url.removeprefix("http:"))[1])  # type: ignore[index]

        def restart() -> None:
            process.kill()
            process.wait()
            bench.serve("killed", "--resume-interrupted", port=port)

        result = asyncio.run(kill_under_load(url, TOKEN, model_of(provider), streams, restart))
    return [
        Figure(f"killed under {streams} streams: acknowledged and lost", result["lost"], "", 0),
        Figure("… frames twice or missing", result["wrong"], "", 0),
        Figure("… clients that were reading", result["reading"]),
        Figure("… of these, share that resumed by itself", result["resumed"] / max(1, result["reading"]), "", lowest=1),
    ]


def main() -> int:
    """Measure and print."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer and shorter streams, less than a minute")
    parser.add_argument("--only", choices=("latency", "relayed", "crowds", "quiet", "killed"))
    parser.add_argument("--rounds", type=int, default=1, help="measure so often, and print medians")
    parser.add_argument("--streams", type=int, nargs="+", default=[100, 250, 375, 500], help="numbers of streams")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    is_quick = arguments.quick
    words = 60 if is_quick else 300
    cache = None if is_quick else REPOSITORY / ".bench"
    parts: dict[str, Callable[[], list[Figure]]] = {
        "latency": lambda: latency(words),
        "relayed": lambda: relayed(50 if is_quick else 100, words),
        "crowds": lambda: crowds([100] if is_quick else arguments.streams, words),
        "quiet": lambda: quiet(500 if is_quick else 2_000, 1_000 if is_quick else ENTRIES, cache),
        "killed": lambda: killed(50 if is_quick else 200, words),
    }
    print(calibrate(), file=sys.stderr)
    figures: list[Figure] = []
    for name, part in parts.items():
        if arguments.only in (None, name):
            figures += merge_rounds([part() for _ in range(arguments.rounds)])
    report("")
    print_table("The server, on a computer that is shared", ["", "", "goal"], [figure.row() for figure in figures])
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(figure) for figure in figures], indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
