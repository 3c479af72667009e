"""The command `antiphon usage`: tokens and costs by day, model, kind or thread, with bars on a terminal."""

import argparse
import asyncio
import json
import re
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from antiphon.cli.frame import CliCommand, UsageError, print_lines
from antiphon.cli.options import add_json, add_store, existing_store, positive_int
from antiphon.cli.usage.table import format_rows
from antiphon.stores.usage import read_usage
from antiphon.threads.usage import GROUPINGS, UsageSum, UsedThread, sum_usage

DAY_MS = 86_400_000
ALL = "all"
DEFAULT_SINCE = "30d"
SINCE = re.compile(r"(\d{1,4})([dhw])")
UNITS_MS = {"h": DAY_MS // 24, "d": DAY_MS, "w": 7 * DAY_MS}
EXAMPLES = """examples:
  antiphon usage                           tokens and costs of the last 30 days, by day
  antiphon usage --by model --since 7d     of the last week, by model
  antiphon usage --by thread --limit 5     the most expensive conversations
  antiphon usage --since 2026-11-01 --json from a day on, for programs

Days are those of UTC. Deleted threads, and steps that were removed by antiphon db compact, are not counted.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    add("--by", choices=GROUPINGS, default="day", help="what is summed (default: day)")
    add(
        "--since",
        metavar="WHEN",
        default=DEFAULT_SINCE,
        help="7d, 12h, 2w, a day like 2026-11-01, or all (default: 30d)",
    )
    add("--limit", type=positive_int, default=20, metavar="N", help="rows to show, but all days (default: 20)")
    add_json(parser)
    add_store(parser)


def run(options: argparse.Namespace) -> int:
    """Print the sums."""
    since = parse_since(options.since, time.time_ns() // 1_000_000)
    store = existing_store(options)
    asyncio.run(_index(store))
    titles: dict[str, str] = {}
    sums = sum_usage(_threads(store, since, titles), options.by, since)
    total = UsageSum()
    for each in sums.values():
        total.merge(each)
    rows = _sort_rows(sums, options.by)
    if options.json:
        records = [{options.by: key, **each.to_json()} for key, each in rows.items()]
        value = {"since": since or None, "by": options.by, "rows": records, "total": total.to_json()}
        return print_lines([json.dumps(value, indent=2)])
    if not rows:
        return print_lines([f"nothing was used since {options.since}" if since else "nothing was used yet"])
    columns = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    return print_lines(
        format_rows(_limit_rows(rows, options), total, titles if options.by == "thread" else {}, columns)
    )


def parse_since(text: str, now: int) -> int:
    """Return a time in milliseconds: so many hours, days or weeks ago, the begin of a day, or 0 for all."""
    if text == ALL:
        return 0
    if match := SINCE.fullmatch(text):
        return max(0, now - int(match[1]) * UNITS_MS[match[2]])
    try:
        return round(datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC).timestamp() * 1000)
    except ValueError:
        raise UsageError(f"--since is {text!r}; it must be like 7d, 12h, 2w, 2026-11-01, or all") from None


async def _index(store: Path) -> None:
    """Let threads that are not in the index of the store, as after an import, be indexed."""
    # Imported here because `--help` does not need it.
    from antiphon.app import open_library

    async with open_library(store):
        pass


def _threads(store: Path, since: int, titles: dict[str, str]) -> Iterator[UsedThread]:
    """Iterate over the threads that were changed since a time; their titles are added to `titles`."""
    for tree in read_usage(store, since):
        summary = tree.summary or {}
        titles[tree.root] = str((tree.facts or {}).get("title") or summary.get("title") or "")
        config = (tree.input or {}).get("config") or {}
        yield UsedThread(tree.root, tree.kind, summary.get("model"), config, tree.entries)


def _sort_rows(sums: Mapping[str, UsageSum], by: str) -> dict[str, UsageSum]:
    """Return days in their order, and other rows by cost and tokens, the greatest first."""
    if by == "day":
        return dict(sorted(sums.items()))
    return dict(sorted(sums.items(), key=lambda item: (-item[1].cost_usd, -item[1].input - item[1].output, item[0])))


def _limit_rows(rows: Mapping[str, UsageSum], options: argparse.Namespace) -> dict[str, UsageSum]:
    return dict(rows) if options.by == "day" else dict(list(rows.items())[: options.limit])


COMMAND = CliCommand(
    "Show how many tokens replies have used and what they have cost, by day, model, kind or thread.",
    add_options,
    run,
    EXAMPLES,
)
