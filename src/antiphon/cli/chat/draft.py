"""The message that is typed while a reply arrives, below the reply."""

from antiphon.cli.input.lines import LineInput
from antiphon.cli.render.plain import Tone
from antiphon.cli.render.text_width import sanitize_lines, wrap

PROMPT = "> "
CURSOR = "▌"
MOST_ROWS = 3
HINT = "your next message; send it after this reply, or stop the reply with Ctrl-C"


class DraftFooter:
    """Footer of a reply: the end of the draft, and what becomes of it."""

    def __init__(self) -> None:
        self.lines: LineInput | None = None  # once they are open

    def __call__(self, columns: int) -> list[tuple[str, Tone]]:
        """Return the lines for a width; none if nothing is typed."""
        draft = "" if self.lines is None else self.lines.draft
        if not draft:
            return []
        rows = wrap(sanitize_lines(f"{draft}{CURSOR}"), max(1, columns - len(PROMPT)))[-MOST_ROWS:]
        footer: list[tuple[str, Tone]] = [(f"{PROMPT}{row}", "title") for row in rows]
        return [*footer, (HINT, "note")]
