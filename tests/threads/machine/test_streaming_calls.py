"""The call behind a reply, and the streaming machine as a part of something larger."""

import pytest

from antiphon import SimulatedClock, create_actor, create_machine, from_callback, from_task
from antiphon.threads.machine.streaming import streaming_machine
from tests.fixtures.streaming import CANCEL, COMPLETE, ERROR, FATAL, FIRST, RESET, RETRY, SEND, Talk, text

R1 = {**SEND, "requestId": "r1"}


# -- the call itself ---------------------------------------------------------------------------------------------------


class Calls:
    """A `streamReply` that notes when it is started and stopped."""

    def __init__(self):
        self.log = []
        self.backs = []
        self.machine = streaming_machine.provide(actors={"streamReply": from_callback(self.call)})

    def call(self, input, scope):
        self.log.append(("start", input["attempt"]))
        self.backs.append(scope.send_back)
        return lambda: self.log.append("stop")


@pytest.mark.requirement("S0-80", "S0-89", "E-10")
def test_a_call_lives_from_sending_through_streaming_to_the_end():
    calls = Calls()
    talk = Talk(SEND, FIRST, text("x"), machine=calls.machine)
    assert calls.log == [("start", 0)]

    talk.send(COMPLETE)
    assert calls.log == [("start", 0), "stop"]


@pytest.mark.requirement("E-10", "X-5", "S0-86")
@pytest.mark.parametrize("end", [ERROR, FATAL, CANCEL, 300_000], ids=["error", "fatal", "cancel", "timeout"])
def test_every_way_out_stops_the_call(end):
    calls = Calls()
    Talk(SEND, end, machine=calls.machine)

    assert calls.log == [("start", 0), "stop"]


def test_each_attempt_is_a_call_of_its_own():
    calls = Calls()
    Talk(SEND, ERROR, 1_000, FATAL, RETRY, machine=calls.machine)

    assert calls.log == [("start", 0), "stop", ("start", 1), "stop", ("start", 0)]


@pytest.mark.requirement("S0-B4", "X-5")
def test_a_stopped_call_is_not_heard_any_more():
    calls = Calls()
    talk = Talk(R1, ERROR, 1_000, machine=calls.machine)

    calls.backs[0](text("old", requestId="r1"))
    assert talk.state == "sending"

    calls.backs[1](text("new", requestId="r1"))
    assert talk.context["text"] == "new"


@pytest.mark.requirement("S0-94")
def test_a_call_is_told_what_it_needs():
    inputs = []
    machine = streaming_machine.provide(actors={"streamReply": from_callback(lambda asked: inputs.append(asked))})
    Talk({**R1, "sessionId": "s"}, machine=machine, model="scripted:x", options={"maxTokens": 5})

    [input] = inputs
    assert {key: value for key, value in input.items() if key != "messages"} == {
        "requestId": "r1", "sessionId": "s", "model": "scripted:x", "options": {"maxTokens": 5}, "attempt": 0,
    }  # fmt: skip
    assert input["messages"] == [{"role": "user", "parts": [{"type": "text", "text": "Hello"}], "requestId": "r1"}]


@pytest.mark.requirement("S0-59")
@pytest.mark.parametrize("code", ["interrupted", "unknown"])
def test_a_call_that_a_dead_process_left_is_an_error_and_never_repeated_unseen(code):
    """Recoverable by hand, with the text that had arrived."""
    lost = {"code": code, "recoverable": True, "message": "the process ended"}
    talk = Talk(R1, text("Half"), {"type": "xstate.error.actor.stream", "error": lost}, 100_000, retryAfterDelta=True)

    assert (talk.state, talk.context["text"], talk.context["retryDelayMs"]) == ("error", "Half", None)
    assert talk.context["error"] == {"code": code, "message": "the process ended", "recoverable": True}
    assert talk.can(RETRY)


@pytest.mark.requirement("S0-59")
@pytest.mark.parametrize(
    ("raised", "message"), [(OSError("no route"), "no route"), (OSError(), "Failed to send message")]
)
def test_a_call_that_raises_is_a_network_error(raised, message):
    talk = Talk(SEND, {"type": "xstate.error.actor.stream", "error": raised})

    assert talk.context["error"] == {"code": "1001", "message": message, "recoverable": True}


def test_a_call_that_says_that_it_cannot_be_repeated_is_believed():
    lost = {"code": "2001", "message": "no key", "recoverable": False}

    assert Talk(SEND, {"type": "xstate.error.actor.stream", "error": lost}).context["error"] == lost


def test_a_call_that_ends_without_a_word_is_a_truncated_reply():
    talk = Talk(SEND, text("Half"), {"type": "xstate.done.actor.stream", "output": None})

    assert (talk.state, talk.context["error"]["code"]) == ("error", "1004")


# -- as a part of something larger -------------------------------------------------------------------------------------

ASKED = {"requestId": "r1", "prompt": "Hello", "reportsToParent": True}


