"""The npm package `@antiphon/machines` does what Python does; see `parity.py`. Run by `make parity`."""

import gzip
import json
from importlib import import_module

import pytest

from tests.paths import ROOT
from tests.xstate.difference import first_difference
from tests.xstate.machines.parity import MACHINES, PACKAGE, compare, walked_by_package

WALKS = 250
SEED = 20261118


@pytest.mark.parametrize("name", MACHINES)
def test_the_package_has_the_charts_of_python(name):
    """`npm run charts` copies them."""
    source = ROOT / f"src/antiphon/threads/machine/{name}.json"

    assert (PACKAGE / f"src/charts/{name}.json").read_bytes() == source.read_bytes()


@pytest.mark.node
@pytest.mark.requirement("S0-79", "S3-08")
@pytest.mark.parametrize("name", MACHINES)
def test_the_package_repeats_every_recorded_walk(name):
    stored = (ROOT / f"tests/xstate/machines/{name}-golden.jsonl.gz").read_bytes()
    walks = [json.loads(line) for line in gzip.decompress(stored).splitlines()]

    taken = walked_by_package([{key: walk[key] for key in ("machine", "input", "walk")} for walk in walks])

    assert sum(len(walk["trace"]) for walk in taken) > 3_000
    assert first_difference(walks, taken) is None


@pytest.mark.node
@pytest.mark.requirement("S0-79", "S3-08")
@pytest.mark.parametrize("name", MACHINES)
def test_random_walks_lead_to_the_same_states_on_both_sides(name):
    """Contexts, transitions, timers, answers of `can`, emitted events and reports are compared after each step."""
    compared = compare(name, WALKS, SEED)

    assert compared.differences == []
    assert compared.steps > 4_000
    assert compared.restored > 80


@pytest.mark.node
@pytest.mark.requirement("X-11")
@pytest.mark.parametrize("name", MACHINES)
def test_the_walks_take_every_transition(name):
    machine = import_module(f"tests.xstate.machines.walks_{name}").MACHINE
    nodes = [machine.root]
    for node in nodes:
        nodes.extend(node.states.values())
    declared = sum(len(transitions) for node in nodes for transitions in node.on.values())

    assert len(compare(name, 4 * WALKS, SEED).transitions) == declared
