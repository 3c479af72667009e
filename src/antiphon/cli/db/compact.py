"""The command `antiphon db compact`: old steps are removed from journals, after a confirmation."""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from time import time

from antiphon.cli.frame import DONE, FAILED, INTERRUPTED, print_error, print_lines
from antiphon.cli.options import TREE_HELP, Subcommands, existing_store
from antiphon.cli.render.plain import write
from antiphon.cli.render.text_width import sanitize_line
from antiphon.cli.render.units import format_size, plural
from antiphon.stores.compaction import KEEP_DAYS, KEEP_STEPS, LEAST_STEPS, Compaction, Policy, compact, plan

DAY_S = 24 * 60 * 60
ANY_TIME = 2**62  # later than every step, in milliseconds


def add_compact(commands: Subcommands) -> None:
    """Add the subcommand."""
    about = "remove old steps from journals; this cannot be undone, so make a backup first"
    sub = commands.add("compact", _compact, about, json=True)
    help = f"keep at least the latest N steps of each tree (default: {KEEP_STEPS}, at least {LEAST_STEPS})"
    sub.add_argument("--keep", type=_step_count, default=KEEP_STEPS, metavar="N", help=help)
    help = f"keep all steps of the last DAYS days (default: {KEEP_DAYS}; 0: remove steps of any age)"
    sub.add_argument("--older-than", type=_day_count, default=KEEP_DAYS, metavar="DAYS", help=help)
    sub.add_argument("--root", metavar="ID", help=f"only {TREE_HELP}")
    sub.add_argument("--dry-run", action="store_true", help="only show what would be removed; works while it is in use")
    sub.add_argument("--yes", action="store_true", help="do not ask for confirmation")


def _compact(options: argparse.Namespace) -> int:
    store = existing_store(options)
    since = round((time() - options.older_than * DAY_S) * 1000) if options.older_than else ANY_TIME
    policy = Policy(options.keep, since, options.root)
    problems: list[str] = []
    planned = plan(store, policy, problems.append)
    for problem in problems:
        print_error("db", problem, FAILED)
    code = FAILED if problems else DONE
    if options.dry_run or not planned:
        _print_compactions(options, "would remove", planned)
        return code
    if not (options.yes or _is_confirmed(planned)):
        _print_compactions(options, "removed", [])
        return code
    removed: list[Compaction] = []
    try:
        for compaction in compact(store, policy, lambda problem: None):
            removed.append(compaction)
    except KeyboardInterrupt:
        _print_compactions(options, "removed", removed)
        return print_error("db", "interrupted; the other trees are unchanged", INTERRUPTED)
    _print_compactions(options, "removed", removed)
    return code


def _is_confirmed(planned: Sequence[Compaction]) -> bool:
    """Ask the user whether to remove steps."""
    for line in _compaction_lines("would remove", planned):
        write(sys.stderr, f"{sanitize_line(line)}\n")
    write(sys.stderr, "keep a copy with: antiphon db backup FILE\nremove them permanently? y/n > ")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _print_compactions(options: argparse.Namespace, verb: str, compactions: Sequence[Compaction]) -> None:
    lines = _compaction_lines(verb, compactions)
    if compactions and verb == "removed":
        lines.append("the space is used for new steps; `antiphon db vacuum` makes the file smaller")
    records = [{**asdict(compaction), "steps": compaction.steps} for compaction in compactions]
    print_lines([json.dumps(records, indent=2)] if options.json else [sanitize_line(line) for line in lines])


def _compaction_lines(verb: str, compactions: Sequence[Compaction]) -> list[str]:
    if not compactions:
        return ["nothing removed" if verb == "removed" else "nothing to remove"]
    lines = [
        f"{item.root!r}: {verb} steps {item.first:,} to {item.last:,} of {item.latest:,}, {format_size(item.bytes)}"
        for item in compactions
    ]
    steps = plural(sum(item.steps for item in compactions), "step")
    size = format_size(sum(item.bytes for item in compactions))
    return [*lines, f"{verb} {steps} of {plural(len(compactions), 'tree')}, {size}"]


def _step_count(text: str) -> int:
    """Parse the number of steps to keep."""
    if not text.isdigit() or int(text) < LEAST_STEPS:
        raise argparse.ArgumentTypeError(f"must be an integer of at least {LEAST_STEPS}, not {text!r}")
    return int(text)


def _day_count(text: str) -> int:
    """Parse a number of days."""
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"must be a number of days, not {text!r}")
    return int(text)
