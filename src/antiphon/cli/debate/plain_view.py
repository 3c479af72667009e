"""Outputs of a debate: the protocol, plain text, the verdict only, and JSON."""

from collections.abc import Mapping
from typing import Any, Literal, Protocol, TextIO

from antiphon.cli.debate import format as formatting
from antiphon.cli.debate.state import DebateState
from antiphon.cli.render.json_output import JsonOutput
from antiphon.cli.render.plain import write
from antiphon.cli.render.text_width import sanitize_line, sanitize_lines, wrap
from antiphon.debate.export import round_title
from antiphon.money import format_usd
from antiphon.threads.activity import Activity

Tone = Literal["note", "error"]
COLUMNS = 100
ASCII = str.maketrans({"█": "#", "░": ".", "·": "-", "…": "~"})


class DebateOutput(Protocol):
    """Shows a debate and its result."""

    is_drawn: bool  # whether it can show the available keys

    def begin(self, debate: DebateState, *, is_resumed: bool) -> None:
        """Start the output of a new or resumed debate."""
        ...

    def handle(self, activity: Activity, debate: DebateState) -> None:
        """Show an activity, after `debate` was updated with it."""
        ...

    def note(self, text: str, tone: Tone = "note") -> None:
        """Show a message that is not part of the journal."""
        ...

    def refresh(self, debate: DebateState, hint: str) -> None:
        """Redraw whatever depends on time; `hint` lists the available keys."""
        ...

    def end(self, debate: DebateState, record: Mapping[str, Any], code: int) -> None:
        """Show the result."""
        ...

    def close(self) -> None:
        """Restore the terminal."""
        ...


class PlainDebateView:
    """Prints each turn with a heading once it is complete; notes go to another file."""

    is_drawn = False

    def __init__(self, out: TextIO, notes: TextIO) -> None:
        self._out = out
        self._notes = notes
        self._last_title: tuple[str, int] | None = None

    def begin(self, debate: DebateState, *, is_resumed: bool) -> None:
        """Print topic, format and debaters."""
        self._write(f"# {sanitize_line(debate.topic)}")
        sides = ", ".join(formatting.heading(debater) for debater in debate.participants)
        self._write(f"{debate.format}: {sides}")
        self.note(f"debate {debate.id}{' (resumed)' if is_resumed else ''}")

    def handle(self, activity: Activity, debate: DebateState) -> None:
        """Print complete turns, interjections, warnings and errors."""
        facts = activity.facts
        match activity.kind:
            case "turn_ended" if facts["end"] == "whole":
                self._write_turn(debate, facts["participantId"])
            case "round_recorded":
                for failure in formatting.failures(facts["round"], debate):
                    self.note(failure, "error")
            case "reply_cut":
                self.note(formatting.cut_line(activity, debate), "error")
            case "interjection":
                self._write(f"\n> From the audience: {sanitize_line(facts['text'])}")
            case "cost_warning":
                self.note(f"warning: {format_usd(facts['warning']['currentCost'])} spent")
            case "judging":
                self.note(formatting.state_line(debate)[0])
            case "status" if debate.is_resting and debate.state == "paused":
                self.note(formatting.state_line(debate)[0])
            case "error":
                self.note(formatting.state_line(debate)[0], "error")

    def note(self, text: str, tone: Tone = "note") -> None:
        """Print a line to the notes."""
        write(self._notes, sanitize_lines(text) + "\n")

    def refresh(self, debate: DebateState, hint: str) -> None:
        """Do nothing: turns are printed when they are complete."""

    def end(self, debate: DebateState, record: Mapping[str, Any], code: int) -> None:
        """Print the verdict and the summary."""
        if debate.verdict is not None:
            self._write("\n## Verdict\n")
            write_verdict(self._out, debate)
        self.note(formatting.summary(debate))
        self.note(next_step(debate))

    def close(self) -> None:
        """Do nothing: there is no terminal state."""

    def _write_turn(self, debate: DebateState, participant: str) -> None:
        turn = debate.turns[participant]
        place = (turn.phase, turn.number)
        if place != self._last_title:
            self._last_title = place
            self._write(f"\n## {round_title({'phase': turn.phase, 'roundNumber': turn.number})}")
        debater = next(debater for debater in debate.participants if debater["id"] == participant)
        self._write(f"\n### {sanitize_line(debater['name'])} ({debater['position']})\n")
        self._write(sanitize_lines(turn.text).strip())

    def _write(self, text: str) -> None:
        write(self._out, text + "\n")


