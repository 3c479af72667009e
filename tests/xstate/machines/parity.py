"""The machines of the npm package `@antiphon/machines` beside those of Python, on the same walks.

`python -m tests.xstate.machines.parity 250 7` takes 250 random walks of each machine on both sides, some of them from a
snapshot that Python has stored, and prints how many steps were compared. It needs Node and the built package.
"""

import json
import random
import subprocess
import sys
from dataclasses import dataclass, field
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from antiphon.chart.persist import to_json_value
from tests.paths import ROOT
from tests.xstate.difference import first_difference
from tests.xstate.machines.recorded import named
from tests.xstate.machines.walks import Walk, invented

MACHINES = ("streaming", "thread")
PACKAGE = ROOT / "web/packages/machines"
WALKER = PACKAGE / "parity/walk.mjs"
QUESTIONS = 4  # events that `can` is asked about at each step


class DetailedWalk(Walk):
    """A walk that also notes the transitions taken, the pending timers, and the answers of `can`."""

    def __init__(self, machine: Any, input: Any, asked: list[list[Any]], snapshot: Any = None) -> None:
        self.took: list[str] = []
        self._asked = asked
        super().__init__(machine, input, self._inspect, snapshot)

    def _inspect(self, happened: Any) -> None:
        if happened.type == "@xstate.microstep" and happened.actor.id == "walked":
            self.took.extend(named(one) for one in happened.transitions)

    def note(self) -> None:
        """Keep the state of the machine after a step."""
        super().note()
        timers = self.actor.actor.timers.to_json()
        snapshot = self.actor.get_snapshot()
        self.trace[-1] |= {
            # A timer without a delay may be fired one step later by XState; see conformance/README.md.
            "timers": {one["id"]: {"event": one["event"], "delay": one["delay"]} for one in timers if one["delay"]},
            "took": self.took,
            "can": [snapshot.can(event) for event in self._asked[len(self.trace) - 1]],
        }
        self.took = []

    def result(self) -> dict[str, Any]:
        """Return what is compared."""
        return {"trace": self.trace, "emitted": self.emitted, "told": self.told}


@dataclass
class Comparison:
    """The number of walks and steps that were compared, and the differences that were found."""

    walks: int = 0
    restored: int = 0
    steps: int = 0
    transitions: set[str] = field(default_factory=set)
    differences: list[str] = field(default_factory=list)


def walked_by_package(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the walks as the package takes them."""
    text = "\n".join(map(json.dumps, lines))
    ended = subprocess.run(["node", str(WALKER)], input=text, capture_output=True, text=True, timeout=300)
    if ended.returncode != 0:
        raise RuntimeError(f"{ended.stderr}\nbuild the package first: make parity")
    return [json.loads(line) for line in ended.stdout.splitlines()]


def edgy(name: str) -> SimpleNamespace:
    """Return a machine with its events and inputs, and with those at the borders of the two languages."""
    about = import_module(f"tests.xstate.machines.walks_{name}")
    return SimpleNamespace(
        MACHINE=about.MACHINE, POOL=[*about.POOL, *about.EDGES], INPUTS=[*about.INPUTS, *about.EDGE_INPUTS]
    )


def compare(name: str, count: int, seed: int) -> Comparison:
    """Take random walks on both sides, every third of them also from a snapshot in the middle."""
    about = edgy(name)
    dice = random.Random(f"{name}-{seed}")
    found = Comparison()
    lines: list[dict[str, Any]] = []
    expected: list[dict[str, Any]] = []
    for number in range(count):
        input, walk = invented(about, dice)
        line = {
            "machine": name,
            "input": input,
            "walk": walk,
            "asked": _questions(about.POOL, walk, dice),
            "details": True,
        }
        lines.append(line)
        expected.append(_taken(about.MACHINE, line))
        if number % 3 == 0:
            lines.append(_restored(about.MACHINE, line, dice.randint(0, len(walk))))
            expected.append(_taken(about.MACHINE, lines[-1]))
            found.restored += 1
    for line, ours, theirs in zip(lines, expected, walked_by_package(lines), strict=True):
        actual = {key: theirs[key] for key in ours}
        difference = first_difference(json.loads(json.dumps(ours)), actual)
        if difference is not None:
            found.differences.append(f"{difference} on {json.dumps({key: line.get(key) for key in ('input', 'walk')})}")
        found.walks += 1
        found.steps += len(ours["trace"])
        found.transitions.update(name for step in ours["trace"] for name in step["took"])
    return found


def _questions(pool: list[Any], walk: list[Any], dice: random.Random) -> list[list[Any]]:
    events = [one for one in pool if not isinstance(one, int)]
    return [dice.sample(events, QUESTIONS) for _ in range(len(walk) + 1)]


def _taken(machine: Any, line: dict[str, Any]) -> dict[str, Any]:
    walk = DetailedWalk(machine, line["input"], line["asked"], line.get("snapshot"))
    for step in line["walk"]:
        walk.take(step)
    return walk.result()


def _restored(machine: Any, line: dict[str, Any], place: int) -> dict[str, Any]:
    """Return the rest of a walk, from the snapshot that Python stores at a place in it."""
    first = Walk(machine, line["input"])
    for step in line["walk"][:place]:
        first.take(step)
    snapshot = json.loads(json.dumps(to_json_value(first.parent.get_persisted_snapshot(), "snapshot")))
    return {**line, "walk": line["walk"][place:], "asked": line["asked"][place:], "snapshot": snapshot}


def main(count: int, seed: int) -> int:
    """Print the figures of a comparison; return 1 if there is a difference."""
    for name in MACHINES:
        found = compare(name, count, seed)
        print(
            f"{name}: {found.walks} walks ({found.restored} from a snapshot), {found.steps} steps, "
            f"{len(found.transitions)} transitions, {len(found.differences)} differences"
        )
        for difference in found.differences[:3]:
            print(f"  {difference}")
        if found.differences:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
