"""Stored runs restored with a new version of a machine, to see which of them would not; changes nothing."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from antiphon.actors.machines import MachineLogic
from antiphon.chart.compare.stored_runs import timer_types
from antiphon.chart.explore.labels import event_label, invoke_label
from antiphon.chart.machine import Machine
from antiphon.chart.snapshot import Snapshot
from antiphon.runtime.admission import copy_value
from antiphon.runtime.errors import UnknownMachine
from antiphon.runtime.machines import AnyMachine, chart_hash, is_hash_of
from antiphon.runtime.paths import actor_at, child_path
from antiphon.runtime.records import Origin, Saved
from antiphon.runtime.store import Store
from antiphon.runtime.tree import Tree

PAGE = 1000


class TriedRun(NamedTuple):
    """A stored run of a machine, tried with a new chart."""

    root: str
    path: str  # of the actor in its tree; empty for the root
    version: Any
    problem: str | None = None  # for which it would not restore
    waits: tuple[str, ...] = ()  # for timers and results that would never come, after it was restored
    is_whole: bool = True  # False if only its state value is known, because its steps could not be replayed


class UnreadTree(NamedTuple):
    """A tree that could not be read, and the reason."""

    root: str
    machine: str
    problem: str


class RestoreReport(NamedTuple):
    """Stored runs of a machine, and trees of other machines that could not be searched for runs."""

    runs: list[TriedRun]
    unread: list[UnreadTree]


class RestoreTrial:
    """Restores stored runs of a machine with a new version of it.

    Trees are brought to their last step by the machines that they were stored with; the snapshot of each of their
    actors that runs the machine is then restored with the new one, as a runtime does after a restart, or migrated first
    if its version is another one and the new machine has a function for that.
    """

    def __init__(self, store: Store, machines: Iterable[AnyMachine], new: AnyMachine) -> None:
        self._store = store
        self._machines = list(machines)
        self._new = new

    async def run(self, progress: Callable[[int, int], None] = lambda done, total: None) -> RestoreReport:
        """Try all stored runs; report progress in trees."""
        summaries = []
        after = ""
        while page := await self._store.roots(after, PAGE):
            summaries += page
            after = page[-1].root
        report = RestoreReport([], [])
        for number, summary in enumerate(summaries):
            saved = await self._store.load(summary.root)
            if saved is not None:
                self._try_tree(saved, report)
            progress(number + 1, len(summaries))
        return report

    def _try_tree(self, saved: Saved, report: RestoreReport) -> None:
        try:
            tree = Tree(saved.root, self._machine_of(saved.origin), saved.origin, 0)
            tree.restore(saved)
        except Exception as error:  # of machines that were changed, or of functions that are not known
            if saved.origin.machine == self._new.id:
                run = TriedRun(saved.root, "", saved.origin.version, is_whole=False)
                report.runs.append(self._try(run, saved, _known_snapshot(saved), None))
            else:
                report.unread.append(UnreadTree(saved.root, saved.origin.machine, str(error)))
            return
        for path, actor in _machine_actors(tree.actor, ""):
            if actor.logic.machine.id == self._new.id:
                run = TriedRun(saved.root, path, actor.logic.machine.version)
                report.runs.append(self._try(run, saved, actor.get_persisted_snapshot(), actor.snapshot))

    def _machine_of(self, origin: Origin) -> AnyMachine:
        """Return the machine that a tree was stored with."""
        for machine in self._machines:
            if (machine.id, machine.version) == (origin.machine, origin.version) and is_hash_of(origin.hash, machine):
                return machine
        raise UnknownMachine(f"version {origin.version!r} of {origin.machine!r}, as it was stored, is not known here")

    def _try(self, run: TriedRun, saved: Saved, stored: Any, before: Snapshot[Any] | None) -> TriedRun:
        """Restore the stored snapshot of an actor as that of a tree of its own."""
        new = self._new
        origin = Origin(saved.origin.history, new.id, new.version, chart_hash(new), saved.origin.input)
        try:
            snapshot = stored
            if run.version != new.version and new.migrate is not None:
                snapshot = new.migrate(copy_value(stored), run.version)
            tree = Tree(run.root, new, origin, 0)
            tree.restore(Saved(run.root, origin, snapshot["status"], saved.seq, snapshot, saved.seq))
        except Exception as error:  # of the engine, or of the functions of the new machine
            return run._replace(problem=str(error) or type(error).__name__)
        if before is None or tree.status != "active":
            return run
        return run._replace(waits=tuple(_waits(before, tree.actor.snapshot)))


def _machine_actors(actor: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield the actors of a tree that run machines, with their addresses."""
    if not isinstance(actor.logic, MachineLogic) or not isinstance(actor.snapshot, Snapshot):
        return
    yield path, actor
    for id in actor.snapshot.children:
        address = child_path(path, id)
        child = actor_at(actor, child_path("", id))
        if child is not None:
            yield from _machine_actors(child, address)


def _known_snapshot(saved: Saved) -> dict[str, Any]:
    """Return what is stored of the root of a tree without replaying its steps: its last state value."""
    stored: Mapping[str, Any] = saved.snapshot or {"context": {}, "children": {}, "historyValue": {}, "value": {}}
    values = [entry.value for entry in saved.entries if entry.to == "" and entry.value is not None]
    return {**stored, "status": saved.status, "value": values[-1] if values else stored["value"]}


def _waits(before: Snapshot[Any], after: Snapshot[Any]) -> Iterator[str]:
    """Yield the children and timers that only the states of a restored run have: they begin with an entry."""
    children = {invoke.id for node in before.nodes for invoke in node.invokes}
    timers = {type for node in before.nodes for type in timer_types(node)}
    for node in after.nodes:
        for invoke in node.invokes:
            if invoke.id not in children:
                yield f"the child {invoke_label(invoke, node)!r} was never started"
        for type in timer_types(node):
            if type not in timers:
                yield f"the timer {event_label(type, node)!r} was never set"


def bind_functions(old: AnyMachine, new: AnyMachine) -> AnyMachine:
    """Return an old chart with the functions of a new one; raise `ChartError` if it names others."""
    computed = {key: new.config[key] for key in ("context", "output") if callable(new.config.get(key))}
    return Machine({**old.config, **computed}, new.implementations, strict=new.strict)
