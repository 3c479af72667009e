"""Pairs of transitions that a chart allows, whatever guards and events may say: an upper bound of those that happen."""

from collections.abc import Collection, Iterator

from antiphon.chart.explore.labels import written_transitions
from antiphon.chart.explore.pairs import TransitionPair
from antiphon.chart.explore.reachability import default_children
from antiphon.chart.nodes import PARALLEL, Node, Transition


def possible_pairs(root: Node, connected: Collection[Node]) -> set[TransitionPair]:
    """Return the pairs whose second transition belongs to a state that may be active after the first one."""
    sources = [node for node in root.walk() if node in connected]
    written = {node: tuple(written_transitions(node)) for node in sources}
    return {
        TransitionPair(first, second)
        for transitions in written.values()
        for first in transitions
        for node in _active_after(first, sources)
        for second in written[node]
    }


def _active_after(transition: Transition, nodes: list[Node]) -> Iterator[Node]:
    """Yield the states that may be active after a transition."""
    certain = _certainly_active(transition)
    for node in nodes:
        if all(_may_be_active_together(node, other) for other in certain):
            yield node


def _certainly_active(transition: Transition) -> list[Node]:
    """Return states that are active after a transition; the others may be."""
    source = transition.source
    stays = source.is_atomic and not transition.reenter and all(target is source for target in transition.targets or ())
    if transition.targets is None or stays:
        # Beside a transition that leaves no state, one of another region may leave the source.
        is_alone = all(node.type != PARALLEL for node in source.ancestors())
        return [source] if is_alone else []
    waiting = [target.parent if target.is_history and target.parent else target for target in transition.targets]
    recalled = {target.parent for target in transition.targets if target.is_history}
    certain: list[Node] = []
    while waiting:
        node = waiting.pop()
        certain.append(node)
        if node not in recalled and not any(target.is_inside(node) for target in transition.targets):
            waiting.extend(child for child in default_children(node) if not child.is_history)
    return certain


def _may_be_active_together(node: Node, other: Node) -> bool:
    """Return whether two states may be active at once: one is inside the other, or they are in different regions."""
    if node is other or node.is_inside(other) or other.is_inside(node):
        return True
    return next(each for each in node.ancestors() if other.is_inside(each)).type == PARALLEL
