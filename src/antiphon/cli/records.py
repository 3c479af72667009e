"""What is over, or under way elsewhere, listed, shown and exported: the one command behind `runs` and `debates`."""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from antiphon.cli.background_app import Misuse
from antiphon.cli.exports import format_of, write_whole
from antiphon.cli.lookup import Ambiguous
from antiphon.cli.render.plain import write
from antiphon.cli.render.text_width import harmless, harmless_lines
from antiphon.paths import store_path
from antiphon.readonly import reading
from antiphon.runtime.errors import RuntimeFault
from antiphon.threads.errors import AppError
from antiphon.threads.library import Library

DONE, FAILED, MISUSED, INTERRUPTED = 0, 1, 2, 130
Formats = Mapping[str, Callable[[Mapping[str, Any]], str]]


@dataclass(frozen=True, slots=True)
class Records:
    """A kind of thing that can be looked at."""

    kind: str  # one of them; the command has an s more
    about: str
    examples: str
    none_yet: str
    formats: Formats
    latest: Callable[[Library, int], Awaitable[Sequence[Any]]]
    row: Callable[[Any], str]
    find: Callable[[Library, str], Awaitable[str]]
    read: Callable[[Library, str], Awaitable[Mapping[str, Any]]]

    @property
    def command(self) -> str:
        """The command as it is typed."""
        return f"antiphon {self.kind}s"


def run(records: Records, argv: Sequence[str] | None) -> int:
    """Run the command and give its exit code: 0 done, 1 failed, 2 called wrongly."""
    options = parser(records).parse_args(argv)
    store = getattr(options, "store", None) or store_path()
    try:
        if not store.is_file():
            raise Misuse(f"{store}: there is no such file; name the store with --store or ANTIPHON_STORE")
        asyncio.run(_read(records, store, options))
        sys.stdout.flush()
    except (Misuse, Ambiguous) as error:
        return _complain(records, str(error), MISUSED)
    except (AppError, RuntimeFault) as error:
        return _complain(records, str(error), FAILED)
    except KeyboardInterrupt:
        return _complain(records, "interrupted", INTERRUPTED)
    except BrokenPipeError:
        # Whoever read our output has seen enough; what is left in the buffer must not fail again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return DONE


def parser(records: Records) -> argparse.ArgumentParser:
    """What the command understands."""
    kind = records.kind
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--store", type=Path, metavar="FILE", default=argparse.SUPPRESS, help="the store's file")
    result = argparse.ArgumentParser(
        prog=records.command,
        description=records.about,
        epilog=records.examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    result.add_argument("--store", type=Path, metavar="FILE", default=None, help=f"default: {store_path()}")
    commands = result.add_subparsers(metavar="COMMAND", required=True)

    def add(name: str, command: Callable[..., Awaitable[None]], about: str) -> Any:
        sub = commands.add_parser(name, parents=[common], help=about, description=about)
        sub.set_defaults(command=command)
        if name != "list":
            sub.add_argument("id", metavar="ID", help=f"a {kind}; the start of its id is enough, or: last")
        return sub

    sub = add("list", _list, f"list the latest {kind}s")
    sub.add_argument("--limit", type=_count, default=20, metavar="N", help="how many (default: 20)")
    sub.add_argument("--json", action="store_true", help="say it in JSON")
    sub = add("show", _show, f"print a {kind}")
    sub.add_argument("--json", action="store_true", help="say it in JSON")
    sub = add("export", _export, f"write a {kind} as Markdown, as HTML that needs nothing else, or as JSON")
    sub.add_argument("--to", type=Path, metavar="FILE", help="a new file; by default the standard output")
    sub.add_argument("--format", choices=list(records.formats), help="by default what FILE ends in, else md")
    return result


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a count is a whole number from 1, not {text!r}")
    return int(text)


async def _read(records: Records, store: Path, options: argparse.Namespace) -> None:
    async with reading(store) as library:
        await options.command(records, library, options)


async def _list(records: Records, library: Library, options: argparse.Namespace) -> None:
    found = await records.latest(library, options.limit)
    if options.json:
        _say(json.dumps([asdict(view) for view in found], indent=2))
    for line in [] if options.json else [records.row(view) for view in found] or [records.none_yet]:
        _say(line)


async def _show(records: Records, library: Library, options: argparse.Namespace) -> None:
    record = await records.read(library, await records.find(library, options.id))
    _say(records.formats["json" if options.json else "md"](record).rstrip())


async def _export(records: Records, library: Library, options: argparse.Namespace) -> None:
    record = await records.read(library, await records.find(library, options.id))
    if options.to is None:
        write(sys.stdout, records.formats[options.format or "md"](record))
        return
    format = options.format or format_of(options.to)
    write_whole(records.formats[format](record), options.to, format)
    _say(f"written to {options.to}")


def _say(text: str) -> None:
    write(sys.stdout, harmless_lines(text) + "\n")


def _complain(records: Records, problem: str, code: int) -> int:
    write(sys.stderr, f"{records.command}: {harmless(problem)}\n")
    return code
