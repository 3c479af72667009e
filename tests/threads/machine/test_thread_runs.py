"""The runs of a thread: results that come late or twice, and the content that does the work."""

import asyncio

import pytest

from antiphon import create_actor, create_machine, from_callback, from_task
from antiphon.threads.machine.thread import KINDS, thread_machine
from tests.threads.machine.test_thread import OTHER, RUN, after, at, fresh


@pytest.mark.requirement("X-4")
def test_every_run_has_an_id_of_its_own_counted_if_nobody_gives_one():
    first = fresh("START")
    second = after(first, "COMPLETE", {"type": "FOLLOW_UP", "runId": "mine"})
    third = after(second, "COMPLETE", "FOLLOW_UP")

    assert [item.context["runId"] for item in (first, second, third)] == ["run-1", "mine", "run-3"]


@pytest.mark.requirement("X-4", "S3-20")
def test_an_answer_goes_on_with_the_run_that_asked_and_a_restart_begins_another():
    """The run that waits for a permission reports under the id it began with."""
    waiting = fresh({"type": "START", "runId": "a"}, {"type": "WAIT", "runId": "a"})

    assert after(waiting, "RESPOND").context["runId"] == "a"
    assert after(waiting, "START").context["runId"] == "a"
    assert after(waiting, "RESTART").context["runId"] == "run-2"
    assert after(waiting, "INTERRUPT", "RESTART").context["runId"] == "run-2"
    assert after(waiting, "INTERRUPT", "START").context["runId"] == "run-2"
    assert after(waiting, {"type": "RESPOND", "runId": "b"}).context["runId"] == "b"


def test_a_run_that_was_lost_without_an_id_gets_one_when_it_is_answered():
    for event in ("RESPOND", {"type": "SET_STATUS", "status": "running"}):
        assert after(at("waiting", runId=None), event).context["runId"] == "run-2"


@pytest.mark.requirement("S3-B7", "X-4")
@pytest.mark.parametrize("type", ["COMPLETE", "FAIL", "WAIT", "STOP", "INTERRUPT", "START"])
@pytest.mark.parametrize("status", ["running", "waiting"])
def test_what_another_run_says_is_stale(status, type):
    """Only a start names a new run."""
    event = {"type": type, **OTHER, "cost": 99}
    if (status, type) == ("waiting", "START"):
        assert after(at(status), event).context["runId"] == OTHER["runId"]
    else:
        assert not at(status).can(event)


@pytest.mark.requirement("S3-B7")
@pytest.mark.parametrize(
    ("status", "type", "expected"),
    [
        ("failed", "COMPLETE", "completed"),
        ("completed", "FAIL", "failed"),
        ("completed", "WAIT", "waiting"),
        ("interrupted", "COMPLETE", "completed"),
        ("interrupted", "FAIL", "failed"),
        ("interrupted", "WAIT", "waiting"),
    ],
)
def test_a_late_result_of_the_last_run_is_taken_and_any_other_refused(status, type, expected):
    assert after(at(status), {"type": type, **RUN}).value == expected
    assert not at(status).can({"type": type, **OTHER})
    assert not at(status).can({"type": type})


@pytest.mark.requirement("S3-B7")
def test_what_failed_cannot_wait():
    """A late result of this kind does not count."""
    assert not at("failed").can({"type": "WAIT", **RUN})


@pytest.mark.requirement("S3-B7")
def test_a_thread_that_goes_back_to_waiting_has_no_result():
    late = after(at("completed", resultInfo={"status": "completed", "cost": 0, "duration": 0}), {"type": "WAIT", **RUN})

    assert late.context["resultInfo"] is None


@pytest.mark.requirement("S3-15", "S3-B8")
@pytest.mark.parametrize("type", ["COMPLETE", "FAIL", "WAIT"])
def test_a_stop_wins_over_a_late_result_but_its_cost_counts(type):
    late = after(fresh("START", "STOP"), {"type": type, **RUN, "cost": 2, "duration": 40})

    assert late.value == "stopped"
    assert late.context["cost"] == 2
    assert type == "WAIT" or late.context["resultInfo"]["duration"] == 40


@pytest.mark.requirement("S3-B7", "S3.4-5")
def test_the_same_completion_twice_is_one_completion():
    event = {"type": "COMPLETE", **RUN, "cost": 2, "duration": 40, "at": 9}
    once = after(fresh("START"), event)
    twice = after(once, {**event, "at": 10})

    assert once.can(event)
    assert (twice.value, twice.context) == (once.value, once.context)


