"""Documents as Markdown."""

import re
from collections.abc import Iterator, Sequence

from antiphon.threads.export.document import (
    Bar,
    Block,
    Cell,
    CodeBlock,
    Document,
    FileBlock,
    Folded,
    Heading,
    ImageBlock,
    Note,
    Quote,
    Strong,
    Table,
    Turn,
    Words,
)
from antiphon.threads.export.graph import GraphBlock, graph_lines

FENCE = re.compile(r"`{3,}")
BAR_CELLS = 20


def to_markdown(document: Document) -> str:
    """Write a document as Markdown."""
    lines = [f"# {_one_line(document.title)}", ""]
    lines += [f"- {name}: {_one_line(value)}" for name, value in document.facts]
    lines += [""] if document.facts else []
    return "\n".join(lines) + "\n" + blocks_to_markdown(document.blocks)


def blocks_to_markdown(blocks: Sequence[Block]) -> str:
    """Write a part of a document as Markdown."""
    return "\n".join(line for block in blocks for line in _block(block)).rstrip() + "\n"


def _block(block: Block) -> Iterator[str]:
    match block:
        case Heading(text):
            yield from (f"## {_one_line(text)}", "")
        case Words(text):
            yield from (text.rstrip(), "")
        case Note(text):
            yield from (f"*{_one_line(text)}*", "")
        case Strong(text):
            yield from (f"**{_one_line(text)}**", "")
        case Quote(text):
            yield from (f"> {_one_line(text)}", "")
        case CodeBlock(text, language, caption):
            yield from (caption, "") if caption else ()
            yield from (*_fenced(text, language), "")
        case Folded(summary, text):
            yield from (f"<details><summary>{summary}</summary>", "", *_fenced(text), "", "</details>", "")
        case ImageBlock(media_type, _, url):
            yield from (f"![{media_type}]({url or 'inline'})", "")
        case FileBlock(name, media_type):
            yield from (f"*Attached: {_one_line(name)} ({media_type})*", "")
        case Table():
            yield from (*_table(block), "")
        case GraphBlock(_, rows):
            yield from (*_fenced("\n".join(graph_lines(rows)), "text"), "")
        case Turn(speaker, blocks, note):
            yield from (f"### {_one_line(speaker)}{f' · {note}' if note else ''}", "")
            for inner in blocks:
                yield from _block(inner)


def _table(table: Table) -> Iterator[str]:
    yield f"| {' | '.join(table.heads)} |"
    yield f"|{'---|' * table.text_columns}{'---:|' * (len(table.heads) - table.text_columns)}"
    for row in table.rows:
        yield f"| {' | '.join(_cell(cell) for cell in row)} |"


def _cell(cell: Cell) -> str:
    if isinstance(cell, Bar):
        full = round(cell.score / 100 * BAR_CELLS)
        return "█" * full + "░" * (BAR_CELLS - full)
    return _one_line(cell.replace("|", "\\|"))


def _fenced(text: str, language: str = "") -> Iterator[str]:
    """Write a block of code, with a fence that is longer than any in it."""
    longest = max((len(match) for match in FENCE.findall(text)), default=2)
    fence = "`" * (longest + 1)
    yield from (fence + language, text.rstrip("\n"), fence)


def _one_line(text: str) -> str:
    return " ".join(text.split())
