"""The statuses of a thread: which events change them, and what a thread then knows."""

import json
from typing import get_args

import pytest

from antiphon import initial_transition, transition
from antiphon.threads.machine.thread import (
    RESUME_PREFIXES,
    STATUSES,
    ResumeReason,
    ThreadStatus,
    first_context,
    start_event,
    thread_machine,
    with_resume_note,
)

RUN = {"runId": "run-1"}
OTHER = {"runId": "run-0"}


def at(status, **known):
    """A thread of this status that has had one run."""
    return thread_machine.resolve_state(status, context=first_context({"threadId": "t", **RUN, "runs": 1, **known}))


def after(snapshot, *events):
    """The target of every event."""
    for event in events:
        snapshot = transition(thread_machine, snapshot, {"type": event} if isinstance(event, str) else event)[0]
    return snapshot


def fresh(*events, **known):
    """A new thread after some events."""
    return after(initial_transition(thread_machine, {"threadId": "t", **known})[0], *events)


# Every event that names no run, in every status: the status it leads to, or nothing where it is refused.
TABLE = {
    "pending": {"START": "running", "STOP": "stopped"},
    "running": {
        "START": "running",
        "COMPLETE": "completed",
        "FAIL": "failed",
        "WAIT": "waiting",
        "STOP": "stopped",
        "INTERRUPT": "interrupted",
    },
    "waiting": {
        "START": "running",
        "RESTART": "running",
        "RESPOND": "running",
        "COMPLETE": "completed",
        "FAIL": "failed",
        "WAIT": "waiting",
        "STOP": "stopped",
        "INTERRUPT": "waiting",
    },
    "completed": {"START": "running", "RESTART": "running", "FOLLOW_UP": "running"},
    "failed": {"START": "running", "RESTART": "running"},
    "stopped": {"START": "running", "RESTART": "running"},
    "interrupted": {"START": "running", "RESTART": "running"},
}
EVENTS = ["START", "RESTART", "RESPOND", "FOLLOW_UP", "COMPLETE", "FAIL", "WAIT", "STOP", "INTERRUPT"]
SET_STATUS = {
    "pending": {"running", "waiting", "completed", "failed", "stopped", "interrupted"},
    "running": {"waiting", "completed", "failed", "stopped", "interrupted"},
    "waiting": {"running", "completed", "failed", "stopped"},
    "completed": {"running", "stopped", "interrupted"},
    "failed": {"running"},
    "stopped": {"running"},
    "interrupted": {"running"},
}


@pytest.mark.requirement("S3-18..S3-25", "S3-42", "S3-49", "S3-50", "S3-52..S3-54", "S3-B9", "S3-B13", "S3-B14")
@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("type", EVENTS)
def test_an_event_leads_where_the_table_says_and_is_refused_elsewhere(status, type):
    before = at(status)
    expected = TABLE[status].get(type)

    assert before.can({"type": type}) == (expected is not None)
    assert after(before, type).value == (expected or status)


@pytest.mark.requirement("S3-26", "S3-49", "S3-50", "S3-52..S3-54", "S3-B9")
@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("wanted", [*STATUSES, "unheard-of", None])
def test_set_status_leads_only_where_it_may(status, wanted):
    """A completed thread keeps `stopped` and `interrupted` here only."""
    event = {"type": "SET_STATUS", "status": wanted}
    allowed = wanted in SET_STATUS[status]

    assert at(status).can(event) == allowed
    assert after(at(status), event).value == (wanted if allowed else status)


@pytest.mark.requirement("S3-42")
def test_a_refused_event_changes_nothing_at_all():
    """Completed does not become waiting."""
    completed = at("completed")

    assert after(completed, {"type": "WAIT", "reason": "question", "cost": 9}) is completed


@pytest.mark.requirement("S3-11..S3-17", "S3-43")
def test_the_chart_has_the_seven_statuses_and_no_other():
    """One place has all of them."""
    assert tuple(thread_machine.states) == STATUSES
    assert set(STATUSES) == {"pending", "running", "waiting", "completed", "failed", "stopped", "interrupted"}
    assert fresh().value == "pending"


