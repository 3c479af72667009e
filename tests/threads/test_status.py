"""The registry of thread statuses: every change is a transition, and every answer says what it did."""

import json
import logging

import pytest

from antiphon.threads.errors import InvalidTransition, ThreadError
from antiphon.threads.machine.thread import RESUME_PREFIXES, STATUSES, start_event
from antiphon.threads.status import LOG_LIMIT, ThreadStatusMachine

# What an ended thread takes.
VALID = ("ARCHIVE", "FOLLOW_UP", "MERGED", "RENAME", "RESTART", "SET_STATUS", "START", "UNARCHIVE")


def event(type, **facts):
    return {"type": type, **facts}


@pytest.mark.requirement("S3-31..S3-33", "S3-36", "S3-46")
def test_a_transition_gives_the_status_and_why_the_run_began():
    threads = ThreadStatusMachine()
    threads.transition("t", event("START"))
    threads.transition("t", event("WAIT", reason="question"))
    change = threads.transition("t", event("RESPOND"))

    assert (change.status, change.resume_reason) == ("running", "waiting-response")
    assert (change.accepted, change.has_changed, change.previous) == (True, True, "waiting")
    assert threads.get_resume_reason("t") == "waiting-response"


@pytest.mark.requirement("S3-32", "S3-B4")
def test_the_alias_and_the_positional_arguments_are_those_of_the_seed():
    change = ThreadStatusMachine().transition_status("t", event("RESTART"), "stopped", 2.5)

    assert (change.status, change.resume_reason, change.context["cost"]) == ("running", "interrupted", 2.5)


@pytest.mark.requirement("S3-37")
def test_a_runner_needs_no_memory_of_the_status_before():
    """The event, the returned status and a lookup are all there is to it."""
    threads = ThreadStatusMachine()
    stored = {"asked": "waiting", "broken": "failed"}
    notes = {}
    for thread_id, status in list(stored.items()):
        change = threads.transition(thread_id, event(start_event(status)), status)
        stored[thread_id] = change.status
        notes[thread_id] = RESUME_PREFIXES[change.resume_reason]

    assert stored == {"asked": "running", "broken": "running"}
    assert notes == {"asked": "", "broken": RESUME_PREFIXES["interrupted"]}


@pytest.mark.requirement("S3-B3")
def test_the_first_run_ever_is_fresh_and_no_other():
    """`fresh` is no reason to resume."""
    threads = ThreadStatusMachine()
    first = threads.transition("t", event("START"))
    confirmed = threads.transition("t", event("START"))
    threads.transition("t", event("COMPLETE"))
    second = threads.transition("t", event("START"))

    assert (first.is_fresh, first.resume_reason) == (True, None)
    assert not confirmed.is_fresh
    assert not second.is_fresh


@pytest.mark.requirement("S3-34")
def test_a_thread_comes_to_be_when_it_is_first_mentioned():
    threads = ThreadStatusMachine()
    assert "t" not in threads
    assert threads.get_status("t") is None
    assert threads.get_context("t") is None
    assert threads.get_resume_reason("t") is None
    assert threads.to_json("t") is None

    threads.transition("t", event("START"))

    assert "t" in threads
    assert threads.get_status("t") == "running"


# -- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("S3-42", "S3-B6", "E-21")
def test_a_refused_event_says_so_and_changes_nothing():
    """Completed does not become waiting."""
    threads = ThreadStatusMachine()
    change = threads.transition("t", event("WAIT", reason="question"), "completed")

    assert (change.accepted, change.has_changed, change.status, change.previous) == (
        False,
        False,
        "completed",
        "completed",
    )
    starts = ("FOLLOW_UP", "MERGED", "RESTART", "SET_STATUS", "START")
    assert change.valid_events == tuple(sorted((*starts, "ARCHIVE", "RENAME", "UNARCHIVE")))
    assert threads.get_context("t")["waitingReason"] is None


