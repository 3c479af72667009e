"""Paths of events through a machine, for tests that visit every state."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Unpack

from antiphon.chart.explore.graph import LIMIT, Edge, ExplorationError, Graph, Vertex, get_adjacency
from antiphon.chart.explore.labels import EventLabels, value_label
from antiphon.chart.explore.offers import Options
from antiphon.chart.explore.situation import MachineTurn, Situation, enter, take, take_next
from antiphon.chart.machine import Machine
from antiphon.chart.snapshot import Snapshot

ToState = Callable[[Snapshot[Any]], bool]


class PathStep(NamedTuple):
    """An event and the snapshot it leads to."""

    event: Any
    snapshot: Snapshot[Any]


@dataclass(frozen=True, slots=True)
class StatePath:
    """The steps from a machine's start to a state."""

    state: Snapshot[Any]
    steps: tuple[PathStep, ...]
    weight: int
    start: Snapshot[Any]
    guards: tuple[tuple[str, ...], ...] = ()  # that hold in each step, where each guard may hold or not

    @property
    def events(self) -> list[Any]:
        """The events in order."""
        return [step.event for step in self.steps]

    def __str__(self) -> str:
        labels = EventLabels(self.start.machine.root)
        text = value_label(self.start.value) or self.start.machine.id
        for index, (event, snapshot) in enumerate(self.steps):
            guards = self.guards[index] if self.guards else ()
            ended = "" if snapshot.status == "active" else f" ({snapshot.status})"
            arrived = value_label(snapshot.value) or snapshot.machine.id
            held = f" [{', '.join(guards)}]" if guards else ""
            text += f" -- {labels[event['type']]}{held} --> {arrived}{ended}"
        return text


def get_shortest_paths(
    machine: Machine[Any, Any], *, to_state: ToState | None = None, **options: Unpack[Options]
) -> list[StatePath]:
    """Return a path with the fewest steps to each state, or to each that `to_state` selects; nearest first."""
    if to_state is not None:
        options.setdefault("stop_when", to_state)
    graph = get_adjacency(machine, **options)
    nearest: dict[str, Vertex] = {}
    for vertex in graph:
        nearest.setdefault(vertex.state, vertex)
    vertices = [vertex for vertex in nearest.values() if to_state is None or to_state(vertex.snapshot)]
    return [path_along(graph, *way_to(vertex)) for vertex in vertices]


def get_simple_paths(
    machine: Machine[Any, Any], *, to_state: ToState | None = None, **options: Unpack[Options]
) -> list[StatePath]:
    """Return every path that visits no situation twice, to each state or to each that `to_state` selects.

    There can be very many of them; `limit` bounds their number too.
    """
    if to_state is not None:
        options.setdefault("stop_when", to_state)
    graph = get_adjacency(machine, **options)
    limit = options.get("limit", LIMIT)
    paths = []
    for start, way in _simple_ways(graph):
        end = graph.vertices[way[-1].target] if way else start
        if to_state is None or to_state(end.snapshot):
            paths.append(path_along(graph, start, way))
        if len(paths) > limit:
            raise ExplorationError(f"{machine.id}: more than {limit} simple paths; use get_shortest_paths, or to_state")
    return paths


def get_paths_from_events(
    machine: Machine[Any, Any], events: Iterable[Any], *, to_state: ToState | None = None, input: Any = None
) -> list[StatePath]:
    """Return the path that a list of events takes; none if it does not end where `to_state` holds.

    The event of the next timer lets time pass until it is due.
    """
    situation = _check_turns(machine, enter(machine, input))
    start = situation.snapshot
    steps = []
    for spec in events:
        event = {"type": spec} if isinstance(spec, str) else spec
        first = situation.pending.next
        fires = first is not None and event["type"].startswith("xstate.") and first.event["type"] == event["type"]
        turns = take_next(machine, situation) if fires else take(machine, situation, event)
        situation = _check_turns(machine, turns) if turns else situation
        steps.append(PathStep(event, situation.snapshot))
    if to_state is not None and not to_state(situation.snapshot):
        return []
    return [StatePath(situation.snapshot, tuple(steps), len(steps), start)]


def way_to(vertex: Vertex) -> tuple[Vertex, list[Edge]]:
    """Return the start and the edges of the shortest way to a situation."""
    edges: list[Edge] = []
    while vertex.reached_from is not None:
        vertex, edge = vertex.reached_from
        edges.append(edge)
    return vertex, edges[::-1]


def path_along(graph: Graph, start: Vertex, way: Iterable[Edge]) -> StatePath:
    """Return the path that follows edges from a start."""
    edges = list(way)
    steps = tuple(PathStep(edge.event, graph.vertices[edge.target].snapshot) for edge in edges)
    end = steps[-1].snapshot if steps else start.snapshot
    return StatePath(end, steps, len(steps), start.snapshot, tuple(edge.guards for edge in edges))


def _simple_ways(graph: Graph) -> Iterator[tuple[Vertex, list[Edge]]]:
    for start in graph.starts:
        for way in _simple_ways_from(graph, start):
            yield start, way


def _simple_ways_from(graph: Graph, start: Vertex) -> Iterator[list[Edge]]:
    """Yield ways depth first, without recursion: a way may be longer than Python's stack."""
    way: list[Edge] = []
    visited = {start.key}
    open_edges = [iter(start.edges)]
    yield []
    while open_edges:
        edge = next((edge for edge in open_edges[-1] if edge.target not in visited), None)
        if edge is None:
            open_edges.pop()
            if way:
                visited.discard(way.pop().target)
            continue
        way.append(edge)
        visited.add(edge.target)
        yield list(way)
        open_edges.append(iter(graph.vertices[edge.target].edges))


def _check_turns(machine: Machine[Any, Any], turns: list[MachineTurn]) -> Situation:
    for turn in turns:
        if turn.error is not None:
            raise ExplorationError(f"{machine.id}: the event {turn.event!r} raised {turn.error!r}") from turn.error
    return turns[-1].situation