@pytest.mark.requirement("S3.4-5")
def test_the_same_failure_twice_is_one_failure():
    """Idempotent per run."""
    event = {"type": "FAIL", **RUN, "error": "x"}
    once = after(fresh("START"), event)

    assert after(once, event).context == once.context


@pytest.mark.requirement("S3-50")
def test_start_confirms_a_run_that_is_known_and_names_one_that_is_not():
    assert after(at("running"), {"type": "START", **RUN}).context == at("running").context
    assert after(at("running", runId=None), {"type": "START", "runId": "named"}).context["runId"] == "named"


@pytest.mark.requirement("S3-50")
def test_a_running_thread_does_not_swallow_a_message():
    """A start with a message is no confirmation, and a follow-up needs somebody who keeps it."""
    assert not at("running").can({"type": "START", "message": {"text": "and this"}})
    assert not at("running").can({"type": "FOLLOW_UP", "message": {"text": "and this"}})


# -- a failure that is the loss of a process -------------------------------------------------------------------------

LOST = {"code": "interrupted", "message": "the process ended"}


@pytest.mark.requirement("S3-16", "S3-25")
def test_a_failure_that_is_a_lost_process_is_an_interruption():
    """Stop, crash and failure are three things."""
    assert fresh("START", {"type": "FAIL", **RUN, "error": LOST}).value == "interrupted"
    assert fresh("START", {"type": "FAIL", "error": {"code": "1001"}}).value == "failed"


@pytest.mark.requirement("S3-25")
def test_a_lost_process_reported_twice_stays_an_interruption():
    """The registry says INTERRUPT, and the content that comes back says FAIL."""
    interrupted = fresh("START", "INTERRUPT")

    assert after(interrupted, {"type": "FAIL", **RUN, "error": LOST, "cost": 1}).value == "interrupted"
    assert after(interrupted, {"type": "FAIL", **RUN, "error": LOST, "cost": 1}).context["cost"] == 1


@pytest.mark.requirement("S3-B13")
def test_a_lost_process_reported_as_failure_leaves_a_question_open():
    lost = fresh("START", {"type": "WAIT", "reason": "plan"}, {"type": "FAIL", "error": LOST})

    assert (lost.value, lost.context["processLost"]) == ("waiting", True)


# -- the content -----------------------------------------------------------------------------------------------------


def recorder(received):
    """Content that notes its input and what it is told, and passes orders on to the thread."""

    def content(input, scope):
        received.append(input)

        def hear(event):
            received.append(event)
            if "tell" in event:
                scope.send_back(event["tell"])

        scope.receive(hear)

    return from_callback(content)


def running(received, kind="chat", **known):
    """A thread with content that works."""
    machine = thread_machine.provide(actors={kind: recorder(received)})
    return create_actor(machine, input={"threadId": "t", "kind": kind, **known}).start()


@pytest.mark.parametrize("kind", KINDS)
def test_the_content_is_started_once_with_the_first_run(kind):
    received = []
    actor = running(received, kind, config={"model": "scripted:demo"})
    before = list(received)
    for type in ("START", "COMPLETE", "FOLLOW_UP", "STOP", "RESTART"):
        actor.send({"type": type})

    inputs = [item for item in received if "type" not in item]
    assert before == []
    assert inputs == [{"model": "scripted:demo", "threadId": "t", "reportsToParent": True}]


def test_without_a_kind_there_is_no_content():
    assert fresh("START").children == {}


@pytest.mark.requirement("S3-37")
def test_a_message_reaches_the_content_with_the_reason_and_the_run():
    """The content gets the message that begins a run."""
    received = []
    actor = running(received)
    actor.send({"type": "START", "message": {"text": "hello"}})
    actor.send({"type": "WAIT", "reason": "question"})
    actor.send({"type": "RESPOND", "message": {"text": "yes", "type": "stop"}})

    assert received[1:] == [
        {"type": "message", "text": "hello", "resumeReason": None, "resumeNote": "", "runId": "run-1"},
        {"type": "message", "text": "yes", "resumeReason": "waiting-response", "resumeNote": "", "runId": "run-1"},
    ]


def test_a_start_without_a_message_tells_the_content_nothing():
    received = []
    running(received).send({"type": "START"})

    assert len(received) == 1


