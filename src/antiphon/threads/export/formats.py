"""Export formats: a thread's record written as Markdown, HTML or JSON."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from antiphon.threads.errors import Refused
from antiphon.threads.export.html import to_html
from antiphon.threads.export.markdown import to_markdown
from antiphon.threads.kinds import Record, ThreadKind

FORMATS: Mapping[str, Callable[[ThreadKind, Record], str]] = {
    "md": lambda kind, record: to_markdown(kind.document(record)),
    "html": lambda kind, record: to_html(kind.document(record)),
    "json": lambda kind, record: json.dumps(kind.to_json(record), ensure_ascii=False, indent=1) + "\n",
}
"""Functions that export a thread, by the ending of the file."""


def format_of(target: str | Path) -> str:
    """Return the format for the suffix of a file name."""
    suffix = Path(target).suffix.removeprefix(".").lower()
    if suffix not in FORMATS:
        raise Refused(f"{target}: the name must end in {', '.join(f'.{format}' for format in FORMATS)}")
    return suffix
