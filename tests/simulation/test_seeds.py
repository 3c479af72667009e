"""Every law holds under any seed, on both stores, and one seed is one run."""

import os
import subprocess
import sys

import pytest

from antiphon.testing.simulation.faults import CHOICES, NONE, Faults
from antiphon.testing.simulation.run import simulate
from tests.paths import ROOT
from tests.simulation.machines import MACHINES, RELEASES
from tests.simulation.sqlite import RebootedStore
from tests.simulation.traffic import check, traffic

SEEDS = 300
BLOCK = 50


def run(seed, **options):
    return simulate(seed, MACHINES, traffic, check=check, restores=True, releases=RELEASES, **options)


@pytest.mark.parametrize("first", range(0, SEEDS, BLOCK))
def test_all_laws_hold_under_faults(first):
    for seed in range(first, first + BLOCK):
        run(seed)


def test_all_laws_hold_without_faults():
    for seed in range(10):
        run(seed, faults=NONE)


def test_all_laws_hold_on_sqlite(tmp_path):
    for seed in range(5):
        store = RebootedStore(tmp_path / f"{seed}.db")
        run(seed, store=lambda: store)
        store.finish()


def test_one_seed_is_one_run():
    assert run(7).trace == run(7).trace


def test_different_seeds_are_different_runs():
    assert run(7).trace != run(8).trace


def test_one_seed_is_one_run_in_another_process_too():
    command = [sys.executable, "campaigns/simulate.py", "--seed", "5", "--trace"]
    traces = [
        subprocess.run(
            command, cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2")
    ]

    assert len(traces[0].splitlines()) > 100
    assert traces[0] == traces[1]


def test_every_fault_has_its_chances():
    assert set(CHOICES) == set(Faults.__slots__)
