"""Live view of a debate with rich: finished rounds are printed, current turns are drawn side by side."""

import math
import time
from collections.abc import Callable, Mapping
from typing import Any

from rich.color import Color, ColorParseError
from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from antiphon.cli.debate import format as formatting
from antiphon.cli.debate.plain_view import Tone, next_step
from antiphon.cli.debate.state import DebateState
from antiphon.cli.render.live_region import LiveRegion
from antiphon.cli.render.markdown import ReplyMarkdown
from antiphon.cli.render.text_width import clip, sanitize_line, sanitize_lines, width, wrap
from antiphon.cli.render.units import plural
from antiphon.debate.export import failure_reason, interjections, round_title
from antiphon.money import format_usd
from antiphon.threads.activity import Activity

Json = Mapping[str, Any]
REFRESH_S = 0.1
NARROWEST_COLUMN = 34
FEWEST_LINES = 3
MOST_LINES = 16
MOST_GROWING = 6_000  # characters of a turn that are laid out at each refresh
MOST_NOTES = 2  # interjections shown below the state
STYLES = {
    "strong": "bold", "quiet": "dim", "rule": "dim", "now": "dark_orange3", "done": "green", "held": "magenta",
    "warn": "bold dark_orange3", "wrong": "bold red",
}  # fmt: skip


