"""The command `antiphon db`: maintenance of the store."""

import argparse
import io
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, TextIO

from antiphon.cli.db.repairs import add_repairs, run_on_tree
from antiphon.cli.exports import refuse_existing
from antiphon.cli.frame import DONE, FAILED, CliCommand, UsageError, print_error, print_lines
from antiphon.cli.options import Subcommands, existing_store, store_file
from antiphon.cli.render.progress import Progress
from antiphon.cli.render.text_width import sanitize_line
from antiphon.cli.render.units import format_size, format_time, plural
from antiphon.runtime.errors import StoreError
from antiphon.stores import archive, maintenance
from antiphon.stores.access import atomic_file
from antiphon.stores.checks import check

NO_PERMISSIONS = (
    "permissions do not come with a file: these threads ask again; --mode gives one of them more while you continue it"
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands."""
    commands = Subcommands(parser)
    commands.add("migrate", _migrate, "upgrade the store to the schema of this version of Antiphon", json=True)
    commands.add("check", _check, "check for damage; works while the store is in use", json=True)
    about = "show contents and size of the store; works while it is in use"
    commands.add("stats", _stats, about, json=True)
    commands.add("accept-loss", _accept_loss, "continue without the log of the store, if it is missing", json=True)
    commands.add("vacuum", _vacuum, "release unused space", json=True)
    sub = commands.add("backup", _backup, "copy the store to a new file; works while it is in use", json=True)
    sub.add_argument("file", type=Path, metavar="FILE")
    sub = commands.add("restore", _restore, "put a backup in the place of the store", json=True)
    sub.add_argument("file", type=Path, metavar="FILE", help="a backup")
    sub.add_argument("--force", action="store_true", help="move the present store aside instead of refusing")
    sub = commands.add("export", _export, "export all trees as JSON Lines; works while the store is in use")
    sub.add_argument("file", metavar="FILE", help="a new file, or - for standard output")
    sub.add_argument("--rescue", action="store_true", help="skip damaged trees instead of stopping")
    sub = commands.add("import", _import, "import the trees of an export, all or none", json=True)
    sub.add_argument("file", metavar="FILE", help="an export, or - for standard input")
    add_repairs(commands)


def _migrate(options: argparse.Namespace) -> int:
    before, after = maintenance.migrate(existing_store(options))
    line = f"schema {before} → {after}" if before != after else f"schema {after}: up to date"
    return _print(options, [line], {"before": before, "after": after})


def _check(options: argparse.Namespace) -> int:
    with Progress("checking") as progress:
        problems = check(existing_store(options), progress)
    texts = [f"{problem.root!r}: {problem.what}" if problem.root else problem.what for problem in problems]
    _print(options, texts or ["no problems found"], [asdict(problem) for problem in problems])
    return FAILED if problems else DONE


def _stats(options: argparse.Namespace) -> int:
    stats = maintenance.stats(existing_store(options))
    unused = format_size(stats.free_bytes)
    removed = f" ({stats.removed:,} removed by compaction)" if stats.removed else ""
    lines = {
        "file": f"{stats.path} (schema {stats.schema}, SQLite {stats.sqlite}, opened {plural(stats.boots, 'time')})",
        "owner": "none" if stats.owner is None else f"process {stats.owner}",
        "size": f"{format_size(stats.file_bytes)}, {unused} unused; log {format_size(stats.log_bytes)}",
        "trees": f"{stats.trees:,}{_format_counts(stats.statuses)}",
        "machines": _format_counts(stats.machines).removeprefix(": ") or "none",
        "steps": f"{stats.steps:,}{removed}{_format_counts(stats.longest, ', longest: ')}",
        "letters": f"{stats.letters:,} waiting, first due {format_time(stats.first_due)}, {stats.dead_letters:,} dead",
        "tasks": f"{stats.tasks:,} running",
        "oldest": format_time(stats.oldest),
        "latest": format_time(stats.latest),
    }
    return _print(options, [f"{name:<9} {text}" for name, text in lines.items()], asdict(stats))


def _accept_loss(options: argparse.Namespace) -> int:
    store = existing_store(options)
    is_missing = maintenance.accept_loss(store)
    line = "continuing without the missing log; run `antiphon db check`" if is_missing else "the log is not missing"
    return _print(options, [line], {"missing": is_missing})


def _vacuum(options: argparse.Namespace) -> int:
    before, after = maintenance.vacuum(existing_store(options))
    return _print(options, [f"{format_size(before)} → {format_size(after)}"], {"before": before, "after": after})


def _backup(options: argparse.Namespace) -> int:
    refuse_existing(options.file)
    with Progress("copying") as progress:
        size = maintenance.backup(existing_store(options), options.file, progress)
    return _print(options, [f"{options.file}: {format_size(size)}"], {"file": str(options.file), "bytes": size})


def _restore(options: argparse.Namespace) -> int:
    with Progress("copying") as progress:
        size, replaced = maintenance.restore(store_file(options), options.file, progress, replace=options.force)
    lines = [f"restored {format_size(size)} from {options.file}; run `antiphon db check` next", NO_PERMISSIONS]
    if replaced is not None:
        lines.append(f"the store that was there is {replaced}; delete it when you no longer need it")
    record = {"file": str(options.file), "bytes": size, "replaced": None if replaced is None else str(replaced)}
    return _print(options, lines, record)


def _export(options: argparse.Namespace) -> int:
    skipped: list[str] = []

    def skip(problem: str) -> None:
        skipped.append(problem)
        print_error("db", problem, FAILED)

    with Progress("exporting") as progress:
        lines = archive.export(existing_store(options), progress, skip if options.rescue else None)
        if options.file == "-":
            _as_utf8(sys.stdout).writelines(lines)
        else:
            target = Path(options.file)
            refuse_existing(target)
            with atomic_file(target) as part, part.open("w", encoding="utf-8", newline="\n") as file:
                file.writelines(lines)
    return FAILED if skipped else DONE


def _import(options: argparse.Namespace) -> int:
    with _source(options.file) as file, Progress("importing") as progress:
        counts = archive.restore(store_file(options), _lines(file), progress)
    line = f"imported {plural(counts['tree'], 'tree')} with {plural(counts['step'], 'step')}"
    return _print(options, [line, NO_PERMISSIONS], counts)


def _print(options: argparse.Namespace, lines: Sequence[str], value: Any) -> int:
    # Lines may quote stored text; each must stay one line.
    return print_lines([json.dumps(value, indent=2)] if options.json else [sanitize_line(line) for line in lines])


def _format_counts(counts: dict[str, int], before: str = ": ") -> str:
    """Format counts by name; an empty text if there are none."""
    return before + ", ".join(f"{name} {count:,}" for name, count in counts.items()) if counts else ""


@contextmanager
def _source(name: str) -> Iterator[TextIO]:
    if name == "-":
        yield _as_utf8(sys.stdin)
        return
    try:
        file = open(name, encoding="utf-8")  # noqa: SIM115 (it is closed below)
    except OSError as error:
        raise UsageError(f"cannot read {name}: {error.strerror}") from error
    with file:
        yield file


def _as_utf8(file: TextIO) -> TextIO:
    """Return a standard stream, switched to the encoding of exports."""
    if isinstance(file, io.TextIOWrapper):
        file.reconfigure(encoding="utf-8", newline="\n")
    return file


def _lines(file: TextIO) -> Iterator[str]:
    try:
        yield from file
    except UnicodeDecodeError as error:
        raise StoreError(f"not an export: {error}; nothing imported") from error


COMMAND = CliCommand(
    "Maintain the store, the file that holds all threads.",
    add_options,
    run_on_tree,
    default="stats",
    interrupted="interrupted; nothing changed",
)
