"""Pages of help as text for a terminal, and as roff for `man`."""

import re
import textwrap
from collections.abc import Iterator

from antiphon.cli.help.page import Block, Definition, Page, Verbatim

INDENT = 4
TERM_INDENT = 8
WIDEST = 100
LEAST = 20


def to_text(page: Page, columns: int) -> list[str]:
    """Return the lines of a page for a terminal."""
    width = max(LEAST, min(columns, WIDEST))
    lines = ["NAME", *_wrap(f"{page.name} - {page.about}", width, INDENT)]
    for section in page.sections:
        lines += ["", section.title]
        for block in section.blocks:
            lines += _block_lines(block, width)
    return lines


def _block_lines(block: Block, width: int) -> list[str]:
    match block:
        case Definition(term, text):
            return [*_wrap(term, width, INDENT), *_wrap(text, width, TERM_INDENT)]
        case Verbatim(lines):
            return [f"{' ' * INDENT}{line}".rstrip() for line in lines]
        case _:
            return _wrap(block, width, INDENT)


def _wrap(text: str, width: int, indent: int) -> list[str]:
    space = " " * indent
    wrapper = textwrap.TextWrapper(
        width, initial_indent=space, subsequent_indent=space, break_on_hyphens=False, break_long_words=False
    )
    return wrapper.wrap(text)


def to_roff(page: Page, version: str) -> list[str]:
    """Return the lines of a page for `man`."""
    title = _escape(page.name.upper())
    lines = [f'.TH "{title}" 1 "" "antiphon {_escape(version)}" "User Commands"', ".nh", ".SH NAME"]
    lines.append(f"{_escape(page.name)} \\- {_escape(page.about)}")
    for section in page.sections:
        lines.append(f".SH {_escape(section.title)}")
        for block in section.blocks:
            lines += _block_roff(block)
    return lines


def _block_roff(block: Block) -> Iterator[str]:
    match block:
        case Definition(term, text):
            yield ".TP"
            yield f"\\fB{_escape(term)}\\fR"
            yield _escape(text)
        case Verbatim(lines):
            yield ".nf"
            yield from map(_escape, lines)
            yield ".fi"
        case _:
            yield ".PP"
            yield _escape(block)


def _escape(text: str) -> str:
    """Return a text in which nothing is a request or an escape of roff."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq").replace("'", "\\(aq")
    return re.sub(r"^\.", "\\&.", escaped)
