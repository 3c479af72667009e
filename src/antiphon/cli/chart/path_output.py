"""Paths through charts on standard output, and in files of tests."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from antiphon.chart.explore.paths import StatePath
from antiphon.chart.explore.written_tests import to_pytest
from antiphon.chart.machine import Machine
from antiphon.cli.exports import refuse_existing
from antiphon.cli.frame import FAILED, print_error, print_lines
from antiphon.cli.render.text_width import sanitize_line
from antiphon.cli.text_files import write_text


class FoundPaths(NamedTuple):
    """Paths through a machine, and the reasons why some of its transitions or states are in none of them."""

    machine: Machine[Any, Any]
    paths: list[StatePath]
    missing: dict[str, str]

    @property
    def missing_lines(self) -> list[str]:
        """The reasons, a line each."""
        return [sanitize_line(f"not covered: {place}: {reason}") for place, reason in self.missing.items()]


def print_paths(result: FoundPaths) -> None:
    """Print paths, a line each."""
    print_lines([*(sanitize_line(str(path)) for path in result.paths), *result.missing_lines])


def print_paths_as_json(result: FoundPaths) -> None:
    """Print paths as JSON."""
    record = {"paths": [_record(path) for path in result.paths], "missing": result.missing}
    print_lines([json.dumps(record, indent=2, default=str)])


def write_tests(result: FoundPaths, output: Path | None, *, is_async: bool) -> None:
    """Write tests to a new file, or print them; what is never taken goes to standard error."""
    for line in result.missing_lines:
        print_error("chart", line, FAILED)
    text = to_pytest(result.machine, result.paths, is_async=is_async)
    if output is None:
        print_lines([text.rstrip()])
    else:
        refuse_existing(output)
        write_text(output, text)
        print_lines([str(output)])


def _record(path: StatePath) -> dict[str, Any]:
    steps = [
        {"event": step.event, "guards": guards, "value": step.snapshot.value}
        for step, guards in zip(path.steps, path.guards, strict=True)
    ]
    return {"start": path.start.value, "steps": steps}