class QuietDebateView:
    """Prints only the verdict; errors go to another file."""

    is_drawn = False

    def __init__(self, out: TextIO, notes: TextIO) -> None:
        self._out = out
        self._notes = notes

    def begin(self, debate: DebateState, *, is_resumed: bool) -> None:
        """Ignore it."""

    def handle(self, activity: Activity, debate: DebateState) -> None:
        """Print errors and cut turns, ignore everything else."""
        if activity.kind == "error":
            self.note(formatting.state_line(debate)[0], "error")
        elif activity.kind == "reply_cut":
            self.note(formatting.cut_line(activity, debate), "error")

    def note(self, text: str, tone: Tone = "note") -> None:
        """Print errors, ignore other notes."""
        if tone == "error":
            write(self._notes, sanitize_lines(text) + "\n")

    def refresh(self, debate: DebateState, hint: str) -> None:
        """Ignore it."""

    def end(self, debate: DebateState, record: Mapping[str, Any], code: int) -> None:
        """Print the verdict, or how to continue."""
        if debate.verdict is not None:
            write_verdict(self._out, debate)
        else:
            self.note(next_step(debate), "error")

    def close(self) -> None:
        """Do nothing: there is no terminal state."""


class JsonDebateView:
    """Prints each activity as a JSON object, and the result as the last one."""

    is_drawn = False

    def __init__(self, out: TextIO) -> None:
        self._json = JsonOutput(out)

    def begin(self, debate: DebateState, *, is_resumed: bool) -> None:
        """Do nothing: the activities tell."""

    def handle(self, activity: Activity, debate: DebateState) -> None:
        """Write the activity."""
        self._json.activity(activity)

    def note(self, text: str, tone: Tone = "note") -> None:
        """Ignore it."""

    def refresh(self, debate: DebateState, hint: str) -> None:
        """Ignore it."""

    def end(self, debate: DebateState, record: Mapping[str, Any], code: int) -> None:
        """Write the result as the last line."""
        facts = {"debate": debate.id, "status": debate.status, "outcome": debate.outcome}
        self._json.end({**facts, "exit": code, "result": dict(record)})

    def close(self) -> None:
        """Do nothing: there is no terminal state."""


def write_verdict(out: TextIO, debate: DebateState, cells: int = COLUMNS) -> None:
    """Write the verdict as text: winner, scores with bars, and reasoning."""
    is_plain = not (out.encoding or "utf-8").lower().startswith("utf")
    lines = [formatting.decision(debate), ""]
    lines += [formatting.text_of(row).rstrip() for row in formatting.score_table(debate, cells)]
    for evaluation in formatting.format_evaluations(debate):
        lines += ["", *wrap(sanitize_line(evaluation), cells)]
    for paragraph in str((debate.verdict or {})["reasoning"]).split("\n"):
        lines += ["", *wrap(paragraph, cells)] if paragraph.strip() else []
    lines += ["", references] if (references := formatting.format_references(debate)) else []
    text = "\n".join(map(sanitize_lines, lines)) + "\n"
    write(out, text.translate(ASCII) if is_plain else text)


def next_step(debate: DebateState) -> str:
    """Return a hint on how to show, export or continue the debate."""
    place = debate.place
    if debate.is_over:
        return f"show it with: antiphon debates show {place}; export it with: antiphon debates export {place}"
    if debate.is_at_cost_limit:
        return f"continue with: antiphon debate --resume {place} --limit USD"
    if debate.state == "error" and not debate.can_retry:
        return f"show it with: antiphon debates show {place}"
    return f"continue with: antiphon debate --resume {place}"
