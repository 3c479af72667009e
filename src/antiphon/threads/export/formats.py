"""Export formats: a thread's record written as Markdown, HTML or JSON."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from antiphon.threads.errors import Refused
from antiphon.threads.export.html import to_html
from antiphon.threads.export.markdown import to_markdown
from antiphon.threads.kinds import Record, RecordForm

FORMATS: Mapping[str, Callable[[RecordForm, Record], str]] = {
    "md": lambda form, record: to_markdown(form.document(record)),
    "html": lambda form, record: to_html(form.document(record)),
    "json": lambda form, record: json.dumps(form.to_json(record), ensure_ascii=False, indent=1) + "\n",
}
"""Functions that export a thread, by the ending of the file."""


def format_of(target: str | Path) -> str:
    """Return the format for the suffix of a file name."""
    suffix = Path(target).suffix.removeprefix(".").lower()
    if suffix not in FORMATS:
        raise Refused(f"{target}: the name must end in {', '.join(f'.{format}' for format in FORMATS)}")
    return suffix
