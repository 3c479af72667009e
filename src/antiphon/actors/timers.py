"""Pending timers of actors, persisted and restored."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from antiphon.chart.errors import SnapshotError
from antiphon.chart.persist import from_json_value, to_json_value

# A restored timer waits for its old deadline, for the time it had left, or for its whole delay again.
POLICIES = ("absolute", "remaining", "restart")


class Timer(NamedTuple):
    """A delayed event and its handle."""

    id: str
    handle: Any
    target: Any
    event: Any
    delay_ms: float
    due: float


class Timers:
    """The pending timers of one actor."""

    __slots__ = ("_actor", "_named", "_number", "_pending", "_saved")

    def __init__(self, actor: Any) -> None:
        self._actor = actor
        self._number = 0
        self._pending: dict[int, Timer] = {}
        # If an id is used twice, both timers run and the id refers to the later one, as in XState.
        self._named: dict[str, int] = {}
        self._saved: Sequence[Mapping[str, Any]] = ()

    def set(self, target: Any, event: Any, delay_ms: float, id: str | None, *, whole_ms: float | None = None) -> None:
        """Deliver an event after a delay; `whole_ms` is the original delay of a restored timer."""
        actor = self._actor
        clock = self._actor.system.clock
        self._number += 1
        number = self._number
        name = id if id is not None else self._free_name()

        def fire() -> None:
            self._pending.pop(number, None)
            self._named.pop(name, None)
            actor.system.relay(actor, target, event)

        handle = actor.system.set_timeout(fire, delay_ms)
        whole = delay_ms if whole_ms is None else whole_ms
        self._pending[number] = Timer(name, handle, target, event, whole, clock.now() + delay_ms)
        self._named[name] = number

    def cancel(self, id: str, *, every: bool = False) -> None:
        """Cancel the latest delayed event of an id, or every one."""
        number = self._named.pop(id, None)
        if number is not None:
            self._forget(number)
        if every:
            for number in [number for number, timer in self._pending.items() if timer.id == id]:
                self._forget(number)

    def cancel_all(self) -> None:
        """Cancel all delayed events that an id still refers to; as in XState, the others go on."""
        for id in tuple(self._named):
            self.cancel(id)

    def hold(self, saved: Sequence[Mapping[str, Any]]) -> None:
        """Keep persisted timers until the actor starts."""
        self._saved = saved

    def resume(self, policy: str) -> None:
        """Set the persisted timers again."""
        saved = self._saved
        self._saved = ()
        now = self._actor.system.clock.now()
        for timer in saved:
            target = _target(self._actor, timer["target"])
            if target is not None:
                delay_ms = _delay(timer, policy, now)
                self.set(target, from_json_value(timer["event"]), delay_ms, timer["id"], whole_ms=timer["delay"])

    def to_json(self) -> list[dict[str, Any]]:
        """Return the pending timers as JSON-ready values."""
        now = self._actor.system.clock.now()
        return [
            *(dict(timer) for timer in self._saved),
            *(
                {
                    "id": timer.id,
                    "target": _target_name(self._actor, timer.target),
                    "event": to_json_value(timer.event, f"timers.{timer.id}.event"),
                    "delay": timer.delay_ms,
                    "due": timer.due,
                    "remaining": max(0, timer.due - now),
                }
                for timer in self._pending.values()
            ),
        ]

    def _forget(self, number: int) -> None:
        timer = self._pending.pop(number, None)
        if timer is not None:
            self._actor.system.clear_timeout(timer.handle)

    def _free_name(self) -> str:
        number = len(self._named)
        while f"timer:{number}" in self._named:
            number += 1
        return f"timer:{number}"


def check_policy(policy: str) -> str:
    """Return the policy; raise ValueError if it is not one."""
    if policy not in POLICIES:
        raise ValueError(f"no timer policy named {policy!r}; known: {', '.join(POLICIES)}")
    return policy


def saved_timers(persisted: Any) -> list[Mapping[str, Any]]:
    """Return the timers of a persisted snapshot, in the order they are due; raise SnapshotError if one is malformed."""
    timers = persisted.get("timers") if isinstance(persisted, Mapping) else None
    if timers is None:
        return []
    if not isinstance(timers, list | tuple):
        raise SnapshotError(f"timers should be a list, not {timers!r}")
    return sorted((_check_timer(timer) for timer in timers), key=lambda timer: float(timer["due"]))


def _check_timer(timer: Any) -> Mapping[str, Any]:
    if (
        isinstance(timer, Mapping)
        and all(isinstance(timer.get(key), int | float) for key in ("delay", "due", "remaining"))
        and all(isinstance(timer.get(key), str) for key in ("id", "target"))
        and isinstance(timer.get("event"), Mapping)
        and isinstance(timer["event"].get("type"), str)
    ):
        return timer
    raise SnapshotError(f"a persisted timer needs id, target, event, delay, due and remaining: {timer!r}")


def _delay(timer: Mapping[str, Any], policy: str, now: float) -> float:
    if policy == "absolute":
        # Negative for overdue timers, so that the clock calls them in the order of their deadlines.
        return float(timer["due"]) - now
    return float(timer["remaining"] if policy == "remaining" else timer["delay"])


def _target_name(actor: Any, target: Any) -> str:
    if target is actor:
        return "#_internal"
    return "#_parent" if target is actor.parent else str(target.id)


def _target(actor: Any, name: str) -> Any:
    if name == "#_internal":
        return actor
    if name == "#_parent":
        return actor.parent
    children = getattr(actor.snapshot, "children", None) or {}
    ref = children.get(name)
    return ref.actor if ref is not None else None
