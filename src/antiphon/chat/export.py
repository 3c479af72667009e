"""Chats as documents, with one branch or all of them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from antiphon.chat.graph import chat_graph
from antiphon.chat.lineage import sections
from antiphon.money import format_usd
from antiphon.threads.denials import denial_of
from antiphon.threads.export.document import (
    Block,
    CodeBlock,
    Document,
    FileBlock,
    Folded,
    Heading,
    ImageBlock,
    Note,
    Turn,
    Words,
    format_time,
)
from antiphon.threads.export.graph import GraphBlock
from antiphon.threads.kinds import Json, Record

SPEAKERS = {"user": "You", "assistant": "Model", "tool": "Tools", "system": "Context"}


def chat_document(record: Record) -> Document:
    """Return a document of all branches."""
    return branch_document(record, None)


def branch_document(record: Record, branch: str | None) -> Document:
    """Return a document of one branch, or of all."""
    blocks: list[Block] = []
    parts = sections(record.content, branch)
    if len(parts) > 1:
        blocks.append(GraphBlock("Branches of this conversation", chat_graph(record.content)))
    for section in parts:
        if len(parts) > 1:
            blocks.append(Heading(f"Branch {section.name}" if section.name else "Left behind"))
            blocks += [Note(section.origin)] if section.origin else []
        blocks += message_blocks(record.content, section.messages)
    return Document(record.view.title, _facts(record), blocks)


def message_blocks(chat: Json, messages: Sequence[Json]) -> list[Turn]:
    """Return some messages of a chat as parts of a document."""
    return [_turn(chat, message) for message in messages]


def _facts(record: Record) -> list[tuple[str, str]]:
    view = record.view
    metrics = record.content["metrics"]
    cost = format_usd(view.cost_usd) + (" and replies of unknown price" if metrics.get("unpriced") else "")
    tokens = f"{metrics.get('inputTokens', 0):,} in, {metrics.get('outputTokens', 0):,} out"
    return [
        ("Thread", view.id),
        ("Model", view.model or "none"),
        ("Status", view.status),
        ("Cost", cost),
        ("Tokens", tokens),
    ]


def _turn(chat: Json, message: Json) -> Turn:
    blocks = [block for part in message["parts"] for block in _blocks(part)]
    if merged := _merged_from(chat, message):
        blocks.append(Note(merged))
    if message.get("interrupted"):
        blocks.append(Note("cut off here"))
    return Turn(SPEAKERS[message["role"]], blocks, format_time(message.get("at")), role=message["role"])


def _merged_from(chat: Json, message: Json) -> str | None:
    """Return the branch that a message came from by a merge, in words."""
    messages = chat["messages"]
    if "copiedFrom" in message:
        name = messages[message["copiedFrom"]].get("branch")
        return f"merged from {name}" if name and name != message.get("branch") else None
    if "mergedFrom" in message:
        name = messages[message["mergedFrom"]].get("branch")
        return f"joins {message.get('branch')} and {name}" if name else None
    return None


def _blocks(part: Mapping[str, Any]) -> Iterator[Block]:
    match part["type"]:
        case "text":
            yield Words(part["text"])
        case "thinking":
            yield Folded("Thinking", part["text"])
        case "toolCall":
            yield CodeBlock(part["arguments"], "json", f"Calls `{part['name']}`:")
        case "toolResult":
            reason = denial_of(part)
            if reason is not None:
                yield CodeBlock(reason, caption="Denied:")
                return
            caption = "It failed:" if part.get("isError") else "It gave:"
            for item in part["parts"]:
                yield CodeBlock(item["text"], caption=caption) if item["type"] == "text" else _image(item)
        case "image":
            yield _image(part)
        case "document":
            yield FileBlock(part.get("name", "a document"), part["mediaType"], part["data"])


def _image(part: Mapping[str, Any]) -> ImageBlock:
    return ImageBlock(part["mediaType"], part.get("data"), part.get("url"))
