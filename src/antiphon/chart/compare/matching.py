"""States of an old chart and the states of a new one that they became."""

from antiphon.chart.nodes import Node


def match_states(old: Node, new: Node) -> dict[Node, Node]:
    """Return the new state of each old state that still exists: at the same place, or moved to another.

    A state has moved if its place is empty and exactly one new state has its key and its type. The states inside a
    moved state are looked for inside it first.
    """
    by_path = {node.path: node for node in new.walk()}
    pairs = {node: by_path[node.path] for node in old.walk() if node.path in by_path}
    missing = [node for node in old.walk() if node not in pairs]
    targets = set(pairs.values())
    free = [node for node in new.walk() if node not in targets]
    for node in missing:
        target = _inside_moved(node, pairs, free) or _only_namesake(node, missing, free)
        if target is not None:
            pairs[node] = target
            free.remove(target)
    return pairs


def _inside_moved(node: Node, pairs: dict[Node, Node], free: list[Node]) -> Node | None:
    parent = None if node.parent is None else pairs.get(node.parent)
    target = None if parent is None else parent.states.get(node.key)
    return target if target in free else None


def _only_namesake(node: Node, missing: list[Node], free: list[Node]) -> Node | None:
    if sum(candidate.key == node.key for candidate in missing) > 1:
        return None
    namesakes = [candidate for candidate in free if candidate.key == node.key and candidate.type == node.type]
    return namesakes[0] if len(namesakes) == 1 else None
