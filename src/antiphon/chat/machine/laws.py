"""The laws of the chat, checked on the machine itself."""

from collections.abc import Callable, Iterable
from typing import Any

from antiphon.chart.snapshot import Snapshot
from antiphon.chart.transition import initial_transition, transition
from antiphon.chat.machine.flow import flow_machine
from antiphon.chat.machine.polynomial import FlowState, chat_directions, chat_transition

Chat = Snapshot[Any, Any]
# A way from the beginning to each state, with something said on it.
WAYS: dict[FlowState, tuple[str, ...]] = {
    FlowState.DORMANT: (),
    FlowState.STREAMING: ("start", "message"),
    FlowState.BRANCHING: ("start", "message", "fork"),
    FlowState.CONVERGING: ("start", "message", "fork", "confirm_fork", "message", "merge"),
    FlowState.DRAINING: ("start", "message", "stop"),
    FlowState.COLLAPSED: ("start", "message", "stop", "crystallize"),
}
PRESERVING = ("configure", "message", "rewind", "checkpoint", "inject_context", "flush", "harvest", "resolve_conflict")
IDEMPOTENT = ("checkpoint", "flush", "harvest")


def run(chat: Chat, actions: Iterable[str]) -> Chat:
    """The chat after some actions."""
    for action in actions:
        event: Any = {"type": action}
        chat, _ = transition(flow_machine, chat, event)
    return chat


def standing(state: FlowState) -> Chat:
    """A chat in a state."""
    return run(initial_transition(flow_machine)[0], WAYS[state])


def _cases() -> Iterable[tuple[FlowState, str]]:
    return ((state, action) for state in FlowState for action in sorted(chat_directions(state)))


def _same(one: Chat, other: Chat) -> bool:
    return one.value == other.value and bool(one.context == other.context)


def completeness() -> list[str]:
    """Every state allows something, and every action it allows is done and leads where the chart says."""
    idle = [state.name for state in FlowState if not chat_directions(state)]
    lost = [
        f"{state.name}: {action}"
        for state, action in _cases()
        if run(standing(state), [action]).value != chat_transition(state, action)[0].value
    ]
    return idle + lost


def determinism() -> list[str]:
    """The same action in the same place leads to the same place."""
    return [
        f"{state.name}: {action}"
        for state, action in _cases()
        if not _same(run(standing(state), [action]), run(standing(state), [action]))
    ]


def terminal() -> list[str]:
    """Only a reset leads out of COLLAPSED."""
    ended = standing(FlowState.COLLAPSED)
    everything = {action for _, action in _cases()} | {"merge"}
    return [action for action in sorted(everything - {"reset"}) if run(ended, [action]).value != ended.value]


def preservation() -> list[str]:
    """Actions that preserve the state do."""
    return [
        f"{state.name}: {action}"
        for state, action in _cases()
        if action in PRESERVING and run(standing(state), [action]).value != state.value
    ]


def symmetry() -> list[str]:
    """A fork leads back to STREAMING, confirmed or not, and one that is cancelled leaves nothing behind."""
    chat = standing(FlowState.STREAMING)
    confirmed, cancelled = run(chat, ["fork", "confirm_fork"]), run(chat, ["fork", "cancel_fork"])
    found = [] if confirmed.value == chat.value else ["confirm_fork"]
    return found if _same(cancelled, chat) else [*found, "cancel_fork"]


def idempotence() -> list[str]:
    """Doing it twice is doing it once."""
    return [
        f"{state.name}: {action}"
        for state, action in _cases()
        if action in IDEMPOTENT and not _same(run(standing(state), [action]), run(standing(state), [action, action]))
    ]


def associativity() -> list[str]:
    """A way can be gone in any portions."""
    way = ("start", "message", "checkpoint", "fork", "confirm_fork", "message", "rewind", "stop", "crystallize")
    start = initial_transition(flow_machine)[0]
    whole = run(start, way)
    return [str(place) for place in range(len(way)) if not _same(run(run(start, way[:place]), way[place:]), whole)]


LAWS: dict[str, Callable[[], list[str]]] = {
    "completeness": completeness,
    "determinism": determinism,
    "terminal": terminal,
    "preservation": preservation,
    "symmetry": symmetry,
    "idempotence": idempotence,
    "associativity": associativity,
}


def broken_laws() -> dict[str, list[str]]:
    """Where each law is broken."""
    return {law: find() for law, find in LAWS.items()}
