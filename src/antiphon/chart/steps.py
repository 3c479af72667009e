"""Steps: from a snapshot and an event to the next snapshot and the effects it causes.

A macrostep takes an event to rest: one microstep for the event, then eventless transitions and queued
events until nothing is left. An eventless round that changes nothing is not repeated, so a transition
that only calls an action runs once; one that assigns must have a guard that ends it.
"""

from typing import Any, NamedTuple

from antiphon.chart.decisions import Leaf, decide, decide_eventless
from antiphon.chart.effects import Cancel, Effect, Finish, StopChild
from antiphon.chart.errors import LoopError
from antiphon.chart.functions import from_input
from antiphon.chart.nodes import Transition, document_order
from antiphon.chart.ops import LeaveOp
from antiphon.chart.plans import Plan
from antiphon.chart.scope import Facts
from antiphon.chart.snapshot import Frame, Snapshot, make_snapshot
from antiphon.chart.work import NO_CHILDREN, Work

INIT = "xstate.init"
STOP = "xstate.stop"
ACTOR_ERROR = "xstate.error.actor"


class Microstep(NamedTuple):
    """One round of a step: its event, the selected transitions, the snapshot after it, and its effects."""

    event: Any
    transitions: tuple[Transition, ...]
    snapshot: Snapshot[Any]
    effects: tuple[Effect, ...]


Trace = list[Microstep]


