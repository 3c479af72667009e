"""The command `antiphon threads`: conversations listed, read, searched, exported, imported, put away and deleted."""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from antiphon.app import App
from antiphon.chat import transcript as transcripts
from antiphon.chat.archive import MOST_BYTES, BadArchive, archived, parsed
from antiphon.cli.chat.reply_stats import dollars
from antiphon.cli.exports import FORMATS, format_of, write_export
from antiphon.cli.lookup import Ambiguous, one_thread
from antiphon.cli.render.plain import write
from antiphon.cli.render.text_width import clip, harmless, harmless_lines
from antiphon.cli.render.units import moment
from antiphon.paths import store_path
from antiphon.readonly import reading
from antiphon.runtime.errors import RuntimeFault
from antiphon.stores.maintenance import remove
from antiphon.threads.errors import AppError
from antiphon.threads.library import Library
from antiphon.threads.views import ThreadView

DONE, FAILED, MISUSED, INTERRUPTED = 0, 1, 2, 130
MOST_TITLE = 44
Work = Callable[[Library, argparse.Namespace], Awaitable[int]]


class Misuse(Exception):
    """The command was called with something that cannot be."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and give its exit code: 0 done, 1 failed, 2 called wrongly."""
    options = parser().parse_args(argv)
    options.store = getattr(options, "store", None) or store_path()
    try:
        if options.needs_store and not options.store.is_file():
            raise Misuse(f"{options.store}: there is no such file; name the store with --store or ANTIPHON_STORE")
        code: int = options.command(options)
        sys.stdout.flush()
    except (Misuse, Ambiguous) as error:
        return _complain(str(error), MISUSED)
    except BadArchive as error:
        return _complain(f"{options.file}: {error}; nothing was imported", FAILED)
    except (AppError, RuntimeFault) as error:
        return _complain(str(error), FAILED)
    except (KeyboardInterrupt, EOFError):
        return _complain("interrupted; nothing was changed", INTERRUPTED)
    except BrokenPipeError:
        # Whoever read our output has seen enough; what is left in the buffer must not fail again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    return code


def parser() -> argparse.ArgumentParser:
    """What the command understands."""
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--store", type=Path, metavar="FILE", default=argparse.SUPPRESS, help="the store's file")
    result = argparse.ArgumentParser(prog="antiphon threads", description="Look after conversations.")
    result.add_argument("--store", type=Path, metavar="FILE", default=None, help=f"default: {store_path()}")
    commands = result.add_subparsers(metavar="COMMAND", required=True)

    def add(name: str, command: Callable[[argparse.Namespace], int], about: str, *, of_one: bool = False) -> Any:
        sub = commands.add_parser(name, parents=[common], help=about, description=about)
        sub.set_defaults(command=command, needs_store=True)
        if of_one:
            sub.add_argument("id", metavar="ID", help="a thread; the start of its id is enough")
        return sub

    sub = add("list", _read(_list), "list the latest conversations")
    which = sub.add_mutually_exclusive_group()
    which.add_argument("--all", action="store_true", help="archived ones too")
    which.add_argument("--archived", action="store_true", help="only archived ones")
    sub.add_argument("--limit", type=_count, default=20, metavar="N", help="how many (default: 20)")
    sub.add_argument("--json", action="store_true", help="say it in JSON")
    sub = add("show", _read(_show), "print a conversation", of_one=True)
    sub.add_argument("--branch", metavar="B", help="another branch than the current one")
    sub.add_argument("--json", action="store_true", help="say it in JSON, all branches")
    sub = add("search", _read(_search), "find conversations in which something was said")
    sub.add_argument("words", metavar="WORDS", nargs="+")
    sub = add("export", _read(_export), "write a conversation with all branches", of_one=True)
    sub.add_argument("--to", type=Path, metavar="FILE", help="a new file; by default the standard output")
    sub.add_argument("--format", choices=list(FORMATS), help="by default what FILE ends in, else md")
    sub = add("import", _import, "add a conversation that was exported as JSON")
    sub.add_argument("file", metavar="FILE", help="an export, or - for the standard input")
    sub.set_defaults(needs_store=False)
    add("archive", _archive, "put a conversation away", of_one=True).set_defaults(archived=True)
    add("unarchive", _archive, "take a conversation out again", of_one=True).set_defaults(archived=False)
    sub = add("delete", _delete, "delete a conversation with all its branches", of_one=True)
    sub.add_argument("--yes", action="store_true", help="do not ask")
    return result


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a count is a whole number from 1, not {text!r}")
    return int(text)


