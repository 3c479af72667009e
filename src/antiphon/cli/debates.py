"""The command `antiphon debates`: debates listed, read and exported, also while another process holds them."""

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from antiphon.cli import records
from antiphon.cli.debate.format import money, rounds_told
from antiphon.cli.exports import DEBATE_FORMATS
from antiphon.cli.lookup import one_debate
from antiphon.cli.render.text_width import clip, harmless
from antiphon.cli.render.units import moment
from antiphon.debate.library import CHILD, DebateShelf, DebateView
from antiphon.threads.library import Library

MOST_TOPIC = 60
EXAMPLES = """examples:
  antiphon debates list
  antiphon debates show last
  antiphon debates export 3f2a --to debate.html
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and give its exit code."""
    return records.run(DEBATES, argv)


def parser() -> argparse.ArgumentParser:
    """What the command understands."""
    return records.parser(DEBATES)


async def _latest(library: Library, limit: int) -> list[DebateView]:
    return await DebateShelf(library.source).latest(limit)


async def _read(library: Library, id: str) -> Mapping[str, Any]:
    return await DebateShelf(library.source).read(id)


def _row(view: DebateView) -> str:
    facts = [view.format, rounds_told(view.rounds), money(view.cost_usd), ", ".join(map(harmless, view.models))]
    ending = "a tie" if view.tie else f"{harmless(view.winner)} won" if view.winner else _status(view)
    topic = clip(harmless(view.topic), MOST_TOPIC)
    return f"{view.id}  {moment(view.updated)}  {topic} ({'; '.join([ending, *facts])})"


def _status(view: DebateView) -> str:
    if view.outcome is not None:
        return view.outcome.replace("_", " ")
    return {"stopped": "paused", "pending": "not begun"}.get(view.status, view.status)


DEBATES = records.Records(
    kind=CHILD,
    about="Look at debates that were held, or are.",
    examples=EXAMPLES,
    none_yet='no debates yet: antiphon debate "TOPIC" begins one',
    formats=DEBATE_FORMATS,
    latest=_latest,
    row=_row,
    find=one_debate,
    read=_read,
)
