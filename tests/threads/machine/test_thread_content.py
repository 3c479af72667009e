"""Events from a thread to its content: messages, answers, and requests to go on."""

import pytest

from antiphon.threads.machine.thread import RESUME_PREFIXES
from tests.threads.machine.test_thread import OTHER, RUN, after, at
from tests.threads.machine.test_thread_runs import running


@pytest.mark.requirement("S3.4-3")
@pytest.mark.parametrize(
    ("event", "told"),
    [
        ({"type": "RESPOND", "answer": {"decision": "allow"}}, {"type": "answer", "decision": "allow"}),
        ({"type": "RESTART", "retry": True}, {"type": "retry"}),
        ({"type": "RESTART"}, {"type": "resume"}),
        ({"type": "RESPOND", "message": "hello"}, {"type": "message", "text": "hello"}),
        ({"type": "RESPOND", "message": {"text": 3}}, {"type": "message", "text": 3}),
    ],
)
def test_a_start_event_tells_the_content_what_it_carries(event, told):
    """The content itself refuses an invalid message; the thread goes on."""
    received = []
    actor = running(received)
    actor.send({"type": "START"})
    actor.send({"type": "WAIT", "reason": "permission"})

    actor.send(event)

    assert received[-1] == {
        **told,
        "resumeReason": "waiting-response",
        "resumeNote": "",
        "runId": received[-1]["runId"],
    }
    assert actor.get_snapshot().value == "running"


def test_an_answer_alone_is_all_that_goes_on_without_words():
    received = []
    actor = running(received)
    actor.send({"type": "START"})
    actor.send({"type": "WAIT", "reason": "permission"})
    before = list(received)

    actor.send({"type": "RESPOND"})

    assert received == before


@pytest.mark.requirement("S3-37", "S3-30")
def test_a_run_that_was_lost_is_resumed_with_a_note():
    received = []
    actor = running(received)
    actor.send({"type": "START", "message": {"text": "hello"}})
    actor.send({"type": "INTERRUPT"})

    actor.send({"type": "RESTART"})

    assert received[-1]["type"] == "resume"
    assert received[-1]["resumeNote"] == RESUME_PREFIXES["interrupted"]


@pytest.mark.requirement("S3-B8")
@pytest.mark.parametrize("status", ["running", "waiting", "stopped"])
def test_what_a_stopped_run_cost_is_counted(status):
    stopped = after(at(status, cost=1), {"type": "STOP", **RUN, "cost": 2, "duration": 40})

    assert (stopped.value, stopped.context["cost"]) == ("stopped", 2)
    assert after(at(status, cost=1), {"type": "STOP", **OTHER, "cost": 2}).context["cost"] == 1