# -- commands that read, also while another process runs the store --------------------------------------------------


def _read(work: Work) -> Callable[[argparse.Namespace], int]:
    async def run(options: argparse.Namespace) -> int:
        async with reading(options.store) as library:
            return await work(library, options)

    return lambda options: asyncio.run(run(options))


async def _list(library: Library, options: argparse.Namespace) -> int:
    found = await library.latest(options.limit, archived=options.archived)
    if options.all:
        found = [*found, *await library.latest(options.limit, archived=True)]
        found = sorted(found, key=lambda view: view.updated, reverse=True)[: options.limit]
    if options.json:
        return _say([json.dumps([asdict(view) for view in found], indent=2)])
    return _say([_row(view) for view in found] or ["no conversations yet: antiphon chat begins one"])


async def _show(library: Library, options: argparse.Namespace) -> int:
    talk = await library.read(await one_thread(library, options.id))
    if options.json:
        return _say([json.dumps(archived(talk), indent=2)])
    branch = options.branch or talk.chat["branch"]
    known = [*talk.chat["branches"], *talk.chat["closed"]]
    if branch not in known and (options.branch or known):
        raise Misuse(f"there is no branch {branch!r}; known: {', '.join(known) or 'none'}")
    return _say([transcripts.markdown(talk, branch if known else None).rstrip()])


async def _search(library: Library, options: argparse.Namespace) -> int:
    found = await library.search(" ".join(options.words))
    lines = [line for view, said in found for line in (_row(view), f"          {clip(harmless(said), 100)}")]
    _say(lines or ["nothing was found"])
    return DONE if found else FAILED


async def _export(library: Library, options: argparse.Namespace) -> int:
    talk = await library.read(await one_thread(library, options.id))
    if options.to is None:
        write(sys.stdout, FORMATS[options.format or "md"](talk))
        return DONE
    write_export(talk, options.to, options.format or format_of(options.to))
    return _say([f"written to {options.to}"])


# -- commands that change something, and need the store for themselves ----------------------------------------------


def _import(options: argparse.Namespace) -> int:
    given = parsed(_text(options.file))
    options.store.parent.mkdir(parents=True, exist_ok=True)

    async def run() -> str:
        async with App(options.store) as app:
            return await app.threads.create(**given)

    return _say([asyncio.run(run())])


def _text(name: str) -> str:
    try:
        if name == "-":
            return sys.stdin.read(MOST_BYTES)
        with open(name, encoding="utf-8") as file:
            return file.read(MOST_BYTES)
    except OSError as error:
        raise Misuse(f"{name}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadArchive("is not UTF-8") from error


def _archive(options: argparse.Namespace) -> int:
    async def run() -> str:
        async with App(options.store) as app:
            thread = await one_thread(app.threads.library, options.id)
            await app.threads.archive(thread, options.archived)
            return thread

    return _say([f"{asyncio.run(run())} is {'archived' if options.archived else 'taken out again'}"])


def _delete(options: argparse.Namespace) -> int:
    async def find() -> ThreadView:
        async with reading(options.store) as library:
            return (await library.read(await one_thread(library, options.id))).view

    view = asyncio.run(find())
    if not options.yes:
        write(sys.stderr, f"{_row(view)}\nto keep a copy: antiphon threads export {view.id} --to {view.id}.json\n")
        write(sys.stderr, "delete it with all its branches, for ever? y/n > ")
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            return _say(["nothing was deleted"])
    remove(options.store, view.id)
    return _say([f"{view.id} is deleted"])


# -- words ---------------------------------------------------------------------------------------------------------


def _row(view: ThreadView) -> str:
    facts = [view.status, f"{view.turns} turn{'' if view.turns == 1 else 's'}", dollars(view.cost_usd)]
    facts += ["archived"] if view.archived else []
    title = clip(harmless(view.title), MOST_TITLE)
    return f"{view.id}  {moment(view.updated)}  {title} ({', '.join(facts)}; {harmless(view.model or 'no model')})"


def _say(lines: Sequence[str]) -> int:
    for line in lines:
        write(sys.stdout, harmless_lines(line) + "\n")
    return DONE


def _complain(problem: str, code: int) -> int:
    write(sys.stderr, f"antiphon threads: {harmless(problem)}\n")
    return code