@pytest.mark.requirement("S3-B6")
def test_an_event_may_be_accepted_without_changing_the_status():
    """Accepted and changed are two things."""
    change = ThreadStatusMachine().transition("t", event("START"), "running")

    assert (change.accepted, change.has_changed) == (True, False)


@pytest.mark.requirement("S3-B6", "E-21")
@pytest.mark.parametrize("by_call", [True, False])
def test_strictness_raises_with_the_events_that_are_valid(by_call):
    threads = ThreadStatusMachine(strict=not by_call)
    with pytest.raises(InvalidTransition) as caught:
        threads.transition("t", event("STOP"), "completed", **({"strict": True} if by_call else {}))

    error = caught.value
    assert (error.thread_id, error.status, error.event_type) == ("t", "completed", "STOP")
    assert "START" in error.valid_events
    assert "'STOP'" in str(error)
    assert "ARCHIVE, FOLLOW_UP, MERGED, RENAME, RESTART, SET_STATUS, START, UNARCHIVE" in str(error)


def test_strictness_can_be_left_for_one_call():
    assert not ThreadStatusMachine(strict=True).transition("t", event("STOP"), "completed", strict=False).accepted


@pytest.mark.requirement("X-8")
@pytest.mark.parametrize(
    ("status", "refused", "reason"),
    [
        ("completed", event("STOP"), "a completed thread does not take STOP"),
        ("completed", event("COMPLETE"), "it does not say that it is about the last run"),
        ("running", event("START", message={"text": "x"}), "the thread is busy"),
        ("failed", event("SET_STATUS", status="waiting"), "failed cannot become 'waiting'"),
        (
            "pending",
            event("xstate.done.actor.chat", actorId="chat"),
            "a pending thread does not take xstate.done.actor.chat",
        ),
    ],
)
def test_a_refusal_has_a_reason(status, refused, reason):
    change = ThreadStatusMachine().transition("t", refused, status)

    assert (change.accepted, change.reason) == (False, reason)


@pytest.mark.requirement("S3-B7", "X-4")
def test_a_result_of_another_run_is_refused_as_that():
    threads = ThreadStatusMachine()
    threads.transition("t", event("START", runId="new"))
    change = threads.transition("t", event("COMPLETE", runId="old"))

    assert (change.status, change.reason) == ("running", "it is about the run 'old', not 'new'")


@pytest.mark.requirement("S3-B6")
@pytest.mark.parametrize("status", STATUSES)
def test_every_event_that_is_called_valid_is_taken(status):
    """The list can be relied on."""
    valid = ThreadStatusMachine().transition("t", event("UNHEARD_OF"), status).valid_events
    assert valid

    for type in valid:
        offers = [event(type, status=wanted) for wanted in STATUSES]
        assert any(ThreadStatusMachine().transition("t", offer, status).accepted for offer in offers)


@pytest.mark.requirement("X-8", "S3-B16")
def test_the_log_has_refused_events_too_and_is_bounded():
    threads = ThreadStatusMachine()
    threads.transition("t", event("START"))
    threads.transition("t", event("FOLLOW_UP"))

    assert [(entry.event["type"], entry.accepted) for entry in threads.log] == [("START", True), ("FOLLOW_UP", False)]
    for _ in range(LOG_LIMIT + 5):
        threads.transition("t", event("START"))
    assert len(threads.log) == LOG_LIMIT


def test_an_unknown_status_is_refused_by_name():
    with pytest.raises(ThreadError, match="'idle' is not a status of a thread; known: pending, running"):
        ThreadStatusMachine().transition("t", event("START"), "idle")


# -- the database knows better ---------------------------------------------------------------------------------------


@pytest.mark.requirement("S3-B11")
@pytest.mark.parametrize("status", STATUSES)
def test_a_thread_is_built_from_the_status_it_is_said_to_have(status):
    """From a snapshot, not by events that would leave their marks."""
    threads = ThreadStatusMachine()
    change = threads.transition("t", event("MERGED"), status)

    assert (change.status, change.previous, change.resume_reason) == (status, status, None)


