"""A process that is asked to stop does so within its limit, and what was under way is told to the charts."""

from tests.crash.lives import Lives


def test_sigterm_with_streams_open_ends_within_the_limit_and_loses_nothing(tmp_path):
    lives = Lives(str(tmp_path / "threads.db"), seed=1)
    seconds = lives.asked_to_stop(after=60, slow_s=5.0)
    problems = lives.at_rest()

    assert seconds < 5.0
    assert problems == []
    assert (lives.tally.lost, lives.tally.doubled, lives.tally.tasks_doubled) == (0, 0, 0)


def test_a_clock_that_steps_back_neither_stops_nor_repeats_timers(tmp_path):
    lives = Lives(str(tmp_path / "threads.db"), seed=2)
    problems = lives.at_rest(clock_steps_s=())
    lives.asked_to_stop(after=10_000, letters=25, clock_steps_s=(-3600.0, -3600.0))

    assert problems == []
    assert lives.tally.problems == []
    assert (lives.tally.lost, lives.tally.doubled) == (0, 0)
