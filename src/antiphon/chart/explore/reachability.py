"""States of a machine that can become active, and states that never do."""

from typing import Any, Unpack

from antiphon.chart.explore.graph import explore
from antiphon.chart.explore.labels import written_transitions
from antiphon.chart.explore.offers import Options
from antiphon.chart.machine import Machine
from antiphon.chart.nodes import COMPOUND, PARALLEL, Node


def reachable_states(machine: Machine[Any, Any], **options: Unpack[Options]) -> list[str]:
    """Return the ids of the states that can become active, in document order."""
    visited = _visited_nodes(machine, options)
    return [node.id for node in machine.root.walk() if node in visited]


def unreachable_states(machine: Machine[Any, Any], **options: Unpack[Options]) -> list[str]:
    """Return the ids of the states that never become active, in document order, without history states."""
    visited = _visited_nodes(machine, options)
    return [node.id for node in machine.root.walk() if node not in visited and not node.is_history]


def _visited_nodes(machine: Machine[Any, Any], options: Options) -> set[Node]:
    # Stop when every connected state has been visited, however many situations are left.
    connected = connected_states(machine.root)
    return explore(machine, options, lambda graph: connected <= graph.nodes).nodes


def connected_states(root: Node) -> set[Node]:
    """Return the states that some chain of transitions leads to, whatever guards and events may say."""
    active: set[Node] = set()
    by_default: set[Node] = set()
    waiting = [(root, True)]
    while waiting:
        node, default = waiting.pop()
        if node not in active:
            active.add(node)
            waiting.extend(_next_nodes(node))
        if default and node not in by_default:
            by_default.add(node)
            waiting.extend((child, True) for child in default_children(node))
    return {node for node in active if not node.is_history}


def _next_nodes(node: Node) -> list[tuple[Node, bool]]:
    targets = [(target, True) for transition in written_transitions(node) for target in transition.targets or ()]
    if node.parent is not None:
        targets.append((node.parent, node.parent.type == PARALLEL))
    return targets


def default_children(node: Node) -> tuple[Node, ...]:
    """Return the children that are entered with a state when no transition names any of them."""
    if node.is_history:
        return node.history_default
    if node.type == PARALLEL:
        return node.children
    if node.type != COMPOUND:
        return ()
    return node.initials or ((node.initial,) if node.initial is not None else ())
