"""Plans: the operations of taking a set of transitions, in one flat list.

Exit set, entry set, the order of actions and the next configuration depend only on the configuration,
the selected transitions and, where a target is a history node, on what it recalls. So they are computed
once; running a plan is running its operations in order.

Rules: (1) states are exited children first, then transitions' actions run, then states are entered parents
first; (2) history is recorded before anything is exited; (3) entering a final state queues its parent's done
event and completes parallel ancestors, and completing the outermost ends the machine.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from antiphon.chart import ops
from antiphon.chart.configuration import Configuration, initial_nodes
from antiphon.chart.domains import History, Recall, exit_set, without_conflicts
from antiphon.chart.entry import EntrySet
from antiphon.chart.nodes import COMPOUND, FINAL, PARALLEL, Node, Transition, document_order

ADDRESSING = (ops.SendOp, ops.EnqueueOp)  # may send to a child that is about to be invoked


class Plan:
    """Operations in order, the configuration they lead to, and the history they record."""

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
        self.target = target
        self.ops = operations
        self.records = records
        self.recalls = recalls
        self.transitions = transitions
        self.changes = target is not source or bool(records)
        self.assigns, self.calls = _split(operations)
        self.call_ops = operations[len(self.assigns) :] if self.calls else ()
        self.is_quick = (
            len(self.assigns) + len(self.calls) == len(operations)
            and not records
            and not recalls
            and not target.has_always
            and not source.machine.scxml
        )
        # An assign always makes a new snapshot, even if it assigns nothing.
        if self.is_quick and self.assigns:
            self.changes = True


def _split(operations: Sequence[Any]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return leading assigns and then plain calls, the shape that needs no working copy; else nothing."""
    count = next((i for i, op in enumerate(operations) if not isinstance(op, ops.AssignOp)), len(operations))
    calls = operations[count:]
    if any(not isinstance(op, ops.CallOp) or op.plain is None or op.params is not None for op in calls):
        return (), ()
    return tuple((op.key, op.function) for op in operations[:count]), tuple(op.plain for op in calls)


def plan_for(configuration: Configuration, selected: tuple[Transition, ...], history: History) -> Plan:
    """Return the plan of a microstep."""
    recall = Recall(history)
    if not selected:
        return Plan(configuration, configuration, (), {}, False, ())
    active = configuration.nodes
    transitions = without_conflicts(selected, active, recall)
    exits = sorted(exit_set(transitions, active, recall), key=document_order, reverse=True)
    records = _record_history(exits, active)
    # History that is recorded on exit can be recalled on entry in the same microstep.
    arriving = Recall({**history, **records})
    operations: list[Any] = []
    scxml = configuration.machine.scxml
    for node in exits:
        operations.extend((*node.exit, *node.stops, *((ops.LeaveOp(node),) if scxml else ())))
    for transition in transitions:
        operations.extend(transition.ops)
    exited = set(exits)
    remaining = dict.fromkeys(node for node in active if node not in exited)
    target = _enter(configuration, transitions, arriving, remaining, operations, bool(records))
    recalls = recall.was_read or arriving.was_read
    return Plan(configuration, target, tuple(operations), records, recalls, transitions)


def initial_plan(empty: Configuration) -> Plan:
    """Return the plan of entering the machine."""
    root = empty.machine.root
    if empty.machine.scxml:
        return _initial_plan_of_scxml(empty, root)
    start = Transition(root, "", {"reenter": True})
    start.targets = tuple(initial_nodes(root))
    operations: list[Any] = []
    target = _enter(empty, (start,), Recall({}), dict.fromkeys(empty.nodes), operations, False, (root,))
    return Plan(empty, target, tuple(operations), {}, False, ())


def _initial_plan_of_scxml(empty: Configuration, root: Node) -> Plan:
    entry = EntrySet(Recall({}), True)
    entry.nodes[root] = None
    entry.add_descendants(root)
    operations: list[Any] = []
    target = _enter_all(empty, entry, {}, operations, False)
    return Plan(empty, target, tuple(operations), {}, False, ())


def _record_history(exits: list[Node], active: tuple[Node, ...]) -> History:
    records: History = {}
    for parent in exits:
        for node in parent.states.values():
            if node.is_history:
                records[node.id] = tuple(_recorded_nodes(node, parent, active))
    return records


