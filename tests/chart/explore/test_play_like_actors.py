"""Playing a chart leads where an actor would be, for every case that can be played."""

import gzip
import json

import pytest

from antiphon import SimulatedClock, create_actor
from antiphon.chart.explore.play import play
from tests.paths import ROOT
from tests.xstate.expressions import clone
from tests.xstate.forms import Forms
from tests.xstate.oracle import build

CASES = json.loads(gzip.decompress((ROOT / "tests" / "xstate" / "golden.json.gz").read_bytes()))["cases"]
PLAYED = {"send", "advance", "can", "matches", "hasTag"}


def can_be_played(case):
    """Children are not run and actions are not performed, so a case must not depend on either."""
    text = json.dumps(case["config"])
    steps = case.get("steps") or ()
    depends = any(word in text for word in ("invoke", "$spawn", "$sendParent", "$throw"))
    return not depends and all(set(step) <= PLAYED for step in steps)


def run_actor(case):
    """Return the state of an actor after the steps, with a clock that moves millisecond by millisecond."""
    clock = SimulatedClock()
    actor = create_actor(build(case, Forms()), input=clone(case.get("input")), clock=clock, logger=lambda *values: None)
    actor.subscribe(None, lambda error: None)
    actor.start()
    for step in case.get("steps") or ():
        if "send" in step:
            actor.send(clone(step["send"]))
        if "advance" in step:
            for ms in [0] + [1] * int(step["advance"]):
                clock.increment(ms)
    return actor.get_snapshot()


@pytest.mark.parametrize(
    "case", [case for case in CASES if can_be_played(case)], ids=lambda case: f"{case['n']} {case['title']}"
)
def test_a_played_chart_is_where_an_actor_would_be(case):
    steps = [step for step in case.get("steps") or () if "send" in step or "advance" in step]
    events = [step["send"] if "send" in step else {"after": step["advance"]} for step in steps]

    played = play(build(case, Forms()), events, input=clone(case.get("input"))).snapshot
    expected = run_actor(case)

    assert (played.status, played.value, clone(played.context)) == (
        expected.status,
        expected.value,
        clone(expected.context),
    )
