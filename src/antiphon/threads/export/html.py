"""Documents as one HTML page for light and dark screens and for print, without scripts or references."""

import re
from collections.abc import Iterator
from html import escape

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
from antiphon.threads.export.graph import GraphBlock, graph_svg

CODE = re.compile(r"^```[^\n`]*\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
PICTURE = re.compile(r"image/(png|jpeg|gif|webp)")
PDF = "application/pdf"
BASE64 = re.compile(r"[A-Za-z0-9+/=\s]+")
COLOR = re.compile(r"#[0-9a-fA-F]{3,8}|[a-zA-Z]{3,30}")
# Whatever is in a conversation, the page loads nothing and runs nothing.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
STYLE = """
:root { color-scheme: light dark; --ink: #1c1c1c; --paper: #fff; --faint: #666; --line: #ddd; --said: #f3f6fa; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e6e6; --paper: #151515; --faint: #999; --line: #333; --said: #1f2630; }
}
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 46rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
h1 { line-height: 1.2; }
h2 { border-top: 1px solid var(--line); padding-top: 1rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; color: var(--faint); }
dd { margin: 0; }
article { margin: 1rem 0; padding: .5rem 1rem; border-left: 3px solid var(--line); }
article.user { background: var(--said); }
article > h3 { margin: 0; font-size: .85rem; color: var(--faint); }
p { white-space: pre-wrap; margin: .5rem 0; }
pre { white-space: pre-wrap; background: var(--said); padding: .5rem; }
table { border-collapse: collapse; }
th, td { padding: .25rem .8rem .25rem 0; text-align: left; }
.bar { display: inline-block; height: .7rem; vertical-align: middle; }
.note, summary { color: var(--faint); font-style: italic; }
img { max-width: 100%; }
div.graph { overflow-x: auto; }
.graph text { font: 14px/1 system-ui, sans-serif; fill: var(--ink); }
.graph text.left, .graph text.gap { fill: var(--faint); }
.graph path { fill: none; stroke: var(--faint); stroke-width: 2; }
.graph path.joins { stroke-dasharray: 4 3; }
.graph circle { fill: var(--ink); stroke: var(--ink); stroke-width: 2; }
.graph circle.left { fill: var(--paper); stroke: var(--faint); }
.graph circle.current { fill: #2f7de1; stroke: #2f7de1; }
@media print {
  :root { --ink: #000; --paper: #fff; --said: #fff; }
  body { margin: 0; max-width: none; } article, tr { break-inside: avoid; } h2 { break-after: avoid; }
}
"""


def to_html(document: Document) -> str:
    """Write a document as one HTML file without scripts or references."""
    title = escape(document.title)
    facts = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in document.facts)
    body = "".join(part for block in document.blocks for part in _block(block))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{title}</h1>\n{f'<dl>{facts}</dl>' if facts else ''}\n{body}</body>\n</html>\n"
    )


def _block(block: Block) -> Iterator[str]:
    match block:
        case Heading(text):
            yield f"<h2>{escape(text)}</h2>\n"
        case Words(text):
            yield from _words(text)
        case Note(text):
            yield f'<p class="note">{escape(text)}</p>\n'
        case Strong(text):
            yield f"<p><strong>{escape(text)}</strong></p>\n"
        case Quote(text):
            yield f"<blockquote>{escape(text)}</blockquote>\n"
        case CodeBlock(text, _, caption):
            yield f"<p>{escape(caption)}</p>\n" if caption else ""
            yield f"<pre>{escape(text)}</pre>\n"
        case Folded(summary, text):
            yield f"<details><summary>{escape(summary)}</summary><p>{escape(text)}</p></details>\n"
        case ImageBlock():
            yield _image(block)
        case FileBlock():
            yield _file(block)
        case Table():
            yield _table(block)
        case GraphBlock():
            yield f'<div class="graph">{graph_svg(block)}</div>\n'
        case Turn():
            yield from _turn(block)


def _turn(turn: Turn) -> Iterator[str]:
    color = f' style="border-color: {turn.color}"' if turn.color and COLOR.fullmatch(turn.color) else ""
    head = " ".join(filter(None, (turn.speaker, turn.note)))
    yield f'<article class="{escape(turn.role)}"{color}>\n<h3>{escape(head)}</h3>\n'
    for block in turn.blocks:
        yield from _block(block)
    yield "</article>\n"


def _words(text: str) -> Iterator[str]:
    """Write paragraphs and code; other Markdown stays as it is."""
    start = 0
    for match in CODE.finditer(text):
        yield from _paragraphs(text[start : match.start()])
        yield f"<pre>{escape(match[1])}</pre>\n"
        start = match.end()
    yield from _paragraphs(text[start:])


def _paragraphs(text: str) -> Iterator[str]:
    yield from (f"<p>{escape(paragraph.strip(chr(10)))}</p>\n" for paragraph in text.split("\n\n") if paragraph.strip())


def _table(table: Table) -> str:
    heads = "".join(f"<th>{escape(head)}</th>" for head in table.heads)
    rows = "".join(f"<tr>{''.join(f'<td>{_cell(cell)}</td>' for cell in row)}</tr>\n" for row in table.rows)
    return f"<table><tr>{heads}</tr>\n{rows}</table>\n"


def _cell(cell: Cell) -> str:
    if isinstance(cell, Bar):
        color = cell.color if COLOR.fullmatch(cell.color) else "#888888"
        return f'<span class="bar" style="width: {cell.score * 2:g}px; background: {color}"></span>'
    return escape(cell)


def _file(file: FileBlock) -> str:
    name = escape(file.name)
    if file.media_type == PDF and BASE64.fullmatch(file.data):
        data = "".join(file.data.split())
        return f'<p>Attached: <a download="{name}" href="data:{PDF};base64,{data}">{name}</a></p>\n'
    return f"<p>[{escape(file.media_type)}: {name}]</p>\n"


def _image(image: ImageBlock) -> str:
    if image.data and PICTURE.fullmatch(image.media_type) and BASE64.fullmatch(image.data):
        data = "".join(image.data.split())
        return f'<img alt="{escape(image.media_type)}" src="data:{image.media_type};base64,{data}">\n'
    return f"<p>[{escape(image.media_type)}: {escape(image.url or 'not shown')}]</p>\n"
