"""Charts mean on this engine what they mean on XState 5.33.3, whatever their functions say; see `recording.py`."""

import gzip
import json
import re
from pathlib import Path

import pytest

from antiphon import create_machine
from antiphon.chart.explore.labels import written_transitions
from antiphon.chart.guards import And
from antiphon.chart.machine import Machine
from tests.fixtures import charts
from tests.fixtures.charts import load_chart
from tests.xstate.difference import first_difference
from tests.xstate.machines.recorded import NAMES, about, bare, named, recording, taken
from tests.xstate.machines.recording import recorded

HERE = Path(__file__).parent
CHARTS = json.loads(gzip.decompress((HERE / "charts-golden.json.gz").read_bytes()))


def golden(name):
    stored = (HERE / f"{name}-golden.jsonl.gz").read_bytes()
    return [json.loads(line) for line in gzip.decompress(stored).splitlines()]


WALKS = {name: golden(name) for name in NAMES}


def happened(walk):
    return {"trace": walk.trace, "emitted": walk.emitted, "told": walk.told}


def stored(walk):
    return {key: walk[key] for key in ("trace", "emitted", "told")}


@pytest.mark.requirement("S0-79", "S4-117", "X-10")
@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_loads_in_xstate_as_it_is(name):
    """Both engines make the same definition of the same JSON."""
    machine = create_machine(load_chart(name), strict=False)

    assert machine.events == CHARTS[name]["events"]
    assert json.loads(json.dumps(machine.to_json())) == CHARTS[name]["definition"]


@pytest.mark.requirement("S0-79")
def test_every_chart_was_loaded():
    assert set(CHARTS) == {*charts.CHARTS}


@pytest.mark.requirement("S0-79", "X-10")
@pytest.mark.parametrize("name", NAMES)
def test_every_walk_asks_and_does_what_xstate_did(name):
    """The same guards and actions in the same order, and the same states, children, timers and words."""
    for number, walk in enumerate(WALKS[name]):
        found = happened(recording(name, walk["input"], walk["walk"]))

        assert first_difference(stored(walk), found) is None, f"walk {number}"


@pytest.mark.requirement("X-10")
@pytest.mark.parametrize("name", NAMES)
def test_a_machine_that_nobody_records_goes_the_same_way(name):
    """What is written down is what the machine itself does."""
    for number, walk in enumerate(WALKS[name]):
        seen = [{key: value for key, value in step.items() if key != "asked"} for step in walk["trace"]]
        found = happened(taken(bare(name), walk["input"], walk["walk"]))

        assert first_difference({**stored(walk), "trace": seen}, found) is None, f"walk {number}"


@pytest.mark.requirement("X-11", "E-19")
@pytest.mark.parametrize("name", NAMES)
def test_the_walks_take_every_transition(name):
    machine = about(name).MACHINE
    written = {named(one) for node in machine.root.walk() for one in written_transitions(node)}
    seen = {one for walk in WALKS[name] for step in walk["trace"] for one in step["took"]}

    assert sorted(written - seen) == sorted(about(name).UNREACHED)
    assert seen <= written


@pytest.mark.requirement("X-11")
@pytest.mark.parametrize("name", NAMES)
def test_every_action_is_done_and_every_guard_holds_and_fails_on_some_walk(name):
    bound = about(name).MACHINE.implementations
    known = about(name)
    asked = {line for walk in WALKS[name] for step in walk["trace"] for line in step["asked"]}
    texts = {re.sub(r" \{.*\}", "", line) for line in asked}
    single = {name for name, guard in bound.guards.items() if not isinstance(guard, And)}

    assert {*bound.actions} - texts == set()
    assert {f"{guard}?{outcome}" for guard in single for outcome in ("yes", "no")} - texts == {*known.UNASKED}
    assert not any("stale" in text for text in texts)


def reversed_at(config, path):
    """A chart in which the list at a path is the other way round."""
    [key, *rest] = path
    return {**config, key: reversed_at(config[key], rest) if rest else config[key][::-1]}


@pytest.mark.requirement("X-10")
@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("debate", ("states", "paused", "entry")),
        ("debate", ("states", "paused", "on", "retry")),
        ("orchestrator", ("states", "executing", "on", "AGENT_COMPLETE")),
        ("orchestrator", ("states", "failed", "entry")),
        ("agent", ("states", "asking", "always")),
        ("agent", ("states", "calling", "on", "xstate.error.actor.tools", "actions")),
        ("crew", ("states", "working", "on", "xstate.done.actor.*", "actions")),
    ],
)
def test_another_order_of_guards_or_actions_is_noticed(name, path):
    """The comparison can fail."""
    machine, tape = recorded(Machine(reversed_at(bare(name).config, path), bare(name).implementations))

    def is_same(walk):
        tape.cut()
        return happened(taken(machine, walk["input"], walk["walk"], tape)) == stored(walk)

    assert not all(is_same(walk) for walk in WALKS[name])
