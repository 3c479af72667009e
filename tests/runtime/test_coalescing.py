"""The window for which streamed events are held back, and its growth with the load."""

from antiphon.actors.clock import SimulatedClock
from antiphon.runtime.coalescing import GRID_MS, LONGEST_MS, Coalescer, CoalescingWindow


class LateClock:
    """A clock whose timers are late by some milliseconds."""

    def __init__(self) -> None:
        self.time_ms = 0.0

    def now(self) -> float:
        return self.time_ms


def delivered(window, *steps):
    clock = SimulatedClock()
    batches = []
    coalescer = Coalescer(lambda events: batches.append([event["text"] for _, event in events]), clock, window=window)
    for step in steps:
        if isinstance(step, str):
            coalescer.add("", {"text": step}, "text")
        else:
            clock.increment(step)
    return batches


def test_the_first_events_are_delivered_together_and_at_once():
    assert delivered(CoalescingWindow(50), "a", "b", 0) == [["ab"]]


def test_events_that_follow_are_held_back_for_the_window():
    assert delivered(CoalescingWindow(50), "a", 0, "b", 49, "c") == [["a"]]
    assert delivered(CoalescingWindow(50), "a", 0, "b", 49, "c", 1) == [["a"], ["bc"]]


def test_a_window_of_no_time_holds_nothing_back():
    assert delivered(CoalescingWindow(0), "a", 0, "b", 0, "c", 0) == [["a"], ["b"], ["c"]]


def test_the_window_grows_while_timers_are_late_and_shrinks_again():
    clock = LateClock()
    window = CoalescingWindow(50, clock.now)

    for _ in range(200):
        due = window.due(10)
        clock.time_ms += 40
        window.note(due)
    longest = window.ms
    for _ in range(200):
        due = window.due(10)
        clock.time_ms += 10
        window.note(due)

    assert longest == LONGEST_MS
    assert window.ms == 50


def test_a_window_without_a_clock_stays_as_it_is():
    window = CoalescingWindow(50)

    window.note(window.due(10) - 1_000)

    assert window.ms == 50


def test_a_window_longer_than_the_longest_stays_as_it_is():
    clock = LateClock()
    window = CoalescingWindow(400, clock.now)
    clock.time_ms = 1_000
    window.note(0)

    assert window.ms == 400


def test_a_process_without_a_window_gets_none_by_its_load():
    clock = LateClock()
    window = CoalescingWindow(0, clock.now)
    clock.time_ms = 1_000
    window.note(0)

    assert window.ms == 0


def busy_window(shortest_ms=50):
    """Return a window whose timers were late for long, and its clock."""
    clock = LateClock()
    window = CoalescingWindow(shortest_ms, clock.now)
    for _ in range(20):
        due = window.due(10)
        clock.time_ms += 40
        window.note(due)
    return window, clock


def test_windows_of_a_busy_process_end_together():
    window, clock = busy_window()

    first = clock.time_ms + window.rest_ms
    clock.time_ms += 3
    second = clock.time_ms + window.rest_ms

    assert first % GRID_MS == second % GRID_MS == 0
    assert LONGEST_MS <= window.rest_ms < LONGEST_MS + GRID_MS


def test_sources_are_not_read_during_the_window_of_a_busy_process():
    window, _ = busy_window()

    assert window.pause_ms == window.rest_ms
    assert CoalescingWindow(50, LateClock().now).pause_ms == 0


def test_a_process_without_a_window_reads_its_sources_at_once():
    assert busy_window(0)[0].pause_ms == 0


def test_many_timers_of_one_moment_count_as_one():
    clock = LateClock()
    window = CoalescingWindow(50, clock.now)
    clock.time_ms = 1.0

    for _ in range(1_000):
        window.note(-100.0)

    assert window.ms < 100


def test_a_quiet_process_keeps_its_window_though_its_timers_are_never_quite_on_time():
    clock = LateClock()
    window = CoalescingWindow(50, clock.now)

    for _ in range(200):
        due = window.due(10)
        clock.time_ms += 11
        window.note(due)

    assert (window.ms, window.pause_ms) == (50, 0)


def test_a_single_late_timer_does_not_make_a_process_busy():
    clock = LateClock()
    window = CoalescingWindow(50, clock.now)
    clock.time_ms = 10_000

    window.note(clock.time_ms - 8)

    assert not window.is_busy
