"""Figures of the engine: events by `send` and by `transition`, creating an actor, building a machine."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from antiphon import create_actor, create_machine
from contestants.antiphon import build, start_actor, start_pure
from contestants.child import Start, prove
from contestants.machines import NAMES, read_machine
from figures.building import CHART

Play = Callable[[int], Awaitable[None]]  # does so many iterations
Prepare = Callable[[Path], Awaitable[Play]]  # may keep files in the folder


async def prepare_events(start: Start, name: str, folder: Path) -> Play:
    """Start a machine that takes one cycle of its events per iteration."""
    machine = read_machine(name)
    prove(start(machine), machine)
    running = start(machine)
    events = [running.prepare(event) for event in machine.cycle]

    async def play(iterations: int) -> None:
        running.play(events, iterations)

    return play


async def prepare_creating(folder: Path) -> Play:
    """Create and start an actor of the chat machine per iteration."""
    machine = build(read_machine("chat"))

    async def play(iterations: int) -> None:
        for _ in range(iterations):
            create_actor(machine).start()

    return play


async def prepare_building(folder: Path) -> Play:
    """Build the debate machine per iteration."""
    config = json.loads(CHART.read_text())

    async def play(iterations: int) -> None:
        for _ in range(iterations):
            create_machine(config, strict=False)

    return play


FIGURES: dict[str, Prepare] = {
    **{f"send, {name}": partial(prepare_events, start_actor, name) for name in NAMES},
    **{f"transition, {name}": partial(prepare_events, start_pure, name) for name in NAMES},
    "create an actor": prepare_creating,
    "build a machine": prepare_building,
}