# -- why a run begins ------------------------------------------------------------------------------------------------


@pytest.mark.requirement("S3-05..S3-07", "S3-19", "S3-20", "S3-28", "S3-29", "S3-45", "S3-B1", "S3-B3")
@pytest.mark.parametrize(
    ("status", "type", "reason"),
    [
        ("pending", "START", None),
        ("waiting", "RESPOND", "waiting-response"),
        ("waiting", "START", "waiting-response"),
        ("waiting", "RESTART", "waiting-response"),
        ("completed", "FOLLOW_UP", "follow-up"),
        ("completed", "START", "follow-up"),
        ("completed", "RESTART", "follow-up"),
        ("stopped", "RESTART", "interrupted"),
        ("failed", "RESTART", "interrupted"),
        ("interrupted", "RESTART", "interrupted"),
        ("stopped", "START", "interrupted"),
        ("failed", "START", "interrupted"),
        ("interrupted", "START", "interrupted"),
    ],
)
def test_the_event_and_the_status_say_why_a_run_begins(status, type, reason):
    running = after(at(status, resumeReason="post-merge"), type)

    assert running.value == "running"
    assert running.context["resumeReason"] == reason


@pytest.mark.requirement("S3-02", "S3-28")
def test_answering_a_thread_that_waits_does_not_look_like_an_interrupted_session():
    answered = fresh("START", {"type": "WAIT", "reason": "question"}, "RESPOND")

    assert answered.context["resumeReason"] == "waiting-response"
    assert RESUME_PREFIXES[answered.context["resumeReason"]] == ""


@pytest.mark.requirement("S3-B11")
@pytest.mark.parametrize("status", [status for status in STATUSES if status != "running"])
def test_set_status_running_gives_no_reason_because_nobody_said_one(status):
    """A status that is only copied must not look like a resumed session."""
    copied = after(at(status, resumeReason="follow-up"), {"type": "SET_STATUS", "status": "running"})

    assert copied.context["resumeReason"] is None
    assert copied.context["runId"] == ("run-1" if status == "waiting" else "run-2")


@pytest.mark.requirement("S3-B2")
@pytest.mark.parametrize(
    ("status", "type"), [("completed", "FOLLOW_UP"), ("stopped", "RESTART"), ("waiting", "RESPOND")]
)
def test_after_a_merge_the_next_run_begins_for_that_reason_once(status, type):
    merged = after(at(status), "MERGED")
    first = after(merged, type)
    second = after(first, "COMPLETE", "START")

    assert merged.value == status
    assert first.context["resumeReason"] == "post-merge"
    assert second.context["resumeReason"] == "follow-up"


@pytest.mark.requirement("S3-B2")
def test_an_event_may_say_itself_that_it_follows_a_merge():
    assert after(at("completed"), {"type": "START", "postMerge": True}).context["resumeReason"] == "post-merge"


@pytest.mark.requirement("S3-10", "S3-28..S3-30")
def test_only_an_interruption_and_a_merge_are_told_to_the_model():
    """Every reason has its note, some an empty one."""
    reasons = {reason for reason, note in RESUME_PREFIXES.items() if note}

    assert set(RESUME_PREFIXES) == {None, *get_args(ResumeReason)}
    assert set(get_args(ResumeReason)) == {"interrupted", "waiting-response", "post-merge", "follow-up"}
    assert reasons == {"interrupted", "post-merge"}
    assert "interrupted" in RESUME_PREFIXES["interrupted"]


@pytest.mark.requirement("S3-30", "S3-37", "S3.4-9")
def test_a_note_comes_before_the_message_but_not_before_a_command():
    """Slash commands go verbatim."""
    assert with_resume_note("go on", "interrupted") == RESUME_PREFIXES["interrupted"] + "go on"
    assert with_resume_note("/clear", "interrupted") == "/clear"
    assert with_resume_note("42", "waiting-response") == "42"


