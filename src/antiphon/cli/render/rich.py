"""A conversation on a terminal that can be drawn on: finished Markdown stays, and the block that grows is redrawn."""

import time
from collections.abc import Callable, Sequence

from rich.console import Console
from rich.live import Live
from rich.markdown import Markdown
from rich.segment import Segment, Segments
from rich.text import Text

from antiphon.cli.render.markdown_stream import Blocks
from antiphon.cli.render.plain import Tone, folded
from antiphon.cli.render.text_width import harmless_lines

REFRESH_S = 0.1
MOST_GROWING = 4_000  # characters of the block that grows; what is before them is shown when it is finished
Footer = Callable[[int], Sequence[tuple[str, Tone]]]  # lines below the words, for a width
STYLES: dict[Tone, str] = {"note": "dim", "tool": "cyan", "error": "bold red", "title": "bold"}


class RichView:
    """Draws on a console; whatever the length of a reply, a refresh costs about the same."""

    def __init__(
        self,
        console: Console,
        *,
        show_thinking: bool = False,
        footer: Footer | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._console, self._show_thinking, self._footer, self._now = console, show_thinking, footer, now
        self._blocks, self._thoughts = Blocks(), Blocks()
        self._live: Live | None = None
        self._thinking_since: float | None = None
        self._since, self._drawn = 0.0, 0.0
        self._is_first = True  # nothing of this reply is above

    def begin(self) -> None:
        """Show that a reply is expected."""
        self._blocks, self._thoughts = Blocks(), Blocks()
        self._since, self._drawn, self._is_first = self._now(), 0.0, True
        self._thinking_since = None
        if self._live is None:
            self._live = Live(
                console=self._console, auto_refresh=False, transient=True, redirect_stdout=False, redirect_stderr=False
            )
            self._live.start()
        self.refresh()

    def text(self, piece: str) -> None:
        """More of what a model says."""
        for block in self._blocks.feed(harmless_lines(piece)):
            self._print_block(block)
        self.refresh()

    def thinking(self, piece: str) -> None:
        """More of what a model thinks, or only that it does."""
        if self._thinking_since is None:
            self._thinking_since = self._now()
        if self._show_thinking:
            for block in self._thoughts.feed(harmless_lines(piece)):
                self._print_thought(block)
        self.refresh()

    def thought(self, seconds: float) -> None:
        """The thought, folded into a line."""
        self._thinking_since = None
        for block in self._thoughts.end():
            self._print_thought(block)
        self.line(folded(seconds))

    def line(self, words: str, tone: Tone = "note") -> None:
        """Something about the conversation, below what was said so far."""
        self._end_text()
        self._console.print(Text(harmless_lines(words), style=STYLES[tone]))

    def markdown(self, text: str) -> None:
        """Words that are whole already."""
        self._console.print(_joined(self._lines(_markdown(harmless_lines(text)))))

    def refresh(self) -> None:
        """Draw what grows, ten times a second at most."""
        now = self._now()
        if self._live is not None and now - self._drawn >= REFRESH_S:
            self._drawn = now
            self._live.update(self._growing(now), refresh=True)

    def end(self) -> None:
        """Let everything stay, and give the terminal back."""
        self._end_text()
        if self._live is not None:
            self._live.update(Text(""))
            self._live.stop()
            self._live = None

    def _growing(self, now: float) -> Segments:
        below = self._below()
        lines = self._words(now)[-max(1, self._console.height - 2 - len(below)) :]
        shown = _joined([*lines, *below])
        return Segments(list(shown.segments)[:-1])  # what is redrawn must not end its last line

    def _words(self, now: float) -> list[list[Segment]]:
        """What is said just now, or for how long nothing was."""
        if self._thinking_since is not None:
            return self._lines(Text(f"thinking … {now - self._thinking_since:.1f} s", style="dim"))
        text = self._blocks.growing(MOST_GROWING)
        if not text.strip():
            return self._lines(Text(f"… {now - self._since:.1f} s", style="dim"))
        is_plain = self._blocks.is_code or len(text) == MOST_GROWING
        return self._lines(Text(text) if is_plain else _markdown(text))

    def _below(self) -> list[list[Segment]]:
        """What stands below the words, whatever they are; more than half of the screen is not for it."""
        given = self._footer(self._console.width) if self._footer is not None else ()
        drawn = [Text(harmless_lines(words), style=STYLES[tone], no_wrap=True) for words, tone in given]
        lines = [line for one in drawn for line in self._console.render_lines(one, pad=False)]
        return lines[-max(1, self._console.height // 2) :]

    def _print_block(self, block: str) -> None:
        self._clear()
        if not self._is_first:
            self._console.print()
        self._is_first = False
        self._console.print(_joined(self._lines(_markdown(block))))

    def _lines(self, shown: Text | Markdown) -> list[list[Segment]]:
        """What is shown in lines, without the blank ones around it that some blocks have and others do not."""
        lines = self._console.render_lines(shown, pad=False)
        said = [number for number, line in enumerate(lines) if any(segment.text.strip() for segment in line)]
        return lines[said[0] : said[-1] + 1] if said else []

    def _print_thought(self, block: str) -> None:
        self._console.print(Text(block, style="dim italic"))

    def _clear(self) -> None:
        """What is printed for good must not be drawn below itself once more, not even until the next refresh."""
        if self._live is not None:
            self._live.update(Segments(list(_joined(self._below()).segments)[:-1]), refresh=True)

    def _end_text(self) -> None:
        for block in self._blocks.end():
            self._print_block(block)
        self._is_first = True
        self._clear()


def rich_console() -> Console:
    """A console on the standard output that shows texts as they are."""
    return Console(highlight=False, markup=False, emoji=False)


def rich_view(*, show_thinking: bool = False, footer: Footer | None = None) -> RichView:
    """A view on the standard output."""
    return RichView(rich_console(), show_thinking=show_thinking, footer=footer)


def _joined(lines: list[list[Segment]]) -> Segments:
    return Segments([segment for line in lines for segment in (*line, Segment.line())])


def _markdown(text: str) -> Markdown:
    # A link is shown with its address: what it says and where it leads must not differ unseen.
    return Markdown(text, hyperlinks=False)
