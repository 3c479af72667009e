"""Finding states by id, by path, and by the ways in which a transition writes its targets."""

from collections.abc import Iterable, Mapping
from typing import Any

from antiphon.chart.nodes import Node
from antiphon.chart.values import to_path


class Unresolved(Exception):
    """A target that leads nowhere, with the names that would have led somewhere."""

    def __init__(self, problem: str, known: Iterable[str] = ()) -> None:
        super().__init__(problem)
        self.known = tuple(known)


def find_by_id(by_id: Mapping[str, Node], machine_id: str, text: str) -> Node:
    """The node behind `#id` or `#id.child`."""
    first, *rest = to_path(text)
    id = first[1:] if first.startswith("#") else first
    if id not in by_id:
        raise Unresolved(f"Child state node '#{id}' does not exist on machine '{machine_id}'", by_id)
    return descend(by_id[id], rest)


def descend(node: Node, path: list[str]) -> Node:
    """The node at the end of a path of keys."""
    for key in path:
        if not key:
            break
        if key not in node.states:
            raise Unresolved(f"Child state '{key}' does not exist on '{node.id}'", node.states)
        node = node.states[key]
    return node


def find_target(by_id: Mapping[str, Node], machine_id: str, node: Node, target: Any) -> Node:
    """The state that a transition of a node means by a target."""
    if not isinstance(target, str):
        raise Unresolved(f"a target is a string, not {target!r}")
    if target.startswith("#"):
        return find_by_id(by_id, machine_id, target)
    if node.parent is None:
        return _inside_root(node, target)
    try:
        return descend(node.parent, to_path(node.key + target if target.startswith(".") else target))
    except Unresolved as error:
        problem = f"Invalid transition definition for state node '{node.id}':\n{error}"
        raise Unresolved(problem, error.known) from None


def find_default(by_id: Mapping[str, Node], machine_id: str, node: Node, target: Any) -> Node:
    """The state that a history node leads to before there is any history."""
    if not isinstance(target, str):
        raise Unresolved(f"a target is a string, not {target!r}")
    if target.startswith("#"):
        return find_by_id(by_id, machine_id, target)
    assert node.parent is not None
    return descend(node.parent, to_path(target))


def _inside_root(root: Node, target: str) -> Node:
    if target.startswith("."):
        return descend(root, to_path(target[1:]))
    raise Unresolved(
        f'Invalid target: "{target}" is not a valid target from the root node. Did you mean ".{target}"?', root.states
    )
