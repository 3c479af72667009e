"""Exports of threads to files, complete or not at all."""

from pathlib import Path

from antiphon.cli.frame import UsageError
from antiphon.stores.access import atomic_file
from antiphon.threads.errors import Refused
from antiphon.threads.export.formats import FORMATS, format_of
from antiphon.threads.kinds import Record
from antiphon.threads.library import Library


def export_text(library: Library, record: Record, format: str) -> str:
    """Render a thread in a format."""
    return FORMATS[format](library.form_of(record), record)


def write_export(library: Library, record: Record, target: Path, format: str | None = None) -> None:
    """Write a thread to a new file; the suffix selects the format unless one is given."""
    chosen = check_target(target, format)
    errors = "surrogatepass" if chosen == "json" else "replace"
    with atomic_file(target) as part:
        part.write_text(export_text(library, record, chosen), encoding="utf-8", errors=errors, newline="\n")


def check_target(target: Path, format: str | None = None) -> str:
    """Return the format of a new file; `UsageError` if its suffix is unknown or the file exists."""
    try:
        chosen = format or format_of(target)
    except Refused as error:
        raise UsageError(str(error)) from error
    refuse_existing(target)
    return chosen


def refuse_existing(target: Path) -> None:
    """Raise `UsageError` if the file exists."""
    if target.exists():
        raise UsageError(f"{target}: file exists; not overwritten")
