"""Requests of the streaming machine: whose an event is, what is remembered, and cancelling."""

import pytest

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
    tool_end,
)

R1 = {**SEND, "requestId": "r1"}
USAGE = {"type": "USAGE", "usage": {"input": 10}, "costUsd": 0.01}


# -- whose an event is -------------------------------------------------------------------------------------------------


@pytest.mark.requirement("S0-B4", "S0-65", "S0-76", "X-4")
def test_a_chunk_of_another_request_is_counted_and_ignored():
    talk = Talk({**SEND, "requestId": "r2"}, text("new", requestId="r2"), text("old", requestId="r1"))

    assert (talk.context["text"], talk.context["staleEvents"]) == ("new", 1)


@pytest.mark.requirement("S0-B4", "S0-76", "X-4")
@pytest.mark.parametrize(
    "event",
    [
        {"type": "REQUEST_STARTED"}, FIRST, text("x"), thinking("x"), tool("t"), tool_end("t"), USAGE, COMPLETE, ERROR,
    ],
    ids=lambda event: event["type"],
)  # fmt: skip
@pytest.mark.parametrize("before", [[R1], [R1, FIRST]], ids=["sending", "streaming"])
def test_every_stream_event_of_another_request_changes_nothing_but_the_count(before, event):
    talk = Talk(*before)
    expected = {**talk.context, "staleEvents": 1}
    state = talk.state

    talk.send({**event, "requestId": "other"})

    assert (talk.state, talk.context) == (state, expected)


@pytest.mark.requirement("S0-B4")
def test_an_event_that_names_no_request_is_accepted():
    assert Talk(R1, text("x")).context["text"] == "x"


@pytest.mark.requirement("S0-T39")
def test_events_that_name_a_request_wait_for_ours_to_be_known():
    """While the request is unknown, no event that names one is taken."""
    talk = Talk(SEND, text("x", requestId="r1"))

    assert (talk.state, talk.context["staleEvents"]) == ("sending", 1)


@pytest.mark.requirement("S0-B2")
def test_the_id_of_a_request_may_come_after_its_first_event():
    talk = Talk(SEND, text("x"), {"type": "REQUEST_STARTED", "requestId": "r1"}, text("y", requestId="r1"))

    assert (talk.context["requestId"], talk.context["text"]) == ("r1", "xy")


@pytest.mark.requirement("S0-B2")
def test_the_id_may_be_known_before_the_call():
    assert Talk(R1).context["requestId"] == "r1"


@pytest.mark.requirement("S0-B5")
def test_another_request_does_not_take_over():
    talk = Talk(R1, {"type": "REQUEST_STARTED", "requestId": "r2"})

    assert (talk.context["requestId"], talk.context["staleEvents"]) == ("r1", 1)


@pytest.mark.requirement("S0-B5")
def test_a_second_send_while_busy_is_refused():
    assert not Talk(SEND).can(SEND)
    assert not Talk(SEND, FIRST).can(SEND)


@pytest.mark.requirement("S0-B4", "S0-86")
def test_late_events_of_a_cancelled_request_are_ignored():
    talk = Talk(R1, text("a"), CANCEL, {**SEND, "requestId": "r2"}, text("b", requestId="r1"))

    assert (talk.context["text"], talk.context["staleEvents"]) == ("", 1)


def test_the_first_token_s_latency_is_known_when_the_times_are():
    talk = Talk({**R1, "at": 1000}, {**FIRST, "at": 1400})

    assert talk.context["firstTokenMs"] == 400
    assert Talk(R1, FIRST).context["firstTokenMs"] is None


def test_the_latency_is_counted_from_the_start_of_the_call():
    started = {"type": "REQUEST_STARTED", "requestId": "r1", "at": 1100}

    assert Talk({**R1, "at": 1000}, started, {**FIRST, "at": 1400}).context["firstTokenMs"] == 300


# -- history -----------------------------------------------------------------------------------------------------------


def words_of(talk):
    return [
        (message["role"], "".join(part["text"] for part in message["parts"])) for message in talk.context["messages"]
    ]


@pytest.mark.requirement("S0-B8")
def test_the_prompt_and_the_history_are_kept():
    talk = Talk(SEND, text("Hi."), COMPLETE, {"type": "SEND", "prompt": "And?"})

    assert talk.context["lastPrompt"] == "And?"
    assert words_of(talk) == [("user", "Hello"), ("assistant", "Hi."), ("user", "And?")]


