"""The child's side of the benchmark: prove the machine, warm it up, then time a burst per line read.

The driver writes a line to ask for a burst of slices and reads back one line: its events per second.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from contestants.machines import Event, Facts, Machine, read_machine
from contestants.slices import burst_rate, warm_up


@dataclass(frozen=True, slots=True)
class Running:
    """A started machine: how its events look, how to play them, and what can be seen of it."""

    prepare: Callable[[Event], Any]
    play: Callable[[Sequence[Any], int], None]
    facts: Callable[[], Facts]


Start = Callable[[Machine], Running]


def serve(**modes: Start) -> None:
    """Run as a child process of the driver until it closes our input."""
    options = read_options(tuple(modes))
    machine = read_machine(options.machine)
    start = modes[options.mode]
    prove(start(machine), machine)
    running = start(machine)
    events = [running.prepare(event) for event in machine.cycle]

    def play(cycles: int) -> None:
        running.play(events, cycles)

    cycles = warm_up(play, options.warm_ms / 1000, options.slice_ms / 1000)
    answer({"events_per_slice": cycles * len(events)})
    for _ in sys.stdin:
        answer(burst_rate(play, cycles, len(events)))


def read_options(modes: tuple[str, ...]) -> Namespace:
    """The machine, the mode and the time to spend."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--machine", required=True)
    parser.add_argument("--mode", choices=modes, required=True)
    parser.add_argument("--warm-ms", type=float, required=True)
    parser.add_argument("--slice-ms", type=float, required=True)
    return parser.parse_args()


def prove(running: Running, machine: Machine) -> None:
    """Fail unless the machine does the agreed work."""
    events = [running.prepare(event) for event in machine.cycle[: machine.after]]
    running.play(events, 1)
    facts = running.facts()
    if facts != machine.facts:
        raise SystemExit(f"{machine.name}: expected {machine.facts}, got {facts}")


def answer(value: object) -> None:
    """One line to the driver."""
    print(json.dumps(value), flush=True)
