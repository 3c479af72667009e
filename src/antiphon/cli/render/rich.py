"""View of a conversation with rich: finished Markdown is printed, the unfinished block is redrawn."""

import sys
import time
from collections.abc import Callable, Iterable
from typing import TextIO, cast

from rich.console import Console
from rich.segment import Segment, Segments
from rich.text import Text

from antiphon.cli.render.gate import Drawing
from antiphon.cli.render.live_region import LiveRegion
from antiphon.cli.render.markdown import PROSE_COLUMNS, ReplyMarkdown, block_lines, render_lines
from antiphon.cli.render.markdown_stream import MarkdownBlock, MarkdownStream
from antiphon.cli.render.plain import Footer, Tone, thought_line
from antiphon.cli.render.text_width import escape_controls, sanitize_lines

REFRESH_S = 0.1
MOST_GROWING = 4_000  # characters of the unfinished block that are drawn; the rest appears when it is finished
STYLES: dict[Tone, str] = {
    "note": "dim", "tool": "cyan", "warning": "yellow", "error": "bold red", "title": "bold", "added": "green",
    "removed": "red",
}  # fmt: skip


class RichView:
    """Draws on a console; the cost of a refresh does not depend on the length of the reply."""

    def __init__(
        self,
        console: Console,
        *,
        show_thinking: bool = False,
        footer: Footer | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._console = console
        self._show_thinking = show_thinking
        self._footer = footer
        self._now = now
        self._blocks = MarkdownStream()
        self._thoughts = MarkdownStream()
        self._region = LiveRegion(console)
        self._is_live = False
        self._thinking_since: float | None = None
        self._started_at = 0.0
        self._drawn_at = 0.0
        self._is_first = True  # no block of this reply is printed yet

    def begin(self) -> None:
        """Start drawing, with the time since the start."""
        self._blocks = MarkdownStream()
        self._thoughts = MarkdownStream()
        self._started_at = self._now()
        self._drawn_at = 0.0
        self._is_first = True
        self._thinking_since = None
        self._is_live = True
        self.refresh()

    def text(self, piece: str) -> None:
        """Print finished blocks of the reply and draw the unfinished one."""
        for block in self._blocks.feed(sanitize_lines(piece)):
            self._print_block(block)
        self.refresh()

    def thinking(self, piece: str) -> None:
        """Print the model's thinking if enabled, else draw how long it takes."""
        if self._thinking_since is None:
            self._thinking_since = self._now()
        if self._show_thinking:
            for block in self._thoughts.feed(sanitize_lines(piece)):
                self._print_thought(block)
        self.refresh()

    def end_thinking(self, seconds: float) -> None:
        """Print how long the model was thinking."""
        self._thinking_since = None
        for block in self._thoughts.end():
            self._print_thought(block)
        self.line(thought_line(seconds))

    def line(self, text: str, tone: Tone = "note") -> None:
        """Print a line about the conversation, below the text so far."""
        self._end_text()
        self._console.print(Text(sanitize_lines(text), style=STYLES[tone]))

    def markdown(self, text: str) -> None:
        """Print complete Markdown."""
        blocks = MarkdownStream()
        for number, block in enumerate([*blocks.feed(sanitize_lines(text)), *blocks.end()]):
            self._print_lines(block, is_first=number == 0)

    def refresh(self) -> None:
        """Redraw the unfinished block, at most ten times a second."""
        now = self._now()
        if self._is_live and now - self._drawn_at >= REFRESH_S:
            self._drawn_at = now
            self._region.draw(self._drawing(now))

    def end(self) -> None:
        """Print the remaining blocks and stop drawing."""
        self._end_text()
        self._is_live = False
        self._region.clear()

    def _drawing(self, now: float) -> list[list[Segment]]:
        footer = self._footer_lines()
        lines = self._unfinished_lines(now)[-max(1, self._console.height - 2 - len(footer)) :]
        return [*lines, *footer]

    def _unfinished_lines(self, now: float) -> list[list[Segment]]:
        """Render the unfinished block, or the time spent waiting for text."""
        columns = min(self._console.width, PROSE_COLUMNS)
        if self._thinking_since is not None:
            return self._note_lines(f"thinking … {now - self._thinking_since:.1f} s")
        text = self._blocks.growing(MOST_GROWING)
        if not text.strip():
            return self._note_lines(f"… {now - self._started_at:.1f} s")
        if len(text) == MOST_GROWING:
            return render_lines(self._console, Text(text), columns)
        if self._blocks.is_code:
            columns = self._console.width
        lines = render_lines(self._console, ReplyMarkdown(text), columns)
        return lines if self._is_first or self._blocks.is_continuation else [[], *lines]

    def _note_lines(self, text: str) -> list[list[Segment]]:
        return render_lines(self._console, Text(text, style="dim"), self._console.width)

    def _footer_lines(self) -> list[list[Segment]]:
        """Render the footer, in at most half of the screen."""
        footer = self._footer(self._console.width) if self._footer is not None else ()
        texts = [Text(sanitize_lines(line), style=STYLES[tone], no_wrap=True) for line, tone in footer]
        lines = [line for text in texts for line in self._console.render_lines(text, pad=False)]
        return lines[-max(1, self._console.height // 2) :]

    def _print_block(self, block: MarkdownBlock) -> None:
        self._clear()
        self._print_lines(block, is_first=self._is_first)
        self._is_first = False

    def _print_lines(self, block: MarkdownBlock, *, is_first: bool) -> None:
        lines = block_lines(self._console, block)
        if not is_first and not block.continues:
            lines = [[], *lines]
        self._console.print(_join_lines(lines), end="", crop=False, soft_wrap=True)

    def _print_thought(self, block: MarkdownBlock) -> None:
        self._console.print(Text(block.text, style="dim italic"))

    def _clear(self) -> None:
        """Erase what is drawn, so that what is printed next takes its place."""
        self._region.clear()

    def _end_text(self) -> None:
        for block in self._blocks.end():
            self._print_block(block)
        self._is_first = True
        self._clear()


class CleanConsole(Console):
    """Console whose texts have no control characters; only rich itself adds sequences."""

    def _render_buffer(self, buffer: Iterable[Segment]) -> str:
        return super()._render_buffer(
            segment if segment.control else Segment(escape_controls(segment.text), segment.style) for segment in buffer
        )


def rich_console() -> Console:
    """Return a console on standard output without markup."""
    return CleanConsole(file=cast(TextIO, Drawing(sys.stdout)), highlight=False, markup=False, emoji=False)


def rich_view(*, show_thinking: bool = False, footer: Footer | None = None) -> RichView:
    """Return a view on standard output."""
    return RichView(rich_console(), show_thinking=show_thinking, footer=footer)


def _join_lines(lines: list[list[Segment]]) -> Segments:
    return Segments([segment for line in lines for segment in (*line, Segment.line())])
