"""Entry sets: the states that transitions enter, with the ancestors and descendants they imply."""

from collections.abc import Iterable
from typing import Any

from antiphon.chart.domains import Recall, domain, effective_targets, target_regions
from antiphon.chart.nodes import COMPOUND, PARALLEL, Node, Transition


class EntrySet:
    """The set of states to enter, and which of them are entered by default."""

    __slots__ = ("by_default", "fallbacks", "nodes", "recall", "scxml")

    def __init__(self, recall: Recall, scxml: bool = False) -> None:
        self.recall = recall
        self.scxml = scxml
        # SCXML: the operations of history nodes that had nothing to recall, by their parents.
        self.fallbacks: dict[Node, tuple[Any, ...]] = {}
        self.nodes: dict[Node, None] = {}
        self.by_default: set[Node] = set()

    def add_transition(self, transition: Transition) -> None:
        """Add the states that a transition enters."""
        targets = effective_targets(transition, self.recall)
        if not transition.targets:
            return
        inside = domain(transition, targets, transition.local)
        source = transition.source
        for node in transition.targets:
            if not node.is_history and (source is not node or source is not inside or transition.reenter):
                self._add_default(node)
            self.add_descendants(node)
        limit = None if source.parent is None and transition.reenter else inside
        regions = target_regions(inside, targets) if transition.local else None
        for node in targets:
            above = list(node.ancestors(inside))
            if inside is not None and inside.type == PARALLEL and regions is None:
                above.append(inside)
            self._add_ancestors(above, limit)

    def add_descendants(self, node: Node) -> None:
        """Add the descendants that are entered by default, or recalled by a history node."""
        if node.is_history:
            self._add_recalled(node)
        elif node.type == COMPOUND and self.scxml:
            self._add_initials(node)
        elif node.type == COMPOUND:
            first = node.first()
            if not first.is_history:
                self._add_default(first)
            self.add_descendants(first)
            self._add_ancestors(first.ancestors(node), None)
        elif node.type == PARALLEL:
            self._add_regions(node, by_default=True)

    def _add_initials(self, node: Node) -> None:
        """Add the initial states of a node; in SCXML every default entry runs the content of `initial`."""
        self.by_default.add(node)
        initials = node.initials or (node.first(),)
        for first in initials:
            if not first.is_history:
                self.nodes[first] = None
            self.add_descendants(first)
        for first in initials:
            self._add_ancestors(first.ancestors(node), None)

    def _add_recalled(self, node: Node) -> None:
        recalled = self.recall(node)
        parent = node.parent
        assert parent is not None
        if recalled is None:
            recalled = node.history_default
            if self.scxml:
                self.fallbacks[parent] = node.entry
            if not node.config.get("target") and parent.type != PARALLEL:
                self.by_default.add(parent)
        for target in recalled:
            self.nodes[target] = None
            self.add_descendants(target)
        for target in recalled:
            self._add_ancestors(target.ancestors(parent), None)

    def _add_default(self, node: Node) -> None:
        self.nodes[node] = None
        self.by_default.add(node)

    def _add_ancestors(self, ancestors: Iterable[Node], limit: Node | None) -> None:
        for node in ancestors:
            if node.is_inside(limit):
                self.nodes[node] = None
            if node.type == PARALLEL:
                self._add_regions(node, by_default=False)

    def _add_regions(self, node: Node, by_default: bool) -> None:
        for child in node.children:
            if not any(entered.is_inside(child) for entered in self.nodes):
                self.nodes[child] = None
                if by_default:
                    self.by_default.add(child)
                self.add_descendants(child)
