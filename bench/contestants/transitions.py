"""transitions: its flat `Machine`, and its `HierarchicalMachine` for the regions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from transitions import Machine as FlatMachine
from transitions.extensions import HierarchicalMachine

from contestants.child import Running, serve
from contestants.machines import Event, Facts, Machine, payload

Call = tuple[str, dict[str, Any]]


class Model:
    """The object that carries the state; the library adds `state` and `trigger`."""

    state: Any
    trigger: Callable[..., bool]

    def __init__(self) -> None:
        self.text = ""
        self.count = 0

    def reset_text(self) -> None:
        """Forget the text."""
        self.text = ""

    def append_text(self, text: str) -> None:
        """Add the chunk to the text."""
        self.text = self.text + text

    def enter_leaf(self) -> None:
        """The entry action of the regions."""
        self.count += 1


def toggle(model: Model) -> None:
    """The flat toggle."""
    FlatMachine(
        model,
        states=["off", "on"],
        transitions=[["TOGGLE", "off", "on"], ["TOGGLE", "on", "off"]],
        initial="off",
        auto_transitions=False,
    )


def chat(model: Model) -> None:
    """The chat; an internal transition (no destination) takes the chunks."""
    FlatMachine(
        model,
        states=["idle", "sending", "streaming", "complete", "error"],
        transitions=[
            {"trigger": "SEND", "source": "idle", "dest": "sending", "before": "reset_text"},
            {"trigger": "STREAM_START", "source": "sending", "dest": "streaming"},
            {"trigger": "TEXT_CHUNK", "source": "streaming", "dest": None, "before": "append_text"},
            {"trigger": "STREAM_END", "source": "streaming", "dest": "complete"},
            {"trigger": "RESET", "source": "complete", "dest": "idle"},
            {"trigger": "ERROR", "source": ["sending", "streaming"], "dest": "error"},
            {"trigger": "RETRY", "source": "error", "dest": "sending"},
        ],
        initial="idle",
        auto_transitions=False,
    )


def guards(model: Model) -> None:
    """Five guarded candidates for one event."""
    candidates = [{"trigger": "GO", "source": "hub", "dest": f"b{i}", "conditions": is_equal_to(i)} for i in range(5)]
    back = [{"trigger": "BACK", "source": f"b{i}", "dest": "hub"} for i in range(5)]
    FlatMachine(
        model,
        states=["hub", "b0", "b1", "b2", "b3", "b4"],
        transitions=[*candidates, *back],
        initial="hub",
        auto_transitions=False,
    )


def is_equal_to(i: int) -> Callable[[int], bool]:
    """The guard of one candidate."""
    return lambda v: v == i


def regions(model: Model) -> None:
    """Three parallel regions of two groups of two leaves."""
    HierarchicalMachine(
        model,
        states=[{"name": "work", "parallel": [region(f"r{n}") for n in (1, 2, 3)]}],
        transitions=[move for n in (1, 2, 3) for move in region_moves(n)],
        initial="work",
        auto_transitions=False,
    )


def region(name: str) -> dict[str, Any]:
    """One region."""
    leaves = [{"name": "x", "on_enter": "enter_leaf"}, {"name": "y", "on_enter": "enter_leaf"}]
    groups = [{"name": group, "initial": "x", "children": leaves} for group in ("g1", "g2")]
    return {"name": name, "initial": "g1", "children": groups}


def region_moves(n: int) -> list[list[str]]:
    """Tn swaps the leaves of either group, G swaps the groups."""
    path = f"work_r{n}"
    groups = [["G", f"{path}_g1", f"{path}_g2"], ["G", f"{path}_g2", f"{path}_g1"]]
    leaves = [
        [f"T{n}", f"{path}_{group}_{source}", f"{path}_{group}_{target}"]
        for group in ("g1", "g2")
        for source, target in ("xy", "yx")
    ]
    return [*groups, *leaves]


CHARTS = {"toggle": toggle, "chat": chat, "regions": regions, "guards": guards}


def start(machine: Machine) -> Running:
    """A model that takes events by `trigger`."""
    model = Model()
    CHARTS[machine.name](model)
    if machine.name == "regions":
        # The library enters an initial state without running its entry actions.
        model.count = 3
    trigger = model.trigger

    def play(events: Sequence[Call], cycles: int) -> None:
        for _ in range(cycles):
            for name, arguments in events:
                trigger(name, **arguments)

    return Running(prepare, play, lambda: Facts(active_leaves(model.state), model.count, len(model.text)))


def prepare(event: Event) -> Call:
    """A trigger's name and its keyword arguments."""
    return event["type"], payload(event)


def active_leaves(state: Any) -> tuple[str, ...]:
    """The model's state as dotted paths; parallel states are a list."""
    names = state if isinstance(state, list) else [state]
    return tuple(name.replace("_", ".") for name in names)


if __name__ == "__main__":
    serve(send=start)
