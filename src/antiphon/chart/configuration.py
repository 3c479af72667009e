"""Configurations: sets of active states, interned so that what follows from one is computed once."""

from collections.abc import Collection
from typing import Any

from antiphon.chart.nodes import COMPOUND, PARALLEL, Node, in_script_order, unknown_state
from antiphon.chart.values import matches_state

StateValue = Any  # a state's key, or a dict of keys to state values


class Configuration:
    """The active states, in the order in which they became active (XState's eventless order)."""

    __slots__ = (
        "_tags",
        "decisions",
        "eventless",
        "has_always",
        "machine",
        "members",
        "nodes",
        "quick",
        "shared_value",
    )

    def __init__(self, machine: Any, nodes: tuple[Node, ...]) -> None:
        self.machine = machine
        self.nodes = nodes
        self.members = frozenset(nodes)
        # Ancestors count even if they are not active: XState can drop one and still takes its transitions.
        self.has_always = any(node.always or any(a.always for a in node.ancestors()) for node in nodes)
        # Decisions by event type: a tree of guards with plans at its leaves.
        self.decisions: dict[str, Any] = {}
        self.eventless: Any = None
        # The decisions that need no guard, no queue and no eventless step: one look-up, then functions.
        self.quick: dict[str, Any] = {}
        self.shared_value: StateValue = state_value(machine.root, complete(nodes))  # not to be changed
        self._tags: tuple[str, ...] | None = None

    @property
    def value(self) -> StateValue:
        """The state value, as a copy that the caller may change."""
        return _copy_value(self.shared_value)

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of all active states."""
        if self._tags is None:
            self._tags = tuple(dict.fromkeys(tag for node in self.nodes for tag in node.tags))
        return self._tags

    @property
    def atoms(self) -> list[Node]:
        """The active states without child states."""
        return [node for node in self.nodes if node.is_atomic]

    def includes(self, value: Any) -> bool:
        """Return whether a state, by `#id` or by value, is active."""
        if isinstance(value, str) and value.startswith("#"):
            return self.machine.get_state_node_by_id(value) in self.members
        return matches_state(value, self.shared_value)

    def __repr__(self) -> str:
        return f"Configuration({self.shared_value!r})"


def state_value(root: Node, nodes: list[Node]) -> StateValue:
    """Return the state value of a complete set of active nodes."""
    inner: dict[Node, list[Node]] = {}
    for node in nodes:
        if node.parent is not None:
            inner.setdefault(node.parent, []).append(node)
    return _value_of(root, inner)


def _value_of(node: Node, inner: dict[Node, list[Node]]) -> StateValue:
    active = inner.get(node)
    if not active:
        return {}
    if node.type == COMPOUND and active[0].is_atomic:
        return active[0].key
    return dict(in_script_order({child.key: _value_of(child, inner) for child in active}))


def _copy_value(value: StateValue) -> StateValue:
    if isinstance(value, dict):
        return {key: _copy_value(inner) for key, inner in value.items()}
    return value


def nodes_of_value(root: Node, node: Node, value: StateValue) -> list[Node]:
    """Return the nodes that a state value names, breadth first; raise KeyError with a message for an unknown one."""
    if isinstance(value, str):
        if value not in node.states:
            raise KeyError(unknown_state(node, value))
        return [node, node.states[value]]
    if not isinstance(value, dict):
        raise KeyError(f"the state value of {node.id!r} should be a string or a dict, not {value!r}")
    children = []
    for key, _ in in_script_order(value):
        if key not in node.states:
            raise KeyError(unknown_state(node, key))
        children.append(node.states[key])
    nodes = [root, node, *children]
    for child in children:
        nodes.extend(nodes_of_value(root, child, value[child.key]))
    return nodes


def complete(nodes: tuple[Node, ...] | list[Node]) -> list[Node]:
    """Return the nodes with the initial descendants and the ancestors they imply."""
    members = dict.fromkeys(nodes)
    filled = {node.parent for node in members if node.parent is not None}
    growing = list(members)
    for node in growing:  # the list grows during the iteration
        if node.type == COMPOUND and node not in filled:
            _add(initial_nodes(node), members, growing)
        elif node.type == PARALLEL:
            for child in node.children:
                if child not in members:
                    _add(initial_nodes(child), members, growing)
    for node in growing:
        _add(list(node.ancestors()), members, growing)
    return growing


def _add(nodes: list[Node], members: dict[Node, None], growing: list[Node]) -> None:
    for node in nodes:
        if node not in members:
            members[node] = None
            growing.append(node)


def initial_nodes(node: Node) -> list[Node]:
    """Return a node with its initial descendants."""
    nodes = [node]
    if node.type == COMPOUND and node.initials:
        for first in node.initials:
            nodes.extend((*first.ancestors(node), *initial_nodes(first)))
    elif node.type == COMPOUND:
        nodes.extend(initial_nodes(node.first()))
    elif node.type == PARALLEL:
        for child in node.children:
            nodes.extend(initial_nodes(child))
    return nodes


def is_legal(nodes: Collection[Node]) -> bool:
    """Return whether the nodes can be active together: one child of a compound state, all of a parallel one."""
    for node in nodes:
        active = [child for child in node.children if child in nodes]
        expected = 1 if node.type == COMPOUND else len(node.children) if node.type == PARALLEL else 0
        if node.is_history or len(active) != expected:
            return False
    return True
