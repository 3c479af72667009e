"""Threads and debates written into files: Markdown, HTML or JSON, by the name of the file."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from antiphon.chat import archive as archives
from antiphon.chat import page as pages
from antiphon.chat import transcript as transcripts
from antiphon.debate import export as debate_exports
from antiphon.stores.access import whole
from antiphon.threads.errors import Refused
from antiphon.threads.views import Talk

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
    known = format or format_of(target)
    write_whole(FORMATS[known](talk), target, known)


def write_debate(debate: Mapping[str, Any], target: Path, format: str | None = None) -> None:
    """Write a debate into a new file."""
    known = format or format_of(target)
    write_whole(DEBATE_FORMATS[known](debate), target, known)


def write_whole(text: str, target: Path, format: str) -> None:
    """Write an export into a new file, all of it or nothing."""
    with whole(target) as part:
        part.write_text(text, encoding="utf-8", errors="surrogatepass" if format == "json" else "replace", newline="\n")
