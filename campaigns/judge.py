"""Run lines that are judged to read only, and report what they have changed: `python campaigns/judge.py --lines 20000`.

Lines are generated from seeds: known readers with their options, hostile variations of them, and known attacks. Each
line that is judged `read` runs under bash in a hostile workspace, in a sandbox where only that workspace can be
changed; afterwards its files, the processes of the sandbox and connections to a port are compared with those before.
`--line` judges and runs one line, whatever its risk; `--every` runs all lines, which shows how many do harm.
"""

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.tools.commands.fuzzing import FuzzReport, fuzz
from tests.tools.commands.hostile import missing_sandbox, run_all

from antiphon.tools.commands.judgement import judge_command

BLOCK = 500


def main() -> int:
    """Run the campaign that the command line selects."""
    options = parse_options()
    reason = missing_sandbox()
    if reason:
        print(f"nothing to do: {reason}", file=sys.stderr)
        return 2
    if options.line is not None:
        return run_line(options.line)
    return explore(options.first, options.lines, options.jobs, every=options.every)


def parse_options() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=20_000, help="how many lines")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="how many processes")
    parser.add_argument("--every", action="store_true", help="run the lines that are not judged to read, too")
    parser.add_argument("--line", help="only this line")
    return parser.parse_args()


def run_line(line: str) -> int:
    """Judge and run one line."""
    judgement = judge_command(line)
    print(f"{judgement.risk}: {judgement.reason}")
    with tempfile.TemporaryDirectory() as base:
        changes = [change for result in run_all([line], Path(base)) for change in result.changes]
    print("\n".join(changes) or "nothing has changed")
    return 1 if changes and judgement.risk == "read" else 0


def explore(first: int, lines: int, jobs: int, *, every: bool) -> int:
    """Run many lines, print those that have changed something, and a summary."""
    started_at = time.monotonic()
    counts = Counter[str]()
    harm = 0
    slowest_ms = 0.0
    for report in reports(first, lines, jobs, every):
        counts.update(report.counts)
        slowest_ms = max(slowest_ms, report.slowest_ms)
        harm += len(report.harmful)
        for result in report.harmful:
            print(f"changed by {result.line!r}: {', '.join(result.changes)}", flush=True)
    print(f"{lines:,} lines in {time.monotonic() - started_at:.0f} s, judged in {slowest_ms:.0f} ms at most:")
    for name, count in counts.most_common():
        print(f"  {count:>8,} {name}")
    print(f"{harm} of the lines that were judged read have changed something")
    return 1 if harm else 0


def reports(first: int, lines: int, jobs: int, every: bool) -> Iterator[FuzzReport]:
    """Yield the reports of blocks of lines."""
    with ProcessPoolExecutor(max_workers=jobs) as pool:
        starts = range(first, first + lines, BLOCK)
        blocks = [pool.submit(fuzz, start, min(BLOCK, first + lines - start), every=every) for start in starts]
        yield from (block.result() for block in as_completed(blocks))


if __name__ == "__main__":
    raise SystemExit(main())
