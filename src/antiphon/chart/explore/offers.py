"""Events that may come in a situation: those of the machine, of its running children, and of the next timer."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypedDict

from antiphon.chart.configuration import Configuration
from antiphon.chart.explore.choices import Choices
from antiphon.chart.explore.situation import Situation
from antiphon.chart.machine import Machine
from antiphon.chart.ops import check_event
from antiphon.chart.refs import ActorRef
from antiphon.chart.snapshot import Snapshot
from antiphon.chart.values import matches_descriptor

FAILURE = {"name": "Error", "message": "the actor failed"}
Cause = Literal["event", "child", "timer"]
Offer = tuple[Any, Cause]


class Options(TypedDict, total=False):
    """Options of an exploration."""

    # The events to try: a list, or a function of the snapshot. By default one of each type that the
    # machine reacts to, with the payloads of that type.
    events: Sequence[Any] | Callable[[Snapshot[Any]], Iterable[Any]]
    payloads: Mapping[str, Sequence[Mapping[str, Any]]]
    # Results of children, by id or by the name of their logic; by default one output of None, one failure.
    outputs: Mapping[str, Sequence[Any]]
    errors: Mapping[str, Sequence[Any]]
    snapshots: Mapping[str, Sequence[Any]]
    input: Any
    # Two snapshots with the same text are the same; by default the text has status, value and context.
    serialize: Callable[[Snapshot[Any]], str]
    # Snapshots that are not explored further.
    stop_when: Callable[[Snapshot[Any]], bool]
    # The maximum number of situations.
    limit: int
    # Answers of the guards of a machine of `open_guards`: every way is tried.
    choices: Choices


class Offers:
    """The events that may come in the situations of a machine."""

    def __init__(self, machine: Machine[Any, Any], options: Options) -> None:
        self._options = options
        self._events = _event_source(machine, options)
        self._reactions: dict[Configuration, Callable[[str], bool]] = {}

    def at(self, situation: Situation) -> Iterator[Offer]:
        """Yield the events that may come in a situation, each with its cause."""
        reacts = self._reaction(situation.snapshot.configuration)
        for event in self._events(situation.snapshot):
            sent = {"type": event} if isinstance(event, str) else check_event(event)
            if reacts(sent["type"]):
                yield sent, "event"
        for ref in situation.working:
            for event in self._child_events(ref, reacts):
                yield event, "child"
        if situation.pending.next is not None:
            yield situation.pending.next.event, "timer"

    def _reaction(self, configuration: Configuration) -> Callable[[str], bool]:
        """Return a test of event types for these active states: most types do nothing there and need no trying."""
        reaction = self._reactions.get(configuration)
        if reaction is None:
            reaction = self._reactions[configuration] = _reaction(configuration)
        return reaction

    def _child_events(self, ref: ActorRef, reacts: Callable[[str], bool]) -> Iterator[Any]:
        """Yield the events that a child may cause; done and snapshot events only if a state reacts to them."""
        done, error, news = (f"xstate.{word}.{ref.id}" for word in ("done.actor", "error.actor", "snapshot"))
        if reacts(done):
            for output in _child_values(self._options.get("outputs"), ref, None):
                yield {"type": done, "output": output, "actorId": ref.id}
        for failure in _child_values(self._options.get("errors"), ref, FAILURE):
            yield {"type": error, "error": failure, "actorId": ref.id}
        if ref.sync_snapshot and reacts(news):
            for snapshot in _child_values(self._options.get("snapshots"), ref, None):
                yield {"type": news, "snapshot": snapshot}


def _event_source(machine: Machine[Any, Any], options: Options) -> Callable[[Snapshot[Any]], Iterable[Any]]:
    events = options.get("events")
    if callable(events):
        return events
    fixed = known_events(machine, options) if events is None else list(events)
    return lambda snapshot: fixed


def known_events(machine: Machine[Any, Any], options: Options) -> list[Any]:
    """Return one event of each type the machine reacts to, or one for each payload of that type."""
    payloads = options.get("payloads") or {}
    events: list[Any] = []
    for type in dict.fromkeys(type for node in machine.root.walk() for type in node.on):
        if not type.startswith("xstate."):
            events.extend({**payload, "type": type} for payload in payloads.get(type, ({},)))
    events.extend(
        {"type": "xstate.route", "to": f"#{node.id}"}
        for node in machine.root.walk()
        if node.config.get("route") is not None and node.config.get("id")
    )
    return events


def _reaction(configuration: Configuration) -> Callable[[str], bool]:
    # The guard of an eventless transition may look at an event that nothing else reacts to.
    if configuration.has_always:
        return lambda event_type: True
    exact = {descriptor for node in configuration.nodes for descriptor in node.on}
    wild = [descriptor for descriptor in exact if descriptor.endswith("*")]
    return lambda event_type: event_type in exact or any(matches_descriptor(event_type, star) for star in wild)


def _child_values(values: Mapping[str, Sequence[Any]] | None, ref: ActorRef, default: Any) -> Sequence[Any]:
    if values is None:
        return (default,)
    if ref.id in values:
        return values[ref.id]
    return values.get(ref.src, (default,)) if isinstance(ref.src, str) else (default,)
