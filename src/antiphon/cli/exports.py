"""Threads and debates written into files: Markdown, HTML or JSON, by the name of the file."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from antiphon.app import archives, debate_exports, pages, transcripts
from antiphon.app.errors import Refused
from antiphon.app.views import Talk
from antiphon.stores.access import whole

FORMATS: Mapping[str, Callable[[Talk], str]] = {
    "md": transcripts.markdown,
    "html": pages.html,
    "json": archives.written,
}
DEBATE_FORMATS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "md": debate_exports.to_markdown,
    "html": debate_exports.to_html,
    "json": debate_exports.to_json,
}


def format_of(target: Path) -> str:
    """The format that a file's name stands for."""
    found = target.suffix.removeprefix(".").lower()
    if found not in FORMATS:
        raise Refused(f"{target}: the name must end in {', '.join(f'.{known}' for known in FORMATS)}")
    return found


def write_export(talk: Talk, target: Path, format: str | None = None) -> None:
    """Write a thread into a new file."""
    _write(FORMATS[format or format_of(target)](talk), target, is_exact=format == "json")


def write_debate(debate: Mapping[str, Any], target: Path, format: str | None = None) -> None:
    """Write a debate into a new file."""
    found = format or format_of(target)
    _write(DEBATE_FORMATS[found](debate), target, is_exact=found == "json")


def _write(text: str, target: Path, *, is_exact: bool) -> None:
    with whole(target) as part:
        part.write_text(text, encoding="utf-8", errors="surrogatepass" if is_exact else "replace", newline="\n")