class LiveDebateView:
    """Draws on a console; the cost of a refresh does not depend on the length of the debate."""

    is_drawn = True

    def __init__(self, console: Console, *, now: Callable[[], float] = time.time) -> None:
        self._console = console
        self._now = now
        self._region = LiveRegion(console)
        self._is_live = False
        self._drawn_at = 0.0
        self._hint = ""
        self._printed: set[tuple[str, int]] = set()
        self._colors: dict[str, str] = {}

    def begin(self, debate: DebateState, *, is_resumed: bool) -> None:
        """Print topic and debaters, and the rounds so far, and start drawing."""
        self._colors = {debater["id"]: terminal_color(debater["color"]) for debater in debate.participants}
        sides = [formatting.heading(debater) for debater in debate.participants]
        judge = f"judge {formatting.model_name(debate.judge['model'])}"
        self._console.print(Text(sanitize_line(debate.topic), style="bold"))
        self._console.print(Text(" — ".join([debate.format, *sides, judge]), style="dim"))
        self._console.print(Text(f"debate {debate.id}{' (resumed)' if is_resumed else ''}", style="dim"))
        for round in debate.rounds:
            self._print_round(debate, round)
        self._is_live = True

    def handle(self, activity: Activity, debate: DebateState) -> None:
        """Print finished rounds, errors and warnings."""
        match activity.kind:
            case "round_recorded":
                self._print_round(debate, activity.facts["round"])
            case "error":
                text, style = formatting.state_line(debate)
                self._print(Text(sanitize_line(text), style=STYLES[style]))
            case "reply_cut":
                self.note(formatting.cut_line(activity, debate), "error")
            case "cost_warning":
                cost = format_usd(activity.facts["warning"]["currentCost"])
                self._print(Text(f"warning: {cost} spent", style=STYLES["warn"]))

    def note(self, text: str, tone: Tone = "note") -> None:
        """Print a line above the drawing."""
        self._print(Text(sanitize_lines(text), style="bold red" if tone == "error" else "dim"))

    def refresh(self, debate: DebateState, hint: str) -> None:
        """Redraw, at most ten times a second, or at once when the hint changes."""
        now = self._now()
        is_due = now - self._drawn_at >= REFRESH_S or hint != self._hint
        if self._is_live and is_due and self._region.is_settled(now):
            self._drawn_at = now
            self._hint = hint
            drawing = self._drawing(debate, hint, round(now * 1000))
            self._region.draw(self._console.render_lines(drawing, pad=False)[: self._console.height])

    def end(self, debate: DebateState, record: Json, code: int) -> None:
        """Print the verdict and the summary in place of the drawing."""
        self.close()
        if debate.verdict is not None:
            self._print(Rule(Text("Verdict", style="bold"), align="left", style="dim"))
            self._print(Text(sanitize_line(formatting.decision(debate)), style="bold"))
            self._print(*(self._styled_text(row) for row in formatting.score_table(debate, self._console.width - 1)))
            self._print(*(Text(sanitize_line(text)) for text in formatting.format_evaluations(debate)))
            self._print(ReplyMarkdown(sanitize_lines(str(debate.verdict["reasoning"]))))
            if references := formatting.format_references(debate):
                self._print(Text(sanitize_line(references), style="dim"))
        self._print(self._styled_text(formatting.track(debate, self._console.width - 1)))
        self._print(Text(formatting.summary(debate), style="dim"), Text(next_step(debate), style="dim"))

    def close(self) -> None:
        """Stop drawing."""
        self._is_live = False
        self._region.clear()

    def _drawing(self, debate: DebateState, hint: str, now: int) -> RenderableType:
        cells = self._console.width - 1
        status: list[formatting.Line] = [formatting.track(debate, cells), formatting.meter(debate, cells)]
        status += [line] if (line := formatting.quality(debate)) else []
        status += [[state_line]] if (state_line := formatting.state_line(debate))[0] else []
        for interjection in debate.interjections[-MOST_NOTES:]:
            status.append([("» ", "strong"), (sanitize_line(interjection["text"]), "")])
        lines = [self._styled_text(_clip_line(line, cells)) for line in status]
        hint_lines = [_tail(hint, cells)] if "▌" in hint else wrap(hint, cells)
        hints = [Text(line, style="bold" if "▌" in line else "dim") for line in hint_lines]
        room = self._console.height - len(lines) - len(hints) - 1
        return Group(*lines, *self._turns(debate, room, now), *hints)

    def _turns(self, debate: DebateState, room: int, now: int) -> list[RenderableType]:
        """Render the current turns in columns, or below each other on a narrow terminal."""
        if debate.is_recorded(*debate.step()) or debate.step()[0] == "verdict" or debate.state == "idle":
            return []
        across = columns(len(debate.participants), self._console.width)
        if across == 1:
            return self._stacked(debate, room, now)
        rows = [debate.participants[at : at + across] for at in range(0, len(debate.participants), across)]
        height = max(FEWEST_LINES, min(MOST_LINES, room // len(rows) - 2))
        grid = Table.grid(expand=True)
        for _ in range(across):
            grid.add_column(ratio=1)
        for row in rows:
            cells = self._console.width // across - 4
            texts = [self._lines(debate, debater, cells, height) for debater in row]
            tallest = max(FEWEST_LINES, *map(len, texts))
            panels = zip(row, texts, strict=True)
            grid.add_row(*(self._panel(debate, debater, text, tallest, now) for debater, text in panels))
        return [grid]

    def _stacked(self, debate: DebateState, room: int, now: int) -> list[RenderableType]:
        with_turn = [debater for debater in debate.participants if debate.current(debater["id"])]
        speaking = [debater for debater in with_turn if _is_speaking(debate, debater)]
        expanded = speaking or with_turn[-1:]
        folded = len(debate.participants) - len(expanded)
        height = max(FEWEST_LINES, min(MOST_LINES, (room - folded) // max(1, len(expanded)) - 2))
        rows: list[RenderableType] = []
        for debater in debate.participants:
            if debater in expanded:
                text = self._lines(debate, debater, self._console.width - 4, height)
                rows.append(self._panel(debate, debater, text, max(FEWEST_LINES, len(text)), now))
            else:
                id = debater["id"]
                status, style = formatting.turn_status(debate, debate.current(id), now)
                line: formatting.Line = [(f"  {formatting.heading(debater)}", f"side:{id}"), (f"  {status}", style)]
                rows.append(self._styled_text(_clip_line(line, self._console.width - 1)))
        return rows

    def _lines(self, debate: DebateState, debater: Json, cells: int, height: int) -> list[str]:
        turn = debate.current(debater["id"])
        text = sanitize_lines(turn.text[-MOST_GROWING:]) if turn else ""
        lines = [line for part in text.splitlines() for line in (wrap(part, cells) or [""])]
        if turn is not None and turn.end is None and not turn.is_thinking:
            lines = [*lines[:-1], f"{lines[-1]}▌"] if lines and width(lines[-1]) < cells else [*lines, "▌"]
        return lines[-height:]

    def _panel(self, debate: DebateState, debater: Json, lines: list[str], height: int, now: int) -> Panel:
        turn = debate.current(debater["id"])
        status, style = formatting.turn_status(debate, turn, now)
        color = self._colors[debater["id"]]
        return Panel(
            Text("\n".join(lines), no_wrap=True, overflow="crop"),
            title=Text(formatting.heading(debater), style=f"bold {color}"),
            title_align="left",
            subtitle=Text(status, style=STYLES[style]) if status else None,
            subtitle_align="left",
            border_style=color if _is_speaking(debate, debater) else "dim",
            height=height + 2,
        )

    def _print_round(self, debate: DebateState, round: Json) -> None:
        place = (round["phase"], round["roundNumber"])
        if place in self._printed:
            return
        self._printed.add(place)
        parts: list[RenderableType] = [Rule(Text(round_title(round), style="bold"), align="left", style="dim")]
        across = columns(len(round["responses"]), self._console.width)
        for at in range(0, len(round["responses"]), across):
            grid = Table.grid(expand=True, padding=(0, 3, 0, 0))
            for _ in range(across):
                grid.add_column(ratio=1)
            grid.add_row(*(self._response(debate, response) for response in round["responses"][at : at + across]))
            parts += [grid, Text("")]
        for note in interjections({"interjections": debate.interjections}, round):
            parts += [Text(f"» {sanitize_line(note['text'])}"), Text("")]
        self._print(*parts)

    def _response(self, debate: DebateState, response: Json) -> RenderableType:
        id = response["participantId"]
        debater = next(debater for debater in debate.participants if debater["id"] == id)
        name = Text(formatting.heading(debater), style=f"bold {self._colors[id]}")
        if response.get("failed"):
            return Group(
                name, Text(sanitize_line(f"did not answer: {failure_reason(response)}"), style=STYLES["wrong"])
            )
        tokens = plural(response["tokensUsed"], "token")
        facts = f"{tokens} · {format_usd(response['cost'])} · {response['latencyMs'] / 1000:.1f} s"
        text = ReplyMarkdown(sanitize_lines(response["content"]))
        return Group(name, text, Text(facts, style="dim"))

    def _print(self, *parts: RenderableType) -> None:
        """Print above the drawing, and let the next refresh redraw at once."""
        self._region.clear()
        self._console.print(Group(*parts))
        self._drawn_at = 0.0

    def _styled_text(self, line: formatting.Line) -> Text:
        pieces = [(text, self._style(style)) for text, style in line if text]
        return Text.assemble(*pieces, no_wrap=True, overflow="crop")

    def _style(self, name: str) -> str:
        if name.startswith("side:"):
            return self._colors.get(name.removeprefix("side:"), "")
        return STYLES.get(name, "")


def terminal_color(color: str) -> str:
    """Return a colour that rich can draw, or no colour for any other text."""
    try:
        parsed = Color.parse(color)
    except ColorParseError:
        return ""
    return parsed.name if parsed.triplet is None else parsed.triplet.hex


def columns(count: int, cells: int) -> int:
    """Return the number of columns for `count` debaters: all in a row if legible, else evenly filled rows."""
    most = max(1, min(count, cells // NARROWEST_COLUMN))
    return math.ceil(count / math.ceil(count / most)) if count else 1


def _is_speaking(debate: DebateState, debater: Json) -> bool:
    turn = debate.current(debater["id"])
    return turn is not None and turn.end is None


def _clip_line(line: formatting.Line, cells: int) -> formatting.Line:
    clipped: formatting.Line = []
    for text, style in line:
        room = cells - sum(width(piece) for piece, _ in clipped)
        if room > 0:
            clipped.append((clip(text, room), style))
    return clipped


def _tail(text: str, cells: int) -> str:
    """Return the end of a typed line that fits."""
    while width(text) > cells:
        text = text[1:]
    return text
