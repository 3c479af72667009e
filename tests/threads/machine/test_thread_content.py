"""Events from a thread to its content: messages, answers, and requests to go on."""

import pytest

from antiphon.threads.machine.thread import RESUME_PREFIXES
from tests.threads.machine.test_thread import OTHER, RUN, after, at
from tests.threads.machine.test_thread_runs import running


@pytest.mark.requirement("S3.4-3")
@pytest.mark.parametrize(
    ("event", "told"),
    [
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


REQUEST = {"id": "r1", "address": "tools/permission", "reason": "permission"}


def waiting(received, **report):
    actor = running(received)
    actor.send({"type": "START"})
    actor.send({"type": "WAIT", "reason": "permission", **report})
    return actor


def test_a_request_of_the_content_is_listed_with_its_address_in_the_thread():
    actor = waiting([], requests=[REQUEST])

    assert actor.get_snapshot().context["requests"] == [{**REQUEST, "address": "chat/tools/permission"}]


@pytest.mark.parametrize("event", [{"type": "RESPOND"}, {"type": "START"}, {"type": "RESPOND", "requestId": "r1"}])
def test_a_thread_does_not_go_on_while_a_request_of_its_content_is_open(event):
    """It would be running, and its content would wait for ever."""
    actor = waiting([], requests=[REQUEST])
    before = actor.get_snapshot()

    actor.send(event)

    assert actor.get_snapshot() is before


def test_the_content_says_when_no_request_is_open_any_more():
    received = []
    actor = waiting(received, requests=[REQUEST])
    before = list(received)

    actor.send({"type": "GO_ON", "runId": "run-2"})
    still = actor.get_snapshot().value
    actor.send({"type": "GO_ON", "runId": "run-1"})

    assert (still, actor.get_snapshot().value, received) == ("waiting", "running", before)
    assert actor.get_snapshot().context["requests"] == []


def test_a_report_lists_the_requests_that_are_left():
    actor = waiting([], requests=[REQUEST, {**REQUEST, "id": "r2"}])

    actor.send({"type": "WAIT", "requests": [REQUEST]})

    assert [request["id"] for request in actor.get_snapshot().context["requests"]] == ["r1"]
    assert actor.get_snapshot().context["waitingReason"] == "permission"


def test_a_thread_that_waits_without_a_request_of_its_content_has_one_itself():
    actor = waiting([])
    (request,) = actor.get_snapshot().context["requests"]

    actor.send({"type": "RESPOND", "requestId": "wait-0"})
    still = actor.get_snapshot().value
    actor.send({"type": "RESPOND", "requestId": request["id"]})

    assert request == {"id": "wait-1", "address": "", "reason": "permission"}
    assert (still, actor.get_snapshot().value) == ("waiting", "running")


def test_an_id_of_an_earlier_request_to_the_thread_is_refused():
    actor = waiting([])
    actor.send({"type": "RESPOND", "requestId": "wait-1"})
    actor.send({"type": "WAIT", "reason": "plan"})

    actor.send({"type": "RESPOND", "requestId": "wait-1"})

    assert actor.get_snapshot().value == "waiting"
    assert [request["id"] for request in actor.get_snapshot().context["requests"]] == ["wait-2"]


def test_requests_that_are_lost_with_their_process_are_closed():
    actor = waiting([], requests=[REQUEST])

    actor.send({"type": "FAIL", "error": {"code": "interrupted"}, "requests": []})

    assert (actor.get_snapshot().value, actor.get_snapshot().context["requests"]) == ("waiting", [])


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
