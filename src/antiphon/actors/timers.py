"""Pending timers, and how they survive a restart."""

from collections.abc import Callable, Iterable, Mapping
from itertools import count
from typing import Any, NamedTuple

from antiphon.actors.clock import Clock
from antiphon.chart.errors import SnapshotError

# What a restored timer waits for: its old deadline, the time it had left, or its whole delay again.
POLICIES = ("absolute", "remaining", "restart")


class Timer(NamedTuple):
    """An event on its way through time."""

    handle: Any
    target: Any
    event: Any
    delay_ms: float
    due: float


_numbers = count()


class Timers:
    """The pending timers of one actor, by id."""

    __slots__ = ("_actor", "_table")

    def __init__(self, actor: Any) -> None:
        self._actor = actor
        self._table: dict[str, Timer] = {}

    def set(self, target: Any, event: Any, delay_ms: float, id: str | None) -> None:
        """Have an event delivered after a delay."""
        actor, name = self._actor, id if id is not None else f"timer:{next(_numbers)}"
        clock: Clock = actor.system.clock

        def fire() -> None:
            self._table.pop(name, None)
            actor.system.relay(actor, target, event)

        # Under an id that is taken, both timers run and the id means the later one, as in XState.
        handle = clock.set_timeout(fire, delay_ms)
        self._table[name] = Timer(handle, target, event, delay_ms, clock.now() + delay_ms)

    def cancel(self, id: str) -> None:
        """Forget a delayed event."""
        timer = self._table.pop(id, None)
        if timer is not None:
            self._actor.system.clock.clear_timeout(timer.handle)

    def cancel_all(self) -> None:
        """Forget all delayed events."""
        for id in tuple(self._table):
            self.cancel(id)

    def to_json(self) -> list[dict[str, Any]]:
        """The pending timers as JSON-ready values."""
        now = self._actor.system.clock.now()
        return [
            {
                "id": id,
                "target": _target_name(self._actor, timer.target),
                "event": timer.event,
                "delay": timer.delay_ms,
                "due": timer.due,
                "remaining": max(0, timer.due - now),
            }
            for id, timer in self._table.items()
        ]


def _target_name(actor: Any, target: Any) -> str:
    if target is actor:
        return "#_internal"
    return "#_parent" if target is actor.parent else str(target.id)


Resume = Callable[[Any], Iterable[tuple[Any, Any, float, str]]]


def restore_timers(persisted: Any, policy: str, clock: Clock) -> Resume | None:
    """How to set the timers of a persisted snapshot again, once the actor starts."""
    if policy not in POLICIES:
        raise ValueError(f"no timer policy named {policy!r}; known: {', '.join(POLICIES)}")
    timers = persisted.get("timers") if isinstance(persisted, Mapping) else None
    if not timers:
        return None
    checked = sorted((_checked(timer) for timer in timers), key=lambda timer: timer["due"])

    def resume(actor: Any) -> Iterable[tuple[Any, Any, float, str]]:
        for timer in checked:
            target = _target(actor, timer["target"])
            if target is not None:
                yield target, timer["event"], _delay(timer, policy, clock.now()), timer["id"]

    return resume


def _checked(timer: Any) -> Mapping[str, Any]:
    numbers = ("delay", "due", "remaining")
    if (
        isinstance(timer, Mapping)
        and all(isinstance(timer.get(key), int | float) for key in numbers)
        and all(isinstance(timer.get(key), str) for key in ("id", "target"))
        and isinstance(timer.get("event"), Mapping)
    ):
        return timer
    raise SnapshotError(f"a persisted timer has id, target, event, delay, due and remaining, unlike {timer!r}")


def _delay(timer: Mapping[str, Any], policy: str, now: float) -> float:
    if policy == "absolute":
        return float(max(0, timer["due"] - now))
    return float(timer["remaining"] if policy == "remaining" else timer["delay"])


def _target(actor: Any, name: str) -> Any:
    if name == "#_internal":
        return actor
    if name == "#_parent":
        return actor.parent
    ref = actor.get_snapshot().children.get(name)
    return ref.actor if ref is not None else None