@pytest.mark.requirement("S3.4-3")
def test_a_message_to_a_running_thread_is_for_its_content_to_keep():
    """The follow-up policy is the content's; the status stays."""
    received = []
    actor = running(received, config={"onBusy": "queue"})
    actor.send({"type": "START"})
    actor.send({"type": "FOLLOW_UP", "message": {"text": "also"}})

    assert actor.get_snapshot().value == "running"
    message = {"type": "message", "text": "also", "resumeReason": None, "resumeNote": "", "runId": "run-1"}
    assert received[-1] == message


def test_a_message_that_the_content_would_not_take_is_refused():
    received = []
    actor = running(received)
    actor.send({"type": "START"})

    assert not actor.get_snapshot().can({"type": "FOLLOW_UP", "message": {"text": "also"}})


@pytest.mark.requirement("X-5")
@pytest.mark.parametrize("stop", [{"type": "STOP"}, {"type": "SET_STATUS", "status": "stopped"}])
@pytest.mark.parametrize("waits", [False, True])
def test_a_stop_reaches_the_content(stop, waits):
    """The content is cancelled."""
    received = []
    actor = running(received)
    actor.send({"type": "START"})
    if waits:
        actor.send({"type": "WAIT"})
    actor.send(stop)

    assert actor.get_snapshot().value == "stopped"
    assert received[-1] == {"type": "cancel", "runId": "run-1"}


@pytest.mark.requirement("S3-01", "S3-38")
def test_what_the_content_reports_is_the_status():
    """WAIT, COMPLETE and FAIL instead of writing a status."""
    received = []
    actor = running(received)
    actor.send({"type": "START", "message": {"tell": {"type": "COMPLETE", "runId": "run-1", "cost": 2}}})

    assert actor.get_snapshot().value == "completed"
    assert actor.get_snapshot().context["cost"] == 2


def fails(error):
    async def content(input):
        raise error

    return from_task(content)


async def run_content(input):
    return None


class Lost(Exception):
    code = "interrupted"


@pytest.mark.requirement("S3-13", "S3-14", "S3-16")
@pytest.mark.parametrize(
    ("content", "status"),
    [(fails(RuntimeError("broken")), "failed"), (fails(Lost()), "interrupted"), (from_task(run_content), "completed")],
    ids=["failed", "interrupted", "completed"],
)
@pytest.mark.parametrize("runs", [1, 2])
def test_content_that_ends_by_itself_ends_the_run_and_is_started_anew_with_the_next(content, status, runs):
    async def life():
        actor = create_actor(thread_machine.provide(actors={"run": content}), input={"kind": "run"}).start()
        for _ in range(runs):
            actor.send({"type": "START"})
            for _ in range(10):  # turns of the loop, enough for a task that waits for nothing
                await asyncio.sleep(0)
        return actor.get_snapshot()

    ended = asyncio.run(life())
    assert (ended.value, ended.context["content"], dict(ended.children)) == (status, None, {})
    if status == "completed":
        assert ended.context["resultInfo"] == {"status": "completed", "cost": 0, "duration": 0}
    if status == "failed":
        assert ended.context["resultInfo"]["error"] == {"name": "RuntimeError", "message": "broken"}


@pytest.mark.requirement("S3-B13")
def test_content_that_breaks_while_a_person_is_asked_fails_the_thread_or_is_lost():
    broken = {"type": "xstate.error.actor.chat", "actorId": "chat", "error": {"code": "9001"}}
    waiting = fresh("START", {"type": "WAIT", "reason": "plan"}, kind="chat")
    failed = after(waiting, broken)
    lost = after(waiting, {**broken, "error": LOST})

    assert (failed.value, failed.context["resultInfo"]["error"]) == ("failed", {"code": "9001"})
    assert (lost.value, lost.context["processLost"]) == ("waiting", True)
    assert (failed.context["content"], lost.context["content"]) == (None, None)


@pytest.mark.parametrize("word", ["done", "error"])
def test_content_that_ends_after_its_run_is_forgotten(word):
    end = {"type": f"xstate.{word}.actor.chat", "actorId": "chat", "error": {"code": "9001"}}
    ended = after(fresh("START", "COMPLETE", kind="chat"), end)

    assert (ended.status, ended.value, ended.context["content"]) == ("active", "completed", None)


def test_a_machine_can_be_the_content():
    """The thread and its chat are actors of one tree."""
    chat = create_machine({"id": "chat", "context": {"heard": 0}, "initial": "open", "states": {"open": {}}})
    actor = create_actor(thread_machine.provide(actors={"chat": chat}), input={"kind": "chat"}).start()
    actor.send({"type": "START", "message": {"text": "x"}})

    assert actor.get_persisted_snapshot()["children"]["chat"]["snapshot"]["value"] == "open"