@pytest.mark.requirement("S3-03", "S3-B10")
def test_if_the_database_says_otherwise_the_database_is_right(caplog):
    """Logged, rehydrated, then applied."""
    threads = ThreadStatusMachine()
    threads.transition("t", event("START", runId="r"))
    with caplog.at_level(logging.WARNING):
        change = threads.transition("t", event("RESTART"), "stopped")

    assert (change.previous, change.status, change.resume_reason) == ("stopped", "running", "interrupted")
    assert change.warnings == ("the status is 'running' in memory and 'stopped' in storage",)
    assert "'stopped' in storage" in caplog.text


@pytest.mark.requirement("S3-B10")
def test_a_drift_keeps_the_cost_but_nothing_of_the_wrong_status():
    threads = ThreadStatusMachine()
    threads.transition("t", event("START"))
    threads.transition("t", event("WAIT", reason="plan", cost=3))
    change = threads.transition("t", event("MERGED"), "completed")

    assert (change.context["waitingReason"], change.context["cost"]) == (None, 3)


@pytest.mark.requirement("S3-B10")
def test_what_is_known_is_kept_if_the_database_agrees():
    threads = ThreadStatusMachine()
    threads.transition("t", event("START", runId="r"))
    change = threads.transition("t", event("COMPLETE", runId="r"), "running")

    assert (change.accepted, change.warnings) == (True, ())


@pytest.mark.requirement("S3-B15")
def test_a_cost_that_falls_is_taken_and_warned_about(caplog):
    threads = ThreadStatusMachine()
    threads.transition("t", event("WAIT", cost=3), "running")
    with caplog.at_level(logging.WARNING):
        change = threads.transition("t", event("COMPLETE", cost=2))

    assert change.context["cost"] == 2
    assert change.warnings == ("the cost fell from 3 to 2",)
    assert "the cost fell" in caplog.text


# -- many threads ----------------------------------------------------------------------------------------------------


@pytest.mark.requirement("S3-35")
def test_forgotten_threads_leave_nothing_behind():
    """On delete and on archive."""
    archive = {}
    threads = ThreadStatusMachine(limit=1, archive=archive)
    for name in ("a", "b"):
        threads.transition(name, event("STOP"))
    threads.forget("a")
    threads.forget("b")
    threads.forget("never-there")

    assert (len(threads), archive, threads.get_status("a")) == (0, {}, None)


@pytest.mark.requirement("S3-B16")
def test_only_threads_at_work_and_the_last_used_ones_are_kept():
    """The others rest in the archive, as JSON."""
    archive = {}
    threads = ThreadStatusMachine(limit=3, archive=archive)
    threads.transition("busy", event("START"))
    for number in range(5):
        threads.transition(f"t{number}", event("STOP"))

    assert (len(threads), list(archive)) == (3, ["t0", "t1", "t2"])
    assert json.loads(json.dumps(archive)) == archive
    assert threads.get_status("busy") == "running"
    assert threads.get_status("t0") == "stopped"


@pytest.mark.requirement("S3-B16")
def test_threads_at_work_are_kept_however_many_they_are():
    threads = ThreadStatusMachine(limit=2)
    for number in range(5):
        threads.transition(f"t{number}", event("START"))

    assert (len(threads), threads.archive) == (5, {})


@pytest.mark.requirement("S3-B16")
def test_using_a_thread_keeps_it():
    """Least recently used goes first."""
    threads = ThreadStatusMachine(limit=2)
    for name in ("a", "b", "a", "c"):
        threads.transition(name, event("MERGED"))

    assert list(threads.archive) == ["b"]


