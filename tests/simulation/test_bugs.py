"""Bugs that are injected into the runtime are found within 100 seeds."""

import re

import pytest

from antiphon.testing.simulation.run import LawBroken, simulate
from tests.simulation.bugs import BUGS, FAULTS, timers_fire_early
from tests.simulation.machines import MACHINES, RELEASES
from tests.simulation.traffic import check, traffic


def explore(store, faults=None):
    for seed in range(100):
        simulate(seed, MACHINES, traffic, check=check, store=store, restores=True, releases=RELEASES, faults=faults)


@pytest.mark.parametrize(("bug", "law"), BUGS.items(), ids=lambda part: getattr(part, "__name__", ""))
def test_an_injected_bug_is_found_within_100_seeds(bug, law, monkeypatch):
    store = bug(monkeypatch)

    with pytest.raises(LawBroken) as caught:
        explore(store, FAULTS.get(bug))
    assert re.search(law, " ".join(caught.value.laws))


def test_a_broken_law_is_reported_with_its_seed_and_the_end_of_the_trace(monkeypatch):
    store = timers_fire_early(monkeypatch)

    with pytest.raises(LawBroken) as caught:
        explore(store)
    message = str(caught.value)

    assert f"seed {caught.value.seed}:" in message
    assert "ms early" in message
    assert "the end of the trace" in message
