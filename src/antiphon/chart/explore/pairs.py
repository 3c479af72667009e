"""Pairs of transitions that follow each other, as an exploration finds them.

1. Transition B follows transition A if A is taken in one microstep and B in the next one that takes a transition:
   of the same step, where B has no event or one that the machine sends itself, or of the step of the very next event.
2. B is possible after A if its state is active after the microstep of A. At the end of a step, any transition of the
   active states is possible, but for those on the end of a state; before it, only those without an event.
3. What is possible and never happens has a reason; a transition that is never taken has one of its own, and no pairs.
"""

from collections.abc import Iterator
from typing import NamedTuple

from antiphon.chart.configuration import Configuration
from antiphon.chart.explore.graph import Edge, EdgeStep, Graph, Vertex
from antiphon.chart.explore.labels import guard_label, transition_label, written_transitions
from antiphon.chart.nodes import Node, Transition
from antiphon.chart.values import matches_descriptor

STATE_DONE = "xstate.done.state."


class TransitionPair(NamedTuple):
    """Two transitions, of which the second is taken right after the first."""

    first: Transition
    second: Transition

    def __str__(self) -> str:
        return f"{_place(self.first)}, then {_place(self.second)}"


class PairWay(NamedTuple):
    """A situation, and the edges from there on which something happens for the first time."""

    vertex: Vertex
    edges: tuple[Edge, ...]


class _Arrival(NamedTuple):
    """The last microstep before a situation, and the edge to it, or None at the start."""

    vertex: Vertex
    edge: Edge | None
    step: EdgeStep | None


class PairRecord:
    """The pairs of the edges of a graph: those that happen, each with the shortest way, and those that could."""

    def __init__(self) -> None:
        self.ways: dict[TransitionPair, PairWay] = {}
        self.first_ways: dict[Transition, PairWay] = {}
        self.possible: dict[TransitionPair, None] = {}
        self._offered: dict[Transition, set[str]] = {}  # the types of events that came right after a transition
        self._arrivals: dict[str, dict[Transition, _Arrival]] = {}
        self._departures: dict[str, dict[Transition, Edge]] = {}
        self._places: set[tuple[Transition, tuple[Node, ...], bool]] = set()

    def note(self, graph: Graph, vertex: Vertex) -> None:
        """Note the edges of a situation that was visited; the first one is a start."""
        if vertex is graph.start:
            for start, steps in graph.entries:
                self._note_steps(steps, PairWay(start, ()), start)
                self._arrive(start, _Arrival(start, None, steps[-1] if steps else None))
        self._departures[vertex.key] = {}
        for edge in vertex.edges:
            self._note_steps(edge.steps, PairWay(vertex, (edge,)), graph.vertices[edge.target])
            for transition in edge.steps[0].transitions if edge.steps else ():
                self._depart(vertex, transition, edge)
        for edge in vertex.edges:
            arrival = _Arrival(vertex, edge, edge.steps[-1] if edge.steps else None)
            self._arrive(graph.vertices[edge.target], arrival)
        for transition in self._arrivals.get(vertex.key, ()):
            self._offered.setdefault(transition, set()).update(vertex.offered)

    def reason(self, pair: TransitionPair, are_open: bool) -> str:
        """Explain why a pair never happens, as far as can be seen from outside; open guards may hold or not."""
        type = pair.second.event_type
        guard = pair.second.config.get("guard")
        offered = self._offered.get(pair.first, ())
        if type and not any(matches_descriptor(each, type) for each in offered):
            return f"no event {type!r} comes right after it"
        if guard is not None and not are_open:
            return f"the guard {guard_label(guard)!r} never holds right after it"
        return "another transition always comes first"

    def _note_steps(self, steps: tuple[EdgeStep, ...], way: PairWay, after: Vertex) -> None:
        """Note the microsteps of a step, which follow each other, and what is possible after each."""
        for number, step in enumerate(steps):
            is_last = number == len(steps) - 1
            for transition in step.transitions:
                if not (is_last and after.situation.is_over):
                    self._note_possible(transition, step.configuration, is_last)
                self.first_ways.setdefault(transition, way)
            for pair in () if is_last else pairs_between(step, steps[number + 1]):
                self._add(pair, way)

    def _depart(self, vertex: Vertex, transition: Transition, edge: Edge) -> None:
        """Note the first transition of an edge, after all that lead to its situation."""
        departures = self._departures[vertex.key]
        if transition not in departures:
            departures[transition] = edge
            for earlier, arrival in self._arrivals.get(vertex.key, {}).items():
                self._follow(earlier, arrival, transition, edge)

    def _arrive(self, vertex: Vertex, arrival: _Arrival) -> None:
        """Note the last transitions before a situation, and those that follow them."""
        arrivals = self._arrivals.setdefault(vertex.key, {})
        for transition in arrival.step.transitions if arrival.step is not None else ():
            if transition not in arrivals:
                arrivals[transition] = arrival
                self._offered.setdefault(transition, set()).update(vertex.offered)
                for following, edge in self._departures.get(vertex.key, {}).items():
                    self._follow(transition, arrival, following, edge)

    def _follow(self, first: Transition, arrival: _Arrival, second: Transition, edge: Edge) -> None:
        edges = (edge,) if arrival.edge is None else (arrival.edge, edge)
        self._add(TransitionPair(first, second), PairWay(arrival.vertex, edges))

    def _add(self, pair: TransitionPair, way: PairWay) -> None:
        self.ways.setdefault(pair, way)

    def _note_possible(self, first: Transition, configuration: Configuration, is_last: bool) -> None:
        place = (first, configuration.nodes, is_last)
        if place in self._places:
            return
        self._places.add(place)
        for second in _candidates(configuration, is_last):
            self.possible.setdefault(TransitionPair(first, second))


def pairs_between(first: EdgeStep, second: EdgeStep) -> Iterator[TransitionPair]:
    """Yield the pairs of two microsteps that follow each other."""
    for transition in first.transitions:
        for following in second.transitions:
            yield TransitionPair(transition, following)


def _candidates(configuration: Configuration, is_last: bool) -> Iterator[Transition]:
    for node in configuration.nodes:
        for transition in written_transitions(node):
            type = transition.event_type
            if not type or (is_last and not type.startswith(STATE_DONE)):
                yield transition


def _place(transition: Transition) -> str:
    return f"{transition.source.id}: {transition_label(transition)}"
