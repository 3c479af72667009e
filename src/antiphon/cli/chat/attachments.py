"""Files that go with a message: pictures and PDFs as they are, others as text, from disk, standard input or the web.

The kind of a file is told by its content. Pages of the web are fetched like those of the tool `fetch_url`: only from
public addresses, with limits of time and size.
"""

import asyncio
import base64
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from antiphon.cli.frame import UsageError
from antiphon.messages import AttachedDocument, Image, Text, part_to_json
from antiphon.tools.errors import ToolCallError
from antiphon.tools.fetch import FetchSettings, fetch_page, page_text

Json = dict[str, Any]
STDIN = "-"
MOST_FILE_BYTES = 4 * 1024 * 1024  # of a picture or a PDF
MOST_TEXT_BYTES = 512 * 1024
MOST_TOTAL_BYTES = 7 * 1024 * 1024  # of all parts as they are sent: the body of a request to a server is limited
URL = re.compile(r"https?://", re.IGNORECASE)
IMAGES: Mapping[str, Callable[[bytes], bool]] = {
    "image/png": lambda data: data.startswith(b"\x89PNG\r\n\x1a\n"),
    "image/jpeg": lambda data: data.startswith(b"\xff\xd8\xff"),
    "image/gif": lambda data: data.startswith((b"GIF87a", b"GIF89a")),
    "image/webp": lambda data: data.startswith(b"RIFF") and data[8:12] == b"WEBP",
}
PDF = "application/pdf"
KINDS: Mapping[str, Callable[[bytes], bool]] = {**IMAGES, PDF: lambda data: data.startswith(b"%PDF-")}


def read_attachments(places: Sequence[str], settings: FetchSettings | None = None) -> list[Json]:
    """Return the parts of a message for files, URLs and `-`; raise `UsageError` for what no model could take."""
    fetch_settings = settings or FetchSettings(most_bytes=MOST_FILE_BYTES)
    parts = [_read_url(place, fetch_settings) if URL.match(place) else read_file(place) for place in places]
    check_total(parts)
    return parts


def check_total(parts: Sequence[Mapping[str, Any]]) -> None:
    """Raise `UsageError` if the parts are too large together."""
    if sum(len(str(part)) for part in parts) > MOST_TOTAL_BYTES:
        raise UsageError("the attachments are larger than 7 MB together; send some of them with another message")


def read_fragment(place: str, settings: FetchSettings | None = None) -> str:
    """Return the text of a file, of a URL or of standard input (`-`)."""
    if URL.match(place):
        content = _fetch(place, settings or FetchSettings())
    else:
        name, data = _read_bytes(place, MOST_TEXT_BYTES)
        content = data if _media_type(data) else _text_of(name, data)
    if isinstance(content, bytes):
        raise UsageError(f"{place} is {_noun(content)}; attach it with -a")
    return content.strip("\n")


def fence(name: str, text: str) -> str:
    """Return a text with its name, in a code block that it does not contain itself."""
    longest = max((len(ticks) for ticks in re.findall("`+", text)), default=0)
    mark = "`" * max(3, longest + 1)
    ending = "" if text.endswith("\n") else "\n"
    return f"{name}\n{mark}\n{text}{ending}{mark}"


def read_file(place: str, shown_name: str | None = None) -> Json:
    """Return the part of a message for a file or for `-`, which a text names by `shown_name`."""
    name, data = _read_bytes(place, MOST_FILE_BYTES)
    if _media_type(data) is not None:
        return _file_part(name, data)
    return part_to_json(Text(fence(shown_name or name, _text_of(name, data))))


def _read_url(url: str, settings: FetchSettings) -> Json:
    content = _fetch(url, settings)
    return part_to_json(Text(content)) if isinstance(content, str) else _file_part(_name_of(url), content)


def _fetch(url: str, settings: FetchSettings) -> bytes | str:
    """Return the picture or PDF, or the text of the page, at a URL."""

    async def fetch() -> bytes | str:
        final_url, response = await fetch_page(url, settings)
        if _media_type(response.body) is None:
            return await page_text(final_url, response, settings)
        if response.is_truncated:
            raise UsageError(f"{url} is too large; {_noun(response.body)} may have 4 MB")
        return response.body

    try:
        return asyncio.run(fetch())
    except ToolCallError as error:
        raise UsageError(f"cannot attach {url}: {error}") from error


def _read_bytes(place: str, most: int) -> tuple[str, bytes]:
    """Return the name and at most one byte more than `most` of a file or of standard input."""
    if place == STDIN:
        if sys.stdin.isatty():
            raise UsageError("there is nothing on the standard input; pipe a file in, or name one")
        stream = getattr(sys.stdin, "buffer", None)
        data: bytes = sys.stdin.read(most + 1).encode() if stream is None else stream.read(most + 1)
        return "standard input", data
    path = Path(place)
    try:
        with path.open("rb") as file:
            return path.name, file.read(most + 1)
    except OSError as error:
        raise UsageError(f"cannot read {place}: {error.strerror or error}") from error


def _media_type(data: bytes) -> str | None:
    return next((type for type, fits in KINDS.items() if fits(data)), None)


def _noun(data: bytes) -> str:
    return "a PDF" if _media_type(data) == PDF else "a picture"


def _name_of(url: str) -> str:
    """Return the name of the file at a URL."""
    return unquote(urlsplit(url).path.rpartition("/")[2]) or url


def _file_part(name: str, data: bytes) -> Json:
    if len(data) > MOST_FILE_BYTES:
        raise UsageError(f"{name} is too large; {_noun(data)} may have 4 MB")
    media_type = _media_type(data) or ""
    content = base64.b64encode(data).decode()
    return part_to_json(AttachedDocument(PDF, content, name) if media_type == PDF else Image(media_type, content))


def _text_of(name: str, data: bytes) -> str:
    """Return a text in UTF-8; raise `UsageError` if it is none."""
    try:
        text = data.decode("utf-8-sig", "ignore" if len(data) > MOST_TEXT_BYTES else "strict")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise UsageError(f"{name} is neither a text in UTF-8 nor a picture (PNG, JPEG, GIF, WebP) nor a PDF")
    if len(data) > MOST_TEXT_BYTES:
        raise UsageError(f"{name} is too large; a text may have 512 KB")
    if not text.strip():
        raise UsageError(f"{name} is empty")
    return text
