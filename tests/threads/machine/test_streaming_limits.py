"""Limits of the streaming machine: trying again, silence, and money."""

import pytest

from antiphon import initial_transition, transition
from antiphon.errors import Code
from antiphon.threads.machine.streaming import streaming_machine
from tests.fixtures.streaming import (
    CANCEL,
    COMPLETE,
    ERROR,
    FATAL,
    FIRST,
    RESET,
    RETRY,
    SEND,
    Talk,
    text,
    thinking,
    tool,
)

R1 = {**SEND, "requestId": "r1"}
USAGE = {"type": "USAGE", "usage": {"input": 10}, "costUsd": 0.01}


def usage(cost):
    return {**USAGE, "costUsd": cost}


# -- trying again ------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("S0-85", "S0-B12", "S0-78", "S0-73", "X-2")
def test_a_recoverable_error_is_retried_after_1_2_and_4_seconds_and_then_no_more():
    talk = Talk(SEND)
    waits = []
    for _ in range(4):
        talk.send(ERROR)
        waits.append(talk.context["retryDelayMs"])
        talk.send(int(waits[-1] or 100_000))

    assert waits == [1_000, 2_000, 4_000, None]
    assert (talk.state, talk.context["attempt"]) == ("error", 3)


@pytest.mark.requirement("S0-B12", "E-11")
def test_a_retry_does_not_come_a_moment_too_early():
    talk = Talk(SEND, ERROR, 999)
    assert (talk.state, talk.context["attempt"]) == ("error", 0)

    talk.send(1)
    assert (talk.state, talk.context["attempt"], talk.context["error"]) == ("sending", 1, None)


@pytest.mark.requirement("S0-B12")
@pytest.mark.parametrize(("jitter", "wait"), [(0, 1_000), (0.5, 1_125), (1, 1_250)])
def test_jitter_stretches_the_wait_by_up_to_a_quarter(jitter, wait):
    assert Talk(SEND, {**ERROR, "jitter": jitter}).context["retryDelayMs"] == wait


@pytest.mark.requirement("S0-B12", "S0-73")
def test_the_provider_s_own_wait_is_honoured():
    limited = {**ERROR, "code": "3001", "retryAfterMs": 7_000, "jitter": 1}
    talk = Talk(SEND, limited, 6_999)
    assert talk.state == "error"
    assert talk.context["error"]["retryAfterMs"] == 7_000

    talk.send(1)
    assert talk.state == "sending"


def test_a_wait_that_is_too_long_is_left_to_a_person():
    talk = Talk(SEND, {**ERROR, "retryAfterMs": 3_600_000}, 3_600_000)

    assert (talk.state, talk.context["retryDelayMs"]) == ("error", None)
    assert talk.can(RETRY)
    assert Talk(SEND, {**ERROR, "retryAfterMs": 60_000}).context["retryDelayMs"] == 60_000


@pytest.mark.requirement("S0-B12")
@pytest.mark.parametrize("shown", [text("x"), thinking("x"), tool("t")], ids=lambda event: event["type"])
def test_what_was_shown_is_not_replaced_by_itself(shown):
    """Never after the first delta."""
    assert Talk(SEND, shown, ERROR).context["retryDelayMs"] is None
    assert Talk(SEND, FIRST, ERROR).context["retryDelayMs"] == 1_000


def test_what_was_shown_is_replaced_if_asked_for():
    talk = Talk(SEND, text("x"), ERROR, retryAfterDelta=True)
    assert talk.context["text"] == "x"

    talk.send(1_000)
    assert (talk.state, talk.context["text"]) == ("sending", "")


@pytest.mark.requirement("S0-72", "S0-74")
@pytest.mark.parametrize("code", ["2001", "2002", "3002", "9001", "9002"])
def test_an_error_that_waiting_does_not_cure_is_not_retried(code):
    talk = Talk(SEND, {**FATAL, "code": code}, 100_000)

    assert (talk.state, talk.context["attempt"]) == ("error", 0)


@pytest.mark.requirement("S0-B11", "S0-71..S0-74", "X-2")
@pytest.mark.parametrize("code", list(Code))
def test_codes_are_kept_as_the_provider_classifies_them(code):
    talk = Talk(SEND, {**ERROR, "code": code.value})

    assert talk.context["error"]["code"] == code.value


@pytest.mark.requirement("S0-85", "S0-71")
def test_a_retry_by_hand_is_possible_after_every_error_and_begins_to_count_anew():
    talk = Talk(R1, ERROR, 1_000, FATAL, RETRY)

    assert (talk.state, talk.context["attempt"], talk.context["error"]) == ("sending", 0, None)
    assert (talk.context["requestId"], talk.context["lastPrompt"]) == ("r1", "Hello")


def test_a_retry_by_hand_may_name_its_request():
    assert Talk(R1, FATAL, {**RETRY, "requestId": "r2"}).context["requestId"] == "r2"


def test_a_new_message_begins_to_count_anew():
    assert Talk(SEND, ERROR, 1_000, FATAL, SEND).context["attempt"] == 0


@pytest.mark.requirement("S0-88")
def test_there_is_nothing_to_retry_but_an_error():
    assert not any(talk.can(RETRY) for talk in (Talk(), Talk(SEND), Talk(SEND, FIRST), Talk(SEND, COMPLETE)))


