"""Actor systems: a root actor with its descendants, which share a clock, a logger and system ids."""

from _thread import RLock
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from antiphon.actors.clock import Clock
from antiphon.actors.errors import NoEventLoop, SystemIdTaken, WrongThread
from antiphon.actors.held_calls import HeldCall, HeldCalls
from antiphon.actors.host import Host
from antiphon.actors.inspection import Inspection
from antiphon.actors.loop import running_loop
from antiphon.actors.observers import Subscription, call_safely
from antiphon.actors.os_threads import UNOWNED, thread_lock
from antiphon.chart.scope import Facts

Inspector = Callable[[Inspection], Any]


class System:
    """The clock, logger, host, inspectors and system ids of one tree of actors."""

    __slots__ = (
        "_held",
        "_keyed",
        "_loop",
        "_owned",
        "answers",
        "clock",
        "direct",
        "host",
        "inspectors",
        "logger",
        "new_id",
        "previous",
        "quiet",
        "random",
        "root",
        "timer_policy",
        "unhandled",
    )
    lock: Any = nullcontext()

    def __init__(
        self,
        root: Any,
        clock: Clock,
        logger: Callable[..., Any],
        unhandled: Callable[[Any, Any], Any] | None,
        host: Host,
        timer_policy: str,
        new_id: Callable[[], str] | None = None,
        random: Callable[[], float] | None = None,
    ) -> None:
        self.root = root
        self.clock = clock
        self.logger = logger
        self.unhandled = unhandled
        self.host = host
        self.previous = host.previous
        self.timer_policy = timer_policy
        self.new_id = new_id
        self.random = random
        # While a tree is rebuilt, children do not send their snapshots to their parents again.
        self.quiet = False
        self.answers = 0  # results of eager functions since the event loop last ran
        # Created on first use: there may be very many systems, and most need neither.
        self.inspectors: dict[Inspector, None] | None = None
        self._keyed: dict[str, Any] | None = None
        self._held: HeldCalls | None = None
        self._loop: Any = None
        self._owned = thread_lock()
        # A lock that is owned where an event may take the quick path of `Actor.send`.
        self.direct = self._owned

    def claim_thread(self) -> None:
        """Make this thread the own one of the system, and the event loop that runs in it."""
        self._loop = running_loop()
        if not self._owned._is_owned():  # it was created in another thread
            self._owned = thread_lock()
            self._choose_path()

    def _choose_path(self) -> None:
        self.direct = self._owned if self.inspectors is None and not self._held else UNOWNED

    def set_timeout(self, callback: Callable[[], None], delay_ms: float) -> Any:
        """Call back after a delay; where no event loop runs, before the first event that comes after it."""
        try:
            return self.clock.set_timeout(callback, delay_ms)
        except NoEventLoop:
            if self._held is None:
                self._held = HeldCalls(self.clock)
            call = self._held.add(callback, delay_ms)
            self._choose_path()
            return call

    def clear_timeout(self, handle: Any) -> None:
        """Cancel a delayed call by its handle."""
        if isinstance(handle, HeldCall) and self._held is not None:
            self._held.cancel(handle)
            self._choose_path()
        else:
            self.clock.clear_timeout(handle)

    def release_held(self) -> None:
        """Make the held calls that are due, and leave the others to the event loop if one runs now."""
        if self._held:
            with self.lock:
                self._held.release()
            self._choose_path()

    def check_thread(self, actor: Any) -> None:
        """Raise WrongThread unless the system may be used in this thread."""
        if not self._owned._is_owned():
            raise WrongThread(
                f"actor {actor.id!r} belongs to another thread; send it events with actor.send_threadsafe(event), and "
                "make other calls in its thread, for example by loop.call_soon_threadsafe"
            )

    def send(self, target: Any, event: Any) -> None:
        """Deliver an event from outside; raise WrongThread if this is not the own thread."""
        self.check_thread(target)
        self.release_held()
        self.relay(None, target, event)

    def send_threadsafe(self, target: Any, event: Any) -> None:
        """Deliver an event from any thread: now in the own thread, else as soon as its event loop comes to it."""
        if self._owned._is_owned():
            target.send(event)
            return
        if self._loop is None:
            raise NoEventLoop(
                f"actor {target.id!r} has no event loop to take events from other threads; "
                "start it inside a running event loop, or create it with create_actor(..., shared=True)"
            )
        try:
            self._loop.call_soon_threadsafe(target.send, event)
        except RuntimeError:
            raise NoEventLoop(f"the event loop of actor {target.id!r} is closed, so the event is not taken") from None

    @property
    def facts(self) -> Facts:
        """The time, and the sources of ids and random numbers, for the functions of the current step."""
        return self.host.facts(self)

    def get(self, system_id: str) -> Any:
        """Return the actor with this system id, or None."""
        return None if self._keyed is None else self._keyed.get(system_id)

    def get_all(self) -> dict[str, Any]:
        """Return all actors that have a system id, by it."""
        return dict(self._keyed or {})

    def inspect(self, inspector: Inspector) -> Subscription:
        """Call the inspector with every inspection event of this system."""
        if self.inspectors is None:
            self.inspectors = {}
        self.inspectors[inspector] = None
        self._choose_path()
        return Subscription(lambda: self._leave(inspector))

    def notify(self, type: str, actor: Any, **details: Any) -> None:
        """Call the inspectors with an inspection event."""
        if self.inspectors is not None:
            inspection = Inspection(type, actor, self.root.session_id, **details)
            for inspector in list(self.inspectors):
                call_safely(inspector, inspection)

    def relay(self, source: Any, target: Any, event: Any) -> None:
        """Deliver an event from one actor to another."""
        if self.inspectors is not None:
            self.notify("@xstate.event", target, source=source, event=event)
        target.receive(event)

    def claim(self, system_id: str, actor: Any) -> None:
        """Register an actor under a system id; raise SystemIdTaken if another one has it."""
        if self._keyed is None:
            self._keyed = {}
        if self._keyed.setdefault(system_id, actor) is not actor:
            raise SystemIdTaken(f"the system id {system_id!r} is taken by another actor of this system")

    def release(self, actor: Any) -> None:
        """Release the system id of an actor."""
        if actor.system_id is not None and self.get(actor.system_id) is actor and self._keyed is not None:
            del self._keyed[actor.system_id]

    def _leave(self, inspector: Inspector) -> None:
        if self.inspectors is not None:
            self.inspectors.pop(inspector, None)
            if not self.inspectors:
                self.inspectors = None
                self._choose_path()


class SharedSystem(System):
    """A system that belongs to no thread: each event is taken under a lock, by the thread that sends it."""

    __slots__ = ("lock",)

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.lock = RLock()
        self.direct = UNOWNED

    def claim_thread(self) -> None:
        """Do nothing, because all threads are alike."""

    def _choose_path(self) -> None:
        """Do nothing, because no event may take the quick path."""

    def check_thread(self, actor: Any) -> None:
        """Do nothing, because all threads are alike."""

    def send(self, target: Any, event: Any) -> None:
        """Deliver an event from outside."""
        self.release_held()
        self.relay(None, target, event)

    def send_threadsafe(self, target: Any, event: Any) -> None:
        """Deliver an event from outside."""
        self.send(target, event)

    def relay(self, source: Any, target: Any, event: Any) -> None:
        """Deliver an event from one actor to another, once no other thread uses the system."""
        with self.lock:
            super().relay(source, target, event)
