"""Actors: a mailbox and a snapshot, changed by one event at a time."""

# An actor holds the state, its logic (`logic.py`, `machines.py`, `tasks.py`, `callbacks.py`) holds the behaviour, and
# the host of its system performs the effects. The rules:
#
# 1. One event at a time. `is_idle` is False while an event is being taken. An event that arrives meanwhile, from an
#    action, an observer or another actor, goes to the mailbox and is taken next. So steps of one actor never nest,
#    and `send` is synchronous: when it returns, the event is taken, unless the actor was busy or not started.
#    No event loop is needed until something asynchronous is invoked, and no lock: a system belongs to one thread.
# 2. The order of a step. The logic computes the next snapshot; within that, users' actions run and children are
#    created (the first pass over the effects, `machines.py`). `_update` publishes the snapshot, makes the second pass
#    (events sent, timers set, children started and stopped), then calls the observers, then tells the parent if the
#    actor has ended, then the inspectors. Functions called in the second pass or later see the new snapshot.
# 3. Entering a machine happens at creation, but its effects wait in `pending` until `start`: only children exist.
# 4. An exception in the logic ends the actor with status "error" and never reaches the sender. The parent gets an
#    error event; an error of a root that no observer handles is reported (`observers.py`). An exception in an
#    observer, a listener or an inspector is reported and changes nothing.
# 5. An actor that ends is closed first (no more events, timers cancelled, system id released), then its observers
#    are called and removed, then its parent gets the event. `end` drops the events in the mailbox.
#
# The quick path. Most events of a machine only assign and call plain functions. `send` takes those in its own body,
# without a working copy, without effects and without the two passes. It may assume what `start`, `_close` and the
# plan guarantee: `_quick` is True only for a machine that is running, checks no events and has no hook for unhandled
# ones; a quick plan (`chart/plans.py`) is assigns followed by plain calls, queues no event, records no history and
# leads to no eventless transition, so it cannot end the machine and the frame of the snapshot stays. Inspectors may
# come at any time: `direct` is owned only in the own thread, and only while there are none. The result has to be that
# of `receive` with the same event. Functions are called directly here: a durable host delivers with `receive`.

from collections import deque
from collections.abc import Callable
from itertools import count
from typing import Any, Generic, TypeVar

from antiphon.actors.clock import REAL_CLOCK, Clock
from antiphon.actors.errors import NotRoot
from antiphon.actors.host import IN_PROCESS, Host
from antiphon.actors.logic import LogicSnapshot, after_failure
from antiphon.actors.machines import admit, as_logic, deliver, may_be_quick, quick_plan
from antiphon.actors.observers import (
    Observers,
    Selection,
    Subscription,
    as_exception,
    call_safely,
    report_unhandled,
    same,
    to_observer,
)
from antiphon.actors.persisting import persist_actor, restore_snapshot
from antiphon.actors.system import Inspector, SharedSystem, System
from antiphon.actors.timers import Timers, check_policy
from antiphon.chart.ops import check_event
from antiphon.chart.refs import ActorRef
from antiphon.chart.snapshot import make_snapshot

S = TypeVar("S")
E = TypeVar("E")

STOP = "xstate.stop"
NOT_STARTED = 0
RUNNING = 1
STOPPED = 2
_sessions = count()
_new = object.__new__  # takes half the time of calling the class


