"""Where a debate is shown: as plain text, turn by turn; only its verdict; or as JSON for programs."""

from collections.abc import Mapping
from typing import Any, Literal, Protocol, TextIO

from antiphon.cli.debate import format as words
from antiphon.cli.debate.state import Stage
from antiphon.cli.render.json_output import JsonOutput
from antiphon.cli.render.plain import write
from antiphon.cli.render.text_width import harmless, harmless_lines, wrap
from antiphon.debate.export import round_title
from antiphon.money import format_usd
from antiphon.threads.activity import Activity

Tone = Literal["note", "error"]
COLUMNS = 100
ASCII = str.maketrans({"█": "#", "░": ".", "·": "-", "…": "~"})


class DebateShow(Protocol):
    """Shows what happens in a debate, and how it ended."""

    is_drawn: bool  # whether keys can be offered below it

    def begin(self, stage: Stage, *, is_resumed: bool) -> None:
        """A debate begins, or goes on."""
        ...

    def take(self, activity: Activity, stage: Stage) -> None:
        """Something happened, and the stage knows of it."""
        ...

    def note(self, said: str, tone: Tone = "note") -> None:
        """Something about the debate that is not in its journal."""
        ...

    def refresh(self, stage: Stage, hint: str) -> None:
        """Some time has passed; the hint says what can be done now."""
        ...

    def end(self, stage: Stage, debate: Mapping[str, Any], code: int) -> None:
        """Nothing more will happen."""
        ...

    def close(self) -> None:
        """Give the terminal back, whatever went wrong."""
        ...


class PlainDebate:
    """Each turn whole and labelled once it is over, one after the other; what is about it goes elsewhere."""

    is_drawn = False

    def __init__(self, out: TextIO, notes: TextIO) -> None:
        self._out, self._notes = out, notes
        self._titled: tuple[str, int] | None = None

    def begin(self, stage: Stage, *, is_resumed: bool) -> None:
        """Say what it is about, and who takes part."""
        self._say(f"# {harmless(stage.topic)}")
        sides = ", ".join(words.heading(one) for one in stage.participants)
        self._say(f"{stage.format}: {sides}")
        self.note(f"debate {stage.id}{' goes on' if is_resumed else ''}")

    def take(self, activity: Activity, stage: Stage) -> None:
        """Show a turn that is over, and what is worth a line."""
        facts = activity.facts
        match activity.kind:
            case "turn_ended" if facts["end"] == "whole":
                self._tell_turn(stage, facts["participantId"])
            case "round_recorded":
                for failure in words.failures(facts["round"], stage):
                    self.note(failure, "error")
            case "interjection":
                self._say(f"\n> From the audience: {harmless(facts['text'])}")
            case "cost_warning":
                self.note(f"warning: {format_usd(facts['warning']['currentCost'])} are spent")
            case "judging":
                self.note(words.state_line(stage)[0])
            case "status" if stage.is_resting and stage.state == "paused":
                self.note(words.state_line(stage)[0])
            case "error":
                self.note(words.state_line(stage)[0], "error")

    def note(self, said: str, tone: Tone = "note") -> None:
        """A line beside the debate."""
        write(self._notes, harmless_lines(said) + "\n")

    def refresh(self, stage: Stage, hint: str) -> None:
        """Nothing: what came is shown."""

    def end(self, stage: Stage, debate: Mapping[str, Any], code: int) -> None:
        """The verdict, and what it took."""
        if stage.verdict is not None:
            self._say("\n## Verdict\n")
            tell_verdict(self._out, stage)
        self.note(words.summary(stage))
        self.note(next_step(stage))

    def close(self) -> None:
        """Nothing: text leaves no traces."""

    def _tell_turn(self, stage: Stage, participant: str) -> None:
        turn = stage.turns[participant]
        place = (turn.phase, turn.number)
        if place != self._titled:
            self._titled = place
            self._say(f"\n## {round_title({'phase': turn.phase, 'roundNumber': turn.number})}")
        who = next(one for one in stage.participants if one["id"] == participant)
        self._say(f"\n### {harmless(who['name'])} ({who['position']})\n\n{harmless_lines(turn.text).strip()}")

    def _say(self, text: str) -> None:
        write(self._out, text + "\n")


class QuietDebate:
    """Nothing but the verdict; what went wrong goes elsewhere."""

    is_drawn = False

    def __init__(self, out: TextIO, notes: TextIO) -> None:
        self._out, self._notes = out, notes

    def begin(self, stage: Stage, *, is_resumed: bool) -> None:
        """Nothing."""

    def take(self, activity: Activity, stage: Stage) -> None:
        """Nothing, unless it failed."""
        if activity.kind == "error":
            self.note(words.state_line(stage)[0], "error")

    def note(self, said: str, tone: Tone = "note") -> None:
        """Only what went wrong."""
        if tone == "error":
            write(self._notes, harmless_lines(said) + "\n")

    def refresh(self, stage: Stage, hint: str) -> None:
        """Nothing."""

    def end(self, stage: Stage, debate: Mapping[str, Any], code: int) -> None:
        """The verdict, or how to go on."""
        if stage.verdict is not None:
            tell_verdict(self._out, stage)
        else:
            self.note(next_step(stage), "error")

    def close(self) -> None:
        """Nothing: text leaves no traces."""


class JsonDebate:
    """Everything that happens, one JSON object a line; the last has the result."""

    is_drawn = False

    def __init__(self, out: TextIO) -> None:
        self._json = JsonOutput(out)

    def begin(self, stage: Stage, *, is_resumed: bool) -> None:
        """Nothing: the journal tells."""

    def take(self, activity: Activity, stage: Stage) -> None:
        """Write what happened."""
        self._json.activity(activity)

    def note(self, said: str, tone: Tone = "note") -> None:
        """Nothing."""

    def refresh(self, stage: Stage, hint: str) -> None:
        """Nothing."""

    def end(self, stage: Stage, debate: Mapping[str, Any], code: int) -> None:
        """Write how it ended; the last line."""
        facts = {"debate": stage.id, "status": stage.status, "outcome": stage.outcome}
        self._json.end({**facts, "exit": code, "result": dict(debate)})

    def close(self) -> None:
        """Nothing: text leaves no traces."""


def tell_verdict(out: TextIO, stage: Stage, cells: int = COLUMNS) -> None:
    """The verdict as text: who has won, scores with bars, and why."""
    is_plain = not (out.encoding or "utf-8").lower().startswith("utf")
    lines = [words.decision(stage), ""]
    lines += [words.text_of(row).rstrip() for row in words.score_table(stage, cells)]
    for paragraph in str((stage.verdict or {})["reasoning"]).split("\n"):
        lines += ["", *wrap(paragraph, cells)] if paragraph.strip() else []
    lines += ["", found] if (found := words.references(stage)) else []
    text = "\n".join(map(harmless_lines, lines)) + "\n"
    write(out, text.translate(ASCII) if is_plain else text)


def next_step(stage: Stage) -> str:
    """What can be done with a debate that nobody watches any more."""
    if stage.is_over:
        return f"antiphon debates show {stage.id} prints it again, export writes it into a file"
    if stage.is_out_of_money:
        return f"antiphon debate --resume {stage.id} --limit USD goes on with more money"
    if stage.state == "error" and not stage.can_retry:
        return f"antiphon debates show {stage.id} prints what was said"
    return f"antiphon debate --resume {stage.id} goes on with it"
