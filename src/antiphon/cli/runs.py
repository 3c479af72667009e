"""The command `antiphon runs`: what agents did, listed, read and exported, also while they are at work."""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from antiphon.app import run_exports
from antiphon.app.errors import AppError
from antiphon.app.library import Library
from antiphon.app.reading import reading
from antiphon.app.run_records import RUN, run_record
from antiphon.app.views import ThreadView
from antiphon.cli.account import dollars
from antiphon.cli.cells import clip, harmless, harmless_lines
from antiphon.cli.db import default_store
from antiphon.cli.exports import format_of, write_whole
from antiphon.cli.found import Ambiguous, one_run
from antiphon.cli.quantities import moment
from antiphon.cli.serving import Misuse
from antiphon.cli.views import write
from antiphon.runtime.errors import RuntimeFault

DONE, FAILED, MISUSED, INTERRUPTED = 0, 1, 2, 130
MOST_TASK = 50
FORMATS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "md": run_exports.to_markdown,
    "html": run_exports.to_html,
    "json": run_exports.to_json,
}
EXAMPLES = """examples:
  antiphon runs list                            the latest runs
  antiphon runs show last                       the plan, every turn and every call of the latest one
  antiphon runs export last --to report.html    to be read, printed or sent
"""
Work = Callable[[Library, argparse.Namespace], Awaitable[int]]


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and give its exit code: 0 done, 1 failed, 2 called wrongly."""
    options = parser().parse_args(argv)
    options.store = getattr(options, "store", None) or default_store()
    try:
        if not options.store.is_file():
            raise Misuse(f"{options.store}: there is no such file; name the store with --store or ANTIPHON_STORE")
        code = asyncio.run(_read(options))
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
        prog="antiphon runs",
        description="Look at what agents did; also while they are at work.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    result.add_argument("--store", type=Path, metavar="FILE", default=None, help=f"default: {default_store()}")
    commands = result.add_subparsers(metavar="COMMAND", required=True)

    def add(name: str, command: Work, about: str, *, of_one: bool = True) -> Any:
        sub = commands.add_parser(name, parents=[common], help=about, description=about)
        sub.set_defaults(command=command)
        if of_one:
            sub.add_argument("id", metavar="ID", help="a run; the start of its id is enough, or: last")
        return sub

    sub = add("list", _list, "list the latest runs", of_one=False)
    sub.add_argument("--limit", type=_count, default=20, metavar="N", help="how many (default: 20)")
    sub.add_argument("--json", action="store_true", help="say it in JSON")
    sub = add("show", _show, "print a run: its plan, every turn, every call, what it cost")
    sub.add_argument("--json", action="store_true", help="say it in JSON")
    sub = add("export", _export, "write a run as Markdown, HTML or JSON")
    sub.add_argument("--to", type=Path, metavar="FILE", help="a new file; by default the standard output")
    sub.add_argument("--format", choices=list(FORMATS), help="by default what FILE ends in, else md")
    return result


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a count is a whole number from 1, not {text!r}")
    return int(text)


async def _read(options: argparse.Namespace) -> int:
    async with reading(options.store) as library:
        code: int = await options.command(library, options)
        return code


async def _list(library: Library, options: argparse.Namespace) -> int:
    found = await library.latest(options.limit, kind=RUN)
    if options.json:
        return _say([json.dumps([asdict(view) for view in found], indent=2)])
    return _say([_row(view) for view in found] or ['no runs yet: antiphon run "what is to be done" begins one'])


async def _show(library: Library, options: argparse.Namespace) -> int:
    run = await run_record(library.source, await one_run(library, options.id))
    return _say([(run_exports.to_json if options.json else run_exports.to_markdown)(run).rstrip()])


async def _export(library: Library, options: argparse.Namespace) -> int:
    run = await run_record(library.source, await one_run(library, options.id))
    if options.to is None:
        write(sys.stdout, FORMATS[options.format or "md"](run))
        return DONE
    format = options.format or format_of(options.to)
    write_whole(FORMATS[format](run), options.to, format)
    return _say([f"written to {options.to}"])


def _row(view: ThreadView) -> str:
    facts = [view.status, f"{view.turns} turn{'' if view.turns == 1 else 's'}", dollars(view.cost_usd)]
    title = clip(harmless(view.title), MOST_TASK)
    model = harmless(view.model or "no model")
    hint = f"; antiphon run --resume {view.id}" if view.status == "interrupted" else ""
    return f"{view.id}  {moment(view.updated)}  {title} ({', '.join(facts)}; {model}){hint}"


def _say(lines: Sequence[str]) -> int:
    for line in lines:
        write(sys.stdout, harmless_lines(line) + "\n")
    return DONE


def _complain(problem: str, code: int) -> int:
    write(sys.stderr, f"antiphon runs: {harmless(problem)}\n")
    return code
