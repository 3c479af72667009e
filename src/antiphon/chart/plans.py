"""Plans: what carrying out a set of transitions does, laid out flat.

Exit set, entry set, the order of actions and the next configuration depend only on the configuration,
the selected transitions and, where a target is a history node, on what it recalls. So they are worked
out once; running a plan is running its operations in order.

Rules (SCXML with XState's deviations): (1) of transitions whose exit sets meet, the one from the deeper
source wins, else the first; (2) the domain of a transition that does not re-enter is its source when all
targets lie inside it, else the nearest proper common ancestor, which may be parallel; (3) states are exited
children first, then transitions' actions run, then states are entered parents first; (4) entering a final
state queues its parent's done event and completes parallel ancestors, the outermost completes the machine.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from antiphon.chart import ops
from antiphon.chart.configuration import Configuration, initial_nodes
from antiphon.chart.nodes import COMPOUND, FINAL, PARALLEL, Node, Transition, document_order

History = dict[str, tuple[Node, ...]]


class Plan:
    """Operations in order, the configuration they lead to, and what history records on the way."""

    __slots__ = (
        "assigns",
        "call_ops",
        "calls",
        "changes",
        "is_quick",
        "ops",
        "recalls",
        "records",
        "target",
        "transitions",
    )

    def __init__(
        self,
        source: Configuration,
        target: Configuration,
        operations: tuple[Any, ...],
        records: History,
        recalls: bool,
        transitions: tuple[Transition, ...],
    ) -> None:
        self.target, self.ops, self.records, self.recalls = target, operations, records, recalls
        self.transitions = transitions
        self.changes = target is not source or bool(records)
        self.assigns, self.calls = _split(operations)
        self.call_ops = operations[len(self.assigns) :] if self.calls else ()
        self.is_quick = (
            len(self.assigns) + len(self.calls) == len(operations)
            and not records
            and not recalls
            and not target.has_always
        )
        # An assign always makes a new snapshot, even if it assigns nothing.
        if self.is_quick and self.assigns:
            self.changes = True


def _split(operations: Sequence[Any]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Leading assigns, then plain calls: the shape that needs no working copy."""
    count = next((i for i, op in enumerate(operations) if not isinstance(op, ops.Assign)), len(operations))
    calls = operations[count:]
    if any(not isinstance(op, ops.Call) or op.plain is None or op.params is not None for op in calls):
        return (), ()
    return tuple(op.merge for op in operations[:count]), tuple(op.plain for op in calls)


class _Recall:
    """History as plans read it, remembering that they did."""

    __slots__ = ("history", "was_read")

    def __init__(self, history: History) -> None:
        self.history, self.was_read = history, False

    def __call__(self, node: Node) -> tuple[Node, ...] | None:
        self.was_read = True
        return self.history.get(node.id)


def plan_for(configuration: Configuration, selected: tuple[Transition, ...], history: History) -> Plan:
    """Work out the plan of a microstep."""
    recall = _Recall(history)
    if not selected:
        return Plan(configuration, configuration, (), {}, False, ())
    active = configuration.nodes
    taken = without_conflicts(selected, active, recall)
    exits = sorted(exit_set(taken, active, recall), key=document_order, reverse=True)
    records = _records(exits, active)
    # What is recorded on the way out is already recalled on the way in.
    arriving = _Recall({**history, **records})
    operations: list[Any] = []
    for node in exits:
        operations.extend((*node.exit, *node.stops))
    for transition in taken:
        operations.extend(transition.ops)
    gone = set(exits)
    remaining = dict.fromkeys(node for node in active if node not in gone)
    target = _enter(configuration, taken, arriving, remaining, operations, bool(records))
    recalls = recall.was_read or arriving.was_read
    return Plan(configuration, target, tuple(operations), records, recalls, taken)


def initial_plan(empty: Configuration) -> Plan:
    """The plan of entering the machine."""
    root = empty.machine.root
    start = Transition(root, "", {"reenter": True})
    start.targets = tuple(initial_nodes(root))
    operations: list[Any] = []
    target = _enter(empty, (start,), _Recall({}), dict.fromkeys(empty.nodes), operations, False, (root,))
    return Plan(empty, target, tuple(operations), {}, False, ())


def _records(exits: list[Node], active: tuple[Node, ...]) -> History:
    records: History = {}
    for left in exits:
        for node in left.states.values():
            if node.is_history:
                records[node.id] = tuple(_recorded(node, left, active))
    return records


def _recorded(history: Node, left: Node, active: tuple[Node, ...]) -> Iterable[Node]:
    if history.history == "deep":
        return (node for node in active if node.is_atomic and node.is_inside(left))
    return (node for node in active if node.parent is left)


def _enter(
    source: Configuration,
    taken: Sequence[Transition],
    recall: _Recall,
    active: dict[Node, None],
    operations: list[Any],
    recorded: bool,
    defaults: Iterable[Node] = (),
) -> Configuration:
    """Append what entering does, and give the configuration it leads to."""
    entry = _Entry(recall)
    for transition in taken:
        entry.add_transition(transition)
    entry.by_default.update(defaults)
    completed: set[Node] = set()
    done = False
    for node in sorted(entry.nodes, key=document_order):
        active[node] = None
        operations.extend(_entry_operations(node, node in entry.by_default))
        if node.type == FINAL:
            done = _finish(node, active, completed, operations, source.machine.root) or done
    nodes = list(active)
    if done:
        nodes.sort(key=document_order, reverse=True)
        for node in nodes:
            operations.extend(node.exit)
    if not recorded and source.members == active.keys():
        return source
    return source.machine.tables.intern(tuple(nodes))


