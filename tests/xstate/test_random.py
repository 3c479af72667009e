"""The engine gives the traces that XState gave, for two thousand random charts with event scripts."""

import asyncio
import gzip
import json
from pathlib import Path

import pytest

from tests.xstate.difference import first_difference
from tests.xstate.oracle import answer

HERE = Path(__file__).parent
BLOCK = 100
COUNT = 2000


def lines(name):
    return gzip.decompress((HERE / name).read_bytes()).splitlines()


@pytest.fixture(scope="module")
def corpus():
    return list(zip(lines("specs.jsonl.gz"), lines("traces.jsonl.gz"), strict=True))


async def play(specs):
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)
    return [json.loads(json.dumps(await answer(spec))) for spec in specs]


def test_all_charts_are_here(corpus):
    assert len(corpus) == COUNT


@pytest.mark.parametrize("start", range(0, COUNT, BLOCK))
def test_traces_are_those_xstate_gave(corpus, start):
    block = [(json.loads(spec), json.loads(trace)) for spec, trace in corpus[start : start + BLOCK]]

    answers = asyncio.run(play(spec for spec, _ in block))

    for (spec, expected), actual in zip(block, answers, strict=True):
        assert first_difference(expected, actual) is None, f"chart {spec['id']}"
