"""Graphs of all situations of a machine, found by trying every event once in each of them.

Beside the events of the machine there are those of timers and of children: the next delayed event may arrive,
and a running child may be done, fail, or have a new snapshot. Events take no time, so of two timers the one due
first arrives first. Two situations are the same if their snapshots have the same text and if they have the same
delayed events with the same time left, the same running children and the same history.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, TypeVar, Unpack

from antiphon.chart.configuration import Configuration
from antiphon.chart.errors import EngineError
from antiphon.chart.explore.identity import as_text, serialize, serialize_hidden
from antiphon.chart.explore.labels import value_label
from antiphon.chart.explore.offers import Cause, Offers, Options
from antiphon.chart.explore.situation import MachineTurn, Situation, enter, take, take_next
from antiphon.chart.machine import Machine
from antiphon.chart.nodes import Node, Transition
from antiphon.chart.snapshot import Snapshot

LIMIT = 10_000
T = TypeVar("T")


class ExplorationError(EngineError):
    """A machine could not be explored: it has too many situations, or one of its functions raised."""


class EdgeStep(NamedTuple):
    """Transitions that are taken together, in one microstep, and the states that are active after it."""

    transitions: tuple[Transition, ...]
    configuration: Configuration


@dataclass(frozen=True, slots=True)
class Edge:
    """An event, the transitions it takes and the key of the situation it leads to."""

    event: Any
    cause: Cause
    target: str
    transitions: tuple[Transition, ...]
    guards: tuple[str, ...] = ()  # that hold, where each may hold or not
    steps: tuple[EdgeStep, ...] = ()  # the microsteps that take transitions, in order

    @property
    def effect(self) -> tuple[str, tuple[tuple[Transition, ...], ...]]:
        """The situation it leads to, and the transitions of each microstep."""
        return self.target, tuple(step.transitions for step in self.steps)


@dataclass(slots=True)
class Vertex:
    """A situation with its outgoing edges and the shortest way to it."""

    key: str
    state: str
    situation: Situation
    edges: list[Edge] = field(default_factory=list)
    offered: set[str] = field(default_factory=set)  # the types of the events that were tried here
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
    entries: tuple[tuple[Vertex, tuple[EdgeStep, ...]], ...]  # the ways into the machine

    @property
    def taken_at_start(self) -> frozenset[Transition]:
        """The transitions on the way into the machine."""
        return frozenset(each for _, steps in self.entries for step in steps for each in step.transitions)

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


def explore(
    machine: Machine[Any, Any],
    options: Options,
    is_enough: Callable[[Graph], bool],
    note: Callable[[Graph, Vertex], None] | None = None,
) -> Graph:
    """Visit the situations of a machine, nearest first, until all are visited or the graph is enough.

    `note` is called with each situation once its edges are complete.
    """
    explorer = _Explorer(machine, options)
    graph = explorer.graph
    waiting = deque(graph.starts)
    while waiting and not is_enough(graph):
        vertex = waiting.popleft()
        waiting.extend(explorer.expand(vertex))
        if note is not None:
            note(graph, vertex)
    return graph


class _Explorer:
    """Tries events in situations and adds the results to a graph."""

    def __init__(self, machine: Machine[Any, Any], options: Options) -> None:
        self.machine = machine
        self.options = options
        self.limit = options.get("limit", LIMIT)
        self.serialize = options.get("serialize", serialize)
        self.stop_when = options.get("stop_when")
        self.offers = Offers(machine, options)
        self.choices = options.get("choices")
        self.graph = self._begin()

    def _begin(self) -> Graph:
        entries = [turns for turns, _ in self._ways(lambda: enter(self.machine, self.options.get("input")))]
        reached = [self._vertex(self._check_turns(turns)) for turns in entries]
        starts: dict[str, Vertex] = {}
        for vertex in reached:
            starts.setdefault(vertex.key, vertex)
        ways = tuple((starts[vertex.key], _steps(turns)) for vertex, turns in zip(reached, entries, strict=True))
        graph = Graph(self.machine, tuple(starts.values()), starts, set(), set(), set(), ways)
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
        for event, cause in self.offers.at(vertex.situation):
            self.graph.offered.add(event["type"])
            vertex.offered.add(event["type"])
            for turns, guards in self._ways(partial(self._try, vertex.situation, event, cause)):
                reached = None if turns is None else self._connect(vertex, event, cause, turns, guards)
                if reached is not None:
                    yield reached

    def _connect(
        self, vertex: Vertex, event: Any, cause: Cause, turns: list[MachineTurn], guards: tuple[str, ...]
    ) -> Vertex | None:
        """Add an edge for an event; return the situation it leads to if that is new."""
        reached = self._vertex(self._check_turns(turns))
        edge = Edge(event, cause, reached.key, _note(self.graph, turns), guards, _steps(turns))
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


def _steps(turns: list[MachineTurn]) -> tuple[EdgeStep, ...]:
    microsteps = (microstep for turn in turns for microstep in turn.microsteps if microstep.transitions)
    return tuple(EdgeStep(tuple(each.transitions), each.snapshot.configuration) for each in microsteps)


def _limit_message(id: str, limit: int, graph: Graph) -> str:
    contexts = [vertex.snapshot.context for vertex in graph]
    different = Counter({key: len({as_text(context.get(key)) for context in contexts}) for key in contexts[-1]})
    [(key, count)] = different.most_common(1) or [("", 0)]
    cause = f"; context.{key} alone has {count} values" if count > 1 else ""
    return (
        f"{id}: more than {limit} situations{cause}. Tell fewer apart with serialize, end earlier with stop_when, "
        "offer fewer events, or raise limit"
    )
