"""Actors: things with a mailbox that take one event at a time, to the end.

`send` is synchronous: when it returns, the event and all it raised have been taken, unless the actor
was busy, in which case the event waits its turn. No event loop is needed until something asynchronous
is invoked.
"""

from collections import deque
from collections.abc import Callable
from itertools import count
from typing import Any, Generic, TypeVar

from antiphon.actors.clock import REAL_CLOCK, Clock
from antiphon.actors.errors import NotRoot
from antiphon.actors.logic import LogicSnapshot
from antiphon.actors.machines import MachineLogic
from antiphon.actors.observers import Observer, Subscription, guarded, report_unhandled, to_observer
from antiphon.actors.system import Inspector, System
from antiphon.actors.timers import Timer, persisted_timers, restore_timers
from antiphon.chart.errors import SnapshotError
from antiphon.chart.machine import Machine
from antiphon.chart.ops import checked
from antiphon.chart.refs import ActorRef
from antiphon.chart.snapshot import Snapshot
from antiphon.chart.steps import failed

S = TypeVar("S")
E = TypeVar("E")

STOP = "xstate.stop"
NOT_STARTED, RUNNING, STOPPED = 0, 1, 2
_sessions = count()


class Actor(Generic[S, E]):
    """A running machine, task, stream, callback or reducer."""

    __slots__ = (
        "__weakref__",
        "_busy",
        "_id",
        "_listeners",
        "_mailbox",
        "_number",
        "_observers",
        "_open",
        "_private",
        "_quick",
        "_snapshot",
        "_state",
        "_timers",
        "_waiting_timers",
        "input",
        "logic",
        "parent",
        "pending",
        "ref",
        "src",
        "sync_snapshot",
        "system",
        "system_id",
    )  # fmt: skip

    def __init__(
        self,
        logic: Any,
        *,
        id: str | None = None,
        input: Any = None,
        snapshot: Any = None,
        system_id: str | None = None,
        clock: Clock | None = None,
        logger: Callable[..., Any] | None = None,
        inspect: Inspector | None = None,
        on_unhandled: Callable[[Any, Any], Any] | None = None,
        timers: str = "absolute",
        parent: "Actor[Any, Any] | None" = None,
        src: Any = None,
        sync_snapshot: bool = False,
        ref: ActorRef | None = None,
    ) -> None:
        self.logic = MachineLogic(logic, Actor) if isinstance(logic, Machine) else logic
        self._number, self._id = next(_sessions), id
        self.input, self.parent, self.sync_snapshot, self.system_id = input, parent, sync_snapshot, system_id
        self.src = src if src is not None else logic
        self.ref = ref
        if ref is not None:
            ref.actor = self
        self._state, self._busy, self._open, self._quick = NOT_STARTED, False, False, False
        self._mailbox: deque[Any] | None = None
        self._observers: dict[Observer, None] | None = None
        self._listeners: dict[str, dict[object, Callable[[Any], Any]]] | None = None
        self._timers: dict[str, Timer] | None = None
        self._waiting_timers: Any = None
        self._private: dict[str, Any] | None = None
        self.pending: Any = ()
        self.system: System = (
            parent.system if parent is not None else System(self, clock or REAL_CLOCK, logger or print, on_unhandled)
        )
        if inspect is not None and parent is None:
            self.system.inspect(inspect)
        self.system.tell("@xstate.actor", self)
        if system_id is not None:
            self.system.claim(system_id, self)
        self._snapshot: Any = self._first_snapshot(snapshot, timers)
        if system_id is not None and self._snapshot.status != "active":
            self.system.release(self)

    def _first_snapshot(self, persisted: Any, timers: str) -> Any:
        try:
            if persisted is None:
                return self.logic.begin(self)
            if isinstance(persisted, Snapshot | LogicSnapshot):
                return persisted
            self._waiting_timers = restore_timers(persisted, timers, self.system.clock)
            return self.logic.restore(self, persisted)
        except SnapshotError as error:
            if not isinstance(self.logic, MachineLogic) or self.logic.machine.strict:
                raise
            return LogicSnapshot("error", error=error)
        except Exception as error:
            return LogicSnapshot("error", error=error)

    # -- who it is -----------------------------------------------------------------------------------------------

    @property
    def session_id(self) -> str:
        """A name that no other actor of this process has."""
        return f"x:{self._number}"

    @property
    def id(self) -> str:
        """The actor's name among its siblings."""
        return self._id if self._id is not None else self.session_id

    @property
    def is_running(self) -> bool:
        """Whether the actor was started and has not ended."""
        return self._state == RUNNING

    @property
    def is_stopped(self) -> bool:
        """Whether the actor has ended."""
        return self._state == STOPPED

    @property
    def private(self) -> dict[str, Any]:
        """What the actor's logic keeps for itself."""
        if self._private is None:
            self._private = {}
        return self._private

    def get_snapshot(self) -> S:
        """Where the actor stands now."""
        found: S = self._snapshot
        return found

    def get_persisted_snapshot(self, *, timers: bool = False, stamp: bool = False) -> dict[str, Any]:
        """The actor's state as JSON-ready values, children included.

        `timers` adds pending timers; `stamp` adds the machine's id and version, which restoring then checks.
        """
        saved: dict[str, Any] = self.logic.persist(self, timers)
        if timers and self._timers:
            saved["timers"] = persisted_timers(self, self._timers, self.system.clock)
        if stamp and isinstance(self.logic, MachineLogic):
            saved.update(machine=self.logic.machine.id, version=self.logic.machine.version)
        return saved

    # -- watching ------------------------------------------------------------------------------------------------

    def subscribe(
        self,
        observer: Any = None,
        error: Callable[[Any], Any] | None = None,
        complete: Callable[[], Any] | None = None,
    ) -> Subscription:
        """Be called with every snapshot, with the error that ends the actor, and at its end."""
        added = to_observer(observer, error, complete)
        if self._state != STOPPED:
            if self._observers is None:
                self._observers = {}
            self._observers[added] = None
        elif self._snapshot.status == "done" and added.complete is not None:
            guarded(added.complete)
        elif self._snapshot.status == "error":
            guarded(added.error or report_unhandled, self._snapshot.error)
        return Subscription(lambda: self._observers and self._observers.pop(added, None))

    def on(self, type: str, listener: Callable[[Any], Any]) -> Subscription:
        """Be called with the events this actor emits: those of a type, or all for `*`."""
        if self._listeners is None:
            self._listeners = {}
        listeners, token = self._listeners.setdefault(type, {}), object()
        listeners[token] = listener
        return Subscription(lambda: listeners.pop(token, None))

    def select(
        self, selector: Callable[[S], Any], equal: Callable[[Any, Any], bool] = lambda a, b: a is b or a == b
    ) -> "Selection":
        """A part of the snapshots, observed only when it changes."""
        return Selection(self, selector, equal)

    # -- living --------------------------------------------------------------------------------------------------

    def start(self) -> "Actor[S, E]":
        """Start the actor; events sent before wait until now."""
        if self._state == RUNNING:
            return self
        if self.sync_snapshot:
            self.subscribe(self._tell_parent, lambda error: None)
        if self.system_id is not None:
            self.system.claim(self.system_id, self)
        self._state = RUNNING
        began: dict[str, Any] = {"type": "xstate.init"}
        if self.input is not None:
            began["input"] = self.input
        self.system.tell("@xstate.event", self, source=self.parent, event=began)
        if self._snapshot.status == "error":
            self._end_in_error(self._snapshot.error)
            return self
        if self._snapshot.status != "done":
            try:
                self.logic.start(self)
            except Exception as error:
                self._fail(error)
                return self
        self._begin_pending()
        self._update(self._snapshot, began)
        if self._state == RUNNING:
            self._open = True
            self._resume_timers()
            self._set_quick()
            self._drain()
        return self

    def send(self, event: E) -> None:
        """Send an event; it is taken now, or when the actor is done with what it is at."""
        if self._quick and self.system._inspectors is None:
            # The common case: a running, idle machine and an event whose plan is just functions to call.
            snapshot = self._snapshot
            try:
                plan = snapshot.configuration.quick.get(event["type"])  # type: ignore[index]
            except (TypeError, KeyError):
                plan = None
            if plan is not None:
                self._take_quickly(snapshot, plan, event)
                return
        self.system.relay(None, self, checked(event))

    def _take_quickly(self, snapshot: Any, plan: Any, event: Any) -> None:
        self._quick = False
        self._busy = True
        try:
            context = snapshot.context
            for merge in plan.assigns:
                context = merge(context, event)
            for call in plan.calls:
                call(context, event)
        except Exception as error:
            self._busy = False
            self._fail(error)
            return
        finally:
            self._busy = False
        if plan.changes:
            self._snapshot = snapshot = Snapshot(plan.target, context, snapshot.frame)
        if self._observers:
            self._busy = True
            self._notify(snapshot)
            self._busy = False
        if self._mailbox:
            self._drain()
        else:
            self._quick = self._state == RUNNING

    def stop(self) -> "Actor[S, E]":
        """Stop the actor with all its children; exit actions do not run."""
        if self.parent is not None:
            raise NotRoot("A non-root actor cannot be stopped directly.")
        self.end()
        return self

    def end(self) -> None:
        """Stop, whoever asks: after what the actor is at, before what waits."""
        if self._state == STOPPED:
            return
        if self._mailbox:
            self._mailbox.clear()
        if self._state == NOT_STARTED:
            self._state = STOPPED
        else:
            self.receive({"type": STOP})

    def receive(self, event: Any) -> None:
        """Take an event now, or queue it."""
        if self._state == STOPPED:
            return
        if self._busy or not self._open:
            if self._mailbox is None:
                self._mailbox = deque()
            self._mailbox.append(event)
            return
        self._quick = False
        self._busy = True
        try:
            self._process(event)
        finally:
            self._busy = False
        self._drain()

    def _drain(self) -> None:
        self._quick = False
        while self._mailbox and not self._busy and self._open:
            self._busy = True
            try:
                self._process(self._mailbox.popleft())
            finally:
                self._busy = False
        self._set_quick()

    def _set_quick(self) -> None:
        self._quick = (
            self._state == RUNNING
            and self._open
            and not self._busy
            and isinstance(self.logic, MachineLogic)
            and self._snapshot.status == "active"
            and self.system.unhandled is None
        )

    def _process(self, event: Any) -> None:
        if self.system.unhandled is not None:
            self._watch_unhandled(event)
        try:
            snapshot = self.logic.receive(self, event)
        except Exception as error:
            self._fail(error)
            return
        self._update(snapshot, event)
        if event["type"] == STOP:
            self._close()
            self._complete()

    def _watch_unhandled(self, event: Any) -> None:
        unhandled, snapshot = self.system.unhandled, self._snapshot
        internal = event["type"].startswith("xstate.")
        if unhandled is not None and not internal and isinstance(snapshot, Snapshot) and not snapshot.can(event):
            unhandled(event, snapshot)

    def _begin_pending(self) -> None:
        """The first pass over the effects of entering a machine, which waited for the start."""
        try:
            for effect in self.pending:
                self.logic.prepare(self, effect, starting=True)
        except Exception as error:
            self.pending = ()
            self._snapshot = _failed(self._snapshot, error)

    def _update(self, snapshot: Any, event: Any) -> None:
        """Publish a snapshot, then let the rest of its effects happen."""
        self._snapshot = snapshot
        pending, self.pending = self.pending, ()
        for effect in pending:
            self.logic.deliver(self, effect)
        match snapshot.status:
            case "active":
                self._notify(snapshot)
            case "done":
                self._notify(snapshot)
                self._close()
                self._complete()
                if self.parent is not None:
                    done = {"type": f"xstate.done.actor.{self.id}", "output": snapshot.output, "actorId": self.id}
                    self.system.relay(self, self.parent, done)
            case "error":
                self._end_in_error(snapshot.error)
        if self.system.is_inspected:
            self.system.tell("@xstate.snapshot", self, event=event, snapshot=snapshot)

    def _notify(self, snapshot: Any) -> None:
        if self._observers:
            for observer in list(self._observers):
                if observer.next is not None:
                    guarded(observer.next, snapshot)

    def _tell_parent(self, snapshot: Any) -> None:
        if snapshot.status == "active" and self.parent is not None:
            event = {"type": f"xstate.snapshot.{self.id}", "snapshot": snapshot}
            self.system.relay(self, self.parent, event)

    def tell_listeners(self, event: Any) -> None:
        """Give an emitted event to who listens: to its type first, then to everything."""
        if self._listeners is not None:
            for type in (event["type"], "*"):
                for listener in list(self._listeners.get(type, {}).values()):
                    guarded(listener, event)

    # -- ending --------------------------------------------------------------------------------------------------

    def _fail(self, error: Exception) -> None:
        self._snapshot = _failed(self._snapshot, error)
        self._end_in_error(error)

    def _end_in_error(self, error: Any) -> None:
        self._close()
        self._report(error)
        if self.parent is not None:
            event = {"type": f"xstate.error.actor.{self.id}", "error": error, "actorId": self.id}
            self.system.relay(self, self.parent, event)

    def _report(self, error: Any) -> None:
        observers = list(self._observers or ())
        self._observers, self._listeners = None, None
        if not observers:
            if self.parent is None:
                report_unhandled(_as_exception(error))
            return
        for observer in observers:
            if observer.error is not None:
                guarded(observer.error, error)
        if any(observer.error is None for observer in observers):
            report_unhandled(_as_exception(error))

    def _close(self) -> None:
        """Take no more events and give up timers and names."""
        if self._state != RUNNING:
            return
        for timer in (self._timers or {}).values():
            self.system.clock.clear_timeout(timer.handle)
        self._timers = None
        if self._mailbox:
            self._mailbox.clear()
        self._state, self._open, self._quick = STOPPED, False, False
        self.system.release(self)

    def _complete(self) -> None:
        for observer in list(self._observers or ()):
            if observer.complete is not None:
                guarded(observer.complete)
        self._observers, self._listeners = None, None

    # -- timers --------------------------------------------------------------------------------------------------

    def schedule(self, target: Any, event: Any, delay_ms: float, id: str | None) -> None:
        """Have an event delivered after a delay."""
        name = id if id is not None else f"timer:{next(_sessions)}"
        clock = self.system.clock

        def fire() -> None:
            if self._timers is not None:
                self._timers.pop(name, None)
            self.system.relay(self, target, event)

        if self._timers is None:
            self._timers = {}
        # Under an id that is taken, both timers run and the id means the later one, as in XState.
        self._timers[name] = Timer(clock.set_timeout(fire, delay_ms), target, event, delay_ms, clock.now() + delay_ms)

    def cancel_timer(self, id: str) -> None:
        """Forget a delayed event."""
        timer = (self._timers or {}).pop(id, None)
        if timer is not None:
            self.system.clock.clear_timeout(timer.handle)

    def _resume_timers(self) -> None:
        waiting, self._waiting_timers = self._waiting_timers, None
        for target, event, delay_ms, id in waiting(self) if waiting is not None else ():
            self.schedule(target, event, delay_ms, id)

    def __repr__(self) -> str:
        return f"Actor({self.id!r}, {self._snapshot!r})"


