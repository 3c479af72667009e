"""Messages of agents, translated to events of a thread."""

import pytest

from antiphon.threads.machine.agent_events import runner_event_to_machine_event, ws_event_to_machine_event
from tests.threads.machine.test_thread import fresh


@pytest.mark.requirement("S3-08", "S3-56")
@pytest.mark.parametrize(
    ("type", "data", "event"),
    [
        ("agent:status", {"status": "running"}, {"type": "START"}),
        ("agent:status", {"status": "stopped"}, {"type": "STOP"}),
        ("agent:status", {"status": "interrupted"}, {"type": "INTERRUPT"}),
        ("agent:status", {"status": "waiting"}, {"type": "SET_STATUS", "status": "waiting"}),
        ("agent:status", {"status": "completed"}, {"type": "SET_STATUS", "status": "completed"}),
        ("agent:result", {"cost": 1, "duration": 2}, {"type": "COMPLETE", "cost": 1, "duration": 2}),
        ("agent:result", {"status": "completed"}, {"type": "COMPLETE"}),
        ("agent:result", {"status": "waiting", "cost": 1}, {"type": "WAIT", "cost": 1}),
        ("agent:result", {"status": "waiting", "waitingReason": "plan"}, {"type": "WAIT", "reason": "plan"}),
        ("agent:result", {"status": "failed", "error": "x"}, {"type": "FAIL", "error": "x"}),
        ("agent:result", {"status": "unheard-of"}, None),
        ("agent:error", {"error": "x", "runId": "r"}, {"type": "FAIL", "error": "x", "runId": "r"}),
        ("agent:message", {"status": "running"}, None),
        ("", {}, None),
    ],
)
def test_what_a_socket_says_is_an_event_or_nothing(type, data, event):
    assert ws_event_to_machine_event(type, data) == event


@pytest.mark.requirement("S3-56", "S3-42")
def test_a_status_that_nobody_knows_is_an_event_that_every_thread_refuses():
    event = ws_event_to_machine_event("agent:status", {"status": "unheard-of"})

    assert event == {"type": "SET_STATUS", "status": "unheard-of"}
    assert not fresh().can(event)


@pytest.mark.requirement("S3-39..S3-41")
@pytest.mark.parametrize(
    ("type", "data", "event", "status"),
    [
        ("agent:stopped", {"at": 7}, {"type": "STOP", "at": 7}, "stopped"),
        ("agent:error", {"error": "x"}, {"type": "FAIL", "error": "x"}, "failed"),
        ("agent:unexpected-exit", {"error": "exit 1"}, {"type": "FAIL", "error": "exit 1"}, "failed"),
    ],
)
def test_what_a_runner_notices_is_an_event_of_the_thread(type, data, event, status):
    """The status is the machine's, and so is the time of the end."""
    result = runner_event_to_machine_event(type, data)
    ended = fresh("START", result)

    assert result == event
    assert (ended.value, ended.context["completedAt"]) == (status, data.get("at"))


def test_a_runner_notices_nothing_else():
    assert runner_event_to_machine_event("agent:started", {}) is None
