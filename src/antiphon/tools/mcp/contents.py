"""Convert results of MCP servers to message parts, within limits."""

import json
import re
from collections.abc import Iterator
from typing import Any

from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from antiphon.messages import Image, Text

# The strictest limit of a provider for one image, as base64.
MAX_IMAGE = 5_000_000
MAX_IMAGES = 20
MAX_IMAGE_TOTAL = 20_000_000
MAX_PARTS = 200
MAX_LABEL = 500  # characters of a name, an address or a type
MEDIA_TYPE = re.compile(r"image/[a-z0-9.+-]{1,60}")
# Characters that terminals and stores cannot take: controls but for newline and tab, halves of characters, directions.
UNSTORABLE = re.compile("[\0\ud800-\udfff]")
UNSAFE = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def result_parts(result: CallToolResult, most_characters: int) -> tuple[Text | Image, ...]:
    """Convert a result to parts, with at most `most_characters` characters of text."""
    parts = [_part(block) for block in result.content[:MAX_PARTS]]
    if not parts and result.structured_content is not None:
        parts = [Text(_write_json(result.structured_content, most_characters))]
    if len(result.content) > MAX_PARTS:
        parts.append(Text(f"[{len(result.content) - MAX_PARTS} more parts omitted]"))
    return tuple(_limit_size(parts or [Text("(no content)")], most_characters))


def clean_text(text: str, limit: int) -> str:
    """Return the beginning of a text without characters that terminals interpret or stores refuse."""
    return UNSAFE.sub("\ufffd", text[:limit])


def is_bounded(value: Any, most_characters: int, most_depth: int) -> bool:
    """Return whether a value is written as JSON in so many characters and levels."""
    level = [value]
    for _ in range(most_depth):
        level = [part for item in level for part in _children(item)]
        if not level:
            break
        if len(level) > most_characters:
            return False
    return not level and len(json.dumps(value)) <= most_characters


def _children(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []


def _write_json(value: Any, most_characters: int) -> str:
    try:
        pieces = json.JSONEncoder(ensure_ascii=False).iterencode(value)
        text = ""
        # One piece more than fits, so that the rest is counted as omitted.
        for piece in pieces:
            text += piece
            if len(text) > most_characters:
                break
        return text
    except RecursionError:
        return "[structured content that is nested too deeply]"


def _part(block: ContentBlock) -> Text | Image:
    match block:
        case TextContent(text=text):
            return Text(_clean(text))
        case ImageContent(data=data, mime_type=kind):
            if len(data) > MAX_IMAGE:
                return Text(f"[image ({_label(kind)}, {_bytes(data)}), too large to show]")
            if not MEDIA_TYPE.fullmatch(kind):
                return Text(f"[image of the unknown type {_label(kind)}, {_bytes(data)}]")
            return Image(kind, data)
        case AudioContent(data=data, mime_type=kind):
            return Text(f"[audio ({_label(kind)}, {_bytes(data)}), not supported]")
        case ResourceLink(name=name, uri=uri, mime_type=kind):
            return Text(f"[link to {_label(name)}: {_label(uri)}{f' ({_label(kind)})' if kind else ''}]")
        case EmbeddedResource(resource=BlobResourceContents(uri=uri, blob=blob, mime_type=kind)):
            return Text(f"[file: {_label(uri)} ({_label(kind or 'unknown type')}, {_bytes(blob)})]")
        case EmbeddedResource(resource=TextResourceContents(uri=uri, text=text)):
            return Text(f"[{_label(uri)}]\n{_clean(text)}")
        case _:
            return Text(f"[content of the unsupported type {_label(block.type)}]")


def _limit_size(parts: list[Text | Image], most_characters: int) -> Iterator[Text | Image]:
    room = most_characters
    images = 0
    shown_images = 0
    image_room = MAX_IMAGE_TOTAL
    omitted = 0
    for part in parts:
        if isinstance(part, Image):
            images += 1
            if shown_images < MAX_IMAGES and len(part.data or "") <= image_room:
                image_room -= len(part.data or "")
                shown_images += 1
                yield part
            continue
        text = part.text[:room]
        room -= len(text)
        omitted += len(part.text) - len(text)
        if text or not part.text:
            yield Text(text)
    if omitted:
        yield Text(f"[truncated: {omitted:,} more characters omitted]")
    if images > shown_images:
        yield Text(f"[{images - shown_images} more images omitted]")


def _clean(text: str) -> str:
    return UNSTORABLE.sub("\ufffd", text)


def _label(text: object) -> str:
    return clean_text(str(text), MAX_LABEL).replace("\n", " ")


def _bytes(encoded: str) -> str:
    return f"{len(encoded.rstrip('=')) * 3 // 4:,} bytes"
