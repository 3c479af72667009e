"""Coverage of pairs: few paths that together take every two transitions that can follow each other."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, Unpack

from antiphon.chart.explore.coverage import unreached_transitions
from antiphon.chart.explore.graph import Edge, Graph, Vertex, explore
from antiphon.chart.explore.labels import transition_label, written_transitions
from antiphon.chart.explore.offers import Options
from antiphon.chart.explore.pairs import PairRecord, PairWay, TransitionPair, pairs_between
from antiphon.chart.explore.paths import StatePath, path_along, way_to
from antiphon.chart.explore.reachability import connected_states
from antiphon.chart.explore.successors import possible_pairs
from antiphon.chart.machine import Machine
from antiphon.chart.nodes import Transition

Goal = TransitionPair | Transition
MOST_EDGES = 1_000  # looked at for the next pair of a path; a search is then given up, and another path begins


@dataclass(frozen=True, slots=True)
class PairPaths:
    """Paths that take every pair of transitions that can follow each other, and the reasons why others cannot."""

    paths: tuple[StatePath, ...]
    pairs: tuple[TransitionPair, ...]
    unreached: dict[Transition, str]
    unreached_pairs: dict[TransitionPair, str]

    @property
    def is_complete(self) -> bool:
        """True if every transition is taken, and every pair that the active states allow."""
        return not self.unreached and not self.unreached_pairs

    def __str__(self) -> str:
        missed = [
            f"not taken: {transition.source.id}: {transition_label(transition)}: {reason}"
            for transition, reason in self.unreached.items()
        ]
        apart = [f"never in a row: {pair}: {reason}" for pair, reason in self.unreached_pairs.items()]
        return "\n".join([*map(str, self.paths), *missed, *apart])


def get_pair_paths(machine: Machine[Any, Any], **options: Unpack[Options]) -> PairPaths:
    """Return a few paths that take every pair of transitions that can follow each other, and every transition.

    A pair whose second transition belongs to a state that is active after the first one, and that never happens, is
    returned with the reason.
    """
    connected = connected_states(machine.root)
    possible = {transition for node in connected for transition in written_transitions(node)}
    expected = possible_pairs(machine.root, connected)
    record = PairRecord()

    def is_enough(graph: Graph) -> bool:
        return possible <= graph.transitions and expected <= record.ways.keys()

    graph = explore(machine, options, is_enough, record.note)
    tours = list(_Tours(graph, record).tours()) or [(graph.start, [])]
    are_open = "choices" in options
    never = {
        pair: record.reason(pair, are_open)
        for pair in record.possible
        if pair not in record.ways and pair.second in graph.transitions
    }
    paths = tuple(path_along(graph, start, tour) for start, tour in tours)
    return PairPaths(paths, tuple(record.ways), unreached_transitions(graph, are_open), never)


class _Place(NamedTuple):
    """A situation, and the transitions that were taken last."""

    vertex: Vertex
    taken: tuple[Transition, ...]


class _Tours:
    """Tours through a graph that together take all pairs and transitions of a record."""

    def __init__(self, graph: Graph, record: PairRecord) -> None:
        self._graph = graph
        goals: list[tuple[Goal, PairWay]] = [*record.ways.items(), *record.first_ways.items()]
        # What happens on the way into the machine happens in every path.
        self._missing = {goal: way for goal, way in goals if way.edges}
        self._following: dict[Transition, set[Transition]] = {}  # missing pairs, by their first transition
        for pair in self._missing:
            if isinstance(pair, TransitionPair):
                self._following.setdefault(pair.first, set()).add(pair.second)
        self._inner = {id(edge): tuple(_inner_goals(edge)) for vertex in graph for edge in vertex.edges}

    def tours(self) -> Iterator[tuple[Vertex, list[Edge]]]:
        """Yield tours, each with its start; each goes on to the nearest pair that is missing."""
        for start in self._graph.starts:
            while tour := self._go_on(self._start(start), []):
                yield start, tour
        while self._missing:  # farther away than a search looks: the shortest way there, and on
            way = next(iter(self._missing.values()))
            start, edges = way_to(way.vertex)
            place = self._follow(self._start(start), [*edges, *way.edges])
            yield start, self._go_on(place, [*edges, *way.edges])

    def _start(self, start: Vertex) -> _Place:
        entries = [steps[-1] for vertex, steps in self._graph.entries if vertex is start and steps]
        return _Place(start, tuple(dict.fromkeys(each for step in entries for each in step.transitions)))

    def _go_on(self, place: _Place, tour: list[Edge]) -> list[Edge]:
        """Extend a tour while something that is missing can be reached."""
        while way := self._way_to_nearest(place):
            tour.extend(way)
            place = self._follow(place, way)
        return tour

    def _follow(self, place: _Place, way: list[Edge]) -> _Place:
        """Return the place at the end of a way, whose pairs and transitions are no longer missing."""
        for edge in way:
            for goal in (*_pairs_after(place.taken, edge), *self._inner[id(edge)]):
                if self._missing.pop(goal, None) is not None and isinstance(goal, TransitionPair):
                    self._following[goal.first].discard(goal.second)
            place = self._next(place, edge)
        return place

    def _next(self, place: _Place, edge: Edge) -> _Place:
        return _Place(self._graph.vertices[edge.target], edge.steps[-1].transitions if edge.steps else ())

    def _takes_missing(self, edge: Edge, wanted: set[Transition]) -> bool:
        """Return whether an edge takes something missing; `wanted` would follow what was taken last."""
        if edge.steps and not wanted.isdisjoint(edge.steps[0].transitions):
            return True
        return not self._missing.keys().isdisjoint(self._inner[id(edge)])

    def _way_to_nearest(self, start: _Place) -> list[Edge]:
        """Return the shortest way that takes something missing; one that ends the tour only if there is no other."""
        came: dict[tuple[str, tuple[Transition, ...]], tuple[_Place, Edge] | None] = {_key(start): None}
        waiting = deque([start])
        last_resort: list[Edge] = []
        count = 0
        while waiting and self._missing and count < MOST_EDGES:
            place = waiting.popleft()
            wanted = set().union(*(self._following.get(transition, ()) for transition in place.taken))
            for edge in place.vertex.edges:
                count += 1
                after = self._next(place, edge)
                if self._takes_missing(edge, wanted):
                    if after.vertex.edges:
                        return [*_way_back(came, place), edge]
                    last_resort = last_resort or [*_way_back(came, place), edge]
                if _key(after) not in came:
                    came[_key(after)] = (place, edge)
                    waiting.append(after)
        return last_resort


def _pairs_after(taken: tuple[Transition, ...], edge: Edge) -> Iterator[TransitionPair]:
    """Yield the pairs of the transitions that were taken last with the first ones of an edge."""
    for first in taken if edge.steps else ():
        for second in edge.steps[0].transitions:
            yield TransitionPair(first, second)


def _inner_goals(edge: Edge) -> Iterator[Goal]:
    """Yield the transitions of an edge, and the pairs of its own microsteps."""
    yield from edge.transitions
    for earlier, later in pairwise(edge.steps):
        yield from pairs_between(earlier, later)


def _key(place: _Place) -> tuple[str, tuple[Transition, ...]]:
    return place.vertex.key, place.taken


def _way_back(came: dict[tuple[str, tuple[Transition, ...]], tuple[_Place, Edge] | None], place: _Place) -> list[Edge]:
    edges = []
    while (step := came[_key(place)]) is not None:
        place, edge = step
        edges.append(edge)
    return edges[::-1]
