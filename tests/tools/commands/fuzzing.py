"""Blocks of generated lines, judged and run."""

import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from antiphon.tools.commands.judgement import judge_command
from tests.tools.commands.hostile import LineResult, run_all
from tests.tools.commands.lines import LineGenerator


@dataclass(slots=True)
class FuzzReport:
    """Counts of a block, and the lines that have changed something though they were judged to read."""

    counts: Counter[str] = field(default_factory=Counter)
    harmful: list[LineResult] = field(default_factory=list)
    slowest_ms: float = 0.0


def fuzz(first: int, lines: int, *, every: bool = False) -> FuzzReport:
    """Judge the lines of some seeds, and run those that are judged to read, or every one."""
    report = FuzzReport()
    risks: dict[str, str] = {}
    for seed in range(first, first + lines):
        line = LineGenerator(seed).line()
        started_at = time.perf_counter()
        judgement = judge_command(line)
        report.slowest_ms = max(report.slowest_ms, (time.perf_counter() - started_at) * 1000)
        report.counts[f"judged {judgement.risk}"] += 1
        report.counts["not parsed"] += not judgement.parsed
        # A process cannot be started with a null in its words.
        if judgement.risk == "read" or (every and "\0" not in line):
            risks[line] = judgement.risk
    with tempfile.TemporaryDirectory() as base:
        results = run_all(list(risks), Path(base))
    report.harmful = [result for result in results if result.changes and risks[result.line] == "read"]
    report.counts["run"] = len(results)
    report.counts["ended without an error"] = sum(result.end == "0" for result in results)
    report.counts["timed out"] = sum(result.end == "timeout" for result in results)
    report.counts.update(f"judged {risks[result.line]}, and changed something" for result in results if result.changes)
    return report
