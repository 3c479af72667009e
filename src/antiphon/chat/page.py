"""A thread as one HTML page: all branches, light and dark, on paper too; nothing in it runs or is loaded."""

import re
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from antiphon.chat.transcript import facts_of, sections, speaker, when
from antiphon.threads.views import Json, Talk

CODE = re.compile(r"^```[^\n`]*\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
PICTURE = re.compile(r"image/(png|jpeg|gif|webp)")
BASE64 = re.compile(r"[A-Za-z0-9+/=\s]+")
STYLE = """
:root { color-scheme: light dark; --ink: #1c1c1c; --paper: #fff; --faint: #666; --line: #ddd; --said: #f3f6fa; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e6e6; --paper: #151515; --faint: #999; --line: #333; --said: #1f2630; }
}
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 46rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; color: var(--faint); }
dd { margin: 0; }
h2 { border-top: 1px solid var(--line); padding-top: 1rem; }
article { margin: 1rem 0; padding: .5rem 1rem; border-left: 3px solid var(--line); }
article.user { background: var(--said); }
article > h3 { margin: 0; font-size: .85rem; color: var(--faint); }
p { white-space: pre-wrap; margin: .5rem 0; }
pre { white-space: pre-wrap; background: var(--said); padding: .5rem; }
.about, .cut, summary { color: var(--faint); font-style: italic; }
img { max-width: 100%; }
@media print {
  :root { --ink: #000; --paper: #fff; --said: #fff; }
  body { margin: 0; max-width: none; } article { break-inside: avoid; }
}
"""
# Whatever a conversation says, the page loads nothing and runs nothing.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def html(talk: Talk) -> str:
    """A thread as a page."""
    title = escape(talk.view.title)
    facts = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in facts_of(talk))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{title}</h1>\n<dl>{facts}</dl>\n{''.join(_sections(talk))}</body>\n</html>\n"
    )


def _sections(talk: Talk) -> Iterator[str]:
    found = sections(talk)
    for section in found:
        if len(found) > 1:
            yield f"<h2>{escape(f'Branch {section.name}' if section.name else 'Left behind')}</h2>\n"
        if section.about:
            yield f'<p class="about">{escape(section.about)}</p>\n'
        for message in section.messages:
            yield from _message(message)


def _message(message: Json) -> Iterator[str]:
    yield f'<article class="{escape(message["role"])}">\n<h3>{escape(speaker(message))} {escape(when(message))}</h3>\n'
    for part in message["parts"]:
        yield from _part(part)
    if message.get("interrupted"):
        yield '<p class="cut">cut off here</p>\n'
    yield "</article>\n"


def _part(part: Mapping[str, Any]) -> Iterator[str]:
    match part["type"]:
        case "text":
            yield from _words(part["text"])
        case "thinking":
            yield f"<details><summary>Thinking</summary><p>{escape(part['text'])}</p></details>\n"
        case "toolCall":
            yield f"<p>Calls <code>{escape(part['name'])}</code>:</p><pre>{escape(part['arguments'])}</pre>\n"
        case "toolResult":
            yield f"<p>{'It failed:' if part.get('isError') else 'It gave:'}</p>\n"
            for shown in part["parts"]:
                yield f"<pre>{escape(shown['text'])}</pre>\n" if shown["type"] == "text" else _image(shown)
        case "image":
            yield _image(part)


def _words(text: str) -> Iterator[str]:
    at = 0
    for match in CODE.finditer(text):
        yield from _paragraphs(text[at : match.start()])
        yield f"<pre>{escape(match[1])}</pre>\n"
        at = match.end()
    yield from _paragraphs(text[at:])


def _paragraphs(text: str) -> Iterator[str]:
    yield from (f"<p>{escape(paragraph.strip(chr(10)))}</p>\n" for paragraph in text.split("\n\n") if paragraph.strip())


def _image(part: Mapping[str, Any]) -> str:
    kind, data = part["mediaType"], part.get("data")
    if data and PICTURE.fullmatch(kind) and BASE64.fullmatch(data):
        return f'<img alt="{escape(kind)}" src="data:{kind};base64,{"".join(data.split())}">\n'
    return f"<p>[{escape(kind)}: {escape(part.get('url') or 'not shown')}]</p>\n"
