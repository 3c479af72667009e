"""A power cut at any moment loses nothing that was acknowledged and repeats nothing that must not be repeated."""

import pytest

from tests.crash.faults.bugs import ALL
from tests.crash.faults.power_cuts import PowerCuts
from tests.crash.faults.recording import missing_tool
from tests.crash.faults.search import broken_laws, find_bug

pytestmark = pytest.mark.skipif(missing_tool() is not None, reason=str(missing_tool()))
CUTS = 6
SEEDS = 20
BUGS = [bug for bug in ALL if not bug.is_about_errors]


def test_power_cuts_at_any_moment_lose_and_repeat_nothing(tmp_path):
    tallies = [tally for _, tally in PowerCuts(tmp_path, seed=1).run(CUTS)]

    assert [law for tally in tallies for law in broken_laws(tally)] == []
    assert sum(tally.acknowledged for tally in tallies) > 0
    assert len(tallies) == CUTS


@pytest.mark.slow
def test_a_store_that_has_survived_power_cuts_survives_more(tmp_path):
    cuts = PowerCuts(tmp_path, seed=3)
    tallies = [tally for _ in range(4) for _, tally in cuts.run(3 * CUTS)]

    assert [law for tally in tallies for law in broken_laws(tally)] == []


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.inject.__name__)
def test_power_cuts_find_an_injected_bug(tmp_path_factory, bug):
    laws = (find_bug(bug, tmp_path_factory.mktemp("store"), seed) for seed in range(SEEDS))

    assert any(laws)
