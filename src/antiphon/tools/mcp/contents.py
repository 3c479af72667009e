"""Convert results of MCP servers to message parts, within limits."""

import json
from collections.abc import Iterator

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


def result_parts(result: CallToolResult, most_characters: int) -> tuple[Text | Image, ...]:
    """Convert a result to parts, with at most `most_characters` characters of text."""
    parts = [_part(block) for block in result.content]
    if not parts and result.structured_content is not None:
        parts = [Text(json.dumps(result.structured_content, ensure_ascii=False))]
    return tuple(_limit_size(parts or [Text("(no content)")], most_characters))


def _part(block: ContentBlock) -> Text | Image:
    match block:
        case TextContent(text=text):
            return Text(text)
        case ImageContent(data=data, mime_type=kind):
            if len(data) > MAX_IMAGE:
                return Text(f"[image ({kind}, {_bytes(data)}), too large to show]")
            return Image(kind, data)
        case AudioContent(data=data, mime_type=kind):
            return Text(f"[audio ({kind}, {_bytes(data)}), not supported]")
        case ResourceLink(name=name, uri=uri, mime_type=kind):
            return Text(f"[link to {name}: {uri}{f' ({kind})' if kind else ''}]")
        case EmbeddedResource(resource=BlobResourceContents(uri=uri, blob=blob, mime_type=kind)):
            return Text(f"[file: {uri} ({kind or 'unknown type'}, {_bytes(blob)})]")
        case EmbeddedResource(resource=TextResourceContents(uri=uri, text=text)):
            return Text(f"[{uri}]\n{text}")
        case _:
            return Text(f"[content of the unsupported type {block.type}]")


def _limit_size(parts: list[Text | Image], most_characters: int) -> Iterator[Text | Image]:
    room = most_characters
    images = 0
    omitted = 0
    for part in parts:
        if isinstance(part, Image):
            images += 1
            if images <= MAX_IMAGES:
                yield part
            continue
        text = part.text[:room]
        room -= len(text)
        omitted += len(part.text) - len(text)
        if text or not part.text:
            yield Text(text)
    if omitted:
        yield Text(f"[truncated: {omitted:,} more characters omitted]")
    if images > MAX_IMAGES:
        yield Text(f"[{images - MAX_IMAGES} more images omitted]")


def _bytes(encoded: str) -> str:
    return f"{len(encoded.rstrip('=')) * 3 // 4:,} bytes"
