"""The machines do on this engine what XState 5.33.3 did with the same charts; see `walks.py`."""

import gzip
import json
import re
from pathlib import Path

import pytest

from tests.fixtures.charts import load_chart
from tests.xstate.difference import first_difference
from tests.xstate.machines.walks import NAMES, taken


def golden(name):
    stored = Path(__file__).with_name(f"{name}-golden.jsonl.gz").read_bytes()
    return [json.loads(line) for line in gzip.decompress(stored).splitlines()]


WALKS = {name: golden(name) for name in NAMES}


@pytest.mark.requirement("S0-79", "S3-08", "X-10")
@pytest.mark.parametrize("name", NAMES)
def test_every_walk_leads_where_xstate_went(name):
    """The charts are plain XState, and every function has a twin in `conformance` or `web/packages`."""
    for number, walk in enumerate(WALKS[name]):
        expected = {key: walk[key] for key in ("trace", "emitted", "told")}

        assert first_difference(expected, taken(name, walk["input"], walk["walk"])) is None, f"walk {number}"


def states_of(value):
    """The names in a state value."""
    return {value} if isinstance(value, str) else {name for key in value for name in (key, *states_of(value[key]))}


def declared(states):
    return {name for key, state in states.items() for name in (key, *declared(state.get("states", {})))}


@pytest.mark.requirement("X-11")
@pytest.mark.parametrize("name", NAMES)
def test_the_walks_go_everywhere(name):
    """Nobody sees a request while the rules are looked at, nor calls before that."""
    seen = {state for walk in WALKS[name] for step in walk["trace"] for state in states_of(step["value"])}

    assert declared(load_chart(name)["states"]) - seen <= {"deciding", "checking"}
    assert sum(len(walk["trace"]) for walk in WALKS[name]) > 800


@pytest.mark.requirement("S2-53")
def test_the_walks_of_the_chat_say_everything_that_it_can_say():
    outputs = set(re.findall(r"'event': '(\w+)'", str(load_chart("flow"))))
    seen = {event["type"] for walk in WALKS["flow"] for event in walk["emitted"]}

    assert outputs - seen == set()
