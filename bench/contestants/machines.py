"""The four machines that every contestant plays, read from `bench/machines`."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent.parent / "machines"
NAMES = ("toggle", "chat", "regions", "guards")

Event = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Facts:
    """What can be seen of a machine from outside: where it is and what it has done."""

    leaves: tuple[str, ...]
    count: int = 0
    text_length: int = 0


@dataclass(frozen=True, slots=True)
class Machine:
    """A chart, one cycle of events, and the facts that must hold after the first `after` of them."""

    name: str
    config: dict[str, Any]
    cycle: tuple[Event, ...]
    after: int
    facts: Facts


def read_machine(name: str) -> Machine:
    """The machine of that name."""
    document = json.loads((FOLDER / f"{name}.json").read_text())
    proof = document["proof"]
    return Machine(
        name,
        document["config"],
        tuple(event for entry in document["cycle"] for event in [literal(entry["event"])] * entry["times"]),
        proof["after"],
        Facts(tuple(proof["leaves"]), proof["count"], proof["text_length"]),
    )


def literal(event: Event) -> Event:
    """The event with its type interned, as a literal in a program would be."""
    return {**event, "type": sys.intern(event["type"])}


def payload(event: Event) -> dict[str, Any]:
    """What an event carries besides its type, for libraries that take a name and keyword arguments."""
    return {key: value for key, value in event.items() if key != "type"}


def leaves(value: Any) -> tuple[str, ...]:
    """The active leaves of an XState state value, as dotted paths."""
    if isinstance(value, str):
        return (value,)
    return tuple(f"{key}.{leaf}" for key, inner in value.items() for leaf in leaves(inner))
