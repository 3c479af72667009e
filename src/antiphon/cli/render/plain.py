"""Views of a conversation: the protocol, plain text, and no output."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, Protocol, TextIO

from antiphon.cli.render.text_width import sanitize_lines

Tone = Literal["note", "tool", "warning", "error", "title", "added", "removed", "said"]
Footer = Callable[[int], Sequence[tuple[str, Tone]]]  # lines below the text, for a width


class TextView(Protocol):
    """Shows streamed text, and lines about it."""

    def begin(self) -> None:
        """Prepare for a reply."""
        ...

    def text(self, piece: str) -> None:
        """Show more text of the reply."""
        ...

    def thinking(self, piece: str) -> None:
        """Show more text of the model's thinking."""
        ...

    def end_thinking(self, seconds: float) -> None:
        """End the thinking, which took `seconds`."""
        ...

    def line(self, text: str, tone: Tone = "note") -> None:
        """Show a line about the conversation."""
        ...

    def markdown(self, text: str) -> None:
        """Show complete Markdown."""
        ...

    def refresh(self) -> None:
        """Redraw whatever depends on time."""
        ...

    def end(self) -> None:
        """End the reply."""
        ...


class PlainView:
    """Plain text without control characters; lines about it can go to another file."""

    def __init__(self, out: TextIO, notes: TextIO | None = None, *, show_thinking: bool = False) -> None:
        self._out = out
        self._notes = notes or out
        self._show_thinking = show_thinking
        self._is_open = False  # the last line has no newline yet

    def begin(self) -> None:
        """Do nothing."""

    def text(self, piece: str) -> None:
        """Write more text of the reply."""
        self._put(piece)

    def thinking(self, piece: str) -> None:
        """Write more of the thinking, if enabled."""
        if self._show_thinking:
            self._put(piece)

    def end_thinking(self, seconds: float) -> None:
        """Write how long the model was thinking."""
        self.line(thought_line(seconds))

    def line(self, text: str, tone: Tone = "note") -> None:
        """Write a line about the conversation."""
        self._end_line()
        write(self._notes, sanitize_lines(text) + "\n")

    def markdown(self, text: str) -> None:
        """Write complete Markdown as it is."""
        self._end_line()
        self._put(text)
        self._end_line()

    def refresh(self) -> None:
        """Do nothing: text is written as it arrives."""

    def end(self) -> None:
        """End the last line."""
        self._end_line()

    def _put(self, piece: str) -> None:
        text = sanitize_lines(piece)
        if text:
            write(self._out, text)
            self._is_open = not text.endswith("\n")

    def _end_line(self) -> None:
        if self._is_open:
            write(self._out, "\n")
            self._is_open = False


class HeldView(PlainView):
    """Plain text that is written as a whole, by `markdown`, when a reply is complete."""

    def text(self, piece: str) -> None:
        """Ignore it: the text comes again as a whole."""

    def thinking(self, piece: str) -> None:
        """Ignore it."""


class NullView:
    """Shows nothing; used with `--json` and `--quiet`."""

    def begin(self) -> None:
        """Ignore it."""

    def text(self, piece: str) -> None:
        """Ignore it."""

    def thinking(self, piece: str) -> None:
        """Ignore it."""

    def end_thinking(self, seconds: float) -> None:
        """Ignore it."""

    def line(self, text: str, tone: Tone = "note") -> None:
        """Ignore it."""

    def markdown(self, text: str) -> None:
        """Ignore it."""

    def refresh(self) -> None:
        """Ignore it."""

    def end(self) -> None:
        """Ignore it."""


def thought_line(seconds: float) -> str:
    """Return the line that stands for the model's thinking."""
    return f"thought for {seconds:.1f} s"


def write(file: TextIO, text: str) -> None:
    """Write text and flush; characters that the encoding lacks are replaced."""
    encoding = file.encoding or "utf-8"
    file.write(text.encode(encoding, "replace").decode(encoding))
    file.flush()


def can_draw(file: TextIO, environment: Mapping[str, str]) -> bool:
    """Return whether a file is a terminal with cursor control."""
    return file.isatty() and environment.get("TERM", "") not in ("", "dumb")