@pytest.mark.requirement("S0-B8")
def test_messages_know_their_request_and_their_time():
    talk = Talk({**R1, "at": 5}, text("Hi."), {**COMPLETE, "at": 9})

    assert [(message["requestId"], message["at"]) for message in talk.context["messages"]] == [("r1", 5), ("r1", 9)]


def test_a_whole_message_is_kept_as_its_provider_gives_it():
    message = {"role": "assistant", "parts": [{"type": "text", "text": "Hi."}], "source": "scripted"}
    talk = Talk(R1, text("Hi."), {**COMPLETE, "message": message})

    assert talk.context["messages"][-1] == {**message, "requestId": "r1"}


def test_what_had_arrived_of_a_failed_reply_is_in_the_history_of_the_next():
    talk = Talk(SEND, text("Half"), FATAL, SEND)

    assert words_of(talk) == [("user", "Hello"), ("assistant", "Half"), ("user", "Hello")]
    assert talk.context["messages"][1]["partial"] is True


def test_a_retry_does_not_repeat_the_prompt():
    assert words_of(Talk(SEND, text("Half"), FATAL, RETRY)) == [("user", "Hello")]


def test_an_earlier_conversation_can_be_given():
    earlier = [{"role": "user", "parts": [{"type": "text", "text": "Once"}]}]

    assert words_of(Talk(SEND, messages=earlier)) == [("user", "Once"), ("user", "Hello")]


def test_an_empty_reply_is_no_message():
    assert words_of(Talk(SEND, COMPLETE)) == [("user", "Hello")]


def test_the_last_prompt_stays_when_messages_are_answered_without_one():
    assert Talk(SEND, COMPLETE, {"type": "SEND", "prompt": None}).context["lastPrompt"] == "Hello"


def test_the_messages_so_far_can_be_answered_without_a_prompt():
    earlier = [{"role": "user", "parts": [{"type": "text", "text": "Once"}]}]
    talk = Talk({"type": "SEND", "prompt": None}, messages=earlier)

    assert (talk.state, words_of(talk), talk.context["lastPrompt"]) == ("sending", [("user", "Once")], None)


# -- cancelling --------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("S0-86", "S0-B10")
@pytest.mark.parametrize("before", [[R1], [R1, text("Half"), tool("t1")]], ids=["sending", "streaming"])
def test_cancel_ends_a_reply_and_keeps_what_arrived(before):
    talk = Talk(*before)
    arrived = talk.context["text"]

    talk.send(CANCEL)

    assert (talk.state, talk.context["cancelled"], talk.context["text"]) == ("idle", True, arrived)
    assert talk.can(SEND)


def test_cancel_keeps_the_half_answer_in_the_history():
    talk = Talk(SEND, text("Half"), CANCEL, SEND)

    assert words_of(talk) == [("user", "Hello"), ("assistant", "Half"), ("user", "Hello")]
    assert talk.context["cancelled"] is False


@pytest.mark.requirement("S0-85", "S0-86")
def test_cancel_ends_the_wait_for_another_attempt():
    talk = Talk(SEND, ERROR, CANCEL)
    assert (talk.state, talk.context["error"]) == ("idle", None)

    talk.send(100_000)
    assert talk.state == "idle"


def test_cancel_of_another_request_is_refused():
    assert not Talk(R1).can({**CANCEL, "requestId": "r0"})


def test_cancel_has_nothing_to_do_once_the_reply_ended():
    assert not Talk().can(CANCEL)
    assert not Talk(SEND, COMPLETE).can(CANCEL)
    assert not Talk(SEND, FATAL).can(CANCEL)


def test_reset_after_a_cancel_forgets_what_had_arrived():
    talk = Talk(SEND, text("Half"), CANCEL, RESET)

    assert (talk.state, talk.context) == ("idle", Talk().context)


@pytest.mark.requirement("S0-B9")
@pytest.mark.parametrize("end", [FATAL, CANCEL], ids=["error", "cancel"])
def test_tools_that_still_run_are_marked_interrupted(end):
    talk = Talk(SEND, tool("a"), tool("b"), tool_end("a"), end)

    assert talk.context["tools"]["a"]["status"] == "complete"
    assert talk.context["tools"]["b"] == {"name": "search", "status": "error", "interrupted": True}
