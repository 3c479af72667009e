"""Threads written into files, whole or not at all."""

from pathlib import Path

from antiphon.cli.frame import Misuse
from antiphon.stores.access import atomic_file
from antiphon.threads.errors import Refused
from antiphon.threads.export.formats import FORMATS, format_of
from antiphon.threads.kinds import Record
from antiphon.threads.library import Library


def export_text(library: Library, record: Record, format: str) -> str:
    """A thread in a format."""
    return FORMATS[format](library.kinds[record.view.kind], record)


def write_export(library: Library, record: Record, target: Path, format: str | None = None) -> None:
    """Write a thread into a new file; its name says the format unless one is given."""
    chosen = check_target(target, format)
    errors = "surrogatepass" if chosen == "json" else "replace"
    with atomic_file(target) as part:
        part.write_text(export_text(library, record, chosen), encoding="utf-8", errors=errors, newline="\n")


def check_target(target: Path, format: str | None = None) -> str:
    """Return the format in which a new file is to be written; `Misuse` if its name stands for none or is taken."""
    try:
        chosen = format or format_of(target)
    except Refused as error:
        raise Misuse(str(error)) from error
    refuse_existing(target)
    return chosen


def refuse_existing(target: Path) -> None:
    """Raise `Misuse` if there is a file already."""
    if target.exists():
        raise Misuse(f"{target}: there is a file already, and nothing is overwritten")
