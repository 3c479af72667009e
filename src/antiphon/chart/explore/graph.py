"""Graphs of all situations of a machine, found by trying every event once in each of them.

Beside the events of the machine there are those of timers and of children: the next delayed event may arrive,
and a running child may be done, fail, or have a new snapshot. Events take no time, so of two timers the one due
first arrives first. Two situations are the same if their snapshots have the same text and if they have the same
delayed events with the same time left, the same running children and the same history.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, TypedDict, TypeVar, Unpack

from antiphon.chart.configuration import Configuration
from antiphon.chart.errors import EngineError
from antiphon.chart.explore.choices import Choices
from antiphon.chart.explore.identity import as_text, serialize, serialize_hidden
from antiphon.chart.explore.labels import value_label
from antiphon.chart.explore.situation import MachineTurn, Situation, enter, take, take_next
from antiphon.chart.machine import Machine
from antiphon.chart.nodes import Node, Transition
from antiphon.chart.ops import check_event
from antiphon.chart.refs import ActorRef
from antiphon.chart.snapshot import Snapshot
from antiphon.chart.values import matches_descriptor

LIMIT = 10_000
FAILURE = {"name": "Error", "message": "the actor failed"}
Cause = Literal["event", "child", "timer"]
Offer = tuple[Any, Cause]
T = TypeVar("T")


class ExplorationError(EngineError):
    """A machine could not be explored: it has too many situations, or one of its functions raised."""


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


@dataclass(frozen=True, slots=True)
class Edge:
    """An event, the transitions it takes and the key of the situation it leads to."""

    event: Any
    cause: Cause
    target: str
    transitions: tuple[Transition, ...]
    guards: tuple[str, ...] = ()  # that hold, where each may hold or not

    @property
    def effect(self) -> tuple[str, tuple[Transition, ...]]:
        """The situation it leads to, and the transitions."""
        return self.target, self.transitions


@dataclass(slots=True)
class Vertex:
    """A situation with its outgoing edges and the shortest way to it."""

    key: str
    state: str
    situation: Situation
    edges: list[Edge] = field(default_factory=list)
    reached_from: tuple["Vertex", Edge] | None = None

    @property
    def snapshot(self) -> Snapshot[Any]:
        """The snapshot of this situation."""
        return self.situation.snapshot


@dataclass(slots=True)
class Graph:
    """Situations of a machine by key, nearest first, with the states and transitions visited on the way.

    There are several starts if guards, each of which may hold or not, decide about the first states.
    """

    machine: Machine[Any, Any]
    starts: tuple[Vertex, ...]
    vertices: dict[str, Vertex]
    nodes: set[Node]
    transitions: set[Transition]
    offered: set[str]
    taken_at_start: frozenset[Transition]

    @property
    def start(self) -> Vertex:
        """The first situation."""
        return self.starts[0]

    def __iter__(self) -> Iterator[Vertex]:
        return iter(self.vertices.values())

    def __len__(self) -> int:
        return len(self.vertices)


def get_adjacency(machine: Machine[Any, Any], **options: Unpack[Options]) -> Graph:
    """Return every situation of the machine, with the edges between them."""
    return explore(machine, options, lambda graph: False)


def explore(machine: Machine[Any, Any], options: Options, is_enough: Callable[[Graph], bool]) -> Graph:
    """Visit the situations of a machine, nearest first, until all are visited or the graph is enough."""
    explorer = _Explorer(machine, options)
    graph = explorer.graph
    waiting = deque(graph.starts)
    while waiting and not is_enough(graph):
        waiting.extend(explorer.expand(waiting.popleft()))
    return graph


class _Explorer:
    """Tries events in situations and adds the results to a graph."""

    def __init__(self, machine: Machine[Any, Any], options: Options) -> None:
        self.machine = machine
        self.options = options
        self.limit = options.get("limit", LIMIT)
        self.serialize = options.get("serialize", serialize)
        self.stop_when = options.get("stop_when")
        self.events = _event_source(machine, options)
        self._reactions: dict[Configuration, Callable[[str], bool]] = {}
        self.choices = options.get("choices")
        self.graph = self._begin()

    def _begin(self) -> Graph:
        entries = [turns for turns, _ in self._ways(lambda: enter(self.machine, self.options.get("input")))]
        starts = {vertex.key: vertex for vertex in (self._vertex(self._check_turns(turns)) for turns in entries)}
        entered = frozenset(transition for turns in entries for turn in turns for transition in turn.transitions)
        graph = Graph(self.machine, tuple(starts.values()), starts, set(), set(), set(), entered)
        for turns in entries:
            _note(graph, turns)
        return graph

    def _ways(self, compute: Callable[[], T]) -> Iterator[tuple[T, tuple[str, ...]]]:
        """Yield the result of a computation, or its results in all ways that guards can answer."""
        if self.choices is None:
            yield compute(), ()
        else:
            yield from self.choices.ways(compute)

    def expand(self, vertex: Vertex) -> Iterator[Vertex]:
        """Try every event in a situation and yield the situations that are new."""
        if vertex.situation.is_over or (self.stop_when is not None and self.stop_when(vertex.snapshot)):
            return
        for event, cause in self._offers(vertex.situation):
            self.graph.offered.add(event["type"])
            for turns, guards in self._ways(partial(self._try, vertex.situation, event, cause)):
                reached = None if turns is None else self._connect(vertex, event, cause, turns, guards)
                if reached is not None:
                    yield reached

    def _connect(
        self, vertex: Vertex, event: Any, cause: Cause, turns: list[MachineTurn], guards: tuple[str, ...]
    ) -> Vertex | None:
        """Add an edge for an event; return the situation it leads to if that is new."""
        reached = self._vertex(self._check_turns(turns))
        edge = Edge(event, cause, reached.key, _note(self.graph, turns), guards)
        if guards and edge.effect in [other.effect for other in vertex.edges]:
            return None  # another way through the guards led to the same
        vertex.edges.append(edge)
        if reached.key in self.graph.vertices:
            return None
        reached.reached_from = (vertex, edge)
        self._admit(reached)
        return reached

    def _try(self, situation: Situation, event: Any, cause: Cause) -> list[MachineTurn] | None:
        if cause == "timer":
            return take_next(self.machine, situation)
        turns = take(self.machine, situation, event)
        after = turns[-1].situation
        # An event without a reaction leads nowhere, unless it says that a child has ended.
        idle = after.snapshot is situation.snapshot and not any(turn.transitions for turn in turns)
        return None if idle and after.working == situation.working else turns

    def _offers(self, situation: Situation) -> Iterator[Offer]:
        reacts = self._reaction(situation.snapshot.configuration)
        for event in self.events(situation.snapshot):
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
            for output in _child_values(self.options.get("outputs"), ref, None):
                yield {"type": done, "output": output, "actorId": ref.id}
        for failure in _child_values(self.options.get("errors"), ref, FAILURE):
            yield {"type": error, "error": failure, "actorId": ref.id}
        if ref.sync_snapshot and reacts(news):
            for snapshot in _child_values(self.options.get("snapshots"), ref, None):
                yield {"type": news, "snapshot": snapshot}

    def _vertex(self, situation: Situation) -> Vertex:
        state = self.serialize(situation.snapshot)
        return Vertex(state + serialize_hidden(situation), state, situation)

    def _admit(self, vertex: Vertex) -> None:
        if len(self.graph) >= self.limit:
            raise ExplorationError(_limit_message(self.machine.id, self.limit, self.graph))
        self.graph.vertices[vertex.key] = vertex

    def _check_turns(self, turns: list[MachineTurn]) -> Situation:
        """Return the situation after the turns; raise ExplorationError if a function of the machine raised."""
        for turn in turns:
            if turn.error is not None:
                where = value_label(turn.situation.snapshot.value) or "the root"
                raise ExplorationError(
                    f"{self.machine.id}: the event {turn.event!r} in {where} raised {turn.error!r}; give such events "
                    "what they need with payloads, outputs or input, or leave them out of events"
                ) from turn.error
        return turns[-1].situation


def _note(graph: Graph, turns: list[MachineTurn]) -> tuple[Transition, ...]:
    """Note the states and transitions of some turns; return the transitions."""
    transitions = tuple(dict.fromkeys(transition for turn in turns for transition in turn.transitions))
    graph.transitions.update(transitions)
    for turn in turns:
        for microstep in turn.microsteps:
            graph.nodes.update(microstep.snapshot.nodes)
    return transitions


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


def _limit_message(id: str, limit: int, graph: Graph) -> str:
    contexts = [vertex.snapshot.context for vertex in graph]
    different = Counter({key: len({as_text(context.get(key)) for context in contexts}) for key in contexts[-1]})
    [(key, count)] = different.most_common(1) or [("", 0)]
    cause = f"; context.{key} alone has {count} values" if count > 1 else ""
    return (
        f"{id}: more than {limit} situations{cause}. Tell fewer apart with serialize, end earlier with stop_when, "
        "offer fewer events, or raise limit"
    )