class Parent:
    """An actor whose child is the streaming machine, and what the child tells it."""

    def __init__(self, **input):
        self.told = []
        self.clock = SimulatedClock()
        machine = create_machine(
            {"invoke": {"src": "reply", "id": "reply", "input": input}, "on": {"REPLY.*": {"actions": "note"}}},
            actors={"reply": streaming_machine},
            actions={"note": lambda context, event: self.told.append(event)},
        )
        self.actor = create_actor(machine, clock=self.clock).start()

    @property
    def reply(self):
        return self.actor.get_snapshot().children["reply"]

    def send(self, *events):
        for event in events:
            self.reply.send(event)
        return self.told


def test_a_machine_that_is_given_a_prompt_begins_at_once():
    talk = Talk(prompt="Hello", requestId="r1", sessionId="s1", at=5)

    assert (talk.state, talk.context["lastPrompt"], talk.context["sentAt"]) == ("sending", "Hello", 5)
    assert (talk.context["requestId"], talk.context["sessionId"]) == ("r1", "s1")


def test_a_prompt_that_was_given_is_not_sent_again_after_a_reset():
    assert Talk(COMPLETE, RESET, prompt="Hello").state == "idle"


def test_the_parent_is_told_of_the_beginning_and_the_end():
    facts = {"usage": {"input": 3}, "stop": "end"}
    report = Parent(**ASKED).send(text("Hi."), text(" You."), {**COMPLETE, **facts})

    message = {"role": "assistant", "parts": [{"type": "text", "text": "Hi. You."}], "requestId": "r1"}
    assert report == [
        {"type": "REPLY.STARTED", "requestId": "r1"},
        {
            "type": "REPLY.COMPLETED", "requestId": "r1", "message": message, "costUsd": 0.05, "durationMs": 1200,
            "totalTokens": 300, **facts,
        },
    ]  # fmt: skip


def test_the_parent_is_told_of_a_failure_only_when_nothing_will_be_tried_any_more():
    parent = Parent(**ASKED, maxAttempts=1)
    assert parent.send(ERROR) == []

    parent.clock.increment(1_000)
    error = {"code": "1001", "message": "Gone", "recoverable": True}
    assert parent.send(ERROR) == [
        {"type": "REPLY.FAILED", "requestId": "r1", "error": error, "text": "", "usage": None, "costUsd": 0}
    ]


def test_the_parent_is_told_of_a_cancellation():
    used = {"type": "USAGE", "usage": {"input": 3}, "costUsd": 0.5}
    report = {"type": "REPLY.CANCELLED", "requestId": "r1", "text": "Ha", "usage": {"input": 3}, "costUsd": 0.5}
    assert Parent(**ASKED).send(text("Ha"), used, CANCEL)[-1] == report


def test_the_parent_is_told_when_there_is_nothing_to_spend():
    parent = Parent(**ASKED, budgetUsd=0)

    [failed] = parent.told
    assert (failed["type"], failed["requestId"], failed["error"]["code"]) == ("REPLY.FAILED", "r1", "3002")


def test_the_parent_is_told_nothing_unless_that_is_asked_for():
    assert Parent(prompt="Hello").send(text("x"), COMPLETE, SEND, FATAL, SEND, CANCEL) == []


@pytest.mark.requirement("S0-90")
def test_a_conversation_runs_beside_something_else():
    """Streaming in one region, a canvas in another."""
    canvas = {"initial": "empty", "states": {"empty": {"on": {"SHOW": "display"}}, "display": {}}}
    chat = {"invoke": {"src": "streaming", "id": "streaming", "input": {"prompt": "Draw"}}}
    machine = create_machine(
        {"type": "parallel", "states": {"canvas": canvas, "chat": chat}}, actors={"streaming": streaming_machine}
    )
    actor = create_actor(machine, clock=SimulatedClock()).start()

    actor.get_snapshot().children["streaming"].send(text("Here"))
    actor.send({"type": "SHOW"})

    assert actor.get_snapshot().value["canvas"] == "display"
    assert actor.get_snapshot().children["streaming"].get_snapshot().value == "streaming"


def test_the_error_of_a_call_that_nobody_waits_for_does_no_harm():
    talk = Talk(SEND, CANCEL, {"type": "xstate.error.actor.stream", "error": OSError("late")})

    assert (talk.state, talk.context["staleEvents"]) == ("idle", 1)
    assert talk.can(SEND)


def test_a_call_that_needs_an_event_loop_fails_with_what_it_needs_and_the_conversation_goes_on():
    async def call():
        """Do nothing."""

    actor = create_actor(streaming_machine.provide(actors={"streamReply": from_task(call)})).start()
    actor.send(SEND)

    snapshot = actor.get_snapshot()
    assert (snapshot.status, snapshot.value) == ("active", "error")
    assert "start it inside a running event loop" in snapshot.context["error"]["message"]
