"""The command `antiphon debates`: debates listed, read and exported, also while another process holds them."""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from antiphon.app.debate_exports import to_markdown
from antiphon.app.debate_shelf import DebateShelf, DebateView
from antiphon.app.errors import AppError
from antiphon.app.reading import reading_debates
from antiphon.cli.cells import clip, harmless, harmless_lines
from antiphon.cli.db import default_store
from antiphon.cli.debate_words import money, rounds_told
from antiphon.cli.exports import DEBATE_FORMATS, format_of, write_debate
from antiphon.cli.found import Ambiguous, one_debate
from antiphon.cli.quantities import moment
from antiphon.cli.serving import Misuse
from antiphon.cli.views import write
from antiphon.runtime.errors import RuntimeFault

DONE, FAILED, MISUSED, INTERRUPTED = 0, 1, 2, 130
MOST_TOPIC = 60
TO = {"markdown": "md", "html": "html", "json": "json"}
EXAMPLES = """examples:
  antiphon debates list
  antiphon debates show last
  antiphon debates export 3f2a --to html --output debate.html
"""
Work = Callable[[DebateShelf, argparse.Namespace], Awaitable[int]]


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and give its exit code: 0 done, 1 failed, 2 called wrongly."""
    options = parser().parse_args(argv)
    store = getattr(options, "store", None) or default_store()
    try:
        if not store.is_file():
            raise Misuse(f"{store}: there is no such file; name the store with --store or ANTIPHON_STORE")
        code = asyncio.run(_read(store, options))
        sys.stdout.flush()
    except (Misuse, Ambiguous) as error:
        return _complain(str(error), MISUSED)
    except (AppError, RuntimeFault) as error:
        return _complain(str(error), FAILED)
    except KeyboardInterrupt:
        return _complain("interrupted", INTERRUPTED)
    except BrokenPipeError:
        # Whoever read our output has seen enough; what is left in the buffer must not fail again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    return code


def parser() -> argparse.ArgumentParser:
    """What the command understands."""
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--store", type=Path, metavar="FILE", default=argparse.SUPPRESS, help="the store's file")
    result = argparse.ArgumentParser(
        prog="antiphon debates",
        description="Look at debates that were held, or are.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    result.add_argument("--store", type=Path, metavar="FILE", default=None, help=f"default: {default_store()}")
    commands = result.add_subparsers(metavar="COMMAND", required=True)

    def add(name: str, command: Work, about: str, *, of_one: bool = True) -> Any:
        sub = commands.add_parser(name, parents=[common], help=about, description=about)
        sub.set_defaults(command=command)
        if of_one:
            sub.add_argument("id", metavar="ID", help="a debate; the start of its id is enough, or 'last'")
        return sub

    sub = add("list", _list, "list the latest debates", of_one=False)
    sub.add_argument("--limit", type=_count, default=20, metavar="N", help="how many (default: 20)")
    sub.add_argument("--json", action="store_true", help="say it in JSON")
    sub = add("show", _show, "print a debate")
    sub.add_argument("--json", action="store_true", help="say it in JSON")
    sub = add("export", _export, "write a debate as Markdown, as HTML that needs nothing else, or as JSON")
    sub.add_argument("--to", choices=list(TO), help="by default what FILE ends in, else markdown")
    sub.add_argument("--output", type=Path, metavar="FILE", help="a new file; by default the standard output")
    return result


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a count is a whole number from 1, not {text!r}")
    return int(text)


async def _read(store: Path, options: argparse.Namespace) -> int:
    async with reading_debates(store) as shelf:
        code: int = await options.command(shelf, options)
        return code


async def _list(shelf: DebateShelf, options: argparse.Namespace) -> int:
    found = await shelf.latest(options.limit)
    if options.json:
        return _say([json.dumps([asdict(view) for view in found], indent=2)])
    return _say([_row(view) for view in found] or ['no debates yet: antiphon debate "TOPIC" begins one'])


async def _show(shelf: DebateShelf, options: argparse.Namespace) -> int:
    debate = await shelf.read(await one_debate(shelf.library, options.id))
    if options.json:
        return _say([json.dumps(debate, indent=2)])
    return _say([to_markdown(debate).rstrip()])


async def _export(shelf: DebateShelf, options: argparse.Namespace) -> int:
    debate = await shelf.read(await one_debate(shelf.library, options.id))
    format = TO[options.to] if options.to else None
    if options.output is None:
        write(sys.stdout, DEBATE_FORMATS[format or "md"](debate))
        return DONE
    write_debate(debate, options.output, format or format_of(options.output))
    return _say([f"written to {options.output}"])


def _row(view: DebateView) -> str:
    facts = [view.format, rounds_told(view.rounds), money(view.cost_usd), ", ".join(map(harmless, view.models))]
    ending = "a tie" if view.tie else f"{harmless(view.winner)} won" if view.winner else _status(view)
    topic = clip(harmless(view.topic), MOST_TOPIC)
    return f"{view.id}  {moment(view.updated)}  {topic} ({'; '.join([ending, *facts])})"


def _status(view: DebateView) -> str:
    if view.outcome is not None:
        return view.outcome.replace("_", " ")
    return {"stopped": "paused", "pending": "not begun"}.get(view.status, view.status)


def _say(lines: Sequence[str]) -> int:
    for line in lines:
        write(sys.stdout, harmless_lines(line) + "\n")
    return DONE


def _complain(problem: str, code: int) -> int:
    write(sys.stderr, f"antiphon debates: {harmless(problem)}\n")
    return code
