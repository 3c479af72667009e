"""View of a conversation with rich: finished lines of Markdown are printed, the unfinished end is redrawn."""

import sys
import time
from collections.abc import Callable, Iterable
from typing import TextIO, cast

from rich.console import Console
from rich.segment import Segment, Segments
from rich.text import Text

from antiphon.cli.render.gate import Drawing
from antiphon.cli.render.live_region import Lines, LiveRegion, fold_lines, last_lines
from antiphon.cli.render.markdown import PROSE_COLUMNS, ReplyMarkdown, block_lines, render_lines
from antiphon.cli.render.markdown_stream import MarkdownBlock, MarkdownStream
from antiphon.cli.render.paragraphs import finished_lines
from antiphon.cli.render.plain import Footer, Tone, thought_line
from antiphon.cli.render.text_width import escape_controls, sanitize_lines

REFRESH_S = 0.1
MOST_GROWING = 4_000  # characters of the unfinished block that are drawn; the rest appears when it is finished
MOST_CODE = 1_000_000
STYLES: dict[Tone, str] = {
    "note": "dim", "tool": "cyan", "warning": "yellow", "error": "bold red", "title": "bold", "added": "green",
    "removed": "red", "said": "",
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
        self._waiting: list[MarkdownBlock] = []  # finished blocks that are not printed yet
        self._code_printed = 0  # lines of the growing code
        self._retry_at = 0  # the length at which lines of the growing paragraph may be finished

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
        self._waiting += self._blocks.feed(sanitize_lines(piece))
        if self._region.is_settled(self._now()):
            self._print_waiting()
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
        if self._is_live and now - self._drawn_at >= REFRESH_S and self._region.is_settled(now):
            self._drawn_at = now
            self._print_waiting()
            finished = self._pop_finished_lines()
            self._region.draw(self._drawing(now), above=finished)

    def end(self) -> None:
        """Print the remaining blocks and stop drawing."""
        self._end_text()
        self._is_live = False
        self._region.clear()

    def _drawing(self, now: float) -> Lines:
        footer = self._footer_lines()
        rows = min(self._console.height // 3, self._console.height - 2 - len(footer))
        return [*last_lines(self._unfinished_lines(now), rows, self._prose_columns()), *footer]

    def _prose_columns(self) -> int:
        return min(self._console.width, PROSE_COLUMNS)

    def _render_prose(self, text: str) -> Lines:
        return render_lines(self._console, ReplyMarkdown(text), self._prose_columns())

    def _pop_finished_lines(self) -> Lines:
        """Return the lines of the growing paragraph or code that are finished; they are not drawn any more."""
        if self._blocks.is_code:
            return self._pop_code_lines()
        text = self._blocks.growing(MOST_GROWING)
        if len(text) == MOST_GROWING or len(text) < self._retry_at or self._thinking_since is not None:
            return []
        length, lines = finished_lines(text, self._render_prose)
        self._retry_at = 0 if lines else len(text) + len(text) // 8
        if not lines:
            return []
        continues = self._is_first or self._blocks.is_continuation
        self._blocks.cut(length)
        self._is_first = False
        return lines if continues else [[], *lines]

    def _pop_code_lines(self) -> Lines:
        lines = self._code_lines()[:-1]
        continues = self._is_first or self._blocks.is_continuation or not lines or self._code_printed > 0
        self._code_printed += len(lines)
        self._is_first = self._is_first and not lines
        return lines if continues else [[], *lines]

    def _code_lines(self) -> Lines:
        """Return the lines of the growing code that are not printed yet."""
        block = MarkdownBlock(self._blocks.growing(MOST_CODE), "code")
        return block_lines(self._console, block)[self._code_printed :]

    def _unfinished_lines(self, now: float) -> Lines:
        """Render the unfinished block, or the time spent waiting for text."""
        if self._thinking_since is not None:
            return self._note_lines(f"thinking … {now - self._thinking_since:.1f} s")
        text = self._blocks.growing(MOST_GROWING)
        if not text.strip():
            return self._note_lines(f"… {now - self._started_at:.1f} s")
        if self._blocks.is_code:
            lines = fold_lines(self._code_lines(), self._console.width)
        elif len(text) == MOST_GROWING:
            return render_lines(self._console, Text(text), self._prose_columns())
        else:
            lines = self._render_prose(text)
        continues = self._is_first or self._blocks.is_continuation or self._code_printed > 0
        return lines if continues else [[], *lines]

    def _note_lines(self, text: str) -> Lines:
        return render_lines(self._console, Text(text, style="dim"), self._console.width)

    def _footer_lines(self) -> Lines:
        """Render the footer, in at most half of the screen."""
        footer = self._footer(self._console.width) if self._footer is not None else ()
        texts = [Text(sanitize_lines(line), style=STYLES[tone], no_wrap=True) for line, tone in footer]
        lines = [line for text in texts for line in self._console.render_lines(text, pad=False)]
        return lines[-max(1, self._console.height // 2) :]

    def _print_waiting(self) -> None:
        """Print the finished blocks."""
        for block in self._waiting:
            self._clear()
            self._print_lines(block, is_first=self._is_first, printed=self._code_printed)
            self._code_printed = 0
            self._is_first = False
            self._retry_at = 0
        self._waiting.clear()

    def _print_lines(self, block: MarkdownBlock, *, is_first: bool, printed: int = 0) -> None:
        lines = block_lines(self._console, block)[printed:]
        if not is_first and not block.continues and not printed:
            lines = [[], *lines]
        self._console.print(_join_lines(lines), end="", crop=False, soft_wrap=True)

    def _print_thought(self, block: MarkdownBlock) -> None:
        self._console.print(Text(block.text, style="dim italic"))

    def _clear(self) -> None:
        """Erase what is drawn, so that what is printed next takes its place."""
        self._region.clear()

    def _end_text(self) -> None:
        self._waiting += self._blocks.end()
        self._print_waiting()
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


def _join_lines(lines: Lines) -> Segments:
    return Segments([segment for line in lines for segment in (*line, Segment.line())])
