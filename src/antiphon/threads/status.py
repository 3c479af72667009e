"""A registry of the statuses of threads that are not actors, on the pure thread machine.

1. It is for programs that embed the status machine, with the mappings of `machine/agent_events.py`: a server that runs
   agents of its own, for example. Antiphon itself has no server yet, and uses neither: its chats, runs and debates are
   actors, whose statuses are in the store.
2. Every change of a status is a transition of the machine, and every result says whether there was one, and when.
3. The registry keeps running threads and those used last in memory, and the others as JSON in an archive; so is a
   thread that is archived, at once. `forget` drops one that was deleted, with its lines in the log.
4. It has no lock and never waits: use it from one event loop.
"""

import logging
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any, cast

from antiphon.actors.clock import REAL_CLOCK
from antiphon.chart.snapshot import Snapshot
from antiphon.chart.transition import get_next_transitions, initial_transition, transition
from antiphon.threads.errors import InvalidTransition, ThreadError
from antiphon.threads.machine.thread import (
    STATUSES,
    ThreadContext,
    first_context,
    is_of_this_run,
    thread_machine,
)
from antiphon.threads.machine.thread_events import ResumeReason, ThreadEvent, ThreadFields, ThreadStatus

LIMIT = 64
LOG_LIMIT = 1000
ThreadSnapshot = Snapshot[ThreadContext, ThreadEvent, ThreadStatus]
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class StatusChange:
    """The effect of an event on the status of a thread."""

    thread_id: str
    event: Mapping[str, Any]
    status: ThreadStatus
    previous: ThreadStatus
    accepted: bool
    resume_reason: ResumeReason | None
    context: ThreadContext
    # The time of the event, or else of the call, in milliseconds since the epoch.
    at: int
    # The reason of a refusal, and the events that would be accepted.
    reason: str | None = None
    valid_events: tuple[str, ...] = ()
    # Harmless inconsistencies: a status that differs from the stored one, a cost that fell.
    warnings: tuple[str, ...] = ()

    @property
    def has_changed(self) -> bool:
        """True if the thread has another status now."""
        return self.status != self.previous

    @property
    def is_fresh(self) -> bool:
        """True if this is the first run of the thread, so that there is nothing to resume."""
        return self.accepted and self.previous == "pending" and self.status == "running"


class ThreadStatusMachine:
    """Registry of the statuses of many threads; a thread is created when it is first named.

    `archive` holds threads that were not used lately, as JSON by id; by default it is a dict. `now` is the time of
    events that have none.
    """

    def __init__(
        self,
        *,
        limit: int = LIMIT,
        archive: MutableMapping[str, dict[str, Any]] | None = None,
        strict: bool = False,
        now: Callable[[], float] = REAL_CLOCK.now,
    ) -> None:
        self.limit = limit
        self._now = now
        self.strict = strict
        self.archive: MutableMapping[str, dict[str, Any]] = {} if archive is None else archive
        # The effects of the last events, refused ones included.
        self.log: deque[StatusChange] = deque(maxlen=LOG_LIMIT)
        self._threads: OrderedDict[str, ThreadSnapshot] = OrderedDict()

    def transition(
        self,
        thread_id: str,
        event: ThreadEvent,
        current_status: ThreadStatus | None = None,
        cost: float = 0,
        *,
        strict: bool | None = None,
    ) -> StatusChange:
        """Send an event to a thread; `current_status` from a database replaces the status in memory.

        A refused event changes nothing; with `strict` it raises `InvalidTransition`.
        """
        before, warnings = self._load(thread_id, current_status, cost)
        # Events of the engine itself are not accepted from outside.
        accepted = before.can(event) and not event["type"].startswith("xstate.")
        now = self._now()
        after = transition(thread_machine, before, event, now=now)[0] if accepted else before
        if after.context["cost"] < before.context["cost"]:
            warnings.append(f"the cost fell from {before.context['cost']} to {after.context['cost']}")
        at = cast(ThreadFields, event).get("at", round(now))
        change = _change(thread_id, event, before, after, accepted, at, tuple(warnings))
        self._keep(thread_id, after)
        self.log.append(change)
        for warning in warnings:
            _log.warning("thread %r: %s", thread_id, warning)
        if not accepted and (self.strict if strict is None else strict):
            raise InvalidTransition(thread_id, change.status, event["type"], change.reason or "", change.valid_events)
        return change

    transition_status = transition

    def recover(self, statuses: Mapping[str, ThreadStatus]) -> list[StatusChange]:
        """Interrupt the threads that were running or waiting when the last process ended."""
        return [
            self.transition(thread_id, {"type": "INTERRUPT"}, status)
            for thread_id, status in statuses.items()
            if status in ("running", "waiting")
        ]

    def get_status(self, thread_id: str) -> ThreadStatus | None:
        """Return the status of a thread, or None if it is unknown."""
        snapshot = self._find(thread_id)
        return None if snapshot is None else _status(snapshot)

    def get_context(self, thread_id: str) -> ThreadContext | None:
        """Return the context of a thread, or None if it is unknown."""
        snapshot = self._find(thread_id)
        return None if snapshot is None else snapshot.context

    def get_resume_reason(self, thread_id: str) -> ResumeReason | None:
        """Return the reason of the thread's last run."""
        snapshot = self._find(thread_id)
        return None if snapshot is None else snapshot.context["resumeReason"]

    def forget(self, thread_id: str) -> None:
        """Remove a thread that was deleted from the registry, its archive and its log."""
        self._threads.pop(thread_id, None)
        self.archive.pop(thread_id, None)
        kept = [change for change in self.log if change.thread_id != thread_id]
        self.log.clear()
        self.log.extend(kept)

    def to_json(self, thread_id: str) -> dict[str, Any] | None:
        """Return a thread as JSON, as the archive holds it, or None if it is unknown."""
        snapshot = self._find(thread_id)
        return None if snapshot is None else _to_json(snapshot)

    def __len__(self) -> int:
        return len(self._threads)

    def __contains__(self, thread_id: str) -> bool:
        return thread_id in self._threads or thread_id in self.archive

    def _load(self, thread_id: str, current: ThreadStatus | None, cost: float) -> tuple[ThreadSnapshot, list[str]]:
        if current is not None and current not in STATUSES:
            raise ThreadError(f"{current!r} is not a status of a thread; known: {', '.join(STATUSES)}")
        snapshot = self._find(thread_id)
        if snapshot is None:
            return _first_snapshot(thread_id, current, cost), []
        if current is None or current == snapshot.value:
            return snapshot, []
        drift = f"the status is {snapshot.value!r} in memory and {current!r} in storage"
        # The context of the old status, a waiting reason for instance, does not fit the new one.
        context = first_context({"threadId": thread_id, "cost": cost or snapshot.context["cost"]})
        return thread_machine.resolve_state(current, context=context), [drift]

    def _find(self, thread_id: str) -> ThreadSnapshot | None:
        snapshot = self._threads.get(thread_id)
        if snapshot is None and (stored := self.archive.get(thread_id)) is not None:
            snapshot = _from_json(stored)
        return snapshot

    def _keep(self, thread_id: str, snapshot: ThreadSnapshot) -> None:
        if snapshot.context["archived"] and snapshot.value != "running":
            self._threads.pop(thread_id, None)
            self.archive[thread_id] = _to_json(snapshot)
            return
        self._threads[thread_id] = snapshot
        self._threads.move_to_end(thread_id)
        self.archive.pop(thread_id, None)
        if len(self._threads) > self.limit:
            idle = [id for id, thread in self._threads.items() if thread.value != "running" and id != thread_id]
            for id in idle[: len(self._threads) - self.limit]:
                self.archive[id] = _to_json(self._threads.pop(id))


