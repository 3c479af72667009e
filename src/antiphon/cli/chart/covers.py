"""Paths that cover the states, transitions or pairs of transitions of a chart."""

from typing import Any

from antiphon.chart.explore.coverage import get_transition_paths
from antiphon.chart.explore.labels import transition_label, value_label
from antiphon.chart.explore.offers import Options
from antiphon.chart.explore.pair_paths import get_pair_paths
from antiphon.chart.explore.paths import StatePath, get_shortest_paths
from antiphon.chart.explore.reachability import unreachable_states
from antiphon.chart.machine import Machine
from antiphon.chart.nodes import Transition
from antiphon.cli.chart.path_output import FoundPaths
from antiphon.cli.chart.places import find_state

COVERS = ("states", "transitions", "pairs")


def explore_chart(machine: Machine[Any, Any], cover: str, to: str | None, exploration: Options) -> FoundPaths:
    """Return paths to what is to be covered, or the shortest one to a state."""
    if to is not None:
        state = find_state(machine, to)
        nearest = get_shortest_paths(machine, to_state=lambda snapshot: state in snapshot.nodes, **exploration)
        return FoundPaths(machine, nearest[:1], {} if nearest else {to: "never reached"})
    if cover == "states":
        missing = dict.fromkeys(unreachable_states(machine, **exploration), "never entered")
        return FoundPaths(machine, _paths_to_states(machine, exploration), missing)
    if cover == "pairs":
        return _pair_paths(machine, exploration)
    result = get_transition_paths(machine, **exploration)
    return FoundPaths(machine, list(result.paths), _reasons(result.unreached))


def _pair_paths(machine: Machine[Any, Any], exploration: Options) -> FoundPaths:
    result = get_pair_paths(machine, **exploration)
    apart = {str(pair): reason for pair, reason in result.unreached_pairs.items()}
    return FoundPaths(machine, list(result.paths), {**_reasons(result.unreached), **apart})


def _reasons(unreached: dict[Transition, str]) -> dict[str, str]:
    """Return the reasons for transitions by label; candidates that look alike count once."""
    return {
        f"{transition.source.id}: {transition_label(transition)}": reason for transition, reason in unreached.items()
    }


def _paths_to_states(machine: Machine[Any, Any], exploration: Options) -> list[StatePath]:
    """Return the shortest path to each state value, whatever the context."""
    by_value: dict[str, StatePath] = {}
    for path in get_shortest_paths(machine, **exploration):
        by_value.setdefault(value_label(path.state.value), path)
    return list(by_value.values())
