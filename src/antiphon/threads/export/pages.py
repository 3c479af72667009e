"""What runs and debates have in common on paper: JSON, tables, and an HTML page that needs nothing else."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

FENCE = re.compile(r"`{3,}")
STYLE = """
body { font: 16px/1.55 Georgia, serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; color: #1c1c1c; }
h1 { line-height: 1.2; } h2 { margin-top: 2.2rem; border-bottom: 1px solid #ccc; } table { border-collapse: collapse; }
th, td { padding: .25rem .8rem .25rem 0; text-align: left; } .turn { border-left: 4px solid; padding-left: 1rem; }
.turn h3 { margin: 1.2rem 0 .2rem; } .bar { display: inline-block; height: .7rem; vertical-align: middle; }
.note { color: #666; font-style: italic; } blockquote { color: #444; } code { overflow-wrap: anywhere; }
@media print { body { margin: 0; max-width: none; } .turn, tr { break-inside: avoid; } h2 { break-after: avoid; } }
"""


def to_json(found: Mapping[str, Any]) -> str:
    """Everything, for programs."""
    return json.dumps(found, ensure_ascii=False, indent=2) + "\n"


def page(title: str, body: str) -> str:
    """One HTML file without scripts or references; the body is HTML, the title is not."""
    shown = escape(title)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width">\n<title>{shown}</title>\n'
        f"<style>{STYLE}</style>\n</head>\n"
        f"<body>\n<h1>{shown}</h1>\n{body}\n</body>\n</html>\n"
    )


def paragraphs(text: str) -> str:
    """Words as paragraphs of HTML."""
    return "".join(f"<p>{escape(part.strip())}</p>" for part in text.split("\n\n") if part.strip())


def html_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in HTML."""
    shown = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>" for cells in rows)
    return f"<table><tr>{''.join(f'<th>{escape(head)}</th>' for head in heads)}</tr>{shown}</table>"


def markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, words: int = 1) -> Iterator[str]:
    """The lines of a table in Markdown; all columns but the first ones are numbers."""
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * words}{'---:|' * (len(heads) - words)}"
    for cells in rows:
        yield f"| {' | '.join(' '.join(cell.replace('|', chr(92) + '|').split()) for cell in cells)} |"


def fenced(text: str, language: str = "") -> Iterator[str]:
    """The lines of a block of code in Markdown, whatever is in it."""
    longest = max((len(match) for match in FENCE.findall(text)), default=2)
    fence = "`" * (longest + 1)
    yield from (fence + language, text.rstrip("\n"), fence, "")
