"""Documents: a chat, a run or a debate as headings, words, code and tables.

Features build a `Document`; the modules beside this one write it in each format.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from antiphon.threads.export.graph import GraphBlock


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading below the title."""

    text: str


@dataclass(frozen=True, slots=True)
class Words:
    """Words of a speaker, as Markdown."""

    text: str


@dataclass(frozen=True, slots=True)
class Note:
    """A remark about the words beside it."""

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
class CodeBlock:
    """Verbatim text: arguments, results, commands."""

    text: str
    language: str = ""
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Folded:
    """Text that is hidden until a reader opens it."""

    summary: str
    text: str


@dataclass(frozen=True, slots=True)
class ImageBlock:
    """A picture, inline or at an address."""

    media_type: str
    data: str | None = None
    url: str | None = None


@dataclass(frozen=True, slots=True)
class FileBlock:
    """A file that was attached, such as a PDF."""

    name: str
    media_type: str
    data: str


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
    """The contribution of one speaker."""

    speaker: str
    blocks: Sequence["Block"]
    note: str = ""
    role: str = ""
    color: str | None = None


Block = (
    Heading | Words | Note | Strong | Quote | CodeBlock | Folded | ImageBlock | FileBlock | Table | GraphBlock | Turn
)


@dataclass(frozen=True, slots=True)
class Document:
    """A title, facts about the thread, and its content."""

    title: str
    facts: Sequence[tuple[str, str]] = ()
    blocks: Sequence[Block] = field(default=())


def format_time(at: int | None) -> str:
    """Format a time in milliseconds since the epoch for people; empty if it is unknown."""
    try:
        return datetime.fromtimestamp((at or 0) / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC") if at else ""
    except (TypeError, ValueError, OverflowError, OSError):
        return ""