class Step:
    """The computation of one macrostep; after an error it still has the effects so far."""

    __slots__ = ("_dirty", "before", "entering", "handled", "marks", "trace", "work")

    def __init__(self, machine: Any, actor: Any = None, trace: Trace | None = None, facts: Facts | None = None) -> None:
        self.work = Work(machine, actor, facts)
        self.trace = trace
        self.before: Snapshot[Any] | None = None
        self._dirty = False
        # The number of effects after each microstep of the trace.
        self.marks: list[int] = []
        self.entering: Microstep | None = None
        # True if some transition was selected for the event.
        self.handled = True

    @property
    def effects(self) -> list[Effect]:
        """The effects so far, in order."""
        return self.work.effects

    def begin(self, input: Any) -> Snapshot[Any]:
        """Enter the machine and return its first snapshot."""
        work = self.work
        machine = self.work.machine
        work.event = {"type": INIT} if input is None else {"type": INIT, "input": input}
        work.configuration = machine.tables.intern((machine.root,))
        work.context = {}
        work.status = "active"
        work.output = None
        work.error = None
        work.children = NO_CHILDREN
        work.history = {}
        self.before = self._publish()
        work.context = self._first_context(input)
        self.before = self._publish()
        self._take(machine.initial_plan(), ())
        self.entering = self.trace[0] if self.trace else None
        self._settle()
        return self._publish()

    def advance(self, snapshot: Snapshot[Any], event: Any, decided: Leaf | None = None) -> Snapshot[Any]:
        """Take one event until the machine is at rest; `decided` is the decision, if it has been made already."""
        self._load(snapshot)
        work = self.work
        work.event = event
        if work.machine.scxml:
            return self._advance_by_scxml()
        type = event["type"]
        if type == STOP:
            self._stop_children(forget=True)
            return self._end("stopped", None)
        if type in work.machine.timeouts:
            work.effects.append(Cancel(work.machine.timeouts[type]))
        if type != INIT:
            leaf = decided or decide(work.configuration, type, work.context, event, work)
            self.handled = bool(leaf.selected)
            if not leaf.selected and type.startswith(ACTOR_ERROR):
                self._stop_children(forget=True)
                return self._end("error", event.get("error"))
            self._take(leaf.plan_with(work.history), leaf.selected)
        self._settle()
        return self._publish()

    def _advance_by_scxml(self) -> Snapshot[Any]:
        """Take one event by the rules of SCXML.

        A machine that is stopped runs its exit actions, an actor that fails is an event like others, and the operation
        of the machine that receives events comes first: it may replace the event, or consume it.
        """
        work = self.work
        machine = work.machine
        if machine.receiving is not None:
            machine.receiving.run(work)
        type = None if work.event is None else work.event["type"]
        if type == STOP:
            self._exit_all()
            self._stop_children(forget=True)
            return self._end("stopped", None)
        if type in machine.timeouts:
            work.effects.append(Cancel(machine.timeouts[type]))
        if type is not None and type != INIT:
            leaf = decide(work.configuration, type, work.context, work.event, work)
            self.handled = bool(leaf.selected or work.queue or work.effects)
            self._take(leaf.plan_with(work.history), leaf.selected)
        self._settle()
        return self._publish()

    def _first_context(self, input: Any) -> Any:
        context = self.work.machine.context
        if callable(context):
            context = from_input(context)(input, self.work.scope())
        if context is None:
            return {}
        # Assigns copy dicts, so any other mapping is converted to one.
        return context if isinstance(context, dict) else dict(context)

    def _load(self, snapshot: Snapshot[Any]) -> None:
        work = self.work
        frame = snapshot.frame
        self.before = snapshot
        work.configuration = snapshot.configuration
        work.context = snapshot.live_context
        work.status = frame.status
        work.output = frame.output
        work.error = frame.error
        work.children = frame.children
        work.history = frame.history

    def _publish(self) -> Snapshot[Any]:
        """Return the working copy as a snapshot, or the snapshot before if nothing changed."""
        work = self.work
        before = self.before
        if before is None:
            return Snapshot(work.configuration, work.context, self._frame())
        if not self._dirty and work.context is before.live_context:
            return before
        frame = before.frame
        is_unchanged = (
            frame.status == work.status
            and frame.children is work.children
            and frame.history is work.history
            and frame.output is work.output
            and frame.error is work.error
        )
        return make_snapshot(work.configuration, work.context, frame if is_unchanged else self._frame())

    def _frame(self) -> Frame:
        work = self.work
        return Frame(work.status, work.output, work.error, work.children, work.history)

    def _take(self, plan: Plan, selected: tuple[Transition, ...]) -> None:
        """Run a plan."""
        work = self.work
        work.changed = False
        start = len(work.effects)
        for operation in plan.ops:
            operation.run(work)
        if plan.changes:
            work.active = None
            work.configuration = plan.target
            work.changed = True
            if plan.records:
                work.history = {**work.history, **plan.records}
        self._dirty = self._dirty or work.changed
        if self.trace is not None:
            self._note(Microstep(work.event, selected, self._publish(), tuple(work.effects[start:])))

    def _settle(self) -> None:
        """Take eventless transitions and queued events until nothing is left."""
        work = self.work
        eventless = True
        rounds = 0
        limit = work.machine.max_iterations
        while work.status == "active":
            rounds += 1
            if rounds > limit:
                raise LoopError(_loop_message(work.machine.id, limit))
            leaf = None
            if eventless and work.configuration.has_always:
                leaf = decide_eventless(work.configuration, work.context, work.event, work)
            if leaf is not None and leaf.selected:
                plan = leaf.plan_with(work.history)
                self._take(plan, plan.transitions)
                eventless = work.changed
            elif work.queue:
                work.event = work.queue.popleft()
                leaf = decide(work.configuration, work.event["type"], work.context, work.event, work)
                self._take(leaf.plan_with(work.history), leaf.selected)
                eventless = True
            elif work.invoking:
                self._invoke_actors()
            else:
                return
        self._stop_children(forget=False)
        work.effects.append(Finish(work.status, work.output, work.error))

    def _invoke_actors(self) -> None:
        """SCXML: invoke the actors of the states that the step has entered and not left; failures are events."""
        work = self.work
        nodes = sorted(work.invoking or (), key=document_order)
        work.invoking = None
        for node in nodes:
            for operation in node.spawns:
                operation.run(work)
        self._dirty = True

    def _exit_all(self) -> None:
        """SCXML: run the exit actions of a machine that is stopped, children first."""
        for node in sorted(self.work.configuration.nodes, key=document_order, reverse=True):
            for operation in (*node.exit, LeaveOp(node)):
                operation.run(self.work)

    def _stop_children(self, forget: bool) -> None:
        work = self.work
        for ref in list(work.children.values()):
            if ref is not None:
                work.effects.append(StopChild(ref))
                if forget:
                    work.children = work.children.removing(ref.id)

    def _end(self, status: str, error: Any) -> Snapshot[Any]:
        work = self.work
        work.status = status
        work.error = error
        self._dirty = True
        work.effects.append(Finish(status, None, error))
        snapshot = self._publish()
        if self.trace is not None:
            self._note(Microstep(work.event, (), snapshot, ()))
        return snapshot

    def _note(self, microstep: Microstep) -> None:
        if self.trace is not None:
            self.trace.append(microstep)
            self.marks.append(len(self.work.effects))


def error_snapshot(snapshot: Snapshot[Any], error: BaseException) -> Snapshot[Any]:
    """Return the snapshot an actor ends with when a step raises: the one before, with the error."""
    frame = snapshot.frame
    failed = Frame("error", frame.output, error, frame.children, frame.history)
    return Snapshot(snapshot.configuration, snapshot.live_context, failed)


def _loop_message(machine_id: str, limit: int) -> str:
    return (
        f"machine {machine_id!r} did not come to rest within {limit} microsteps; look for eventless transitions or "
        "raised events that lead in a circle"
    )
