"""`antiphon db dead`, `incidents`, `release`, `retry`, `discard`: letters and trees that were set aside."""

import argparse
import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from antiphon.app import accept_replay
from antiphon.cli.db.compact import add_compact
from antiphon.cli.db.replay import add_machines, add_replay, load_all
from antiphon.cli.db.roots import add_roots, find_latest_root
from antiphon.cli.frame import FAILED, UsageError, print_error, print_lines
from antiphon.cli.options import LAST, TREE_HELP, Subcommands, existing_store, run_subcommand
from antiphon.cli.render.text_width import sanitize_line
from antiphon.cli.render.units import format_time
from antiphon.runtime.errors import RuntimeFault, StoreError
from antiphon.runtime.quarantine import Quarantine, offline_quarantine
from antiphon.stores import maintenance
from antiphon.stores.sqlite import SqliteStore

T = TypeVar("T")


def add_repairs(commands: Subcommands) -> None:
    """Add the subcommands, and those on trees and journals."""
    add_roots(commands)
    add_compact(commands)
    add_replay(commands)
    sub = commands.add("dead", _dead, "list the letters that could not be processed", json=True)
    sub.add_argument("--root", metavar="ID", help=f"only those of {TREE_HELP}")
    sub = commands.add(
        "incidents", _incidents, "list actions that raised and steps that replayed differently", json=True
    )
    sub.add_argument("root", metavar="ID", help=TREE_HELP)
    sub = commands.add("release", _release, "let a quarantined tree continue", json=True)
    sub.add_argument("root", metavar="ID", help=TREE_HELP)
    sub.add_argument("--accept", action="store_true", help="continue with the state that its steps give today")
    add_machines(sub)
    sub = commands.add("retry", _retry, "put a dead letter back into the inbox of its tree", json=True)
    sub.add_argument("root", metavar="ID", help=TREE_HELP)
    sub.add_argument("letter", metavar="LETTER", help="the id of a dead letter")
    sub = commands.add("discard", _discard, "delete a dead letter; this cannot be undone", json=True)
    sub.add_argument("root", metavar="ID", help=TREE_HELP)
    sub.add_argument("letter", metavar="LETTER", help="the id of a dead letter")


def run_on_tree(options: argparse.Namespace) -> int:
    """Run a subcommand, on the tree that was changed last if it is named so."""
    if getattr(options, "root", None) == LAST:
        options.root = find_latest_root(existing_store(options))
    return run_subcommand(options)


def _dead(options: argparse.Namespace) -> int:
    dead = [
        (at, letter, error)
        for at, letter, error in maintenance.dead_letters(existing_store(options))
        if options.root in (None, letter.root)
    ]
    lines: list[str] = []
    for at, letter, error in dead:
        lines += [f"{format_time(at)}  {letter.root}  {letter.id}  {letter.event.get('type')}"]
        lines += [f"    {error.rpartition(chr(10))[2]}"]
    records = [{"at": at, "error": error, "letter": letter._asdict()} for at, letter, error in dead]
    return _print(options, lines or ["no dead letters"], records)


def _incidents(options: argparse.Namespace) -> int:
    incidents = _read(options, lambda store, boot: store.incidents(options.root))
    lines: list[str] = []
    for incident in incidents:
        lines += [f"{format_time(incident.at)}  step {incident.seq}  {incident.kind}"]
        lines += [f"    {incident.detail.rpartition(chr(10))[2]}"]
    return _print(options, lines or ["no incidents"], [incident._asdict() for incident in incidents])


def _release(options: argparse.Namespace) -> int:
    root = options.root
    letters = _write(options, lambda quarantine: quarantine.release(root))
    if letters is None:
        print_error("db", f"{root!r} is not quarantined; `antiphon db stats` counts the trees that are", FAILED)
        return FAILED
    if options.accept:
        asyncio.run(accept_replay(existing_store(options), load_all(options.against), root))
    line = f"{root!r} continues when the store is opened"
    return _print(options, [line], {"root": root, "letters": [letter.id for letter in letters]})


def _retry(options: argparse.Namespace) -> int:
    _write(options, lambda quarantine: quarantine.retry(options.root, options.letter))
    line = f"{options.letter!r} is taken again when the store is opened"
    return _print(options, [line], {"root": options.root, "letter": options.letter})


def _discard(options: argparse.Namespace) -> int:
    _write(options, lambda quarantine: quarantine.discard(options.root, options.letter))
    return _print(options, [f"{options.letter!r} is deleted"], {"root": options.root, "letter": options.letter})


def _read(options: argparse.Namespace, read: Callable[[SqliteStore, int], Awaitable[T]]) -> T:
    return asyncio.run(_run(SqliteStore(existing_store(options), read_only=True), read))


def _write(options: argparse.Namespace, change: Callable[[Quarantine], Awaitable[T]]) -> T:
    """Change a store that is not in use."""
    store = SqliteStore(existing_store(options))
    return asyncio.run(_run(store, lambda store, boot: change(offline_quarantine(store, boot))))


async def _run(store: SqliteStore, work: Callable[[SqliteStore, int], Awaitable[T]]) -> T:
    try:
        return await work(store, await store.open())
    except StoreError:
        raise
    except RuntimeFault as error:
        raise UsageError(str(error)) from error
    finally:
        await store.close()


def _print(options: argparse.Namespace, lines: Sequence[str], value: Any) -> int:
    text = [json.dumps(value, indent=2, default=str)] if options.json else [sanitize_line(line) for line in lines]
    return print_lines(text)