def _recorded_nodes(history: Node, parent: Node, active: tuple[Node, ...]) -> Iterable[Node]:
    if history.history == "deep":
        return (node for node in active if node.is_atomic and node.is_inside(parent))
    return (node for node in active if node.parent is parent)


def _enter(
    source: Configuration,
    transitions: Sequence[Transition],
    recall: Recall,
    active: dict[Node, None],
    operations: list[Any],
    recorded: bool,
    defaults: Iterable[Node] = (),
) -> Configuration:
    """Append the operations of entering, and return the configuration they lead to."""
    entry = EntrySet(recall, source.machine.scxml)
    for transition in transitions:
        entry.add_transition(transition)
    entry.by_default.update(defaults)
    return _enter_all(source, entry, active, operations, recorded)


def _enter_all(
    source: Configuration, entry: EntrySet, active: dict[Node, None], operations: list[Any], recorded: bool
) -> Configuration:
    completed: set[Node] = set()
    done = False
    finish = _finish_by_scxml if entry.scxml else _finish
    for node in sorted(entry.nodes, key=document_order):
        active[node] = None
        if entry.scxml:
            operations.extend(_entry_operations_of_scxml(node, entry))
        else:
            operations.extend(_entry_operations(node, node in entry.by_default))
        if node.type == FINAL:
            done = finish(node, active, completed, operations, source.machine.root) or done
    nodes = list(active)
    if done:
        nodes.sort(key=document_order, reverse=True)
        for node in nodes:
            operations.extend(node.exit)
    if not recorded and source.members == active.keys():
        return source
    reached: Configuration = source.machine.tables.intern(tuple(nodes))
    return reached


def _entry_operations(node: Node, by_default: bool) -> list[Any]:
    operations = [*node.entry, *node.spawns, *(node.initial_ops if by_default else ())]
    if node.invokes and any(isinstance(operation, ADDRESSING) for operation in operations):
        return [ops.ExpectOp([invoke.id for invoke in node.invokes]), *operations, ops.SettleOp()]
    return operations


def _entry_operations_of_scxml(node: Node, entry: EntrySet) -> list[Any]:
    """Return the operations of entering a node; its actors are invoked later (`Step._settle`)."""
    initial = node.initial_ops if node in entry.by_default else ()
    return [ops.ArriveOp(node), *node.entry, *initial, *entry.fallbacks.get(node, ())]


def _finish(node: Node, active: dict[Node, None], completed: set[Node], operations: list[Any], root: Node) -> bool:
    """Append the done events of entering a final node; return whether it ends the machine."""
    parent = node.parent
    above = parent if parent is not None and parent.type == PARALLEL else parent.parent if parent is not None else None
    last = above or node
    if parent is not None and parent.type == COMPOUND:
        operations.append(ops.StateDoneOp(parent, node.output))
    while above is not None and above.type == PARALLEL and above not in completed and is_done(above, active):
        completed.add(above)
        operations.append(ops.StateDoneOp(above, None))
        last = above
        above = above.parent
    if above is not None:
        return False
    operations.append(ops.MachineDoneOp(last, last.output if last.parent is not None else None, root.output))
    return True


def _finish_by_scxml(
    node: Node, active: dict[Node, None], completed: set[Node], operations: list[Any], root: Node
) -> bool:
    """Append the done events of SCXML: of the parent, and of a parallel grandparent; return whether it ends."""
    parent = node.parent
    if parent is None or parent is root:
        operations.append(ops.MachineDoneOp(node, node.output, root.output))
        return True
    operations.append(ops.StateDoneOp(parent, node.output))
    above = parent.parent
    if above is not None and above.type == PARALLEL and is_done(above, active):
        operations.append(ops.StateDoneOp(above, None))
    return False


def is_done(node: Node, active: Collection[Node]) -> bool:
    """Return whether a node has reached a final state."""
    if node.type == COMPOUND:
        return any(child.type == FINAL and child in active for child in node.children)
    if node.type == PARALLEL:
        return all(is_done(child, active) for child in node.children)
    return node.type == FINAL
