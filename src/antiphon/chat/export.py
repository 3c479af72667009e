"""Chats as documents, with one branch or all of them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from antiphon.chat.record import branch_path
from antiphon.money import format_usd
from antiphon.threads.export.document import (
    Block,
    CodeBlock,
    Document,
    Folded,
    Heading,
    ImageBlock,
    Note,
    Turn,
    Words,
    format_time,
)
from antiphon.threads.kinds import Json, Record

SPEAKERS = {"user": "You", "assistant": "Model", "tool": "Tools", "system": "Context"}


@dataclass(frozen=True, slots=True)
class Section:
    """A branch in a document: its origin, and the messages of this branch only."""

    name: str
    origin: str
    messages: tuple[Json, ...]


def chat_document(record: Record) -> Document:
    """Return a document of all branches."""
    return branch_document(record, None)


def branch_document(record: Record, branch: str | None) -> Document:
    """Return a document of one branch, or of all."""
    blocks: list[Block] = []
    parts = sections(record.content, branch)
    for section in parts:
        if len(parts) > 1:
            blocks.append(Heading(f"Branch {section.name}" if section.name else "Left behind"))
            blocks += [Note(section.origin)] if section.origin else []
        blocks += [_turn(message) for message in section.messages]
    return Document(record.view.title, _facts(record), blocks)


def sections(chat: Json, branch: str | None = None) -> list[Section]:
    """Return one branch or all, the current one first; each message appears once, rewound ones at the end."""
    if branch is not None:
        return [Section(branch, "", tuple(branch_path(chat, branch)))]
    current = chat["branch"]
    names = [current, *(name for name in (*chat["branches"], *chat["closed"]) if name != current)]
    places: dict[str, str] = {}  # the branch under which each message appears
    parts = []
    for name in names:
        path = branch_path(chat, name)
        own = tuple(message for message in path if message["id"] not in places)
        parts.append(Section(name, _origin(chat, name, path[: len(path) - len(own)], places), own))
        places.update((message["id"], name) for message in own)
    detached = tuple(message for message in chat["messages"].values() if message["id"] not in places)
    if not detached:
        return parts
    return [*parts, Section("", "on no branch any more: rewound, or summaries", detached)]


def _origin(chat: Json, name: str, shared: list[Json], places: Mapping[str, str]) -> str:
    facts = [f"goes on from {places[shared[-1]['id']]} after turn {shared[-1]['turn']}"] if shared else []
    closed = chat["closed"].get(name)
    if closed:
        facts.append(f"merged into {closed['mergedInto']}" if closed["mergedInto"] else "closed")
    return ", ".join(facts)


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


def _turn(message: Json) -> Turn:
    blocks = [block for part in message["parts"] for block in _blocks(part)]
    if message.get("interrupted"):
        blocks.append(Note("cut off here"))
    return Turn(SPEAKERS[message["role"]], blocks, format_time(message.get("at")), role=message["role"])


def _blocks(part: Mapping[str, Any]) -> Iterator[Block]:
    match part["type"]:
        case "text":
            yield Words(part["text"])
        case "thinking":
            yield Folded("Thinking", part["text"])
        case "toolCall":
            yield CodeBlock(part["arguments"], "json", f"Calls `{part['name']}`:")
        case "toolResult":
            caption = "It failed:" if part.get("isError") else "It gave:"
            for item in part["parts"]:
                yield CodeBlock(item["text"], caption=caption) if item["type"] == "text" else _image(item)
        case "image":
            yield _image(part)


def _image(part: Mapping[str, Any]) -> ImageBlock:
    return ImageBlock(part["mediaType"], part.get("data"), part.get("url"))
