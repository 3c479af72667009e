"""The command `antiphon db`: what an operator does with a store's file."""

import argparse
import io
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, TextIO

from antiphon.cli.render.progress import Progress
from antiphon.cli.render.text_width import harmless
from antiphon.cli.render.units import moment, size
from antiphon.paths import store_path
from antiphon.runtime.errors import RuntimeFault, StoreError
from antiphon.stores import archive, maintenance
from antiphon.stores.access import whole
from antiphon.stores.checks import check

DONE, FAILED, MISUSED, INTERRUPTED = 0, 1, 2, 130


class Misuse(Exception):
    """The command was called with something that cannot be."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and give its exit code: 0 done, 1 failed or problems found, 2 called wrongly."""
    options = parser().parse_args(argv)
    options.store = options.store or store_path()
    command: Callable[[argparse.Namespace], int] = options.command
    try:
        if options.needs_store and not options.store.is_file():
            raise Misuse(f"{options.store}: there is no such file; name the store with --store or ANTIPHON_STORE")
        code = command(options)
        sys.stdout.flush()
    except Misuse as error:
        return _complain(str(error), MISUSED)
    except RuntimeFault as error:
        return _complain(str(error), FAILED)
    except KeyboardInterrupt:
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
    result = argparse.ArgumentParser(prog="antiphon db", description="Look after the file that holds everything.")
    result.add_argument("--store", type=Path, metavar="FILE", default=None, help=f"default: {store_path()}")
    commands = result.add_subparsers(metavar="COMMAND", required=True)

    def add(name: str, command: Callable[[argparse.Namespace], int], about: str, *, as_json: bool = False) -> Any:
        sub = commands.add_parser(name, parents=[common], help=about, description=about)
        sub.set_defaults(command=command, needs_store=True)
        if as_json:
            sub.add_argument("--json", action="store_true", help="say it in JSON")
        return sub

    add("migrate", _migrate, "bring the file up to date with this version of Antiphon", as_json=True)
    add("check", _check, "look for damage; works while the store is in use", as_json=True)
    add("stats", _stats, "say what is in the store and how large it is; works while it is in use", as_json=True)
    add("vacuum", _vacuum, "give space that is not used any more back", as_json=True)
    sub = add("backup", _backup, "copy the store into a new file; works while it is in use", as_json=True)
    sub.add_argument("file", type=Path, metavar="FILE")
    sub = add("export", _export, "write all trees as lines of JSON; works while the store is in use")
    sub.add_argument("file", metavar="FILE", help="a new file, or - for the standard output")
    sub.add_argument("--rescue", action="store_true", help="leave out trees that are damaged instead of giving up")
    sub = add("import", _import, "add the trees of an export, all of them or none", as_json=True)
    sub.add_argument("file", metavar="FILE", help="an export, or - for the standard input")
    sub.set_defaults(needs_store=False)
    sub = add("dead", _dead, "list the letters that no step could take", as_json=True)
    sub.add_argument("--root", metavar="ID", help="of this tree only")
    return result


# -- commands ------------------------------------------------------------------------------------------------------


def _migrate(options: argparse.Namespace) -> int:
    before, after = maintenance.migrate(options.store)
    said = f"schema {before} → {after}" if before != after else f"schema {after}: up to date"
    return _say(options, [said], {"before": before, "after": after})


def _check(options: argparse.Namespace) -> int:
    with Progress("checking") as progress:
        problems = check(options.store, progress)
    texts = [f"{problem.root!r}: {problem.what}" if problem.root else problem.what for problem in problems]
    _say(options, texts or ["no problems found"], [asdict(problem) for problem in problems])
    return FAILED if problems else DONE


def _stats(options: argparse.Namespace) -> int:
    found = maintenance.stats(options.store)
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
    before, after = maintenance.vacuum(options.store)
    return _say(options, [f"{size(before)} → {size(after)}"], {"before": before, "after": after})


def _backup(options: argparse.Namespace) -> int:
    _refuse_existing(options.file)
    with Progress("copying") as progress:
        written = maintenance.backup(options.store, options.file, progress)
    return _say(options, [f"{options.file}: {size(written)}"], {"file": str(options.file), "bytes": written})


def _export(options: argparse.Namespace) -> int:
    left_out: list[str] = []

    def leave_out(problem: str) -> None:
        left_out.append(problem)
        _complain(problem, FAILED)

    with Progress("exporting") as progress:
        lines = archive.export(options.store, progress, leave_out if options.rescue else None)
        if options.file == "-":
            _as_utf8(sys.stdout).writelines(lines)
        else:
            target = Path(options.file)
            _refuse_existing(target)
            with whole(target) as part, part.open("w", encoding="utf-8", newline="\n") as file:
                file.writelines(lines)
    return FAILED if left_out else DONE


def _import(options: argparse.Namespace) -> int:
    with _source(options.file) as file, Progress("importing") as progress:
        counts = archive.restore(options.store, _lines(file), progress)
    trees, steps = counts["tree"], counts["step"]
    return _say(options, [f"{trees:,} trees with {steps:,} steps imported"], counts)


def _dead(options: argparse.Namespace) -> int:
    found = [each for each in maintenance.dead_letters(options.store) if options.root in (None, each[1].root)]
    lines: list[str] = []
    for at, letter, error in found:
        lines += [f"{moment(at)}  {letter.root}  {letter.id}  {letter.event.get('type')}", f"    {error}"]
    records = [{"at": at, "error": error, "letter": letter._asdict()} for at, letter, error in found]
    return _say(options, lines or ["no dead letters"], records)


# -- words ---------------------------------------------------------------------------------------------------------


def _say(options: argparse.Namespace, lines: Sequence[str], value: Any) -> int:
    _write(json.dumps(value, indent=2).splitlines() if options.json else lines, sys.stdout)
    return DONE


def _complain(problem: str, code: int) -> int:
    _write([f"antiphon db: {problem}"], sys.stderr)
    return code


def _write(lines: Sequence[str], file: TextIO) -> None:
    """Lines that may quote what anybody stored, made harmless."""
    encoding = file.encoding or "utf-8"
    for line in lines:
        print(harmless(line).encode(encoding, "replace").decode(encoding), file=file)


def _each(counts: dict[str, int], before: str = ": ") -> str:
    """Counts by name, if there are any."""
    return before + ", ".join(f"{name} {count:,}" for name, count in counts.items()) if counts else ""


def _refuse_existing(target: Path) -> None:
    if target.exists():
        raise Misuse(f"{target}: there is a file already, and nothing is overwritten")


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
