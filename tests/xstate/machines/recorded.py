"""Walks of recorded machines: what the functions of a machine said on a walk, and what came of it on either engine.

`python -m tests.xstate.machines.walks debate 60 7` prints walks with the answers of the functions; see `recording.py`.
After each step there is what differs from the step before, the questions and the transitions that were taken.
"""

import json
import random
from functools import cache
from importlib import import_module
from typing import Any

from tests.xstate.machines.recording import Tape, names_of, plain, recorded, recorder
from tests.xstate.machines.walks import Walk

NAMES = ("debate", "orchestrator", "agent", "crew")
MOST_CANDIDATES = 3_000
# How often something happens that may have nothing to do with where the machine stands.
STRAY = 0.15


def named(transition: Any) -> str:
    """A transition by its place in the chart."""
    node = transition.source
    type = transition.event_type
    place = (node.on[type] if type else node.always).index(transition)
    return f"{node.id} {type or 'always'} {place}"


def change(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """What differs from before; nothing is there for what is gone."""
    changed = {key: value for key, value in after.items() if key not in before or before[key] != value}
    return changed | {key: None for key in before if key not in after}


class RecordedWalk(Walk):
    """A walk that notes changes, and what the machine was asked and took."""

    def __init__(self, machine: Any, input: Any, tape: Tape | None = None) -> None:
        self.tape = tape
        self.took = []
        self.answers = []
        self._before: dict[str, Any] = {"context": {}, "children": {}, "timers": {}}
        super().__init__(machine, input, self._inspect)

    def _inspect(self, happened: Any) -> None:
        if happened.type == "@xstate.microstep" and happened.actor.id == "walked":
            self.took.extend(named(one) for one in happened.transitions)

    def note(self) -> None:
        """Keep what changed."""
        super().note()
        now = self.trace.pop()
        saved = self.actor.actor.timers.to_json()
        now["timers"] = {one["id"]: {"event": one["event"], "delay": one["delay"]} for one in saved}
        changed = {key: change(before, now[key]) for key, before in self._before.items()}
        self._before = {key: now[key] for key in self._before}
        step = {"value": now["value"], "status": now["status"], **changed, "took": self.took}
        self.took = []
        if self.tape is not None:
            step["asked"], answers = self.tape.cut()
            self.answers.append(answers)
        self.trace.append(step)


def about(name: str) -> Any:
    """What a machine meets on its walks."""
    return import_module(f"tests.xstate.machines.walks_{name}")


@cache
def bare(name: str) -> Any:
    """A machine whose children are recorders."""
    machine = about(name).MACHINE
    return machine.provide(actors=dict.fromkeys(machine.implementations.actors, recorder))


@cache
def writing(name: str) -> tuple[Any, Tape]:
    """The same machine, writing everything down, and its tape."""
    return recorded(bare(name))


def taken(machine: Any, input: Any, walk: list[Any], tape: Tape | None = None) -> RecordedWalk:
    """A walk that was taken."""
    found = RecordedWalk(machine, input, tape)
    for step in walk:
        found.take(step)
    return found


def recording(name: str, input: Any, walk: list[Any]) -> RecordedWalk:
    """A walk that was taken by a machine that writes everything down."""
    machine, tape = writing(name)
    tape.cut()
    return taken(machine, input, walk, tape)


def invented(known: Any, machine: Any, number: int, dice: random.Random) -> tuple[Any, list[Any], set[str]]:
    """A random walk from one start after the other, and the transitions it takes."""
    input, begin = known.STARTS[number % len(known.STARTS)]
    found = RecordedWalk(machine, input)
    steps = []
    for number in range(dice.randint(len(begin), len(begin) + known.LENGTH)):
        snapshot = found.actor.get_snapshot()
        if snapshot.status != "active":
            break
        step = known.event_of(begin[number], snapshot) if number < len(begin) else _sensible(known, snapshot, dice)
        found.take(step)
        steps.append(step)
    return input, steps, {one for step in found.trace for one in step["took"]}


def _sensible(known: Any, snapshot: Any, dice: random.Random) -> Any:
    for _ in range(0 if dice.random() < STRAY else 8):
        step = known.event_of(dice.choice(known.POOL), snapshot)
        if isinstance(step, int) or ("to" in step and step["to"] in snapshot.children):
            return step
        if "to" not in step and snapshot.can(step) and dice.random() > known.RELUCTANCE.get(step["type"], 0):
            return step
    # What nobody takes is part of a walk too; but an error that nobody takes ends a machine.
    step = known.event_of(dice.choice([one for one in known.POOL if not isinstance(one, int)]), snapshot)
    return 1 if "to" in step or step["type"].startswith("xstate.error") else step


def main(name: str, count: int, seed: int) -> None:
    """Print walks with their answers: so many, and those that take what no other takes."""
    machine = bare(name)
    dice = random.Random(seed)
    names = names_of(machine)
    covered = set[str]()
    for number in range(MOST_CANDIDATES):
        input, walk, took = invented(about(name), machine, number, dice)
        if number >= count and took <= covered:
            continue
        covered |= took
        answers = plain(recording(name, input, walk).answers)
        print(json.dumps({"machine": name, "input": input, "walk": walk, "answers": answers, "names": names}))
