"""Exports of threads: to files, complete or not at all, and to the terminal."""

import argparse
from pathlib import Path

from antiphon.chat.export import branch_document
from antiphon.chat.graph import chat_graph
from antiphon.cli.frame import UsageError
from antiphon.cli.options import used_flags
from antiphon.cli.render.graph import draw_graph
from antiphon.stores.access import atomic_file
from antiphon.threads.errors import Refused
from antiphon.threads.export.formats import FORMATS, format_of
from antiphon.threads.export.markdown import to_markdown
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


def branch_text(record: Record, options: argparse.Namespace) -> str:
    """Render a branch of a chat or its tree, or another thread as a whole."""
    if record.view.kind != "chat" or record.is_transcript:
        if flags := used_flags(options, ("branch", "tree")):
            noun = "transcript" if record.is_transcript else record.view.kind
            raise UsageError(f"{record.view.id} is a {noun}, which has no branches; remove {flags[0]}")
        return export_text(record, "md")
    if options.tree:
        return "\n".join(draw_graph(chat_graph(record.content)))
    branch = options.branch or record.content["branch"]
    names = [*record.content["branches"], *record.content["closed"]]
    if branch not in names and (options.branch or names):
        raise UsageError(f"unknown branch {branch!r}; branches: {', '.join(names) or 'none'}")
    return to_markdown(branch_document(record, branch if names else None))


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
