"""Playing a chart: a machine and a list of events in, a trace out, with no actor and no clock."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from antiphon.chart.effects import Call, Effect, Emit, Log, Raise, SendTo, SpawnChild, StopChild
from antiphon.chart.errors import EventError
from antiphon.chart.explore.labels import EventLabels, event_label, move_label, value_label
from antiphon.chart.explore.situation import MachineTurn, Situation, enter, take, take_next
from antiphon.chart.machine import Machine
from antiphon.chart.nodes import Transition
from antiphon.chart.snapshot import Snapshot
from antiphon.chart.steps import Microstep
from antiphon.chart.values import matches_descriptor

WIDEST = 48
Row = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TraceEntry:
    """One step of a trace: its time, the event, the microsteps and the snapshot after them."""

    at_ms: float
    event: Any
    microsteps: tuple[Microstep, ...]
    effects: tuple[Effect, ...]
    snapshot: Snapshot[Any]

    @property
    def transitions(self) -> list[tuple[Transition, ...]]:
        """The transitions taken, for each microstep."""
        return [microstep.transitions for microstep in self.microsteps]

    @property
    def value(self) -> Any:
        """The state value after the step."""
        return self.snapshot.value

    @property
    def context(self) -> Any:
        """The context after the step."""
        return self.snapshot.context

    @property
    def status(self) -> str:
        """The machine's status after the step."""
        return self.snapshot.status


@dataclass(frozen=True, slots=True)
class Trace:
    """The steps of a machine that was played; as text, a table."""

    entries: tuple[TraceEntry, ...]
    labels: EventLabels = field(repr=False)

    @property
    def snapshot(self) -> Snapshot[Any]:
        """The last snapshot."""
        return self.entries[-1].snapshot

    def __iter__(self) -> Iterator[TraceEntry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __getitem__(self, index: int) -> TraceEntry:
        return self.entries[index]

    def __str__(self) -> str:
        rows: list[Row] = [("ms", "event", "state", "transitions", "context", "effects")]
        before: dict[str, Any] = {}
        for entry in self.entries:
            rows.append(self._row(entry, before))
            before = entry.context
        return _table(rows)

    def _row(self, entry: TraceEntry, before: dict[str, Any]) -> Row:
        type = entry.event["type"]
        moves = [_move(transition, type) for transitions in entry.transitions for transition in transitions]
        ended = "" if entry.status == "active" else f" ({entry.status})"
        return (
            f"{entry.at_ms:g}",
            "(start)" if type == "xstate.init" else self.labels[type],
            f"{value_label(entry.value)}{ended}",
            "; ".join(moves),
            _changes(before, entry.context),
            ", ".join(filter(None, map(_effect_text, entry.effects))),
        )


def play(machine: Machine[Any, Any], events: Iterable[Any], *, input: Any = None) -> Trace:
    """Run a machine through events and return the trace.

    An event is a type or a mapping; `{"after": ms}` lets simulated time pass, in which delayed events arrive
    when they fall due. Children are not run: send `xstate.done.actor.<id>` for them. An error in a function of
    the machine ends it, as it would end an actor, and events to a machine that has ended do nothing.
    """
    entries: list[TraceEntry] = []
    situation = _note(entries, enter(machine, input))
    for event in events:
        if isinstance(event, Mapping) and "after" in event and "type" not in event:
            situation = _wait(machine, situation, _duration(event["after"]), entries)
            continue
        sent = {"type": event} if isinstance(event, str) else event
        situation = _note(entries, take(machine, situation, sent) or [MachineTurn(sent, situation)])
    return Trace(tuple(entries), EventLabels(machine.root))


def _wait(machine: Machine[Any, Any], situation: Situation, ms: float, entries: list[TraceEntry]) -> Situation:
    until = situation.pending.now + ms
    while (first := situation.pending.next) is not None and first.due <= until:
        situation = _note(entries, take_next(machine, situation))
    return replace(situation, pending=situation.pending.at(until))


def _duration(ms: Any) -> float:
    if isinstance(ms, bool) or not isinstance(ms, int | float) or ms < 0:
        raise EventError(f'{{"after": ms}} takes a number of milliseconds, not {ms!r}')
    return ms


def _note(entries: list[TraceEntry], turns: list[MachineTurn]) -> Situation:
    for turn in turns:
        after = turn.situation
        entries.append(TraceEntry(after.pending.now, turn.event, turn.microsteps, turn.effects, after.snapshot))
    return turns[-1].situation


def _changes(before: dict[str, Any], after: dict[str, Any]) -> str:
    changed = (key for key in after if key not in before or before[key] is not after[key])
    return ", ".join(f"{key}={_text(after[key])}" for key in changed)


def _move(transition: Transition, type: str) -> str:
    moved = move_label(transition)
    if transition.event_type and matches_descriptor(type, transition.event_type):
        return moved
    # Beyond its own event, a step takes eventless transitions and events that the machine raised.
    return f"{event_label(transition.event_type, transition.source)}: {moved}"


def _effect_text(effect: Effect) -> str:
    match effect:
        case Call():
            return effect.type
        case Raise() if effect.delay is None:
            return f"raise {effect.event['type']}"
        case Raise() if effect.event["type"].startswith("xstate.after."):
            return f"wait {effect.delay:g} ms"
        case Raise() | SendTo() if effect.delay is not None:
            return f"send {effect.event['type']} in {effect.delay:g} ms"
        case SendTo():
            return f"send {effect.event['type']} to {getattr(effect.target, 'id', effect.target)}"
        case Emit():
            return f"emit {effect.event['type']}"
        case Log():
            return f"log {_text(effect.value)}"
        case SpawnChild():
            return f"start {effect.ref.id}"
        case StopChild():
            return f"stop {effect.ref.id}"
    return ""  # Cancel and Finish are visible in the states


def _text(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError):
        return repr(value)


def _table(rows: list[Row]) -> str:
    cut = [[cell if len(cell) <= WIDEST else f"{cell[: WIDEST - 1]}…" for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in cut) for column in range(len(cut[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in cut]
    return "\n".join(line.rstrip() for line in lines)
