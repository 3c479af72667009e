"""Compare the engine with XState on random statecharts: `python conformance/run.py --help`."""

import argparse
import json
import shlex
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from compare import Difference, Tally, compare, tally
from engines import HERE, Answer, Pair, SetupError, Spec, generate, install, pair
from shrink import Shrinker, features

BATCH = 250
SAME_KIND_LIMIT = 3
SHOWN_LENGTH = 600
SHRINKING_LIMIT_S = 1.5
PROFILES = ("all", "core", "actors", "mixture", "persist")


@dataclass(frozen=True, slots=True)
class Finding:
    """A spec about which the engines differ."""

    spec: Spec
    difference: Difference


@dataclass(slots=True)
class Batch:
    """Results of one batch of specs."""

    tally: Tally = field(default_factory=Tally)
    findings: list[Finding] = field(default_factory=list)
    hung: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Report:
    """Results of the whole run."""

    tally: Tally = field(default_factory=Tally)
    hung: list[str] = field(default_factory=list)
    kinds: set[tuple[str, frozenset[str]]] = field(default_factory=set)
    signatures: Counter[str] = field(default_factory=Counter)


def parse(arguments: list[str]) -> argparse.Namespace:
    """Return the settings of a run."""
    parser = argparse.ArgumentParser(prog="run.py", description=__doc__)
    add = parser.add_argument
    add("--count", type=int, default=5000, help="number of random charts (default: 5000)")
    add("--seed", type=int, default=int(time.time()), help="first seed (default: from the time)")
    add("--profile", choices=PROFILES, default="all", help="kind of charts (default: all)")
    add("--jobs", type=int, default=2, help="batches compared at the same time (default: 2)")
    add("--spec", type=Path, metavar="FILE", help="compare the specs of a file instead of random ones")
    add("--keep-going", type=int, default=1, metavar="N", help="stop after N distinct differences (default: 1)")
    add("--time-limit", type=float, default=20.0, metavar="S", help="seconds for one chart (default: 20)")
    add("--shrink", type=float, default=60.0, metavar="S", help="seconds to shrink a difference (default: 60)")
    add("--folder", type=Path, default=HERE.parent / ".conformance", help="where XState and the differences go")
    add("--other", type=shlex.split, metavar="COMMAND", help="compare another oracle instead of the Python one")
    return parser.parse_args(arguments)


def read_specs(file: Path) -> list[Spec]:
    """Return the specs of a file: one JSON document, or one in each line; also files written by this program."""
    text = file.read_text(encoding="utf-8")
    try:
        documents: list[Any] = [json.loads(text)]
    except json.JSONDecodeError:
        documents = [json.loads(line) for line in text.splitlines() if line.strip()]
    return [{"id": number, **document.get("spec", document)} for number, document in enumerate(documents)]


def batches(settings: argparse.Namespace) -> Iterator[tuple[int, int]]:
    """Yield the first seed and the size of each batch."""
    for start in range(0, settings.count, BATCH):
        yield settings.seed + start, min(BATCH, settings.count - start)


def run_batch(specs: list[Spec], engines: Pair, stop: threading.Event) -> Batch:
    """Compare the engines on some specs."""
    batch = Batch()
    for spec in specs:
        if stop.is_set():
            break
        judge(spec, engines.answers(spec), batch)
    return batch


def judge(spec: Spec, answers: tuple[Answer, Answer], batch: Batch) -> None:
    """Count one pair of answers, and keep it if they differ."""
    expected, actual = answers
    if "hung" in expected:
        batch.hung.append(str(spec["id"]))
        batch.tally.add(Tally(charts=1, hung=1))
        return
    difference = compare(expected, actual)
    batch.tally.add(tally(expected))
    if difference is not None:
        batch.tally.differing += 1
        batch.findings.append(Finding(spec, difference))


