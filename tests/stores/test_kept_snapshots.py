"""Properties of the snapshots that are kept: each step is near one, they are few, and together they are small."""

from itertools import pairwise
from math import log

from hypothesis import given
from hypothesis import strategies as st

from antiphon.stores.snapshots import GAP_SHARE, SIZE_SHARE, SnapshotSize, superfluous_snapshots

LIMIT = 50  # steps between two snapshots, at most
gaps = st.lists(st.integers(1, LIMIT), min_size=1, max_size=250)


def keep(stored):
    """Store snapshots one after the other, as a store does; return those that are kept at the end."""
    sizes = []
    for latest in stored:
        dropped = superfluous_snapshots(sizes, latest.seq)
        sizes = [size for size in sizes if size.seq not in dropped] + [latest]
    return sizes


def small_snapshots(gaps):
    """Return snapshots that are small beside the journal."""
    seqs = [sum(gaps[: i + 1]) for i in range(len(gaps))]
    return [SnapshotSize(seq, 1, seq * 100) for seq in seqs]


def nearest(kept, seq):
    """Return the latest kept snapshot at or before a step, or the beginning."""
    return max((size for size in kept if size.seq <= seq), default=SnapshotSize(0))


@given(gaps)
def test_every_step_is_near_a_kept_snapshot_however_long_the_journal_grows(gaps):
    stored = small_snapshots(gaps)
    for end in {len(stored) // 2, len(stored)} - {0}:
        kept = keep(stored[:end])
        latest = kept[-1].seq
        for seq in range(1, latest + 1):
            assert seq - nearest(kept, seq).seq <= max(LIMIT, (latest - seq) * GAP_SHARE)


@given(gaps)
def test_the_number_of_kept_snapshots_grows_with_the_logarithm_of_the_journal(gaps):
    kept = keep(small_snapshots(gaps))
    latest = kept[-1].seq

    # Of three neighbours, the oldest is farther from the latest one than the newest by a constant factor.
    for oldest, newest in zip([SnapshotSize(0), *kept], [*kept, SnapshotSize(latest)][1:], strict=False):
        if newest.seq < latest:
            assert latest - oldest.seq > (1 + GAP_SHARE) * (latest - newest.seq)
    assert len(kept) <= 2 + 2 * log(max(2, latest)) / log(1 + GAP_SHARE)


@st.composite
def snapshots_of_any_size(draw):
    steps = draw(st.lists(st.tuples(st.integers(1, LIMIT), st.integers(1, 5000), st.integers(1, 5000)), min_size=1))
    stored = []
    seq = journal = 0
    for gap, size, entries in steps:
        seq += gap
        journal += entries
        stored.append(SnapshotSize(seq, size, journal))
    return stored


@given(snapshots_of_any_size())
def test_all_kept_snapshots_but_the_latest_are_smaller_than_a_share_of_the_journal(stored):
    kept = keep(stored)

    for before, size in pairwise([SnapshotSize(0), *kept[:-1]]):
        assert size.size <= (size.journal - before.journal) * SIZE_SHARE
    assert sum(size.size for size in kept[:-1]) <= kept[-1].journal * SIZE_SHARE


@given(snapshots_of_any_size())
def test_where_no_snapshot_is_near_the_journal_to_replay_is_not_much_larger_than_one(stored):
    kept = keep(stored)
    latest = kept[-1].seq
    for seq in range(1, latest + 1):
        base = nearest(kept, seq)
        if seq - base.seq > max(LIMIT, (latest - seq) * GAP_SHARE):
            passed = [size for size in stored if base.seq < size.seq <= seq]
            assert passed[-1].journal - base.journal <= max(size.size for size in passed) / SIZE_SHARE


@given(gaps, st.integers(0, 20))
def test_the_snapshot_that_a_journal_begins_with_is_never_dropped(gaps, large):
    first = SnapshotSize(1, 10**large, 100, is_first=True)
    stored = [first, *(size._replace(seq=size.seq + 1) for size in small_snapshots(gaps))]

    assert keep(stored)[0] == first