def _first_snapshot(thread_id: str, status: ThreadStatus | None, cost: float) -> ThreadSnapshot:
    input = {"threadId": thread_id, "cost": cost}
    if status is None:
        return initial_transition(thread_machine, input)[0]
    return thread_machine.resolve_state(status, context=first_context(input))


def _change(
    thread_id: str,
    event: ThreadEvent,
    before: ThreadSnapshot,
    after: ThreadSnapshot,
    accepted: bool,
    at: int,
    warnings: tuple[str, ...],
) -> StatusChange:
    return StatusChange(
        thread_id,
        event,
        _status(after),
        _status(before),
        accepted,
        after.context["resumeReason"],
        after.context,
        at,
        None if accepted else _refusal(before, event),
        () if accepted else valid_events(before),
        warnings,
    )


def valid_events(snapshot: ThreadSnapshot) -> tuple[str, ...]:
    """Return the types of the events that a thread accepts now, sorted."""
    types = {transition.event_type for transition in get_next_transitions(snapshot)}
    return tuple(sorted(type for type in types if not type.startswith("xstate.") and _takes(snapshot, type)))


def _takes(snapshot: ThreadSnapshot, type: str) -> bool:
    offers: list[dict[str, Any]] = [{"type": type, "status": status} for status in (None, *STATUSES)]
    return any(snapshot.can(cast(ThreadEvent, offer)) for offer in offers)


def _refusal(snapshot: ThreadSnapshot, event: ThreadEvent) -> str:
    """Explain why an event was refused."""
    type = event["type"]
    types = {transition.event_type for transition in get_next_transitions(snapshot)}
    if type not in types:
        return f"a {snapshot.value} thread does not take {type}"
    fields = cast(ThreadFields, event)
    if not is_of_this_run(snapshot.context, fields):
        return f"it is about the run {fields['runId']!r}, not {snapshot.context['runId']!r}"
    if event["type"] == "SET_STATUS":
        return f"{snapshot.value} cannot become {event.get('status')!r}"
    if snapshot.has_tag("busy"):
        return "the thread is busy"
    return "it does not say that it is about the last run"


def _status(snapshot: ThreadSnapshot) -> ThreadStatus:
    return cast(ThreadStatus, snapshot.value)


def _to_json(snapshot: ThreadSnapshot) -> dict[str, Any]:
    return {"value": snapshot.value, "context": snapshot.context, "version": thread_machine.version}


def _from_json(stored: Mapping[str, Any]) -> ThreadSnapshot:
    version = stored.get("version")
    if version != thread_machine.version:
        raise ThreadError(f"a stored thread has version {version!r}, the machine {thread_machine.version!r}")
    return thread_machine.resolve_state(stored["value"], context=first_context(stored["context"]))
