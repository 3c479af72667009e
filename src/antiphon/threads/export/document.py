"""A thread as a document: what a chat, a run or a debate is made of when it is read, printed or sent.

Features build a `Document`; the writers beside this module know how it looks in each format.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading below the title."""

    text: str


@dataclass(frozen=True, slots=True)
class Words:
    """What somebody said, as Markdown."""

    text: str


@dataclass(frozen=True, slots=True)
class Note:
    """A remark about what was said."""

    text: str


@dataclass(frozen=True, slots=True)
class Strong:
    """A line that must not be overlooked."""

    text: str


@dataclass(frozen=True, slots=True)
class Quote:
    """Words from outside the conversation."""

    text: str


@dataclass(frozen=True, slots=True)
class Code:
    """Text to the letter: arguments, results, commands."""

    text: str
    language: str = ""
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Folded:
    """Text that a reader opens if they want to."""

    summary: str
    text: str


@dataclass(frozen=True, slots=True)
class Image:
    """A picture, inline or at an address."""

    media_type: str
    data: str | None = None
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Bar:
    """A score from 0 to 100, drawn."""

    score: float
    color: str = "#888888"


Cell = str | Bar


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under heads; the first `text_columns` columns are words, the others numbers."""

    heads: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    text_columns: int = 1


@dataclass(frozen=True, slots=True)
class Turn:
    """What one speaker contributed."""

    speaker: str
    blocks: Sequence["Block"]
    note: str = ""
    role: str = ""
    color: str | None = None


Block = Heading | Words | Note | Strong | Quote | Code | Folded | Image | Table | Turn


@dataclass(frozen=True, slots=True)
class Document:
    """A title, facts about the thread, and what is in it."""

    title: str
    facts: Sequence[tuple[str, str]] = ()
    blocks: Sequence[Block] = field(default=())


def format_time(at: int | None) -> str:
    """A time in milliseconds since the epoch, as people read it; empty if it is not known."""
    try:
        return datetime.fromtimestamp((at or 0) / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC") if at else ""
    except (TypeError, ValueError, OverflowError, OSError):
        return ""
