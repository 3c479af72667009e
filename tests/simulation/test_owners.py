"""Every law holds for two owners on one store under any seed, and injected bugs are found."""

import asyncio
import re

import pytest

from antiphon.stores.sqlite import SqliteStore
from antiphon.testing.simulation.owner_faults import MOVES, OwnerFaults
from antiphon.testing.simulation.owner_run import simulate_owners
from antiphon.testing.simulation.run import LawBroken
from tests.simulation.machines import MACHINES
from tests.simulation.owner_bugs import BUGS, FAULTS
from tests.simulation.owner_traffic import owner_traffic
from tests.simulation.traffic import check

SEEDS = 40
BLOCK = 20


def run(seed, **options):
    return simulate_owners(seed, MACHINES, owner_traffic, check=check, **options)


def explore(store, faults):
    for seed in range(100):
        run(seed, store=store, faults=faults)


@pytest.mark.parametrize("first", range(0, SEEDS, BLOCK))
def test_all_laws_hold_for_two_owners_under_faults(first):
    for seed in range(first, first + BLOCK):
        run(seed)


def test_trees_move_between_owners_that_do_not_know_what_they_have_lost():
    counts = sum((run(seed).counts for seed in range(5)), start=run(5).counts)

    for event in ("moved", "untold", "calls to another owner", "letters refused by former owners"):
        assert counts[event] > 0


def test_all_laws_hold_if_nothing_fails_but_trees_move():
    for seed in range(3):
        run(seed, faults=OwnerFaults(moved=0.3, untold=0.5))


class InlineStore(SqliteStore):
    """Store that commits on the event loop, so that commits are recorded in the order in which they are made."""

    commits_inline = True


def test_all_laws_hold_for_two_owners_on_sqlite(tmp_path):
    for seed in range(3):
        store = InlineStore(tmp_path / f"{seed}.db", durability="normal")
        run(seed, store=lambda store=store: store)
        asyncio.run(store.close())


def test_one_seed_is_one_run():
    assert run(7).trace == run(7).trace


def test_every_fault_of_owners_has_its_chances():
    assert set(MOVES) == set(OwnerFaults.__slots__)


@pytest.mark.parametrize(("bug", "law"), BUGS.items(), ids=lambda part: getattr(part, "__name__", ""))
def test_an_injected_bug_of_owners_is_found_within_100_seeds(bug, law, monkeypatch):
    store = bug(monkeypatch)

    with pytest.raises(LawBroken) as caught:
        explore(store, FAULTS.get(bug))
    assert re.search(law, " ".join(caught.value.laws))
