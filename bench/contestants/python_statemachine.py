"""python-statemachine: its `StateChart` classes, events by `send`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from statemachine import State, StateChart
from statemachine.io import create_machine_class_from_definition

from contestants.child import Running, serve
from contestants.machines import Event, Facts, Machine, payload

Call = tuple[str, dict[str, Any]]


class Toggle(StateChart):
    """The flat toggle."""

    off = State(initial=True)
    on = State()
    TOGGLE = off.to(on) | on.to(off)


class Chat(StateChart):
    """The chat; an internal transition takes the chunks."""

    idle = State(initial=True)
    sending = State()
    streaming = State()
    complete = State()
    error = State()

    SEND = idle.to(sending, on="reset_text")
    STREAM_START = sending.to(streaming)
    TEXT_CHUNK = streaming.to.itself(internal=True, on="append_text")
    STREAM_END = streaming.to(complete)
    RESET = complete.to(idle)
    ERROR = sending.to(error) | streaming.to(error)
    RETRY = error.to(sending)

    text = ""

    def reset_text(self) -> None:
        """Forget the text."""
        self.text = ""

    def append_text(self, text: str) -> None:
        """Add the chunk to the text."""
        self.text = self.text + text


class Guards(StateChart):
    """Five guarded candidates for one event."""

    hub = State(initial=True)
    b0 = State()
    b1 = State()
    b2 = State()
    b3 = State()
    b4 = State()
    GO = (
        hub.to(b0, cond="is0")
        | hub.to(b1, cond="is1")
        | hub.to(b2, cond="is2")
        | hub.to(b3, cond="is3")
        | hub.to(b4, cond="is4")
    )
    BACK = b0.to(hub) | b1.to(hub) | b2.to(hub) | b3.to(hub) | b4.to(hub)

    def is0(self, v: int) -> bool:
        """The first guard."""
        return v == 0

    def is1(self, v: int) -> bool:
        """The second guard."""
        return v == 1

    def is2(self, v: int) -> bool:
        """The third guard."""
        return v == 2

    def is3(self, v: int) -> bool:
        """The fourth guard."""
        return v == 3

    def is4(self, v: int) -> bool:
        """The last guard."""
        return v == 4


class Tally:
    """What the entry action of the regions counts."""

    count = 0


def count() -> None:
    """The entry action of the regions."""
    Tally.count += 1


def regions() -> type[StateChart[Any]]:
    """Three parallel regions of two groups of two leaves; ids are unique across the chart."""
    work = {"initial": True, "parallel": True, "states": {f"r{n}": region(n) for n in (1, 2, 3)}}
    return create_machine_class_from_definition("Regions", states={"work": work})


def region(n: int) -> dict[str, Any]:
    """One region."""
    return {"initial": True, "states": {f"r{n}_{g}": group(n, g, o) for g, o in (("g1", "g2"), ("g2", "g1"))}}


def group(n: int, name: str, other: str) -> dict[str, Any]:
    """One group: Tn swaps its leaves, G leaves for the other group."""
    path = f"r{n}_{name}"
    leaves = {
        f"{path}_{leaf}": {
            "initial": leaf == "x",
            "enter": count,
            "on": {f"T{n}": [{"target": f"{path}_{opposite}"}]},
        }
        for leaf, opposite in ("xy", "yx")
    }
    return {"initial": name == "g1", "states": leaves, "on": {"G": [{"target": f"r{n}_{other}"}]}}


def start(machine: Machine) -> Running:
    """A started chart that takes events by `send`."""
    Tally.count = 0
    charts = {"toggle": Toggle, "chat": Chat, "guards": Guards}
    chart = charts[machine.name]() if machine.name in charts else regions()()
    send = chart.send

    def play(events: Sequence[Call], cycles: int) -> None:
        for _ in range(cycles):
            for name, arguments in events:
                send(name, **arguments)

    def facts() -> Facts:
        leaves = tuple(path(state) for state in chart.configuration if state.is_atomic)
        return Facts(leaves, Tally.count, len(getattr(chart, "text", "")))

    return Running(prepare, play, facts)


def prepare(event: Event) -> Call:
    """An event's name and its keyword arguments."""
    return event["type"], payload(event)


def path(state: Any) -> str:
    """A state's dotted path; in the regions, ids carry all of it but the root."""
    inner = state.id.replace("_", ".")
    return f"work.{inner}" if "." in inner else inner


if __name__ == "__main__":
    serve(send=start)
