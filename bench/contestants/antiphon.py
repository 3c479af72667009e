"""Antiphon: the chart as it is, by `actor.send` and by the pure `transition`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from antiphon import assign, create_actor, create_machine, initial_transition, transition
from contestants.child import Running, serve
from contestants.machines import Event, Facts, Machine, leaves


class Tally:
    """What the entry action of the regions counts."""

    count = 0


def count(context: Any, event: Any) -> None:
    """The entry action of the regions."""
    Tally.count += 1


ACTIONS: dict[str, dict[str, Any]] = {
    "chat": {
        "resetText": assign({"text": ""}),
        "appendText": assign({"text": lambda context, event: context["text"] + event["text"]}),
    },
    "regions": {"count": count},
}
GUARDS: dict[str, dict[str, Any]] = {
    "guards": {
        "is0": lambda context, event: event["v"] == 0,
        "is1": lambda context, event: event["v"] == 1,
        "is2": lambda context, event: event["v"] == 2,
        "is3": lambda context, event: event["v"] == 3,
        "is4": lambda context, event: event["v"] == 4,
    }
}


def build(machine: Machine) -> Any:
    """The chart bound to the functions that it names."""
    return create_machine(machine.config, actions=ACTIONS.get(machine.name, {}), guards=GUARDS.get(machine.name, {}))


def start_actor(machine: Machine) -> Running:
    """A started actor that takes events by `send`."""
    Tally.count = 0
    actor = create_actor(build(machine)).start()
    send = actor.send

    def play(events: Sequence[Event], cycles: int) -> None:
        for _ in range(cycles):
            for event in events:
                send(event)

    return Running(dict, play, lambda: facts(actor.get_snapshot(), Tally.count))


def start_pure(machine: Machine) -> Running:
    """A snapshot moved by the pure `transition`; nothing executes the effects it returns."""
    chart = build(machine)
    snapshot, effects = initial_transition(chart)
    count = len(effects)

    def play(events: Sequence[Event], cycles: int) -> None:
        nonlocal snapshot, count
        for _ in range(cycles):
            for event in events:
                snapshot, effects = transition(chart, snapshot, event)
                count += len(effects)

    return Running(dict, play, lambda: facts(snapshot, count))


def facts(snapshot: Any, count: int) -> Facts:
    """What can be seen of a snapshot."""
    return Facts(leaves(snapshot.value), count, len(snapshot.context.get("text", "")))


if __name__ == "__main__":
    serve(send=start_actor, transition=start_pure)
