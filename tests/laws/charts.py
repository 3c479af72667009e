"""Charts to try laws on: the random ones that XState ran, and small ones that Hypothesis makes and shrinks."""

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from antiphon import SimulatedClock, create_actor
from antiphon.chart.machine import Machine
from antiphon.chart.names import Implementations
from antiphon.chart.tables import LIMIT
from tests.xstate.forms import Forms

SPECS = Path(__file__).parents[1] / "xstate" / "specs.jsonl.gz"
COUNT = 2000
EVENTS = ("E0", "E1", "E2", "E3", "a.b", "a.c.d", "R0", "R1")


def law(examples: int) -> settings:
    """Settings of a law: the same examples on every run, as long as they take."""
    slow = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
    return settings(max_examples=examples, deadline=None, derandomize=True, database=None, suppress_health_check=slow)


@cache
def _lines() -> list[bytes]:
    return gzip.decompress(SPECS.read_bytes()).splitlines()


def spec_at(index: int) -> dict[str, Any]:
    """One of the random charts that XState ran."""
    spec: dict[str, Any] = json.loads(_lines()[index])
    return spec


def events() -> st.SearchStrategy[list[dict[str, Any]]]:
    """A walk through a chart."""
    return st.lists(st.sampled_from(EVENTS).map(lambda name: {"type": name, "v": 1}), max_size=12)


def specs() -> st.SearchStrategy[dict[str, Any]]:
    """A chart: small and made up, or one of those that XState ran."""
    return small_specs() | st.integers(0, COUNT - 1).map(spec_at)


@st.composite
def small_specs(draw: st.DrawFn) -> dict[str, Any]:
    """A chart of a few states with transitions between any two of them."""
    config: dict[str, Any] = {**_state(draw, "r", 0), "context": {"n": 0}, "options": {"maxIterations": 30}}
    nodes = list(_walk(config))
    ids = [node["id"] for node in nodes if node is not config]
    for node in nodes:
        if node.get("type") != "history":
            _connect(draw, node, ids)
    return {"id": "small", "config": config}


def _state(draw: st.DrawFn, id: str, depth: int) -> dict[str, Any]:
    kinds = ["atomic", "compound", "parallel"] if 0 < depth < 3 else ["atomic"] if depth else ["compound", "parallel"]
    kind = draw(st.sampled_from(kinds))
    node: dict[str, Any] = {"id": id, "entry": [f"en:{id}"], "exit": [f"ex:{id}"]}
    if kind == "atomic":
        return node
    keys = [f"{id}{letter}" for letter in "abc"[: draw(st.integers(1, 3))]]
    node["states"] = {key: _state(draw, key, depth + 1) for key in keys}
    if kind == "parallel":
        node["type"] = "parallel"
    else:
        node["initial"] = keys[0]
        last = node["states"][keys[-1]]
        if len(keys) > 1 and "states" not in last and draw(st.booleans()):
            last["type"] = "final"
    if draw(st.booleans()):
        key = f"{id}h"
        node["states"][key] = {"id": key, "type": "history", "history": draw(st.sampled_from(["shallow", "deep"]))}
    return node


def _walk(node: dict[str, Any]) -> Any:
    yield node
    for child in node.get("states", {}).values():
        yield from _walk(child)


def _connect(draw: st.DrawFn, node: dict[str, Any], ids: list[str]) -> None:
    for type in draw(st.sets(st.sampled_from(["E0", "E1", "E2", "*"]), max_size=2)):
        transition: dict[str, Any] = {"actions": draw(st.lists(_actions(node["id"]), max_size=2))}
        if draw(st.booleans()):
            transition["target"] = f"#{draw(st.sampled_from(ids))}"
        if draw(st.booleans()):
            transition["guard"] = draw(_guards(ids))
        if draw(st.booleans()):
            transition["reenter"] = True
        node.setdefault("on", {})[type] = transition
    if draw(st.integers(0, 5)) == 0:
        node["always"] = {"target": f"#{draw(st.sampled_from(ids))}", "guard": draw(_guards(ids))}


def _guards(ids: list[str]) -> st.SearchStrategy[dict[str, Any]]:
    compared = st.tuples(st.sampled_from(["<", ">"]), st.integers(0, 4)).map(
        lambda pair: {"$expr": [pair[0], ["ctx", "n"], pair[1]]}
    )
    return compared | st.sampled_from(ids).map(lambda name: {"$in": f"#{name}"})


def _actions(id: str) -> st.SearchStrategy[Any]:
    return st.sampled_from(
        [f"t:{id}", {"$assign": {"n": ["+", ["ctx", "n"], 1]}}, {"$raise": {"type": "R0"}}, {"$emit": {"type": "m"}}]
    )


class Play:
    """An actor on a chart, with what it did."""

    def __init__(
        self, spec: dict[str, Any], *, memory: int = LIMIT, snapshot: Any = None, clock: SimulatedClock | None = None
    ) -> None:
        self.forms = Forms()
        config = self.forms.node(spec["config"])
        self.machine: Machine[Any, Any] = Machine(
            config, Implementations(actions=self.forms.actions()), strict=False, memory=memory
        )
        self.emitted: list[Any] = []
        self.errors: list[str] = []
        self.clock = clock or SimulatedClock()
        self.actor = create_actor(self.machine, snapshot=snapshot, clock=self.clock)
        self.actor.on("*", self.emitted.append)
        self.actor.subscribe(error=lambda error: self.errors.append(str(error)))

    def start(self) -> "Play":
        """Start the actor."""
        self.actor.start()
        return self

    def send(self, event: Any) -> None:
        """Send an event, or let time pass if it is a number."""
        if isinstance(event, int):
            self.clock.increment(event)
        else:
            self.actor.send(event)

    def took(self) -> dict[str, Any]:
        """Return the actor's state, and what it did since the last call."""
        done = {"did": list(self.forms.log), "emitted": list(self.emitted), "errors": list(self.errors)}
        self.forms.log.clear()
        self.emitted.clear()
        self.errors.clear()
        return {**standing(self.actor.get_snapshot()), **done}


def standing(snapshot: Any) -> dict[str, Any]:
    """Return the state of a machine as plain values."""
    return {
        "status": snapshot.status,
        "value": snapshot.value,
        "context": snapshot.context,
        "output": snapshot.output,
        "history": {id: sorted(node.id for node in nodes) for id, nodes in snapshot.history.items()},
    }
