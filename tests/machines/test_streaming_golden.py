"""The streaming machine does on this engine what XState 5.33.3 did with the same chart; see `walks.py`."""

import gzip
import json
from pathlib import Path

import pytest

from tests.machines.walks import taken

GOLDEN = Path(__file__).with_name("streaming-golden.jsonl.gz")
WALKS = [json.loads(line) for line in gzip.decompress(GOLDEN.read_bytes()).splitlines()]


@pytest.mark.parametrize("number", range(len(WALKS)))
def test_a_walk_leads_where_xstate_went(number):
    """S0-79, X-10: the chart is plain XState, and every function has a short twin in `conformance/machines`."""
    golden = WALKS[number]

    found = taken(golden["input"], golden["walk"])

    assert found["trace"] == golden["trace"]
    assert found["emitted"] == golden["emitted"]


def test_the_walks_go_everywhere():
    states = {step["value"] for walk in WALKS for step in walk["trace"]}

    assert states == {"idle", "sending", "streaming", "complete", "error"}
    assert sum(len(walk["walk"]) for walk in WALKS) > 2_000
