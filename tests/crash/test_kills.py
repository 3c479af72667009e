"""A process that is killed anywhere loses nothing it has acknowledged and repeats nothing it must not."""

import pytest

from tests.crash.lives import BOUNDARIES, Lives


def nothing_is_lost(lives, **how):
    problems = lives.at_rest(**how)
    tally = lives.tally
    assert problems == []
    assert (tally.lost, tally.doubled, tally.tasks_doubled) == (0, 0, 0)
    assert tally.acknowledged > 0


@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_kills_at_a_boundary_lose_and_repeat_nothing(tmp_path, boundary):
    lives = Lives(str(tmp_path / "threads.db"), seed=1)
    for _ in range(5):
        lives.killed_at(boundary)

    nothing_is_lost(lives)


@pytest.mark.parametrize("seed", [1, 2])
def test_kills_at_any_moment_lose_and_repeat_nothing(tmp_path, seed):
    lives = Lives(str(tmp_path / "threads.db"), seed)
    for _ in range(8):
        lives.killed_anywhere()

    nothing_is_lost(lives)


def test_kills_while_the_clock_jumps_lose_and_repeat_nothing(tmp_path):
    lives = Lives(str(tmp_path / "threads.db"), seed=3)
    for steps_s in ((-3600.0,), (3600.0, -7200.0), (-0.05, 0.05), (-86400.0, 1.0)):
        lives.killed_anywhere(clock_steps_s=steps_s)

    nothing_is_lost(lives, ahead_s=7200.0)  # so that the timers that were set ahead of their time are due


def test_a_process_that_acknowledges_too_early_is_found_out(tmp_path):
    lives = Lives(str(tmp_path / "threads.db"), seed=4)
    for _ in range(100):  # how soon depends on the machine: a kill must fall between the boast and the deed
        lives.killed_at("before post", boasts=True)
        if lives.tally.lost:
            break

    assert lives.tally.lost > 0