def compare_all(settings: argparse.Namespace) -> Report:
    """Compare the engines on every spec asked for, reporting differences as they are found."""
    report = Report()
    stop = threading.Event()

    def work(seed: int, count: int) -> Batch:
        if stop.is_set():
            return Batch()
        specs = read_specs(settings.spec) if settings.spec else generate(count, seed, settings.profile)
        with pair(settings.folder, settings.other, settings.time_limit) as engines:
            return run_batch(specs, engines, stop)

    todo = [(0, 0)] if settings.spec else list(batches(settings))
    with ThreadPoolExecutor(settings.jobs) as pool:
        try:
            for done in as_completed([pool.submit(work, seed, count) for seed, count in todo]):
                take(done.result(), report, settings)
                if len(report.kinds) >= settings.keep_going:
                    stop.set()
        finally:
            stop.set()
    return report


def take(batch: Batch, report: Report, settings: argparse.Namespace) -> None:
    """Add a batch to the report."""
    report.tally.add(batch.tally)
    report.hung.extend(batch.hung)
    if batch.tally.charts:
        print(f"{report.tally.charts} charts, {report.tally.differing} differing", file=sys.stderr)
    for finding in batch.findings:
        if len(report.kinds) >= settings.keep_going:
            return
        report.signatures[finding.difference.signature] += 1
        if report.signatures[finding.difference.signature] <= SAME_KIND_LIMIT:
            investigate(finding, report, settings)


def investigate(finding: Finding, report: Report, settings: argparse.Namespace) -> None:
    """Shrink a finding, and show and store it if it is of a new kind."""
    signature = finding.difference.signature
    print(f"shrinking {finding.spec['id']} ({signature})", file=sys.stderr)
    with pair(settings.folder, settings.other, SHRINKING_LIMIT_S) as engines:

        def differs(spec: Spec) -> bool:
            difference = engines.difference(spec)
            return difference is not None and difference.signature == signature

        small = Shrinker(differs, settings.shrink).shrink(cut(finding))
        answers = engines.answers(small)
    kind = (signature, features(small))
    if kind not in report.kinds:
        report.kinds.add(kind)
        show(small, answers, compare(*answers) or finding.difference, settings.folder / "differences")


def cut(finding: Finding) -> Spec:
    """Return the spec without the steps after its first difference."""
    step = finding.difference.step
    return finding.spec if step is None else {**finding.spec, "steps": finding.spec["steps"][:step]}


def show(spec: Spec, answers: tuple[Answer, Answer], difference: Difference, folder: Path) -> None:
    """Print a difference and write it to a file of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{spec['id']}.json"
    path = ".".join(map(str, difference.path))
    document = {"spec": spec, "path": path, "xstate": answers[0], "other": answers[1]}
    file.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    print(f"\nDifference in chart {spec['id']}, written to {file}")
    print(f"  at     {path}")
    print(f"  xstate {brief(difference.expected)}")
    print(f"  other  {brief(difference.actual)}")
    print(f"  spec   {json.dumps(spec)}")


def brief(value: Any) -> str:
    """Return a value as JSON, cut if it is long."""
    text = json.dumps(value)
    return text if len(text) <= SHOWN_LENGTH else text[:SHOWN_LENGTH] + "..."


def summarise(report: Report, seconds: float) -> None:
    """Print the numbers of a run."""
    count = report.tally
    compared = f"{count.charts} charts, {count.steps} steps, {count.microsteps} microsteps, {count.actions} actions"
    print(f"\ncompared {compared} in {seconds:.0f} s")
    print(f"{count.differing} charts differ ({len(report.kinds)} kinds shown)")
    if count.rejected:
        print(f"{count.rejected} charts were refused by XState")
    if count.cut:
        print(f"{count.cut} charts were compared only up to a crash inside XState")
    if report.hung:
        print(f"{count.hung} charts without an answer from XState in time: {', '.join(report.hung)}")


def main(arguments: list[str]) -> int:
    """Run the comparison; 0 is clean, 1 means differences, 2 that it could not be run."""
    settings = parse(arguments)
    started = time.monotonic()
    try:
        install(settings.folder)
        with pair(settings.folder, settings.other, settings.time_limit) as engines:
            engines.check()
        if not settings.spec:
            print(f"seed {settings.seed}, profile {settings.profile}", file=sys.stderr)
        report = compare_all(settings)
    except (SetupError, OSError, json.JSONDecodeError, subprocess.SubprocessError) as error:
        print(f"run.py: {error}", file=sys.stderr)
        return 2
    summarise(report, time.monotonic() - started)
    return 1 if report.tally.differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
