"""Delayed events arrive in the order they fall due, unless they are cancelled."""

from antiphon.chart.explore.pending import Pending


def arrivals(pending):
    events = []
    while pending.next is not None:
        event = pending.next.event
        pending = pending.after_next()
        events.append((pending.now, event))
    return events


def test_events_arrive_when_they_fall_due():
    pending = Pending().adding("late", 20, None).adding("soon", 5, None)

    assert arrivals(pending) == [(5, "soon"), (20, "late")]


def test_of_events_due_together_the_first_sent_comes_first():
    pending = Pending().adding("one", 5, None).adding("two", 5, None).adding("zero", 0, None)

    assert [event for _, event in arrivals(pending)] == ["zero", "one", "two"]


def test_delays_count_from_the_moment_of_sending():
    pending = Pending().adding("one", 10, None).at(4).adding("two", 3, None)

    assert arrivals(pending) == [(7, "two"), (10, "one")]


def test_an_event_with_an_id_can_be_cancelled():
    pending = Pending().adding("one", 5, "a").adding("two", 6, "b")

    assert arrivals(pending.without("a")) == [(6, "two")]


def test_cancelling_what_is_not_there_changes_nothing():
    pending = Pending().adding("one", 5, None)

    assert pending.without("a") is pending


def test_an_id_means_the_event_that_was_sent_last():
    pending = Pending().adding("one", 5, "a").adding("two", 6, "a")

    assert arrivals(pending.without("a")) == [(5, "one")]


def test_an_id_means_nothing_once_an_event_has_arrived_under_it():
    pending = Pending().adding("one", 5, "a").adding("two", 6, "a").after_next()

    assert arrivals(pending.without("a")) == [(6, "two")]


def test_an_event_that_should_be_there_already_does_not_turn_time_back():
    assert Pending(now=10).adding("past", -5, None).after_next().now == 10
