"""Changes between two charts and their consequences, as lines and as JSON."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from antiphon.chart.compare.changes import ChartChange
from antiphon.chart.compare.stored_runs import Consequence
from antiphon.chart.machine import Machine
from antiphon.cli.render.text_width import sanitize_line
from antiphon.cli.render.units import plural
from antiphon.runtime.replay.restoring import RestoreReport, TriedRun

SIGNS = {"added": "+", "removed": "-", "moved": ">", "changed": "~"}
MOST_EXAMPLES = 5
UNCHANGED = "a runtime refuses stored runs of a changed chart; raise version, and register the old chart beside it"
REFUSED = "would be refused: the chart has changed, and its version has not"


class ChartDifference(NamedTuple):
    """The changes between two charts, their consequences, and the stored runs that were tried."""

    old: Machine[Any, Any]
    new: Machine[Any, Any]
    changes: list[ChartChange]
    consequences: list[Consequence]
    report: RestoreReport | None

    @property
    def breaks(self) -> bool:
        """True if stored runs break: with a store, one of those that are in it."""
        if self.report is None:
            return bool(self.changes) and bool(self.old.version == self.new.version)
        return any(self.breaks_run(run) for run in self.report.runs)

    def breaks_run(self, run: TriedRun) -> bool:
        """Return whether a stored run does not continue with the new chart; one of another version is migrated."""
        if self.refuses(run):
            return True
        is_concerned = run.version == self.new.version or self.new.migrate is not None
        return is_concerned and (run.problem is not None or bool(run.waits))

    def refuses(self, run: TriedRun) -> bool:
        """Return whether a runtime refuses a stored run: its chart has changed, and its version has not."""
        return bool(self.changes) and bool(run.version == self.new.version)


def difference_lines(difference: ChartDifference) -> list[str]:
    """Return the lines that describe a difference."""
    return [sanitize_line(line) for line in _lines(difference)]


def _lines(difference: ChartDifference) -> Iterator[str]:
    old = difference.old
    new = difference.new
    if not difference.changes:
        yield f"{new.id}: no change"
    for change in difference.changes:
        yield f"{SIGNS[change.kind]} {_place(change)}{change.text}"
    if difference.consequences:
        yield "stored runs:"
        yield from (f"! {consequence.text}" for consequence in difference.consequences)
    if difference.report is not None:
        yield from _report_lines(difference, difference.report)
    if old.version != new.version:
        yield f"version {old.version!r} → {new.version!r}: {_migration(new)}"
    elif difference.breaks:
        yield f"version {new.version!r} is unchanged: {UNCHANGED}"


def _place(change: ChartChange) -> str:
    return "state " if change.part == "state" else f"{change.state}: " if change.state else ""


def _migration(new: Machine[Any, Any]) -> str:
    if new.migrate is None:
        return "stored runs stay with the old chart, if it is registered, until the new one has a migrate function"
    return "stored runs are migrated"


def _report_lines(difference: ChartDifference, report: RestoreReport) -> Iterator[str]:
    by_version: dict[str, list[TriedRun]] = {}
    for run in report.runs:
        by_version.setdefault(json.dumps(run.version), []).append(run)
    if not by_version:
        yield f"the store has no run of {difference.new.id!r}"
    for version, runs in by_version.items():
        yield from _version_lines(version, runs)
        if refused := sum(map(difference.refuses, runs)):
            yield f"version {version}: {plural(refused, 'run')} {REFUSED}"
    if report.unread:
        first = report.unread[0]
        count = plural(len(report.unread), "tree")
        yield f"{count} of other machines could not be searched, such as {first.root}: {first.problem}"


def _version_lines(version: str, runs: list[TriedRun]) -> Iterator[str]:
    broken = [run for run in runs if run.problem is not None]
    waiting = [run for run in runs if run.waits]
    yield f"version {version}: {len(broken)} of {plural(len(runs), 'stored run')} would not restore"
    yield from (f"  {_name(run)}: {run.problem}" for run in broken[:MOST_EXAMPLES])
    if waiting:
        yield f"version {version}: {plural(len(waiting), 'run')} would restore and wait for ever"
        yield from (f"  {_name(run)}: {'; '.join(run.waits)}" for run in waiting[:MOST_EXAMPLES])
    partly = sum(not run.is_whole for run in runs)
    if partly:
        yield f"version {version}: of {plural(partly, 'run')} only the state was tried; name OLD as module:machine"


def _name(run: TriedRun) -> str:
    return f"{run.root}/{run.path}" if run.path else run.root


def difference_record(difference: ChartDifference) -> dict[str, Any]:
    """Return a difference as JSON."""
    report = difference.report
    return {
        "id": difference.new.id,
        "versions": [difference.old.version, difference.new.version],
        "changes": [change._asdict() for change in difference.changes],
        "consequences": [consequence._asdict() for consequence in difference.consequences],
        "runs": None if report is None else [run._asdict() for run in report.runs],
        "unread": None if report is None else [tree._asdict() for tree in report.unread],
        "breaks": difference.breaks,
    }