@pytest.mark.requirement("S3.4-2")
@pytest.mark.parametrize("status", STATUSES)
def test_there_is_a_start_event_for_every_status(status: ThreadStatus):
    event = {"type": start_event(status), "message": {"text": "hello"}}
    thread = at(status, content="chat", config={"onBusy": "queue"}) if status == "running" else at(status)

    assert thread.can(event)


# -- waiting ---------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("S3-12", "S3-21", "S3-B5")
@pytest.mark.parametrize("reason", ["question", "plan", "permission", "provider_error", "cost_warning"])
def test_a_thread_knows_what_it_waits_for_until_it_waits_no_more(reason):
    waiting = fresh("START", {"type": "WAIT", "reason": reason})

    assert waiting.context["waitingReason"] == reason
    for leaving in ("RESPOND", "STOP", "COMPLETE", "FAIL"):
        assert after(waiting, leaving).context["waitingReason"] is None


@pytest.mark.requirement("S3-27", "S3-52")
def test_waiting_again_updates_the_cost_and_the_reason_if_there_is_one():
    waiting = fresh("START", {"type": "WAIT", "reason": "question", "cost": 1})

    assert after(waiting, {"type": "WAIT", "cost": 2}).context["cost"] == 2
    assert after(waiting, {"type": "WAIT", "cost": 2}).context["waitingReason"] == "question"
    assert after(waiting, {"type": "WAIT", "reason": "plan"}).context["waitingReason"] == "plan"


@pytest.mark.requirement("S3-B13")
def test_a_thread_that_waits_goes_on_waiting_when_its_process_is_lost():
    """The question is still valid."""
    lost = fresh("START", {"type": "WAIT", "reason": "question"}, "INTERRUPT")

    assert lost.value == "waiting"
    assert lost.context["waitingReason"] == "question"
    assert lost.context["processLost"] is True
    assert lost.context["permissionExpired"] is False


@pytest.mark.requirement("S3-B13", "S3.4-7")
def test_a_permission_expires_with_the_process_that_asked_for_it():
    """Waiting and expired, never a silent yes."""
    lost = fresh("START", {"type": "WAIT", "reason": "permission"}, "INTERRUPT")

    assert (lost.value, lost.context["permissionExpired"]) == ("waiting", True)
    assert after(lost, "RESPOND").context["permissionExpired"] is False


@pytest.mark.requirement("S3-02", "S3-29")
def test_after_a_lost_process_only_an_answer_is_an_answer():
    """A restart of what was lost is a resumed session."""
    lost = fresh("START", {"type": "WAIT", "reason": "plan"}, "INTERRUPT")

    assert after(lost, "RESPOND").context["resumeReason"] == "waiting-response"
    assert after(lost, "RESTART").context["resumeReason"] == "interrupted"
    assert after(lost, "START").context["resumeReason"] == "interrupted"


@pytest.mark.requirement("S3.4-6")
def test_reaping_an_idle_process_needs_no_event():
    """No status depends on a process: a thread that has ended refuses events about one."""
    for status in ("completed", "failed", "stopped"):
        assert after(at(status), "INTERRUPT").value == status


# -- results and costs -----------------------------------------------------------------------------------------------


@pytest.mark.requirement("S3-05", "S3-48")
def test_the_first_context_has_what_a_thread_may_know():
    context = fresh().context

    assert context["threadId"] == "t"
    assert (context["cost"], context["resultInfo"], context["resumeReason"], context["kind"]) == (0, None, None, None)


@pytest.mark.requirement("S3-23", "S3-48", "S3-55")
def test_a_run_that_completes_leaves_its_result():
    done = fresh("START", {"type": "COMPLETE", "cost": 0.5, "duration": 1200})

    assert done.context["resultInfo"] == {"status": "completed", "cost": 0.5, "duration": 1200}
    assert done.context["cost"] == 0.5


@pytest.mark.requirement("S3-24", "S3-48", "S3-55")
def test_a_run_that_fails_leaves_its_error():
    failed = fresh("START", {"type": "FAIL", "error": "no credit", "duration": 7})

    assert failed.context["resultInfo"] == {"status": "failed", "cost": 0, "duration": 7, "error": "no credit"}


