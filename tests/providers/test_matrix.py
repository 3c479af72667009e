"""Every format makes the same of every scenario, and notices every fault."""

import pytest

from antiphon.testing.fake_llm import SCENARIOS
from tests.fixtures.matrix import EXPECTED, play
from tests.fixtures.providers import FORMATS, run

pytestmark = pytest.mark.requirement("S0-71..S0-74", "S0-B11", "S1-73")


@pytest.mark.parametrize("scenario", EXPECTED)
@pytest.mark.parametrize("format", FORMATS)
def test_a_scenario_looks_alike_in_every_format(format, scenario):
    shown = run(play(format, scenario))

    assert shown == (EXPECTED[scenario].code or "ok") or (scenario == "slow" and shown.startswith("+"))


def test_no_scenario_of_the_server_is_forgotten():
    elsewhere = {"echo", "json", "rejson", "paced", "burst", "linger", "tools"}

    assert set(EXPECTED) | elsewhere == set(SCENARIOS)