class Actor(Generic[S, E]):
    """A running machine, task, stream, callback or reducer."""

    __slots__ = (
        "__weakref__", "_id", "_mailbox", "_number", "_observers", "_private", "_quick", "_state", "_timers", "input",
        "is_idle", "logic", "parent", "pending", "snapshot", "src", "sync_snapshot", "system", "system_id",
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
        host: Host | None = None,
        new_id: Callable[[], str] | None = None,
        random: Callable[[], float] | None = None,
        shared: bool = False,
    ) -> None:
        policy = check_policy(timers)
        self.system = (SharedSystem if shared else System)(
            self, clock or REAL_CLOCK, logger or print, on_unhandled, host or IN_PROCESS, policy, new_id, random
        )
        if inspect is not None:
            self.system.inspect(inspect)
        self._init(None, logic, id, logic, input, system_id, False, snapshot)

    def spawn(self, ref: ActorRef, snapshot: Any = None) -> None:
        """Create the actor of a child, whose reference a step has made."""
        child: Actor[Any, Any] = _new(Actor)
        child.system = self.system
        ref.actor = child
        child._init(self, ref.logic, ref.id, ref.src, ref.input, ref.system_id, ref.sync_snapshot, snapshot)

    def _init(
        self,
        parent: "Actor[Any, Any] | None",
        logic: Any,
        id: str | None,
        src: Any,
        input: Any,
        system_id: str | None,
        sync_snapshot: bool,
        snapshot: Any,
    ) -> None:
        system = self.system
        self.logic = as_logic(logic)
        self._number = next(_sessions)
        self._id = id
        self.src = src
        self.input = input
        self.parent = parent
        self.sync_snapshot = sync_snapshot
        self.system_id = system_id
        self._state = NOT_STARTED
        self.is_idle = False
        self._quick = False
        # What most actors never need is created on first use.
        self._mailbox: deque[Any] | None = None
        self._observers: Observers | None = None
        self._timers: Timers | None = None
        self._private: dict[str, Any] | None = None
        self.pending: Any = ()
        if system.inspectors is not None:
            system.notify("@xstate.actor", self)
        if system_id is not None:
            system.claim(system_id, self)
        self.snapshot: Any = self._first_snapshot(snapshot)
        if system.previous is not None:
            system.previous[self] = None
        if system_id is not None and self.snapshot.status != "active":
            system.release(self)

    def _first_snapshot(self, saved: Any) -> Any:
        if saved is not None:
            return restore_snapshot(self, saved)
        try:
            return self.logic.begin(self)
        except Exception as error:
            return LogicSnapshot("error", error=error)

    @property
    def session_id(self) -> str:
        """An id that is unique in this process."""
        return f"x:{self._number}"

    @property
    def id(self) -> str:
        """The actor's id among its siblings."""
        return self._id if self._id is not None else self.session_id

    @property
    def is_running(self) -> bool:
        """True if the actor was started and has not ended."""
        return self._state == RUNNING

    @property
    def is_stopped(self) -> bool:
        """True if the actor has ended."""
        return self._state == STOPPED

    @property
    def private(self) -> dict[str, Any]:
        """Data that only the actor's logic uses."""
        if self._private is None:
            self._private = {}
        return self._private

    def get_snapshot(self) -> S:
        """Return the current snapshot."""
        snapshot: S = self.snapshot
        return snapshot

    def get_persisted_snapshot(self, *, timers: bool = False, stamp: bool = False) -> dict[str, Any]:
        """Return the actor's state as JSON-ready values, children included.

        `timers` adds pending timers; `stamp` adds the machine's id and version, which restoring then checks.
        """
        with self.system.lock:
            return persist_actor(self, timers, stamp)

    def subscribe(
        self,
        observer: Any = None,
        error: Callable[[Any], Any] | None = None,
        complete: Callable[[], Any] | None = None,
    ) -> Subscription:
        """Call the observer with every snapshot, with the error that ends the actor, and at its end."""
        self.system.check_thread(self)
        subscriber = to_observer(observer, error, complete)
        if self._state != STOPPED:
            return self.observers.add(subscriber)
        if self.snapshot.status == "done" and subscriber.complete is not None:
            call_safely(subscriber.complete)
        elif self.snapshot.status == "error":
            call_safely(subscriber.error or report_unhandled, as_exception(self.snapshot.error))
        return Subscription(lambda: None)

    def on(self, type: str, listener: Callable[[Any], Any]) -> Subscription:
        """Call the listener with the events this actor emits: those of a type, or all for `*`."""
        return self.observers.listen(type, listener)

    @property
    def observers(self) -> Observers:
        """The observers and listeners of this actor."""
        if self._observers is None:
            self._observers = Observers()
        return self._observers

    def select(self, selector: Callable[[S], Any], equal: Callable[[Any, Any], bool] = same) -> Selection:
        """Return a part of the snapshots, which is observed only when it changes."""
        return Selection(self, selector, equal)

    def start(self) -> "Actor[S, E]":
        """Start the actor; events sent before are taken now."""
        if self._state == RUNNING:
            return self
        if self.parent is None:
            self.system.claim_thread()
        if self.sync_snapshot:
            self.subscribe(self._send_snapshot, lambda error: None)
        system = self.system
        status = self.snapshot.status
        if self.system_id is not None:
            system.claim(self.system_id, self)
        self._state = RUNNING
        began: Any = None  # the event that inspectors are told of
        if system.inspectors is not None:
            began = {"type": "xstate.init"} if self.input is None else {"type": "xstate.init", "input": self.input}
            system.notify("@xstate.event", self, source=self.parent, event=began)
        if status == "error":
            self._end_in_error(self.snapshot.error)
            return self
        if status != "done":
            try:
                self.logic.start(self)
            except Exception as error:
                self.fail(error)
                return self
        if self.pending:
            self._begin_pending()
        if self.pending or began is not None or self._observers is not None or self.snapshot.status != "active":
            self._update(self.snapshot, began)
        if self._state == RUNNING:
            self.is_idle = True
            self._quick = may_be_quick(self)
            if self._timers is not None:
                self._timers.resume(system.timer_policy)
            if self._mailbox:
                self.receive(self._mailbox.popleft())
        return self

    def send(self, event: E) -> None:
        """Send an event; it is taken now, or after the events that the actor is taking already."""
        if not self.is_idle or not self._quick or not self.system.direct._is_owned():
            self.system.send(self, admit(self, event))
            return
        # The quick path; the rules are at the top of this file.
        snapshot = self.snapshot
        try:
            plan = snapshot.configuration.quick.get(event["type"])  # type: ignore[index]
        except (TypeError, KeyError):
            check_event(event)
            raise
        if plan is None and (plan := quick_plan(self, event)) is None:
            return
        self.is_idle = False
        try:
            context = snapshot.live_context
            for key, function in plan.assigns:
                value = function(context, event)
                if key is not None:
                    context = context.copy()
                    context[key] = value
                else:
                    context = value
            if plan.calls:
                for call in plan.calls:
                    call(context, event)
            if plan.changes:
                self.snapshot = snapshot = make_snapshot(plan.target, context, snapshot.frame)
            if self._observers is not None:
                self._observers.next(snapshot)
        except Exception as error:
            self.fail(error)
        finally:
            self.is_idle = self._quick
        if self._mailbox:
            self.receive(self._mailbox.popleft())

    def send_threadsafe(self, event: E) -> None:
        """Send an event from any thread: the event loop that the actor was started in takes it soon, in its thread."""
        self.system.send_threadsafe(self, admit(self, event))

    def stop(self) -> "Actor[S, E]":
        """Stop the actor with all its children; exit actions do not run."""
        if self.parent is not None:
            raise NotRoot(f"actor {self.id!r} is a child; only its parent can stop it, with stop_child")
        self.system.check_thread(self)
        with self.system.lock:
            self.end()
        return self

    def end(self) -> None:
        """Stop the actor, also a child: after the current event, before those in the mailbox."""
        if self._state == STOPPED:
            return
        if self._mailbox:
            self._mailbox.clear()
        if self._state == NOT_STARTED:
            self._state = STOPPED
        else:
            self.receive({"type": STOP})

    def receive(self, event: Any, decided: Any = None) -> None:
        """Take an event and then those in the mailbox; queue it if the actor is busy or not started."""
        if not self.is_idle:
            if self._state != STOPPED:
                if self._mailbox is None:
                    self._mailbox = deque()
                self._mailbox.append(event)
            return
        logic = self.logic
        previous = self.system.previous
        if previous is not None and self not in previous:
            previous[self] = self.snapshot
        while True:
            self.is_idle = False
            try:
                snapshot = logic.receive(self, event) if decided is None else logic.receive(self, event, decided)
            except Exception as error:
                self.fail(error)
            else:
                self._update(snapshot, event)
                if event["type"] == STOP:
                    self._close()
                    if self._observers is not None:
                        self._observers.complete()
            finally:
                self.is_idle = self._state == RUNNING
            if not self._mailbox or not self.is_idle:
                return
            event = self._mailbox.popleft()
            decided = None

    def _begin_pending(self) -> None:
        """Make the first pass over the effects of entering a machine, which waited for the start."""
        try:
            for effect in self.pending:
                self.logic.prepare(self, effect, starting=True)
        except Exception as error:
            self.pending = ()
            self.snapshot = after_failure(self.snapshot, error)

    def _update(self, snapshot: Any, event: Any) -> None:
        """Publish a snapshot, then perform the rest of its effects."""
        self.snapshot = snapshot
        if self.pending:
            pending = self.pending
            self.pending = ()
            try:
                deliver(self, pending)
            except Exception as error:  # such as NoEventLoop when a timer is set
                self.snapshot = snapshot = after_failure(snapshot, error)
        status = snapshot.status
        observers = self._observers
        if status == "error":
            self._end_in_error(snapshot.error)
        elif status == "active":
            if observers is not None:
                observers.next(snapshot)
        elif status == "done":
            if observers is not None:
                observers.next(snapshot)
            self._close()
            if observers is not None:
                observers.complete()
            if self.parent is not None:
                id = self.id
                done = {"type": f"xstate.done.actor.{id}", "output": snapshot.output, "actorId": id}
                self.system.relay(self, self.parent, done)
        if self.system.inspectors is not None:
            self.system.notify("@xstate.snapshot", self, event=event, snapshot=snapshot)

    def _send_snapshot(self, snapshot: Any) -> None:
        if snapshot.status == "active" and self.parent is not None and not self.system.quiet:
            event = {"type": f"xstate.snapshot.{self.id}", "snapshot": snapshot}
            self.system.relay(self, self.parent, event)

    def fail(self, error: Exception) -> None:
        """End the actor with an error."""
        self.snapshot = after_failure(self.snapshot, error)
        self._end_in_error(error)

    def emit(self, event: Any) -> None:
        """Emit an event to the listeners of this actor."""
        if self._observers is not None:
            self._observers.emit(event)

    def _end_in_error(self, error: Any) -> None:
        self._close()
        if self._observers is not None:
            self._observers.fail(error, self.parent is None)
        elif self.parent is None:
            report_unhandled(as_exception(error))
        if self.parent is not None:
            event = {"type": f"xstate.error.actor.{self.id}", "error": error, "actorId": self.id}
            self.system.relay(self, self.parent, event)

    def _close(self) -> None:
        """Take no more events, and release timers and the system id."""
        if self._state != RUNNING:
            return
        self.system.host.cancel_timers(self)
        if self._mailbox:
            self._mailbox.clear()
        self._state = STOPPED
        self.is_idle = False
        self._quick = False
        if self.system_id is not None:
            self.system.release(self)

    @property
    def timers(self) -> Timers:
        """The actor's pending timers."""
        if self._timers is None:
            self._timers = Timers(self)
        return self._timers

    @property
    def has_timers(self) -> bool:
        """True if the actor has ever set a timer."""
        return self._timers is not None

    def __repr__(self) -> str:
        return f"Actor({self.id!r}, {self.snapshot!r})"
