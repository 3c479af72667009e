"""xstate-statemachine: the same XState config, on its synchronous engine and by its pure `transition`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xstate_statemachine import Event, MachineLogic, SyncInterpreter, create_machine
from xstate_statemachine.actions import assign
from xstate_statemachine.helpers import initial_transition, transition

from contestants.child import Running, serve
from contestants.machines import Event as Plain
from contestants.machines import Facts, Machine, payload


class Tally:
    """What the entry action of the regions counts."""

    count = 0


def count(interpreter: Any, context: Any, event: Any, action: Any) -> None:
    """The entry action of the regions."""
    Tally.count += 1


LOGIC: dict[str, Any] = {
    "regions": MachineLogic(actions={"count": count}),
    "guards": MachineLogic(
        guards={
            "is0": lambda context, event: event.payload["v"] == 0,
            "is1": lambda context, event: event.payload["v"] == 1,
            "is2": lambda context, event: event.payload["v"] == 2,
            "is3": lambda context, event: event.payload["v"] == 3,
            "is4": lambda context, event: event.payload["v"] == 4,
        }
    ),
}


def build(machine: Machine) -> Any:
    """The chart bound to the functions that it names."""
    if machine.name == "chat":
        # An assign bound by name is ignored without a word, so it stands in the config.
        states = machine.config["states"]
        states["idle"]["on"]["SEND"]["actions"] = assign({"text": ""})
        states["streaming"]["on"]["TEXT_CHUNK"]["actions"] = assign(
            {"text": lambda scope: scope["context"]["text"] + scope["event"].payload["text"]}
        )
    return create_machine(machine.config, logic=LOGIC.get(machine.name))


def prepare(event: Plain) -> Event:
    """The library's own event object, which it takes faster than a dict."""
    return Event(event["type"], payload(event))


def start_interpreter(machine: Machine) -> Running:
    """A started interpreter that takes events by `send`."""
    Tally.count = 0
    interpreter = SyncInterpreter(build(machine)).start()
    send = interpreter.send

    def play(events: Sequence[Event], cycles: int) -> None:
        for _ in range(cycles):
            for event in events:
                send(event)

    def facts() -> Facts:
        leaves = active_leaves(interpreter.current_state_ids)
        return Facts(leaves, Tally.count, len(interpreter.context.get("text", "")))

    return Running(prepare, play, facts)


def start_pure(machine: Machine) -> Running:
    """A snapshot moved by the pure `transition`; nothing executes the actions it returns."""
    chart = build(machine)
    snapshot, actions = initial_transition(chart)
    count = len(actions)

    def play(events: Sequence[Event], cycles: int) -> None:
        nonlocal snapshot, count
        for _ in range(cycles):
            for event in events:
                snapshot, actions = transition(chart, snapshot, event)
                count += len(actions)

    def facts() -> Facts:
        # Applied assigns are among the returned actions, so only the regions' are comparable.
        counted = count if machine.name == "regions" else 0
        return Facts(active_leaves(snapshot.state_ids), counted, len(snapshot.context.get("text", "")))

    return Running(prepare, play, facts)


def active_leaves(ids: Any) -> tuple[str, ...]:
    """State ids without the machine's own, in document order."""
    return tuple(sorted(state_id.partition(".")[2] for state_id in ids))


if __name__ == "__main__":
    serve(send=start_interpreter, transition=start_pure)
