"""Files that go with a message: pictures as they are, anything else as text, from disk, standard input or the web.

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

from antiphon.cli.frame import UsageError
from antiphon.messages import Image, Text, part_to_json
from antiphon.tools.errors import ToolCallError
from antiphon.tools.fetch import FetchSettings, fetch_page, page_text

Json = dict[str, Any]
STDIN = "-"
MOST_IMAGE_BYTES = 4 * 1024 * 1024
MOST_TEXT_BYTES = 512 * 1024
MOST_TOTAL_BYTES = 7 * 1024 * 1024  # of all parts as they are sent: the body of a request to a server is limited
URL = re.compile(r"https?://", re.IGNORECASE)
IMAGES: Mapping[str, Callable[[bytes], bool]] = {
    "image/png": lambda data: data.startswith(b"\x89PNG\r\n\x1a\n"),
    "image/jpeg": lambda data: data.startswith(b"\xff\xd8\xff"),
    "image/gif": lambda data: data.startswith((b"GIF87a", b"GIF89a")),
    "image/webp": lambda data: data.startswith(b"RIFF") and data[8:12] == b"WEBP",
}


def read_attachments(places: Sequence[str], settings: FetchSettings | None = None) -> list[Json]:
    """Return the parts of a message for files, URLs and `-`; raise `UsageError` for what no model could take."""
    fetch_settings = settings or FetchSettings(most_bytes=MOST_IMAGE_BYTES)
    parts = [_read_url(place, fetch_settings) if URL.match(place) else _read_file(place) for place in places]
    if sum(len(str(part)) for part in parts) > MOST_TOTAL_BYTES:
        raise UsageError("the attachments are larger than 7 MB together; send some of them with another message")
    return parts


def read_fragment(place: str, settings: FetchSettings | None = None) -> str:
    """Return the text of a file, of a URL or of standard input (`-`)."""
    if URL.match(place):
        content = _fetch(place, settings or FetchSettings())
    else:
        name, data = _read_bytes(place, MOST_TEXT_BYTES)
        content = data if _media_type(data) else _text_of(name, data)
    if isinstance(content, bytes):
        raise UsageError(f"{place} is a picture; attach it with -a")
    return content.strip("\n")


def has_image(parts: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether one of the parts is a picture."""
    return any(part["type"] == "image" for part in parts)


def fence(name: str, text: str) -> str:
    """Return a text with its name, in a code block that it does not contain itself."""
    longest = max((len(ticks) for ticks in re.findall("`+", text)), default=0)
    mark = "`" * max(3, longest + 1)
    ending = "" if text.endswith("\n") else "\n"
    return f"{name}\n{mark}\n{text}{ending}{mark}"


def _read_file(place: str) -> Json:
    name, data = _read_bytes(place, MOST_IMAGE_BYTES)
    if _media_type(data) is not None:
        return _image_part(name, data)
    return part_to_json(Text(fence(name, _text_of(name, data))))


def _read_url(url: str, settings: FetchSettings) -> Json:
    content = _fetch(url, settings)
    return part_to_json(Text(content)) if isinstance(content, str) else _image_part(url, content)


def _fetch(url: str, settings: FetchSettings) -> bytes | str:
    """Return the picture, or the text of the page, at a URL."""

    async def fetch() -> bytes | str:
        final_url, response = await fetch_page(url, settings)
        if _media_type(response.body) is None:
            return await page_text(final_url, response, settings)
        if response.is_truncated:
            raise UsageError(f"{url} is too large; a picture may have 4 MB")
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
    return next((type for type, fits in IMAGES.items() if fits(data)), None)


def _image_part(name: str, data: bytes) -> Json:
    if len(data) > MOST_IMAGE_BYTES:
        raise UsageError(f"{name} is too large; a picture may have 4 MB")
    return part_to_json(Image(_media_type(data) or "", base64.b64encode(data).decode()))


def _text_of(name: str, data: bytes) -> str:
    """Return a text in UTF-8; raise `UsageError` if it is none."""
    if data.startswith(b"%PDF-"):
        raise UsageError(f"{name} is a PDF, which cannot be sent; attach its text, or its pages as pictures")
    try:
        text = data.decode("utf-8-sig", "ignore" if len(data) > MOST_TEXT_BYTES else "strict")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise UsageError(f"{name} is neither a text in UTF-8 nor a picture (PNG, JPEG, GIF, WebP)")
    if len(data) > MOST_TEXT_BYTES:
        raise UsageError(f"{name} is too large; a text may have 512 KB")
    if not text.strip():
        raise UsageError(f"{name} is empty")
    return text
