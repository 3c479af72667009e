"""Transition coverage: few paths that together take every transition, and the reasons why some are never taken."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Unpack

from antiphon.chart.explore.graph import Edge, Graph, Vertex, explore
from antiphon.chart.explore.labels import guard_label, transition_label, written_transitions
from antiphon.chart.explore.offers import Options
from antiphon.chart.explore.paths import StatePath, path_along
from antiphon.chart.explore.reachability import connected_states
from antiphon.chart.machine import Machine
from antiphon.chart.nodes import Transition
from antiphon.chart.values import matches_descriptor


@dataclass(frozen=True, slots=True)
class TransitionPaths:
    """Paths that take every transition that can be taken, and the reasons why the others cannot."""

    paths: tuple[StatePath, ...]
    unreached: dict[Transition, str]

    @property
    def is_complete(self) -> bool:
        """True if every transition is taken."""
        return not self.unreached

    def __str__(self) -> str:
        missed = [
            f"not taken: {transition.source.id}: {transition_label(transition)}: {reason}"
            for transition, reason in self.unreached.items()
        ]
        return "\n".join([*map(str, self.paths), *missed])


def get_transition_paths(machine: Machine[Any, Any], **options: Unpack[Options]) -> TransitionPaths:
    """Return a small set of paths that takes every transition, and the reasons for those never taken."""
    connected = connected_states(machine.root)
    possible = {transition for node in connected for transition in written_transitions(node)}
    graph = explore(machine, options, lambda graph: possible <= graph.transitions)
    on_edges = {transition for vertex in graph for edge in vertex.edges for transition in edge.transitions}
    tours = _tours(graph, on_edges - graph.taken_at_start) or [(graph.start, [])]
    unreached = unreached_transitions(graph, "choices" in options)
    return TransitionPaths(tuple(path_along(graph, start, tour) for start, tour in tours), unreached)


def unreached_transitions(graph: Graph, are_open: bool) -> dict[Transition, str]:
    """Return the transitions that are never taken, with the reasons; open guards may hold or not."""
    written = (transition for node in graph.machine.root.walk() for transition in written_transitions(node))
    missing = [transition for transition in written if transition not in graph.transitions]
    return {transition: _reason(transition, graph, are_open) for transition in missing}


def _tours(graph: Graph, missing: set[Transition]) -> list[tuple[Vertex, list[Edge]]]:
    """Return tours, each with its start, that together take all missing transitions."""
    return [tour for start in graph.starts for tour in _tours_from(graph, start, missing)]


def _tours_from(graph: Graph, start: Vertex, missing: set[Transition]) -> Iterator[tuple[Vertex, list[Edge]]]:
    """Yield tours from a start; each goes on to the nearest missing transition while one can be reached."""
    while missing:
        tour: list[Edge] = []
        vertex = start
        while way := _way_to_nearest(graph, vertex, missing):
            tour.extend(way)
            missing.difference_update(*(edge.transitions for edge in way))
            vertex = graph.vertices[way[-1].target]
        if not tour:
            return
        yield start, tour


def _way_to_nearest(graph: Graph, start: Vertex, missing: set[Transition]) -> list[Edge]:
    """Return the shortest way to a missing transition; one that ends the tour only if there is no other."""
    came: dict[str, tuple[str, Edge] | None] = {start.key: None}
    waiting = deque([start])
    last_resort = None
    while waiting:
        vertex = waiting.popleft()
        for edge in vertex.edges:
            if not missing.isdisjoint(edge.transitions):
                if graph.vertices[edge.target].edges:
                    return [*_way_back(came, vertex.key), edge]
                last_resort = last_resort or (vertex.key, edge)
            if edge.target not in came:
                came[edge.target] = (vertex.key, edge)
                waiting.append(graph.vertices[edge.target])
    return [] if last_resort is None else [*_way_back(came, last_resort[0]), last_resort[1]]


def _way_back(came: dict[str, tuple[str, Edge] | None], key: str) -> list[Edge]:
    edges = []
    while (step := came[key]) is not None:
        key, edge = step
        edges.append(edge)
    return edges[::-1]


def _reason(transition: Transition, graph: Graph, are_open: bool) -> str:
    """Explain why a transition was never taken, as far as can be seen from outside; open guards may hold or not."""
    source = transition.source
    type = transition.event_type
    guard = transition.config.get("guard")
    if source not in graph.nodes:
        return f"the state {source.id!r} is never entered"
    if type.startswith("xstate.done.state."):
        return f"the state {source.id!r} never reaches its end"
    if type and not any(matches_descriptor(offered, type) for offered in graph.offered):
        return f"no event {type!r} ever comes"
    if guard is not None and not are_open:
        return f"its guard {guard_label(guard)!r} never holds when its turn comes"
    return "another transition always comes first"
