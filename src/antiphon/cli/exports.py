"""Exports of threads to files, complete or not at all."""

from pathlib import Path

from antiphon.cli.frame import UsageError
from antiphon.stores.access import atomic_file
from antiphon.threads.errors import Refused
from antiphon.threads.export.formats import FORMATS, format_of
from antiphon.threads.kinds import Record
from antiphon.threads.transcript import TRANSCRIPT

CHAT = "chat"  # the kind of a thread that names none


def export_text(record: Record, format: str) -> str:
    """Render a thread in a format."""
    # Imported here because the kinds are slow to load.
    from antiphon.app import KINDS

    form = (
        TRANSCRIPT if record.is_transcript else next(kind for kind in KINDS if kind.name == (record.view.kind or CHAT))
    )
    return FORMATS[format](form, record)


def write_export(record: Record, target: Path, format: str | None = None) -> None:
    """Write a thread to a new file; the suffix selects the format unless one is given."""
    chosen = check_target(target, format)
    errors = "surrogatepass" if chosen == "json" else "replace"
    with atomic_file(target) as part:
        part.write_text(export_text(record, chosen), encoding="utf-8", errors=errors, newline="\n")


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
