"""A process that is asked to stop does so within its limit, and running tasks are reported to the charts."""

from tests.crash.process_chain import ProcessChain


def test_sigterm_with_streams_open_ends_within_the_limit_and_loses_nothing(tmp_path):
    chain = ProcessChain(str(tmp_path / "threads.db"), seed=1)
    seconds = chain.terminate(after=60, slow_s=5.0)
    problems = chain.run_to_rest()

    assert seconds < 5.0
    assert problems == []
    assert (chain.tally.lost, chain.tally.doubled, chain.tally.tasks_doubled) == (0, 0, 0)


def test_a_clock_that_steps_back_neither_stops_nor_repeats_timers(tmp_path):
    chain = ProcessChain(str(tmp_path / "threads.db"), seed=2)
    problems = chain.run_to_rest(clock_steps_s=())
    chain.terminate(after=10_000, letters=25, clock_steps_s=(-3600.0, -3600.0))

    assert problems == []
    assert chain.tally.problems == []
    assert (chain.tally.lost, chain.tally.doubled) == (0, 0)