@pytest.mark.requirement("S3-55")
def test_a_result_without_numbers_has_the_known_cost_and_no_duration():
    assert after(at("running", cost=3), "COMPLETE").context["resultInfo"] == {
        "status": "completed", "cost": 3, "duration": 0,
    }  # fmt: skip


@pytest.mark.requirement("S3-B15")
def test_the_cost_is_replaced_not_added():
    """An event carries the total of the session."""
    assert after(at("running", cost=3), {"type": "WAIT", "cost": 4}).context["cost"] == 4
    assert after(at("running", cost=3), {"type": "COMPLETE", "cost": 0}).context["cost"] == 0


@pytest.mark.requirement("S3-27", "S3-55", "S3-B8")
@pytest.mark.parametrize("error", [{}, {"error": {"code": "interrupted"}}])
@pytest.mark.parametrize("type", ["COMPLETE", "FAIL", "WAIT"])
@pytest.mark.parametrize("status", ["running", "waiting", "completed", "failed", "stopped", "interrupted"])
def test_every_report_that_is_taken_brings_its_cost(status, type, error):
    event = {"type": type, **RUN, "cost": 7, **error}

    assert after(at(status, cost=3), event).context["cost"] == (7 if (status, type) != ("failed", "WAIT") else 3)


@pytest.mark.requirement("S3-48", "S3-55")
@pytest.mark.parametrize("status", ["running", "waiting", "failed", "interrupted", "stopped"])
def test_a_completion_leaves_a_result_wherever_it_is_taken(status):
    assert after(at(status), {"type": "COMPLETE", **RUN}).context["resultInfo"]["status"] == "completed"


@pytest.mark.requirement("S3-48", "S3-55")
@pytest.mark.parametrize("status", ["running", "waiting", "completed", "interrupted", "stopped"])
def test_a_failure_leaves_a_result_wherever_it_is_taken(status):
    assert after(at(status), {"type": "FAIL", **RUN}).context["resultInfo"]["status"] == "failed"


@pytest.mark.requirement("X-4")
@pytest.mark.parametrize("status", ["completed", "failed", "stopped", "interrupted"])
@pytest.mark.parametrize("type", ["START", "RESTART"])
def test_beginning_again_is_another_run(status, type):
    assert after(at(status), type).context["runId"] == "run-2"


@pytest.mark.requirement("S3-51")
def test_beginning_a_run_clears_the_last_result():
    again = fresh("START", {"type": "COMPLETE", "cost": 1, "at": 5}, "FOLLOW_UP")

    assert (again.context["resultInfo"], again.context["completedAt"], again.context["cost"]) == (None, None, 1)


@pytest.mark.requirement("S3-16", "S3-22", "S3-39")
@pytest.mark.parametrize("type", ["COMPLETE", "FAIL", "STOP", "INTERRUPT"])
def test_a_thread_knows_when_it_ended_if_the_event_says_so(type):
    """Time arrives in events."""
    assert fresh("START", {"type": type, "at": 1700}).context["completedAt"] == 1700


@pytest.mark.requirement("S3-B12")
def test_an_event_never_changes_the_context_it_was_given():
    running = at("running")
    text = json.dumps(running.context)

    after(running, {"type": "COMPLETE", "cost": 5}, "FOLLOW_UP", {"type": "FAIL", "error": {"code": "x"}})

    assert json.dumps(running.context) == text


@pytest.mark.parametrize("status", STATUSES)
def test_a_thread_of_any_status_is_put_away_taken_out_and_renamed(status):
    put_away = after(at(status), "ARCHIVE", {"type": "RENAME", "title": "My talk"})
    back = after(put_away, "UNARCHIVE", {"type": "RENAME", "title": None})

    assert (put_away.value, put_away.context["archived"], put_away.context["title"]) == (status, True, "My talk")
    assert (back.value, back.context["archived"], back.context["title"]) == (status, False, None)


def test_a_title_that_is_no_text_is_refused():
    assert not at("pending").can({"type": "RENAME", "title": 3})
