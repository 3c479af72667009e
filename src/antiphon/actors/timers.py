"""Pending timers, and how they survive a restart."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from antiphon.actors.clock import Clock
from antiphon.chart.errors import SnapshotError

# What a restored timer waits for: its old deadline, the time it had left, or its whole delay again.
POLICIES = ("absolute", "remaining", "restart")


@dataclass(frozen=True, slots=True)
class Timer:
    """An event on its way through time."""

    handle: Any
    target: Any
    event: Any
    delay_ms: float
    due: float


def persisted_timers(actor: Any, timers: Mapping[str, Timer], clock: Clock) -> list[dict[str, Any]]:
    """Pending timers as JSON-ready values."""
    now = clock.now()
    return [
        {
            "id": id,
            "target": _target_name(actor, timer.target),
            "event": timer.event,
            "delay": timer.delay_ms,
            "due": timer.due,
            "remaining": max(0, timer.due - now),
        }
        for id, timer in timers.items()
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
