"""The live picture of an actor: its states, its last events, its context and the text that grows in it.

A frame is a list of lines that fit the terminal; colours are marked by style names and painted by the screen.
"""

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from antiphon.chart.explore.labels import EventLabels
from antiphon.chart.machine import Machine
from antiphon.chart.text import Text
from antiphon.chart.transition import get_next_transitions
from antiphon.cli.play.feed import Step
from antiphon.cli.play.lines import error_text, state_text, value_text
from antiphon.cli.play.outline import OutlineLine, outline
from antiphon.cli.render.text_width import clip, harmless, pad, width, wrap

# A piece of a line with the name of its style.
Piece = tuple[str, str]
Line = list[Piece]
TWO_COLUMNS, LONG_TEXT, KEPT = 64, 48, 60


@dataclass(slots=True)
class Happening:
    """An event in the list of last events; the same again only counts."""

    at_ms: float
    label: str
    where: str
    moved: bool
    times: int = 1


@dataclass(slots=True)
class Picture:
    """What there is to show."""

    machine: Machine[Any, Any]
    step: Step | None = None
    now_ms: float = 0
    problem: str | None = None
    happened: deque[Happening] = field(default_factory=lambda: deque(maxlen=KEPT))

    def add(self, step: Step) -> None:
        """Take in one more step."""
        before = None if self.step is None else self.step.snapshot.configuration
        self.step, self.now_ms = step, step.at_ms
        moved, where = before is not step.snapshot.configuration, harmless(state_text(step))
        if step.snapshot.error is not None:
            self.problem = error_text(step)
        last = self.happened[-1] if self.happened else None
        label = harmless(step.title)
        if last is not None and last.label == label and not moved and not last.moved:
            last.times += 1
        else:
            self.happened.append(Happening(step.at_ms, label, where, moved))

    def frame(self, columns: int, rows: int) -> list[Line]:
        """The lines of the picture for a terminal of this size."""
        if self.step is None:
            return []
        texts = _texts(self.step.snapshot.context)
        facts = self._facts(columns, texts)
        room = _room(columns, rows, sum(1 for _ in self.machine.root.walk()), len(facts), bool(texts))
        lines = [self._header(columns), *self._states_and_events(columns, room), self._next(columns)]
        if room.facts:
            lines.extend([_title("context", columns), *facts])
        if room.text:
            key, text = texts[-1]
            lines.extend([_title(key, columns), *_tail(text, columns, room.text)])
        return lines

    def _header(self, columns: int) -> Line:
        assert self.step is not None
        left, right = f"  {harmless(self.machine.id)}", f"{self.step.snapshot.status} {self.now_ms / 1000:7.1f} s"
        if columns < 8 + width(left) + 1 + width(right):
            return [(clip(f"antiphon{left}", columns), "brand")]
        gap = " " * (columns - 8 - width(left) - width(right))
        return [("antiphon", "brand"), (left + gap, "strong"), (right, "quiet")]

    def _states_and_events(self, columns: int, room: "_Room") -> list[Line]:
        if columns < TWO_COLUMNS:
            states = [_title("states", columns), *self._states(columns, room.states)]
            events = [_title("events", columns), *self._events(columns, room.events)] if room.events else []
            return states + events
        left = max(28, min(columns * 2 // 5, 44))
        right = columns - left - 2
        states, events = self._states(left, room.states), self._events(right, room.events)
        states += [[(" " * left, "")]] * (room.states - len(states))
        both = [[*a, ("  ", ""), *b] for a, b in zip(states, events, strict=True)]
        return [[*_title("states", left), ("  ", ""), *_title("events", right)], *both]

    def _states(self, cells: int, height: int) -> list[Line]:
        assert self.step is not None
        lines = outline(self.machine.root, self.step.snapshot.configuration.members, height)
        return [_state_line(line, cells) for line in lines]

    def _events(self, cells: int, height: int) -> list[Line]:
        shown = list(self.happened)[-height:]
        lines = [_event_line(event, cells, is_last=event is shown[-1]) for event in shown]
        return lines + [[(" " * cells, "")]] * (height - len(lines))

    def _next(self, columns: int) -> Line:
        assert self.step is not None
        if self.problem is not None:
            return [(clip(harmless(self.problem), columns), "wrong")]
        labels, snapshot = EventLabels(self.machine.root), self.step.snapshot
        known = (
            [labels[one.event_type] for one in get_next_transitions(snapshot)] if snapshot.status == "active" else []
        )
        listed = ", ".join(dict.fromkeys(map(harmless, known))) or "nothing: the machine has ended"
        return [("next  ", "quiet"), (clip(listed, columns - 6), "event")]

    def _facts(self, columns: int, texts: list[tuple[str, str]]) -> list[Line]:
        assert self.step is not None
        context = self.step.snapshot.context
        grown = {key for key, _ in texts[-1:]}
        keys = [key for key in context if key not in grown][:6]
        widest = max((width(harmless(str(key))) for key in keys), default=0)
        return [
            [(pad(harmless(str(key)), widest + 2), "quiet"), (clip(_fact(context[key]), columns - widest - 2), "")]
            for key in keys
        ]


@dataclass(frozen=True, slots=True)
class _Room:
    """How many lines each part of the picture gets."""

    states: int
    events: int
    facts: int
    text: int


def _room(columns: int, rows: int, states: int, facts: int, has_text: bool) -> _Room:
    """Share the rows: states come first, then events, then the context, and a text gets what it needs to be read."""
    room = rows - 3  # header, title of the states, next events
    text = min(8, room // 4) if has_text and room >= 12 else 0
    room -= text + 1 if text else 0
    shown = facts if 0 < facts <= room - 6 else 0
    room -= shown + 1 if shown else 0
    if columns >= TWO_COLUMNS:
        height = min(room, max(states, 10))
        return _Room(height, height, shown, text)
    events = min(8, room - 1 - min(states, room * 2 // 3))
    return _Room(min(states, room - 1 - events), events, shown, text) if events >= 2 else _Room(room, 0, shown, text)


def _state_line(line: OutlineLine, cells: int) -> Line:
    indent, leaf = "  " * line.depth, not line.node.states
    note = f"  ({line.folded} inside)" if line.folded else f"  {line.kind}" if line.kind else ""
    name = clip(harmless(line.node.key), max(4, cells - len(indent) - 2 - len(note)))
    rest = " " * max(0, cells - len(indent) - 2 - width(name) - len(note))
    if line.is_active:
        return [(indent, ""), ("● ", "lit"), (name, "active" if leaf else "strong"), (note + rest, "quiet")]
    return [(indent, ""), ("○ ", "quiet"), (name, "quiet"), (note + rest, "quiet")]


def _event_line(event: Happening, cells: int, is_last: bool) -> Line:
    at = f"{event.at_ms / 1000:6.2f}  "
    label = f"{event.label} ×{event.times}" if event.times > 1 else event.label
    where = f" → {event.where}" if event.moved else ""
    room = max(0, cells - len(at))
    label = clip(label, room)
    where = clip(where, room - width(label))
    rest = " " * max(0, room - width(label) - width(where))
    return [(at, "quiet"), (label, "event" if is_last else ""), (where + rest, "strong" if is_last else "quiet")]


def _title(text: str, cells: int) -> Line:
    title = clip(f"── {harmless(text)} ", cells)
    return [(title + "─" * (cells - width(title)), "rule")]


def _texts(context: dict[str, Any]) -> list[tuple[str, str]]:
    """The texts of a context that need room of their own; the last one is shown."""
    found = [(str(key), value) for key, value in context.items() if isinstance(value, str | Text)]
    return [(key, str(value)) for key, value in found if isinstance(value, Text) or len(value) > LONG_TEXT]


def _tail(text: str, columns: int, height: int) -> list[Line]:
    lines = wrap(text, columns)[-height:] if height > 0 else []
    return [[(line, "")] for line in lines] + [[]] * (height - len(lines))


def _fact(value: Any) -> str:
    return "–" if value is None else harmless(value) if isinstance(value, str) and value else value_text(value)
