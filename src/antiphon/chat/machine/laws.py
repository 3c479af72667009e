"""The laws of the chat, checked on the machine itself."""

from collections.abc import Callable, Iterable
from typing import cast

from antiphon.chart.snapshot import Snapshot
from antiphon.chart.transition import initial_transition, transition
from antiphon.chat.machine.context import FlowContext
from antiphon.chat.machine.events import FlowEvent
from antiphon.chat.machine.flow import flow_machine
from antiphon.chat.machine.polynomial import FlowState, chat_directions, chat_transition

Chat = Snapshot[FlowContext, FlowEvent]
# Actions that lead from the beginning to each state, with a message on the way.
PATHS: dict[FlowState, tuple[str, ...]] = {
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
    """Return the chat after some actions."""
    for action in actions:
        chat, _ = transition(flow_machine, chat, cast(FlowEvent, {"type": action}))
    return chat


def snapshot_in(state: FlowState) -> Chat:
    """Return a chat in a state."""
    return run(initial_transition(flow_machine)[0], PATHS[state])


def _cases() -> Iterable[tuple[FlowState, str]]:
    return ((state, action) for state in FlowState for action in sorted(chat_directions(state)))


def _same(first: Chat, second: Chat) -> bool:
    return first.value == second.value and first.context == second.context


def completeness() -> list[str]:
    """Every state allows an action, and every action it allows leads to the target in the chart."""
    without_actions = [state.name for state in FlowState if not chat_directions(state)]
    misled = [
        f"{state.name}: {action}"
        for state, action in _cases()
        if run(snapshot_in(state), [action]).value != chat_transition(state, action)[0].value
    ]
    return without_actions + misled


def determinism() -> list[str]:
    """The same action in the same state has the same result."""
    return [
        f"{state.name}: {action}"
        for state, action in _cases()
        if not _same(run(snapshot_in(state), [action]), run(snapshot_in(state), [action]))
    ]


def terminal() -> list[str]:
    """Only a reset leads out of COLLAPSED."""
    collapsed = snapshot_in(FlowState.COLLAPSED)
    actions = {action for _, action in _cases()} | {"merge"}
    return [action for action in sorted(actions - {"reset"}) if run(collapsed, [action]).value != collapsed.value]


def preservation() -> list[str]:
    """Actions that should preserve the state preserve it."""
    return [
        f"{state.name}: {action}"
        for state, action in _cases()
        if action in PRESERVING and run(snapshot_in(state), [action]).value != state.value
    ]


def symmetry() -> list[str]:
    """A fork leads back to STREAMING, confirmed or not, and a cancelled one changes nothing."""
    chat = snapshot_in(FlowState.STREAMING)
    confirmed = run(chat, ["fork", "confirm_fork"])
    cancelled = run(chat, ["fork", "cancel_fork"])
    broken = [] if confirmed.value == chat.value else ["confirm_fork"]
    return broken if _same(cancelled, chat) else [*broken, "cancel_fork"]


def idempotence() -> list[str]:
    """Idempotent actions have the same result twice as once."""
    return [
        f"{state.name}: {action}"
        for state, action in _cases()
        if action in IDEMPOTENT
        and not _same(run(snapshot_in(state), [action]), run(snapshot_in(state), [action, action]))
    ]


def associativity() -> list[str]:
    """A sequence of actions can be performed in any portions."""
    actions = ("start", "message", "checkpoint", "fork", "confirm_fork", "message", "rewind", "stop", "crystallize")
    start = initial_transition(flow_machine)[0]
    whole = run(start, actions)
    return [
        str(place)
        for place in range(len(actions))
        if not _same(run(run(start, actions[:place]), actions[place:]), whole)
    ]


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
    """Return the violations of each law."""
    return {law: find() for law, find in LAWS.items()}
