"""Where a conversation is shown: as plain text, which any terminal, file and pipe takes."""

from collections.abc import Mapping
from typing import Literal, Protocol, TextIO

from antiphon.cli.render.text_width import harmless_lines

Tone = Literal["note", "tool", "error", "title"]


class View(Protocol):
    """Shows words as they come, and lines about them."""

    def begin(self) -> None:
        """A reply is expected."""
        ...

    def text(self, piece: str) -> None:
        """More of what a model says."""
        ...

    def thinking(self, piece: str) -> None:
        """More of what a model thinks."""
        ...

    def thought(self, seconds: float) -> None:
        """The thought is over; it took so long."""
        ...

    def line(self, words: str, tone: Tone = "note") -> None:
        """Something about the conversation."""
        ...

    def markdown(self, text: str) -> None:
        """Words that are whole already."""
        ...

    def refresh(self) -> None:
        """Some time has passed."""
        ...

    def end(self) -> None:
        """Nothing more is expected for now."""
        ...


class PlainView:
    """Text as it comes, without a single control character; what is about it may go elsewhere."""

    def __init__(self, out: TextIO, notes: TextIO | None = None, *, show_thinking: bool = False) -> None:
        self._out, self._notes, self._show_thinking = out, notes or out, show_thinking
        self._is_open = False  # the last line has no end yet

    def begin(self) -> None:
        """Nothing yet."""

    def text(self, piece: str) -> None:
        """More of what a model says."""
        self._put(piece)

    def thinking(self, piece: str) -> None:
        """More of what a model thinks, if anybody wants to know."""
        if self._show_thinking:
            self._put(piece)

    def thought(self, seconds: float) -> None:
        """The thought, folded into a line."""
        self.line(folded(seconds))

    def line(self, words: str, tone: Tone = "note") -> None:
        """Something about the conversation, on lines of its own."""
        self._end_line()
        write(self._notes, harmless_lines(words) + "\n")

    def markdown(self, text: str) -> None:
        """Words that are whole already."""
        self._end_line()
        self._put(text)
        self._end_line()

    def refresh(self) -> None:
        """Nothing: what came is shown."""

    def end(self) -> None:
        """Finish the last line."""
        self._end_line()

    def _put(self, piece: str) -> None:
        shown = harmless_lines(piece)
        if shown:
            write(self._out, shown)
            self._is_open = not shown.endswith("\n")

    def _end_line(self) -> None:
        if self._is_open:
            write(self._out, "\n")
            self._is_open = False


class NoView:
    """Shows nothing, where a program reads what happens as JSON."""

    def begin(self) -> None:
        """Nothing."""

    def text(self, piece: str) -> None:
        """Nothing."""

    def thinking(self, piece: str) -> None:
        """Nothing."""

    def thought(self, seconds: float) -> None:
        """Nothing."""

    def line(self, words: str, tone: Tone = "note") -> None:
        """Nothing."""

    def markdown(self, text: str) -> None:
        """Nothing."""

    def refresh(self) -> None:
        """Nothing."""

    def end(self) -> None:
        """Nothing."""


def folded(seconds: float) -> str:
    """A thought, folded."""
    return f"thought for {seconds:.1f} s"


def write(file: TextIO, text: str) -> None:
    """Text in the characters that a file takes, shown at once."""
    encoding = file.encoding or "utf-8"
    file.write(text.encode(encoding, "replace").decode(encoding))
    file.flush()


def is_smart(file: TextIO, environment: Mapping[str, str]) -> bool:
    """Whether a file is a terminal that can be drawn on."""
    return file.isatty() and environment.get("TERM", "") not in ("", "dumb")
