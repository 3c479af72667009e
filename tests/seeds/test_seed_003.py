"""Document 003, the plan of the thread status machine: its steps and what they fix, line by line."""

from typing import get_args

import pytest

import antiphon.threads
from antiphon.threads import RESUME_PREFIXES, ThreadStatusMachine, thread_machine
from antiphon.threads.machine.agent_events import runner_event_to_machine_event
from antiphon.threads.machine.thread_events import ResumeReason
from tests.seeds.reading import Reading, differences, listed

WAIT = {"type": "WAIT", "reason": "question"}


def registry(*events):
    """A registry in which one thread has taken some events."""
    machine = ThreadStatusMachine()
    for event in events:
        machine.transition("t1", {"type": event} if isinstance(event, str) else event)
    return machine


def reason(*events):
    return registry(*events).get_resume_reason("t1")


def steps_1_and_2():
    yield Reading(18, "machine definition", thread_machine.id, "thread")
    theirs = {"interrupted", "waiting-response", "post-merge", "follow-up"}
    yield Reading(19, "resumeReason", set(get_args(ResumeReason)), theirs)
    begun = [reason("START"), reason("START", "STOP", "RESTART"), reason("START", WAIT, "RESPOND")]
    yield Reading(20, "START vs RESTART vs RESPOND", begun, [None, "interrupted", "waiting-response"])
    yield Reading(21, "RESPOND", registry("START", WAIT, "RESPOND").get_status("t1"), "running")
    names = {"thread_machine", "ThreadContext", "ThreadEvent", "ws_event_to_machine_event"}
    yield Reading(22, "wsEventToMachineEvent", names <= set(antiphon.threads.__all__), True)
    yield Reading(30, "registry", len(registry("START")), 1)
    change = ThreadStatusMachine().transition_status("t1", {"type": "RESTART"}, "failed")
    yield Reading(31, "transitionStatus", (change.status, change.resume_reason), ("running", "interrupted"))
    yield Reading(32, "getResumeReason", reason("START", WAIT, "RESPOND"), "waiting-response")
    archived = registry("START", "COMPLETE", "ARCHIVE")
    deleted = registry("START")
    deleted.forget("t1")
    ours = (len(ThreadStatusMachine()), len(archived), len(deleted))
    yield Reading(33, "lazy-created", ours, (0, 0, 0))


def steps_3_to_5():
    machine = registry("START", WAIT)
    change = machine.transition("t1", {"type": "RESPOND"})
    yield Reading(47, "RESPOND", (change.status, change.resume_reason), ("running", "waiting-response"))
    again = registry("START", "STOP").transition("t1", {"type": "RESTART"})
    yield Reading(48, "RESTART", (again.status, again.resume_reason), ("running", "interrupted"))
    yield Reading(50, "RESUME_PREFIXES", "interrupted" in RESUME_PREFIXES[again.resume_reason], True)
    change = registry("START").transition("t1", WAIT)
    ours = (change.status, change.context["waitingReason"])
    yield Reading(62, "question", ours, ("waiting", "question"))
    event = runner_event_to_machine_event("agent:stopped", {})
    yield Reading(71, "agent:stopped", event, {"type": "STOP"})
    yield Reading(72, "STOP", registry("START").transition("t1", event).status, "stopped")
    ended = registry("START").transition("t1", {"type": "STOP", "at": 5}).context
    yield Reading(73, "completedAt", ended.get("completedAt"), 5)


def fixes():
    prefix = RESUME_PREFIXES[reason("START", WAIT, "RESPOND")]
    resumed = {status: reason("START", status, "RESTART") for status in ("STOP", "FAIL", "INTERRUPT")}
    yield Reading(85, "RESPOND", (prefix, set(resumed.values())), ("", {"interrupted"}))
    refused = registry("START", "COMPLETE").transition("t1", WAIT)
    yield Reading(86, "completed → waiting", (refused.accepted, refused.status), (False, "completed"))
    yield Reading(92, "ResumeReason", "ResumeReason" in antiphon.threads.__all__, True)


PASSAGES = [steps_1_and_2, steps_3_to_5, fixes]


@pytest.mark.requirement("S3-42", "S3-45")
@pytest.mark.parametrize("passage", PASSAGES)
def test_the_plan_holds_line_by_line(passage):
    readings = list(passage())

    assert differences(readings) == listed("003", readings)