def test_there_is_nothing_to_retry_if_nothing_was_said():
    assert not Talk({"type": "SEND", "prompt": None}, FATAL).can(RETRY)


@pytest.mark.requirement("S0-B12")
def test_the_schedule_is_a_setting():
    talk = Talk(SEND, ERROR, 30_000, ERROR, backoffMs=30_000, maxAttempts=1)

    assert (talk.context["attempt"], talk.context["retryDelayMs"]) == (1, None)


# -- silence -----------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("S0-87", "S0-B10", "E-11")
def test_a_model_that_says_nothing_at_all_times_out():
    talk = Talk(SEND, 299_999)
    assert talk.state == "sending"

    talk.send(1)
    assert (talk.state, talk.context["error"]["code"], talk.context["error"]["recoverable"]) == ("error", "1003", True)
    assert talk.context["retryDelayMs"] == 1_000


@pytest.mark.requirement("S0-87", "S0-B10")
def test_a_reply_that_falls_silent_times_out_within_two_limits():
    talk = Talk(SEND, FIRST, 119_999, text("x"), 1)
    assert talk.state == "streaming"

    talk.send(120_000)
    assert (talk.state, talk.context["error"]["code"], talk.context["text"]) == ("error", "1003", "x")


@pytest.mark.requirement("S0-87")
def test_a_reply_that_goes_on_does_not_time_out():
    talk = Talk(SEND, FIRST)
    for _ in range(100):
        talk.send(100_000, text("x"))

    assert talk.state == "streaming"


def test_reports_of_usage_are_signs_of_life():
    talk = Talk(SEND, FIRST, 119_000, USAGE, 119_000)

    assert talk.state == "streaming"


@pytest.mark.requirement("S0-87")
def test_chunks_set_no_timers():
    """Watching costs nothing per delta."""
    snapshot, _ = initial_transition(streaming_machine)
    for event in (SEND, FIRST):
        snapshot, _ = transition(streaming_machine, snapshot, event)

    _, effects = transition(streaming_machine, snapshot, text("x"))

    assert not effects


def test_the_limits_are_settings():
    assert Talk(SEND, 10, firstEventMs=10).state == "error"
    assert Talk(SEND, FIRST, 20, inactivityMs=20).state == "error"


# -- money -------------------------------------------------------------------------------------------------------------


def spend(*costs):
    return [event for cost in costs for event in (SEND, {**COMPLETE, "costUsd": cost})]


@pytest.mark.requirement("X-3")
def test_what_is_spent_accumulates_over_messages():
    talk = Talk(*spend(0.25, 0.5, None))

    assert talk.context["spentUsd"] == 0.75


@pytest.mark.requirement("X-3")
def test_reports_within_a_request_replace_each_other():
    talk = Talk(*spend(1), SEND, usage(0.25), FIRST, usage(0.5), {**COMPLETE, "costUsd": 0.75})

    assert (talk.context["spentUsd"], talk.context["costUsd"]) == (1.75, 0.75)


@pytest.mark.requirement("X-3")
def test_failed_and_cancelled_replies_are_paid_for_too():
    talk = Talk(SEND, {**FATAL, "costUsd": 0.25}, RETRY, usage(0.5), CANCEL, SEND, usage(1))

    assert talk.context["spentUsd"] == 1.75


@pytest.mark.requirement("X-3")
def test_one_warning_comes_at_four_fifths_of_the_budget():
    talk = Talk(*spend(7.9), budgetUsd=10)
    assert (talk.emitted, talk.context["budgetWarned"]) == ([], False)

    talk.send(*spend(0.1, 0.1, 0.1))
    assert talk.emitted == [{"type": "BUDGET_WARNING", "spentUsd": 8.0, "budgetUsd": 10}]
    assert talk.context["budgetWarned"] is True


@pytest.mark.requirement("X-3")
def test_a_reply_that_breaks_the_budget_is_stopped():
    talk = Talk(SEND, text("dear"), tool("t"), usage(2), budgetUsd=1)

    assert (talk.state, talk.context["text"]) == ("error", "dear")
    assert talk.context["error"] == {"code": "3002", "message": "The budget of 1 USD is spent", "recoverable": False}
    assert talk.context["tools"]["t"]["interrupted"] is True
    assert dict(talk.actor.get_snapshot().children) == {}


def test_a_reply_may_cost_all_that_is_left():
    talk = Talk(SEND, usage(1), budgetUsd=1)

    assert talk.state == "sending"


def test_a_budget_can_be_broken_before_anything_is_shown():
    assert Talk(SEND, usage(2), budgetUsd=1).state == "error"


@pytest.mark.requirement("X-3")
def test_a_reply_that_is_complete_is_delivered_even_if_it_broke_the_budget():
    """It is paid for; only the next one is refused."""
    talk = Talk(*spend(2), budgetUsd=1)

    assert talk.state == "complete"
    assert not talk.can(SEND)


@pytest.mark.requirement("X-3", "S0-88")
def test_nothing_is_sent_once_the_budget_is_spent():
    talk = Talk(SEND, {**ERROR, "costUsd": 1}, budgetUsd=1)

    assert talk.context["retryDelayMs"] is None
    assert not talk.can(SEND)
    assert not talk.can(RETRY)
    assert talk.can(RESET)


def test_without_a_budget_anything_goes():
    assert Talk(*spend(1_000_000)).can(SEND)