class Selection:
    """A part of an actor's snapshots."""

    __slots__ = ("_actor", "_equal", "_selector")

    def __init__(self, actor: Actor[Any, Any], selector: Callable[[Any], Any], equal: Callable[[Any, Any], bool]):
        self._actor, self._selector, self._equal = actor, selector, equal

    def get(self) -> Any:
        """The part as it is now."""
        return self._selector(self._actor.get_snapshot())

    def subscribe(self, observer: Any) -> Subscription:
        """Be called when the part changes."""
        told, last = to_observer(observer), [self.get()]

        def compare(snapshot: Any) -> None:
            current = self._selector(snapshot)
            if not self._equal(last[0], current):
                last[0] = current
                if told.next is not None:
                    told.next(current)

        return self._actor.subscribe(compare)


def create_actor(logic: Any, **options: Any) -> Actor[Any, Any]:
    """An actor that runs a machine or other logic; it does nothing until it is started."""
    return Actor(logic, **options)


def _failed(snapshot: Any, error: Exception) -> Any:
    if isinstance(snapshot, Snapshot):
        return failed(snapshot, error)
    return LogicSnapshot("error", context=snapshot.context, input=snapshot.input, output=snapshot.output, error=error)


def _as_exception(error: Any) -> BaseException:
    return error if isinstance(error, BaseException) else RuntimeError(error)