@pytest.mark.requirement("S3-B11", "S3-B16")
def test_a_thread_from_the_archive_goes_on_where_it_was():
    """Its run is still known, so a late result is still judged."""
    threads = ThreadStatusMachine(limit=1)
    threads.transition("t", event("START", runId="r"))
    threads.transition("t", event("FAIL", runId="r", error="x"))
    threads.transition("other", event("STOP"))
    assert "t" in threads.archive
    change = threads.transition("t", event("COMPLETE", runId="r"))

    assert (change.previous, change.status) == ("failed", "completed")
    assert "t" not in threads.archive


def test_an_archive_of_another_version_is_refused_not_guessed():
    threads = ThreadStatusMachine(archive={"t": {"value": "idle", "context": {}, "version": 0}})

    with pytest.raises(ThreadError, match="version 0"):
        threads.transition("t", event("START"))


@pytest.mark.requirement("X-6")
def test_another_process_goes_on_from_the_archive():
    first = ThreadStatusMachine()
    first.transition("t", event("START", runId="r"))
    saved = json.loads(json.dumps(first.to_json("t")))
    second = ThreadStatusMachine(archive={"t": saved})

    assert second.get_context("t") == first.get_context("t")
    assert not second.transition("t", event("COMPLETE", runId="other")).accepted
    assert second.transition("t", event("COMPLETE", runId="r")).accepted


@pytest.mark.requirement("S3-16", "S3-25", "S3-B13", "S3.4-4")
def test_at_the_start_of_a_process_stale_threads_are_interrupted():
    """Marked at start-up, and resumed by their start event."""
    threads = ThreadStatusMachine()
    changes = threads.recover({"a": "running", "b": "waiting", "c": "completed", "d": "pending"})

    assert [(entry.thread_id, entry.status) for entry in changes] == [("a", "interrupted"), ("b", "waiting")]
    assert threads.get_context("b")["processLost"]
    assert threads.transition("a", event(start_event("interrupted"))).resume_reason == "interrupted"


def test_an_archived_thread_leaves_the_memory_and_comes_back_when_it_is_used():
    machine = ThreadStatusMachine()
    for event in ("START", "COMPLETE", "ARCHIVE"):
        machine.transition("t1", {"type": event})
    assert (len(machine), "t1" in machine, machine.get_status("t1")) == (0, True, "completed")

    machine.transition("t1", {"type": "UNARCHIVE"})
    assert (len(machine), machine.archive) == (1, {})


# -- times and cleaning up -------------------------------------------------------------------------------------------


@pytest.mark.requirement("S3-39")
def test_every_change_has_a_time_and_every_end_too():
    threads = ThreadStatusMachine(now=lambda: 50.4)
    threads.transition("t", event("START", at=3))
    threads.transition("t", event("COMPLETE"))
    threads.transition("t", event("WAIT"))

    assert [(change.status, change.at) for change in threads.log] == [
        ("running", 3),
        ("completed", 50),
        ("completed", 50),
    ]
    assert threads.get_context("t")["completedAt"] == 50
    assert threads.transition("t", event("START")).context["completedAt"] is None
    assert threads.transition("t", event("FAIL", at=7)).context["completedAt"] == 7


@pytest.mark.requirement("S3-35", "S3-58")
def test_a_forgotten_thread_leaves_nothing_behind():
    threads = ThreadStatusMachine(limit=1)
    for id in ("kept", "gone"):
        threads.transition(id, event("START"))
        threads.transition(id, event("COMPLETE"))
    threads.transition("kept", event("START"))
    threads.forget("gone")

    assert "gone" not in threads
    assert (len(threads), threads.archive) == (1, {})
    assert {change.thread_id for change in threads.log} == {"kept"}
    assert threads.log.maxlen == LOG_LIMIT


@pytest.mark.requirement("S3-35", "S3-58")
def test_archived_threads_do_not_stay_in_memory():
    threads = ThreadStatusMachine(limit=10_000)
    for number in range(500):
        threads.transition(f"t{number}", event("START"))
        threads.transition(f"t{number}", event("COMPLETE"))
        threads.transition(f"t{number}", event("ARCHIVE"))

    assert (len(threads), len(threads.archive)) == (0, 500)
