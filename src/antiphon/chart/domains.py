"""Domains of transitions: effective targets, the state a transition stays inside, and the states it exits.

Rules (SCXML with XState's deviations): (1) of transitions whose exit sets meet, the one from the deeper
source wins, else the first; (2) the domain of a transition that does not re-enter is its source when all
targets lie inside it, else the nearest proper common ancestor of source and targets, which may be parallel.
In a chart with `scxml: true` the domain is compound: a source that is not re-entered, else an ancestor.
"""

from collections.abc import Iterable, Sequence

from antiphon.chart.nodes import COMPOUND, PARALLEL, Node, Transition

History = dict[str, tuple[Node, ...]]


class Recall:
    """Read access to history that records whether it was used."""

    __slots__ = ("history", "was_read")

    def __init__(self, history: History) -> None:
        self.history = history
        self.was_read = False

    def __call__(self, node: Node) -> tuple[Node, ...] | None:
        """Return the nodes that a history node recalls, or None if its parent has not been active before."""
        self.was_read = True
        return self.history.get(node.id)


def without_conflicts(
    selected: Sequence[Transition], active: tuple[Node, ...], recall: Recall
) -> tuple[Transition, ...]:
    """Drop transitions whose exit set overlaps that of a transition with priority."""
    if len(selected) == 1:
        return tuple(selected)
    exits = {transition: set(exit_set([transition], active, recall)) for transition in selected}
    winners: dict[Transition, None] = {}
    for candidate in selected:
        rivals = [winner for winner in winners if exits[candidate] & exits[winner]]
        # The first rival that is not outranked ends the comparison, so ranks are checked in order.
        if all(candidate.source.is_inside(rival.source) for rival in rivals):
            for rival in rivals:
                del winners[rival]
            winners[candidate] = None
    return tuple(winners)


def effective_targets(transition: Transition, recall: Recall) -> list[Node]:
    """Return the targets, with history nodes replaced by the nodes they stand for."""
    return list(dict.fromkeys(_resolve_history(transition.targets or (), recall)))


def _resolve_history(targets: Iterable[Node], recall: Recall) -> Iterable[Node]:
    for target in targets:
        if target.is_history:
            recalled = recall(target)
            yield from recalled if recalled is not None else _resolve_history(target.history_default, recall)
        else:
            yield target


def domain(transition: Transition, targets: list[Node], local: bool) -> Node | None:
    """Return the state that a transition stays inside; None stands for the whole machine."""
    source = transition.source
    if transition.compound:
        return _compound_domain(transition, targets)
    if not transition.reenter and all(node is source or node.is_inside(source) for node in targets):
        ancestor: Node | None = source
    else:
        first, *inner = (*targets, source)
        ancestor = next((a for a in first.ancestors() if all(node.is_inside(a) for node in inner)), None)
        if ancestor is None and not transition.reenter:
            ancestor = _root_of(source)
    return _narrow_to_region(ancestor, transition, targets) if local else ancestor


def _compound_domain(transition: Transition, targets: list[Node]) -> Node | None:
    """Return SCXML's domain: a compound source that is not re-entered, else the least common compound ancestor."""
    source = transition.source
    if not transition.reenter and source.type == COMPOUND and all(node.is_inside(source) for node in targets):
        return source
    around = (a for a in source.ancestors() if a.type == COMPOUND or a.parent is None)
    return next((a for a in around if all(node.is_inside(a) for node in targets)), None)


def _narrow_to_region(ancestor: Node | None, transition: Transition, targets: list[Node]) -> Node | None:
    """Return the one region that holds all targets, instead of its parallel state (region-local transitions)."""
    while ancestor is not None and ancestor.type == PARALLEL:
        region = next((child for child in ancestor.children if all(node.is_inside(child) for node in targets)), None)
        if region is None or (transition.reenter and transition.source is region):
            return ancestor
        ancestor = region
    return ancestor


def _root_of(node: Node) -> Node:
    return next((ancestor for ancestor in node.ancestors() if ancestor.parent is None), node)


def exit_set(transitions: Sequence[Transition], active: tuple[Node, ...], recall: Recall) -> list[Node]:
    """Return the active states that the transitions exit."""
    exits: dict[Node, None] = {}
    for transition in transitions:
        if not transition.targets:
            continue
        targets = effective_targets(transition, recall)
        inside = domain(transition, targets, transition.local)
        regions = target_regions(inside, targets) if transition.local else None
        for node in active:
            if node.is_inside(inside) and (regions is None or _within(node, regions)):
                exits[node] = None
    return list(exits)


def target_regions(inside: Node | None, targets: list[Node]) -> list[Node] | None:
    """Return the regions of a parallel domain that hold a target (region-local transitions)."""
    if inside is None or inside.type != PARALLEL or inside in targets:
        return None
    return [child for child in inside.children if any(node is child or node.is_inside(child) for node in targets)]


def _within(node: Node, regions: list[Node]) -> bool:
    return any(node is region or node.is_inside(region) for region in regions)
