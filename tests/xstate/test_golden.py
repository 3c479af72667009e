"""The engine gives the trace that XState gave, for every case written by hand."""

import asyncio
import gzip
import json
from pathlib import Path

import pytest

from tests.xstate.difference import first_difference
from tests.xstate.oracle import answer

CASES = json.loads(gzip.decompress((Path(__file__).parent / "golden.json.gz").read_bytes()))["cases"]


def quietly(spec):
    """Run a case on an event loop that keeps the errors of actors to itself: they are part of the trace."""

    async def run():
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)
        return await answer(spec)

    return json.loads(json.dumps(asyncio.run(run())))


def test_all_cases_are_here():
    assert [case["n"] for case in CASES] == list(range(1, 171))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['n']} {case['title']}")
def test_trace_is_the_one_xstate_gave(case):
    actual = quietly(case)

    assert first_difference(case["trace"], actual.get("trace", actual)) is None
