"""The command `antiphon db`: what an operator does with a store's file."""

import argparse
import io
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, TextIO

from antiphon.cli.exports import refuse_existing
from antiphon.cli.frame import DONE, FAILED, Command, Misuse, complain, say
from antiphon.cli.options import Subcommands, existing_store, run_subcommand, store_file
from antiphon.cli.render.progress import Progress
from antiphon.cli.render.text_width import harmless
from antiphon.cli.render.units import moment, size
from antiphon.runtime.errors import StoreError
from antiphon.stores import archive, maintenance
from antiphon.stores.access import atomic_file
from antiphon.stores.checks import check


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands."""
    commands = Subcommands(parser)
    commands.add("migrate", _migrate, "bring the file up to date with this version of Antiphon", json=True)
    commands.add("check", _check, "look for damage; works while the store is in use", json=True)
    about = "say what is in the store and how large it is; works while it is in use"
    commands.add("stats", _stats, about, json=True)
    commands.add("vacuum", _vacuum, "give space that is not used any more back", json=True)
    sub = commands.add("backup", _backup, "copy the store into a new file; works while it is in use", json=True)
    sub.add_argument("file", type=Path, metavar="FILE")
    sub = commands.add("export", _export, "write all trees as lines of JSON; works while the store is in use")
    sub.add_argument("file", metavar="FILE", help="a new file, or - for the standard output")
    sub.add_argument("--rescue", action="store_true", help="leave out trees that are damaged instead of giving up")
    sub = commands.add("import", _import, "add the trees of an export, all of them or none", json=True)
    sub.add_argument("file", metavar="FILE", help="an export, or - for the standard input")
    sub = commands.add("dead", _dead, "list the letters that no step could take", json=True)
    sub.add_argument("--root", metavar="ID", help="of this tree only")


def _migrate(options: argparse.Namespace) -> int:
    before, after = maintenance.migrate(existing_store(options))
    said = f"schema {before} → {after}" if before != after else f"schema {after}: up to date"
    return _say(options, [said], {"before": before, "after": after})


def _check(options: argparse.Namespace) -> int:
    with Progress("checking") as progress:
        problems = check(existing_store(options), progress)
    texts = [f"{problem.root!r}: {problem.what}" if problem.root else problem.what for problem in problems]
    _say(options, texts or ["no problems found"], [asdict(problem) for problem in problems])
    return FAILED if problems else DONE


def _stats(options: argparse.Namespace) -> int:
    found = maintenance.stats(existing_store(options))
    lines = {
        "file": f"{found.path} (schema {found.schema}, SQLite {found.sqlite}, opened {found.boots:,} times)",
        "owner": "nobody" if found.owner is None else f"process {found.owner}",
        "size": f"{size(found.file_bytes)}, of which {size(found.free_bytes)} unused; log {size(found.log_bytes)}",
        "trees": f"{found.trees:,}{_each(found.statuses)}",
        "machines": _each(found.machines).removeprefix(": ") or "none",
        "steps": f"{found.steps:,}{_each(found.longest, ', longest: ')}",
        "letters": f"{found.letters:,} waiting, first due {moment(found.first_due)}, {found.dead_letters:,} dead",
        "tasks": f"{found.tasks:,} running",
        "oldest": moment(found.oldest),
        "latest": moment(found.latest),
    }
    return _say(options, [f"{name:<9} {text}" for name, text in lines.items()], asdict(found))


def _vacuum(options: argparse.Namespace) -> int:
    before, after = maintenance.vacuum(existing_store(options))
    return _say(options, [f"{size(before)} → {size(after)}"], {"before": before, "after": after})


def _backup(options: argparse.Namespace) -> int:
    refuse_existing(options.file)
    with Progress("copying") as progress:
        written = maintenance.backup(existing_store(options), options.file, progress)
    return _say(options, [f"{options.file}: {size(written)}"], {"file": str(options.file), "bytes": written})


def _export(options: argparse.Namespace) -> int:
    left_out: list[str] = []

    def leave_out(problem: str) -> None:
        left_out.append(problem)
        complain("db", problem, FAILED)

    with Progress("exporting") as progress:
        lines = archive.export(existing_store(options), progress, leave_out if options.rescue else None)
        if options.file == "-":
            _as_utf8(sys.stdout).writelines(lines)
        else:
            target = Path(options.file)
            refuse_existing(target)
            with atomic_file(target) as part, part.open("w", encoding="utf-8", newline="\n") as file:
                file.writelines(lines)
    return FAILED if left_out else DONE


def _import(options: argparse.Namespace) -> int:
    with _source(options.file) as file, Progress("importing") as progress:
        counts = archive.restore(store_file(options), _lines(file), progress)
    trees, steps = counts["tree"], counts["step"]
    return _say(options, [f"{trees:,} trees with {steps:,} steps imported"], counts)


def _dead(options: argparse.Namespace) -> int:
    found = [each for each in maintenance.dead_letters(existing_store(options)) if options.root in (None, each[1].root)]
    lines: list[str] = []
    for at, letter, error in found:
        lines += [f"{moment(at)}  {letter.root}  {letter.id}  {letter.event.get('type')}", f"    {error}"]
    records = [{"at": at, "error": error, "letter": letter._asdict()} for at, letter, error in found]
    return _say(options, lines or ["no dead letters"], records)


def _say(options: argparse.Namespace, lines: Sequence[str], value: Any) -> int:
    # Lines may quote what anybody stored: each stays one line.
    return say([json.dumps(value, indent=2)] if options.json else [harmless(line) for line in lines])


def _each(counts: dict[str, int], before: str = ": ") -> str:
    """Counts by name, if there are any."""
    return before + ", ".join(f"{name} {count:,}" for name, count in counts.items()) if counts else ""


@contextmanager
def _source(name: str) -> Iterator[TextIO]:
    if name == "-":
        yield _as_utf8(sys.stdin)
        return
    try:
        file = open(name, encoding="utf-8")  # noqa: SIM115 (it is closed below)
    except OSError as error:
        raise Misuse(f"{name}: cannot be read: {error.strerror}") from error
    with file:
        yield file


def _as_utf8(file: TextIO) -> TextIO:
    """A standard stream in the encoding of exports, whatever the terminal's is."""
    if isinstance(file, io.TextIOWrapper):
        file.reconfigure(encoding="utf-8", newline="\n")
    return file


def _lines(file: TextIO) -> Iterator[str]:
    try:
        yield from file
    except UnicodeDecodeError as error:
        raise StoreError(f"this is not the text of an export: {error}; nothing was imported") from error


COMMAND = Command(
    "Look after the file that holds everything.",
    add_options,
    run_subcommand,
    interrupted="interrupted; nothing was changed",
)
