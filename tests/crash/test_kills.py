"""A process that is killed anywhere loses nothing it has acknowledged and repeats nothing it must not."""

import pytest

from tests.crash.process_chain import BOUNDARIES, ProcessChain


def assert_nothing_is_lost(chain, **options):
    problems = chain.run_to_rest(**options)
    tally = chain.tally
    assert problems == []
    assert (tally.lost, tally.doubled, tally.tasks_doubled) == (0, 0, 0)
    assert tally.acknowledged > 0


@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_kills_at_a_boundary_lose_and_repeat_nothing(tmp_path, boundary):
    chain = ProcessChain(str(tmp_path / "threads.db"), seed=1)
    for _ in range(5):
        chain.kill_at(boundary)

    assert_nothing_is_lost(chain)


@pytest.mark.parametrize("seed", [1, 2])
def test_kills_at_any_moment_lose_and_repeat_nothing(tmp_path, seed):
    chain = ProcessChain(str(tmp_path / "threads.db"), seed)
    for _ in range(8):
        chain.kill_anywhere()

    assert_nothing_is_lost(chain)


def test_kills_while_the_clock_jumps_lose_and_repeat_nothing(tmp_path):
    chain = ProcessChain(str(tmp_path / "threads.db"), seed=3)
    lives = ((0.0, (-3600.0,)), (3600.0, (3600.0, -7200.0)), (0.0, (-0.05, 0.05)), (86400.0, (-86400.0, 1.0)))
    for ahead_s, steps_s in lives:
        chain.kill_anywhere(clock_steps_s=steps_s, ahead_s=ahead_s)

    assert_nothing_is_lost(chain)  # nor do timers wait that were set by clocks that were ahead


def test_a_process_that_acknowledges_too_early_is_found_out(tmp_path):
    chain = ProcessChain(str(tmp_path / "threads.db"), seed=4)
    for _ in range(100):  # how soon depends on the machine: a kill must fall between acknowledging and storing
        chain.kill_at("before post", boasts=True)
        if chain.tally.lost:
            break

    assert chain.tally.lost > 0
