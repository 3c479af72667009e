"""The frame that shows an actor: its states, last events, context, and streamed text.

A frame is a list of lines that fit the terminal; pieces carry style names that the screen turns into colours.
"""

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from antiphon.chart.explore.labels import EventLabels
from antiphon.chart.machine import Machine
from antiphon.chart.text import GrowingText
from antiphon.chart.transition import get_next_transitions
from antiphon.cli.play.feed import PlayedStep
from antiphon.cli.play.lines import error_text, state_text, value_text
from antiphon.cli.play.outline import OutlineLine, outline
from antiphon.cli.render.text_width import clip, pad, sanitize_line, width, wrap

# A piece of a line with the name of its style.
Piece = tuple[str, str]
Line = list[Piece]
TWO_COLUMNS = 64  # cells from which states and events are shown side by side
LONG_TEXT = 48  # characters from which a text gets its own part of the frame
MOST_EVENTS = 60


@dataclass(slots=True)
class EventRow:
    """An event in the list of last events, with its number of repetitions."""

    at_ms: float
    label: str
    state: str
    is_change: bool
    times: int = 1


@dataclass(slots=True)
class FrameBuilder:
    """Builds frames from the steps of an actor."""

    machine: Machine[Any, Any]
    step: PlayedStep | None = None
    now_ms: float = 0
    problem: str | None = None
    events: deque[EventRow] = field(default_factory=lambda: deque(maxlen=MOST_EVENTS))

    def add(self, step: PlayedStep) -> None:
        """Add a step."""
        previous = None if self.step is None else self.step.snapshot.configuration
        self.step = step
        self.now_ms = step.at_ms
        is_change = previous is not step.snapshot.configuration
        state = sanitize_line(state_text(step))
        if step.snapshot.error is not None:
            self.problem = error_text(step)
        last = self.events[-1] if self.events else None
        label = sanitize_line(step.title)
        if last is not None and last.label == label and not is_change and not last.is_change:
            last.times += 1
        else:
            self.events.append(EventRow(step.at_ms, label, state, is_change))

    def frame(self, columns: int, rows: int) -> list[Line]:
        """Return the lines of the frame for a terminal of this size."""
        if self.step is None:
            return []
        texts = _texts(self.step.snapshot.live_context)
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
        left = f"  {sanitize_line(self.machine.id)}"
        right = f"{self.step.snapshot.status} {self.now_ms / 1000:7.1f} s"
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
        states = self._states(left, room.states)
        events = self._events(right, room.events)
        states += [[(" " * left, "")]] * (room.states - len(states))
        rows = [[*state, ("  ", ""), *event] for state, event in zip(states, events, strict=True)]
        return [[*_title("states", left), ("  ", ""), *_title("events", right)], *rows]

    def _states(self, cells: int, height: int) -> list[Line]:
        assert self.step is not None
        lines = outline(self.machine.root, self.step.snapshot.configuration.members, height)
        return [_state_line(line, cells) for line in lines]

    def _events(self, cells: int, height: int) -> list[Line]:
        events = list(self.events)[-height:]
        lines = [_event_line(event, cells, is_last=event is events[-1]) for event in events]
        return lines + [[(" " * cells, "")]] * (height - len(lines))

    def _next(self, columns: int) -> Line:
        assert self.step is not None
        if self.problem is not None:
            return [(clip(sanitize_line(self.problem), columns), "wrong")]
        labels = EventLabels(self.machine.root)
        snapshot = self.step.snapshot
        transitions = get_next_transitions(snapshot) if snapshot.status == "active" else ()
        names = [sanitize_line(labels[transition.event_type]) for transition in transitions]
        text = ", ".join(dict.fromkeys(names)) or "none: the machine has ended"
        return [("next  ", "quiet"), (clip(text, columns - 6), "event")]

    def _facts(self, columns: int, texts: list[tuple[str, str]]) -> list[Line]:
        assert self.step is not None
        context = self.step.snapshot.live_context
        separate = {key for key, _ in texts[-1:]}
        keys = [key for key in context if key not in separate][:6]
        widest = max((width(sanitize_line(str(key))) for key in keys), default=0)
        return [
            [(pad(sanitize_line(str(key)), widest + 2), "quiet"), (clip(_fact(context[key]), columns - widest - 2), "")]
            for key in keys
        ]


@dataclass(frozen=True, slots=True)
class _Room:
    """Number of lines of each part of the frame."""

    states: int
    events: int
    facts: int
    text: int


def _room(columns: int, rows: int, states: int, facts: int, has_text: bool) -> _Room:
    """Distribute the rows: first to states, then to events, context and text."""
    room = rows - 3  # header, title of the states, next events
    text = min(8, room // 4) if has_text and room >= 12 else 0
    room -= text + 1 if text else 0
    context = facts if 0 < facts <= room - 6 else 0
    room -= context + 1 if context else 0
    if columns >= TWO_COLUMNS:
        height = min(room, max(states, 10))
        return _Room(height, height, context, text)
    events = min(8, room - 1 - min(states, room * 2 // 3))
    if events < 2:
        return _Room(room, 0, context, text)
    return _Room(min(states, room - 1 - events), events, context, text)


def _state_line(line: OutlineLine, cells: int) -> Line:
    indent = "  " * line.depth
    is_leaf = not line.node.states
    note = f"  ({line.folded} inside)" if line.folded else f"  {line.kind}" if line.kind else ""
    name = clip(sanitize_line(line.node.key), max(4, cells - len(indent) - 2 - len(note)))
    padding = " " * max(0, cells - len(indent) - 2 - width(name) - len(note))
    if line.is_active:
        return [(indent, ""), ("● ", "lit"), (name, "active" if is_leaf else "strong"), (note + padding, "quiet")]
    return [(indent, ""), ("○ ", "quiet"), (name, "quiet"), (note + padding, "quiet")]


def _event_line(event: EventRow, cells: int, is_last: bool) -> Line:
    at = f"{event.at_ms / 1000:6.2f}  "
    label = f"{event.label} ×{event.times}" if event.times > 1 else event.label
    state = f" → {event.state}" if event.is_change else ""
    room = max(0, cells - len(at))
    label = clip(label, room)
    state = clip(state, room - width(label))
    padding = " " * max(0, room - width(label) - width(state))
    return [(at, "quiet"), (label, "event" if is_last else ""), (state + padding, "strong" if is_last else "quiet")]


def _title(text: str, cells: int) -> Line:
    title = clip(f"── {sanitize_line(text)} ", cells)
    return [(title + "─" * (cells - width(title)), "rule")]


def _texts(context: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the long texts of a context, of which the last is shown separately."""
    texts = [(str(key), value) for key, value in context.items() if isinstance(value, str | GrowingText)]
    return [(key, str(value)) for key, value in texts if isinstance(value, GrowingText) or len(value) > LONG_TEXT]


def _tail(text: str, columns: int, height: int) -> list[Line]:
    lines = wrap(text, columns)[-height:] if height > 0 else []
    return [[(line, "")] for line in lines] + [[]] * (height - len(lines))


def _fact(value: Any) -> str:
    return "–" if value is None else sanitize_line(value) if isinstance(value, str) and value else value_text(value)
