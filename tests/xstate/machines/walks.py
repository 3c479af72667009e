r"""Random walks of machines, to be taken on this engine and on XState.

python -m tests.xstate.machines.walks thread 150 7 \
  | node conformance/machines/walk.cjs | gzip -9n > thread-golden.jsonl.gz

A walk prefers what its machine can take where it stands, because what it refuses leads nowhere.
Actors that a composition would provide are recorders: they keep their input and what they hear.
"""

import json
import random
import sys
from importlib import import_module
from typing import Any

from antiphon import SimulatedClock, assign, create_actor, create_machine, spawn_child
from antiphon.chart.persist import to_json_value

NAMES = ("streaming", "thread", "permission", "tools", "flow")
SENSIBLE = 0.7
ENOUGH = 0.5


def _recording(input: Any = None) -> dict[str, Any]:
    return {"input": input, "heard": []}


recorder: Any = create_machine(
    {"id": "recorder", "context": _recording, "on": {"*": {"actions": "hear"}}},
    actions={"hear": assign(lambda context, event: {"heard": [*context["heard"], event]})},
)


class Walk:
    """A machine on its way, as the child of a parent that hears what it is told."""

    def __init__(self, machine: Any, input: Any, inspect: Any = None, snapshot: Any = None) -> None:
        self.clock = SimulatedClock()
        self.told: list[Any] = []
        self.emitted: list[Any] = []
        self.trace: list[Any] = []
        parent: Any = create_machine(
            {"id": "parent", "entry": "begin", "on": {"*": {"actions": "hear"}}},
            actions={
                "begin": spawn_child("walked", id="walked", input=input),
                "hear": lambda context, event: self.told.append(event),
            },
            actors={"walked": machine},
        )
        self.parent = create_actor(parent, clock=self.clock, inspect=inspect, snapshot=snapshot).start()
        self.actor: Any = self.parent.get_snapshot().children["walked"]
        self.actor.on("*", self.emitted.append)
        self.note()

    def take(self, step: Any) -> None:
        """Send an event to the machine or to a child of it, or let time pass."""
        if isinstance(step, int):
            self.clock.increment(step)
        elif "to" in step:
            self.actor.get_snapshot().children[step["to"]].send(step["event"])
        else:
            self.actor.send(step)
        self.note()

    def note(self) -> None:
        """Keep how things stand."""
        now = self.actor.get_snapshot()
        inside = {id: _plain(child.get_snapshot().context) for id, child in now.children.items()}
        told = {"value": now.value, "context": _plain(now.context), "children": inside, "status": now.status}
        self.trace.append(told)


def _plain(context: Any) -> Any:
    return to_json_value(context, "context")


def taken(name: str, input: Any, walk: list[Any]) -> dict[str, Any]:
    """What happens on a walk."""
    found = Walk(import_module(f"tests.xstate.machines.walks_{name}").MACHINE, input)
    for step in walk:
        found.take(step)
    return {"trace": found.trace, "emitted": found.emitted, "told": found.told}


def _has_target(step: Any, snapshot: Any) -> bool:
    """Whether the child that a step is for exists."""
    return isinstance(step, int) or "to" not in step or step["to"] in snapshot.children


def _is_sensible(step: Any, snapshot: Any) -> bool:
    """Whether a step leads on: time passes, a child hears something, or the machine takes an event."""
    return isinstance(step, int) or "to" in step or snapshot.can(step)


def invented(about: Any, dice: random.Random) -> tuple[Any, list[Any]]:
    """Return the input and the steps of a random walk."""
    input = dice.choice(about.INPUTS)
    found = Walk(about.MACHINE, input)
    steps: list[Any] = []
    for _ in range(dice.randint(1, 40)):
        snapshot = found.actor.get_snapshot()
        pool = [one for one in about.POOL if _has_target(one, snapshot)]
        step = dice.choice(pool)
        if snapshot.status != "active" and dice.random() < ENOUGH:
            break
        if dice.random() < SENSIBLE and snapshot.status == "active":
            step = dice.choice([one for one in pool if _is_sensible(one, snapshot)] or [step])
        found.take(step)
        steps.append(step)
    return input, steps


def main(name: str, count: int, seed: int) -> None:
    """Print walks."""
    dice = random.Random(seed)
    about = import_module(f"tests.xstate.machines.walks_{name}")
    invented_walks = (invented(about, dice) for _ in range(count))
    for input, walk in [*getattr(about, "STORIES", ()), *invented_walks]:
        print(json.dumps({"machine": name, "input": input, "walk": walk}))


if __name__ == "__main__":
    chosen: Any = main if sys.argv[1] in NAMES else import_module("tests.xstate.machines.recorded").main
    chosen(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
