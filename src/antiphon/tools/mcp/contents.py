"""What a server sends back, as parts of a message: bounded, and in words where there is no part for it."""

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

# What the strictest provider takes of one picture, as base64.
MOST_OF_AN_IMAGE = 5_000_000
MOST_IMAGES = 20


def result_parts(result: CallToolResult, most_characters: int) -> tuple[Text | Image, ...]:
    """The parts of a result, with at most so many characters of text."""
    parts = [_part(block) for block in result.content]
    if not parts and result.structured_content is not None:
        parts = [Text(json.dumps(result.structured_content, ensure_ascii=False))]
    return tuple(_limit_size(parts or [Text("(nothing)")], most_characters))


def _part(block: ContentBlock) -> Text | Image:
    match block:
        case TextContent(text=text):
            return Text(text)
        case ImageContent(data=data, mime_type=kind):
            if len(data) > MOST_OF_AN_IMAGE:
                return Text(f"[a picture ({kind}, {_bytes(data)}) that is too large to show]")
            return Image(kind, data)
        case AudioContent(data=data, mime_type=kind):
            return Text(f"[a sound ({kind}, {_bytes(data)}) that cannot be played here]")
        case ResourceLink(name=name, uri=uri, mime_type=kind):
            return Text(f"[a link to {name}: {uri}{f' ({kind})' if kind else ''}]")
        case EmbeddedResource(resource=BlobResourceContents(uri=uri, blob=blob, mime_type=kind)):
            return Text(f"[a file: {uri} ({kind or 'of an unknown kind'}, {_bytes(blob)})]")
        case EmbeddedResource(resource=TextResourceContents(uri=uri, text=text)):
            return Text(f"[{uri}]\n{text}")
        case _:
            return Text(f"[something of the kind {block.type}]")


def _limit_size(parts: list[Text | Image], most_characters: int) -> Iterator[Text | Image]:
    room = most_characters
    images = 0
    left_out = 0
    for part in parts:
        if isinstance(part, Image):
            images += 1
            if images <= MOST_IMAGES:
                yield part
            continue
        kept = part.text[:room]
        room -= len(kept)
        left_out += len(part.text) - len(kept)
        if kept or not part.text:
            yield Text(kept)
    if left_out:
        yield Text(f"[cut here: {left_out:,} more characters are left out]")
    if images > MOST_IMAGES:
        yield Text(f"[{images - MOST_IMAGES} more pictures are left out]")


def _bytes(encoded: str) -> str:
    return f"{len(encoded.rstrip('=')) * 3 // 4:,} bytes"