def _entry_operations(node: Node, by_default: bool) -> list[Any]:
    operations = [*node.entry, *node.spawns, *(node.initial_ops if by_default else ())]
    if node.invokes:
        return [ops.Expect([invoke.id for invoke in node.invokes]), *operations, ops.Settle()]
    return operations


def _finish(node: Node, active: dict[Node, None], completed: set[Node], operations: list[Any], root: Node) -> bool:
    """Append the done events of entering a final node; true if it ends the machine."""
    parent = node.parent
    above = parent if parent is not None and parent.type == PARALLEL else parent.parent if parent is not None else None
    last = above or node
    if parent is not None and parent.type == COMPOUND:
        operations.append(ops.StateDone(parent, node.output))
    while above is not None and above.type == PARALLEL and above not in completed and _is_done(above, active):
        completed.add(above)
        operations.append(ops.StateDone(above, None))
        last, above = above, above.parent
    if above is not None:
        return False
    operations.append(ops.MachineDone(last, last.output if last.parent is not None else None, root.output))
    return True


def _is_done(node: Node, active: dict[Node, None] | frozenset[Node]) -> bool:
    if node.type == COMPOUND:
        return any(child.type == FINAL and child in active for child in node.children)
    if node.type == PARALLEL:
        return all(_is_done(child, active) for child in node.children)
    return node.type == FINAL


is_done = _is_done


def without_conflicts(
    selected: Sequence[Transition], active: tuple[Node, ...], recall: _Recall
) -> tuple[Transition, ...]:
    """Drop the transitions that would exit what another one exits."""
    if len(selected) == 1:
        return tuple(selected)
    exits = {transition: set(exit_set([transition], active, recall)) for transition in selected}
    kept: dict[Transition, None] = {}
    for candidate in selected:
        rivals = [other for other in kept if exits[candidate] & exits[other]]
        # The first rival that is not outranked ends the comparison, so ranks are checked in order.
        if all(candidate.source.is_inside(rival.source) for rival in rivals):
            for rival in rivals:
                del kept[rival]
            kept[candidate] = None
    return tuple(kept)


def effective_targets(transition: Transition, recall: Callable[[Node], tuple[Node, ...] | None]) -> list[Node]:
    """The targets with history nodes replaced by what they stand for."""
    return list(dict.fromkeys(_resolved(transition.targets or (), recall)))


def _resolved(targets: Iterable[Node], recall: Callable[[Node], tuple[Node, ...] | None]) -> Iterable[Node]:
    for target in targets:
        if target.is_history:
            recalled = recall(target)
            yield from recalled if recalled is not None else _resolved(target.history_default, recall)
        else:
            yield target


def domain(transition: Transition, targets: list[Node], local: bool) -> Node | None:
    """The state inside which a transition happens; nothing stands for all of the machine."""
    source = transition.source
    if not transition.reenter and all(node is source or node.is_inside(source) for node in targets):
        found: Node | None = source
    else:
        found = next(
            (a for a in targets[0].ancestors() if all(node.is_inside(a) for node in (*targets[1:], source))), None
        )
        if found is None and not transition.reenter:
            found = _root_of(source)
    return _narrowed(found, transition, targets) if local else found


def _narrowed(found: Node | None, transition: Transition, targets: list[Node]) -> Node | None:
    """With region-local transitions: the one region that holds all targets, instead of its parallel state."""
    while found is not None and found.type == PARALLEL:
        region = next((child for child in found.children if all(node.is_inside(child) for node in targets)), None)
        if region is None or (transition.reenter and transition.source is region):
            return found
        found = region
    return found


def _root_of(node: Node) -> Node:
    return next((ancestor for ancestor in node.ancestors() if ancestor.parent is None), node)


def exit_set(transitions: Sequence[Transition], active: tuple[Node, ...], recall: _Recall) -> list[Node]:
    """The active states that the transitions leave."""
    exits: dict[Node, None] = {}
    for transition in transitions:
        if not transition.targets:
            continue
        targets = effective_targets(transition, recall)
        inside = domain(transition, targets, transition.local)
        regions = _touched(inside, targets) if transition.local else None
        for node in active:
            if node.is_inside(inside) and (regions is None or _within(node, regions)):
                exits[node] = None
    return list(exits)


def _touched(inside: Node | None, targets: list[Node]) -> list[Node] | None:
    """With region-local transitions: the regions of a parallel domain that hold a target."""
    if inside is None or inside.type != PARALLEL or inside in targets:
        return None
    return [child for child in inside.children if any(node is child or node.is_inside(child) for node in targets)]


def _within(node: Node, regions: list[Node]) -> bool:
    return any(node is region or node.is_inside(region) for region in regions)


class _Entry:
    """The set of states to enter, and which of them are entered by default."""

    __slots__ = ("by_default", "nodes", "recall")

    def __init__(self, recall: _Recall) -> None:
        self.recall = recall
        self.nodes: dict[Node, None] = {}
        self.by_default: set[Node] = set()

    def add_transition(self, transition: Transition) -> None:
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
        regions = _touched(inside, targets) if transition.local else None
        for node in targets:
            above = list(node.ancestors(inside))
            if inside is not None and inside.type == PARALLEL and regions is None:
                above.append(inside)
            self._add_ancestors(above, limit)

    def add_descendants(self, node: Node) -> None:
        if node.is_history:
            self._add_recalled(node)
        elif node.type == COMPOUND:
            first = node.first()
            if not first.is_history:
                self._add_default(first)
            self.add_descendants(first)
            self._add_ancestors(first.ancestors(node), None)
        elif node.type == PARALLEL:
            self._add_regions(node, by_default=True)

    def _add_recalled(self, node: Node) -> None:
        recalled = self.recall(node)
        parent = node.parent
        assert parent is not None
        if recalled is None:
            recalled = node.history_default
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
