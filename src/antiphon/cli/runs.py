"""The command `antiphon runs`: what agents did, listed, read and exported, also while they are at work."""

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from antiphon.agents import export as run_exports
from antiphon.agents.record import RUN, run_record
from antiphon.cli import records
from antiphon.cli.chat.reply_stats import dollars
from antiphon.cli.lookup import one_run
from antiphon.cli.render.text_width import clip, harmless
from antiphon.cli.render.units import moment
from antiphon.threads.library import Library
from antiphon.threads.views import ThreadView

MOST_TASK = 50
EXAMPLES = """examples:
  antiphon runs list                            the latest runs
  antiphon runs show last                       the plan, every turn and every call of the latest one
  antiphon runs export last --to report.html    to be read, printed or sent
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and give its exit code."""
    return records.run(RUNS, argv)


def parser() -> argparse.ArgumentParser:
    """What the command understands."""
    return records.parser(RUNS)


async def _latest(library: Library, limit: int) -> list[ThreadView]:
    return await library.latest(limit, kind=RUN)


async def _read(library: Library, id: str) -> Mapping[str, Any]:
    return await run_record(library.source, id)


def _row(view: ThreadView) -> str:
    facts = [view.status, f"{view.turns} turn{'' if view.turns == 1 else 's'}", dollars(view.cost_usd)]
    title = clip(harmless(view.title), MOST_TASK)
    model = harmless(view.model or "no model")
    hint = f"; antiphon run --resume {view.id}" if view.status == "interrupted" else ""
    return f"{view.id}  {moment(view.updated)}  {title} ({', '.join(facts)}; {model}){hint}"


RUNS = records.Records(
    kind=RUN,
    about="Look at what agents did; also while they are at work.",
    examples=EXAMPLES,
    none_yet='no runs yet: antiphon run "what is to be done" begins one',
    formats={"md": run_exports.to_markdown, "html": run_exports.to_html, "json": run_exports.to_json},
    latest=_latest,
    row=_row,
    find=one_run,
    read=_read,
)
