"""Actor systems: a root actor with its descendants, which share a clock, a logger and system ids."""

from collections.abc import Callable
from typing import Any

from antiphon.actors.clock import Clock
from antiphon.actors.errors import SystemIdTaken
from antiphon.actors.host import Host
from antiphon.actors.inspection import Inspection
from antiphon.actors.observers import Subscription, call_safely
from antiphon.chart.scope import Facts

Inspector = Callable[[Inspection], Any]


class System:
    """The clock, logger, host, inspectors and system ids of one tree of actors."""

    __slots__ = (
        "_keyed",
        "answers",
        "clock",
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
