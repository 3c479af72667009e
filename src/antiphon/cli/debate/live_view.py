"""A debate on a terminal that can be drawn on: rounds that are over stay, and those who speak stand side by side."""

import math
import time
from collections.abc import Callable, Mapping
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.markdown import Markdown
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from antiphon.cli.debate import format as words
from antiphon.cli.debate.plain_view import Tone, next_step
from antiphon.cli.debate.state import Stage
from antiphon.cli.render.text_width import clip, harmless, harmless_lines, width, wrap
from antiphon.debate.export import failure_reason, interjections, round_title
from antiphon.money import format_usd
from antiphon.threads.activity import Activity

Json = Mapping[str, Any]
REFRESH_S = 0.1
NARROWEST_COLUMN = 34
FEWEST_LINES, MOST_LINES = 3, 16
MOST_GROWING = 6_000  # characters of a turn that are laid out again and again
NOTES = 2  # interjections that stay in sight
STYLES = {
    "strong": "bold", "quiet": "dim", "rule": "dim", "now": "dark_orange3", "done": "green", "held": "magenta",
    "warn": "bold dark_orange3", "wrong": "bold red",
}  # fmt: skip


class Arena:
    """Draws on a console; a refresh costs about the same however long the debate is."""

    is_drawn = True

    def __init__(self, console: Console, *, now: Callable[[], float] = time.time) -> None:
        self._console, self._now = console, now
        self._live: Live | None = None
        self._drawn = 0.0
        self._hint = ""
        self._printed: set[tuple[str, int]] = set()
        self._colors: dict[str, str] = {}

    def begin(self, stage: Stage, *, is_resumed: bool) -> None:
        """The topic, who takes part, and what was said before."""
        self._colors = {one["id"]: one["color"] for one in stage.participants}
        sides = [words.heading(one) for one in stage.participants]
        judge = f"judge {words.model_name(stage.judge['model'])}"
        self._console.print(Text(harmless(stage.topic), style="bold"))
        self._console.print(Text(" — ".join([stage.format, *sides, judge]), style="dim"))
        self._console.print(Text(f"debate {stage.id}{' goes on' if is_resumed else ''}", style="dim"))
        for one in stage.rounds:
            self._print_round(stage, one)
        self._live = Live(
            console=self._console,
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
            vertical_overflow="crop",
        )
        self._live.start()

    def take(self, activity: Activity, stage: Stage) -> None:
        """Let stay what is over."""
        match activity.kind:
            case "round_recorded":
                self._print_round(stage, activity.facts["round"])
            case "error":
                text, style = words.state_line(stage)
                self._print(Text(harmless(text), style=STYLES[style]))
            case "cost_warning":
                spent = format_usd(activity.facts["warning"]["currentCost"])
                self._print(Text(f"warning: {spent} are spent", style=STYLES["warn"]))

    def note(self, said: str, tone: Tone = "note") -> None:
        """A line above what is drawn."""
        self._print(Text(harmless_lines(said), style="bold red" if tone == "error" else "dim"))

    def refresh(self, stage: Stage, hint: str) -> None:
        """Draw what changes, ten times a second at most, and at once when somebody types."""
        now = self._now()
        if self._live is not None and (now - self._drawn >= REFRESH_S or hint != self._hint):
            self._drawn, self._hint = now, hint
            self._live.update(self._picture(stage, hint, round(now * 1000)), refresh=True)

    def end(self, stage: Stage, debate: Json, code: int) -> None:
        """The verdict, and what it took, where everything was drawn."""
        self.close()
        if stage.verdict is not None:
            self._print(Rule(Text("Verdict", style="bold"), align="left", style="dim"))
            self._print(Text(harmless(words.decision(stage)), style="bold"))
            self._print(*(self._painted(row) for row in words.score_table(stage, self._console.width - 1)))
            self._print(Markdown(harmless_lines(str(stage.verdict["reasoning"])), hyperlinks=False))
            if found := words.references(stage):
                self._print(Text(harmless(found), style="dim"))
        self._print(self._painted(words.track(stage, self._console.width - 1)))
        self._print(Text(words.summary(stage), style="dim"), Text(next_step(stage), style="dim"))

    def close(self) -> None:
        """Give the terminal back."""
        if self._live is not None:
            self._live.update(Text(""))
            self._live.stop()
            self._live = None

    def _picture(self, stage: Stage, hint: str, now: int) -> RenderableType:
        cells = self._console.width - 1
        about: list[words.Line] = [words.track(stage, cells), words.meter(stage, cells)]
        about += [line] if (line := words.quality(stage)) else []
        about += [[line_of_state]] if (line_of_state := words.state_line(stage))[0] else []
        for one in stage.interjections[-NOTES:]:
            about.append([("» ", "strong"), (harmless(one["text"]), "")])
        lines = [self._painted(_clipped(line, cells)) for line in about]
        below = [_tail(hint, cells)] if "▌" in hint else wrap(hint, cells)
        hints = [Text(line, style="bold" if "▌" in line else "dim") for line in below]
        room = self._console.height - len(lines) - len(hints) - 1
        return Group(*lines, *self._seats(stage, room, now), *hints)

    def _seats(self, stage: Stage, room: int, now: int) -> list[RenderableType]:
        """The debaters in columns, or below each other where there is no room for that."""
        if stage.is_recorded(*stage.step()) or stage.step()[0] == "verdict" or stage.state == "idle":
            return []
        across = columns(len(stage.participants), self._console.width)
        if across == 1:
            return self._stacked(stage, room, now)
        rows = [stage.participants[at : at + across] for at in range(0, len(stage.participants), across)]
        height = max(FEWEST_LINES, min(MOST_LINES, room // len(rows) - 2))
        grid = Table.grid(expand=True)
        for _ in range(across):
            grid.add_column(ratio=1)
        for row in rows:
            cells = self._console.width // across - 4
            texts = [self._lines(stage, one, cells, height) for one in row]
            tallest = max(FEWEST_LINES, *map(len, texts))
            grid.add_row(*(self._panel(stage, one, text, tallest, now) for one, text in zip(row, texts, strict=True)))
        return [grid]

    def _stacked(self, stage: Stage, room: int, now: int) -> list[RenderableType]:
        speaking = [one for one in stage.participants if (turn := stage.current(one["id"])) and turn.end is None]
        open_ones = speaking or [one for one in stage.participants if stage.current(one["id"])][-1:]
        folded = len(stage.participants) - len(open_ones)
        height = max(FEWEST_LINES, min(MOST_LINES, (room - folded) // max(1, len(open_ones)) - 2))
        shown: list[RenderableType] = []
        for one in stage.participants:
            if one in open_ones:
                text = self._lines(stage, one, self._console.width - 4, height)
                shown.append(self._panel(stage, one, text, max(FEWEST_LINES, len(text)), now))
            else:
                doing, style = words.doing(stage, stage.current(one["id"]), now)
                line: words.Line = [(f"  {words.heading(one)}", f"side:{one['id']}"), (f"  {doing}", style)]
                shown.append(self._painted(_clipped(line, self._console.width - 1)))
        return shown

    def _lines(self, stage: Stage, one: Json, cells: int, height: int) -> list[str]:
        turn = stage.current(one["id"])
        text = harmless_lines(turn.text[-MOST_GROWING:]) if turn else ""
        lines = [line for part in text.splitlines() for line in (wrap(part, cells) or [""])]
        if turn is not None and turn.end is None and not turn.is_thinking:
            lines = [*lines[:-1], f"{lines[-1]}▌"] if lines and width(lines[-1]) < cells else [*lines, "▌"]
        return lines[-height:]

    def _panel(self, stage: Stage, one: Json, lines: list[str], height: int, now: int) -> Panel:
        turn = stage.current(one["id"])
        doing, style = words.doing(stage, turn, now)
        is_speaking = turn is not None and turn.end is None
        color = self._colors[one["id"]]
        return Panel(
            Text("\n".join(lines), no_wrap=True, overflow="crop"),
            title=Text(words.heading(one), style=f"bold {color}"),
            title_align="left",
            subtitle=Text(doing, style=STYLES[style]) if doing else None,
            subtitle_align="left",
            border_style=color if is_speaking else "dim",
            height=height + 2,
        )

    def _print_round(self, stage: Stage, one: Json) -> None:
        place = (one["phase"], one["roundNumber"])
        if place in self._printed:
            return
        self._printed.add(place)
        shown: list[RenderableType] = [Rule(Text(round_title(one), style="bold"), align="left", style="dim")]
        across = columns(len(one["responses"]), self._console.width)
        for at in range(0, len(one["responses"]), across):
            grid = Table.grid(expand=True, padding=(0, 3, 0, 0))
            for _ in range(across):
                grid.add_column(ratio=1)
            grid.add_row(*(self._said_by(stage, said) for said in one["responses"][at : at + across]))
            shown += [grid, Text("")]
        for note in interjections({"interjections": stage.interjections}, one):
            shown += [Text(f"» {harmless(note['text'])}"), Text("")]
        self._print(*shown)

    def _said_by(self, stage: Stage, said: Json) -> RenderableType:
        id = said["participantId"]
        who = next(one for one in stage.participants if one["id"] == id)
        name = Text(words.heading(who), style=f"bold {self._colors[id]}")
        if said.get("failed"):
            return Group(name, Text(harmless(f"did not answer: {failure_reason(said)}"), style=STYLES["wrong"]))
        facts = f"{said['tokensUsed']:,} tokens · {format_usd(said['cost'])} · {said['latencyMs'] / 1000:.1f} s"
        text = Markdown(harmless_lines(said["content"]), hyperlinks=False)
        return Group(name, text, Text(facts, style="dim"))

    def _print(self, *shown: RenderableType) -> None:
        """Let something stay above what is drawn, and have that drawn again at once."""
        self._console.print(Group(*shown))
        self._drawn = 0.0

    def _painted(self, line: words.Line) -> Text:
        pieces = [(text, self._style(style)) for text, style in line if text]
        return Text.assemble(*pieces, no_wrap=True, overflow="crop")

    def _style(self, name: str) -> str:
        if name.startswith("side:"):
            return self._colors.get(name.removeprefix("side:"), "")
        return STYLES.get(name, "")


def columns(count: int, cells: int) -> int:
    """How many debaters stand side by side: all if they can be read so, else as many in each row."""
    most = max(1, min(count, cells // NARROWEST_COLUMN))
    return math.ceil(count / math.ceil(count / most)) if count else 1


def _clipped(line: words.Line, cells: int) -> words.Line:
    shown: words.Line = []
    for text, style in line:
        room = cells - sum(width(piece) for piece, _ in shown)
        if room > 0:
            shown.append((clip(text, room), style))
    return shown


def _tail(text: str, cells: int) -> str:
    """The end of a line that is being typed."""
    while width(text) > cells:
        text = text[1:]
    return text
