"""The orchestrator when something comes between: a lost process, a person with an answer, a cancellation, a reset."""

import pytest

from tests.fixtures.orchestrator import CONTINUE, START, Run, Watched, done, select

# What a provider may call recoverable is not recovered from by itself when the process was lost.
LOST = {"code": "interrupted", "message": "gone", "recoverable": True}
CALL = {"type": "AGENT_TOOL_CALL", "toolCall": {"id": "1", "name": "shell"}}
CANCEL, RESET = {"type": "CANCEL"}, {"type": "RESET"}
AT_WORK = [START, select("developer")]
BY_STATE = {
    "selecting": ("selectAgent", [START]),
    "executing": ("executeAgent", AT_WORK),
    "evaluating": ("evaluateProgress", [*AT_WORK, done()]),
}


def waits(number, reason="question"):
    id = f"agent-{number}"
    return {"type": "AGENT_WAITS", "agentId": id, "reason": reason, "id": f"q{number}", "address": id}


@pytest.mark.requirement("S1-99", "S1-B20")
@pytest.mark.parametrize("state", BY_STATE)
def test_a_lost_process_is_nobodys_failure_and_waits_where_it_was(state):
    """No time lets it go on, a person does, and it goes on in the state it was in."""
    actor, events = BY_STATE[state]
    run = Run(*events, {"type": f"xstate.error.actor.{actor}", "actorId": actor, "error": LOST})
    run.clock.increment(600_000)

    assert (run.state, run.context["lostIn"]) == ("error_handling", state)
    assert (run.context["consecutiveFailures"], run.context["totalFailures"]) == (0, 0)
    assert run.send({"type": "resume"}).state == state
    assert run.context["lostIn"] is None


@pytest.mark.requirement("S1-99", "S1-B20")
def test_agents_that_lost_their_process_are_resumed_once():
    run = Watched(*AT_WORK, {"type": "AGENT_LOST", "agentId": "agent-0"}, {"type": "resume"}, {"type": "resume"})

    assert run.heard == [{"type": "RESUME"}]
    assert (run.state, run.context["lostAgents"]) == ("executing", [])


def test_a_message_is_no_answer_and_the_parent_hears_that_the_requests_are_open():
    """It would else go on, and agents would wait for ever."""
    run = Watched(*AT_WORK, waits(0), waits(1), reportsToParent=True)
    run.take({"type": "message", "text": "red"})

    assert (run.heard, run.context["guidance"]) == ([], ["red"])
    assert [one["id"] for one in run.told[-1]["requests"]] == ["q0", "q1"]


@pytest.mark.parametrize("type", ["resume", "retry"])
def test_a_run_that_waits_and_is_resumed_goes_on_waiting_as_the_run_of_its_parent(type):
    """The parent has begun another run; it would else run for ever, or fail while agents wait."""
    run = Watched(*AT_WORK, waits(0), {"type": type, "runId": "n2"}, reportsToParent=True)

    assert (run.told[-1]["type"], run.told[-1]["runId"]) == ("WAIT", "n2")
    assert [one["id"] for one in run.told[-1]["requests"]] == ["q0"]


def test_requests_are_reported_with_their_addresses_in_the_run():
    run = Watched(*AT_WORK, waits(0), reportsToParent=True)

    assert [one["address"] for one in run.told[-1]["requests"]] == ["executeAgent/agent-0"]


@pytest.mark.parametrize("event", [{"type": "RETRY"}, {"type": "FORCE_AGENT", "agentName": "developer"}])
def test_agents_that_are_stopped_while_they_ask_let_the_parent_go_on(event):
    run = Watched(*AT_WORK, waits(0), event, reportsToParent=True)

    assert [one["type"] for one in run.told] == ["WAIT", "GO_ON"]
    assert (run.state, run.context["waiting"]) == ("executing", [])


def test_a_run_with_a_lost_agent_does_not_go_on_when_another_is_answered():
    run = Watched(*AT_WORK, waits(0), {"type": "AGENT_LOST", "agentId": "agent-1"}, reportsToParent=True)
    lost = run.told[-1]
    run.take({"type": "AGENT_GOES_ON", "agentId": "agent-0"})

    assert (lost["type"], [one["id"] for one in lost["requests"]]) == ("FAIL", ["q0"])
    assert (run.told[-1]["type"], run.told[-1]["requests"]) == ("WAIT", [])


def test_an_agent_that_asks_again_waits_once():
    run = Watched(*AT_WORK, waits(0), waits(0, "permission"))

    assert [one["reason"] for one in run.context["waiting"]] == ["permission"]


def test_a_parent_hears_that_it_goes_on_only_when_nobody_waits():
    run = Watched(*AT_WORK, waits(0), waits(1), reportsToParent=True)
    run.take({"type": "AGENT_GOES_ON", "agentId": "agent-0"})
    before = [one["type"] for one in run.told]
    run.take({"type": "AGENT_GOES_ON", "agentId": "agent-1"})

    assert before == ["WAIT", "WAIT", "WAIT"]
    assert [one["id"] for one in run.told[2]["requests"]] == ["q1"]
    assert run.told[-1]["type"] == "GO_ON"


@pytest.mark.requirement("S1-34", "S1-107", "S1-B7")
def test_a_cancellation_with_grace_tells_the_crew_and_waits_for_no_answer_of_a_person():
    """A tool that runs may finish; a person who is asked is not waited for."""
    run = Watched(*AT_WORK, CALL, CANCEL, graceMs=500)
    asked = Watched(*AT_WORK, CALL, waits(0), CANCEL, graceMs=500)

    assert (run.state, run.heard) == ("executing", [{"type": "CANCEL"}])
    assert asked.state == "cancelled"


@pytest.mark.requirement("S1-35", "S1-B9")
def test_a_reset_forgets_the_grace_and_the_time_of_the_task_before():
    """Timers are a task's own."""
    slow = Watched(*AT_WORK, CALL, CANCEL, 300, RESET, *AT_WORK, CALL, CANCEL, 300, graceMs=500)
    timed = Watched(START, 600, RESET, START, 600, maxWallMs=1_000)
    states = slow.state, timed.state
    slow.take(200)
    timed.take(400)

    assert states == ("executing", "selecting")
    assert (slow.state, timed.state) == ("cancelled", "complete")


def test_the_time_of_a_task_means_nothing_without_one():
    assert Watched({"type": "WALL_TIME"}).state == "idle"


def test_the_next_agent_is_told_the_last_ten_things_that_a_person_said():
    """After its turn they are no news."""
    run = Run(START, *({"type": "message", "text": f"hint {number}"} for number in range(12)))

    assert run.context["guidance"] == [f"hint {number}" for number in range(2, 12)]
    assert run.send(select("developer"), done()).context["guidance"] == []


def says(text):
    return {"type": "message", "text": text}


def test_words_during_a_turn_are_news_for_the_next_turn_and_for_no_other():
    run = Watched(START, says("before"), select("developer"), says("during"))
    first = run.crew["input"]["guidance"]
    run.take(done())
    run.take(CONTINUE)
    run.take(select("developer"))
    second = run.crew["input"]["guidance"]
    run.take(done())

    assert (first, second, run.context["guidance"]) == (["before"], ["during"], [])


def test_words_that_a_failed_turn_had_are_news_for_the_next_one_too():
    run = Watched(START, says("before"), select("developer"), says("during"))
    run.take({"type": "AGENT_ERROR", "error": {"code": "9001", "message": "broken", "recoverable": True}})
    run.take({"type": "RETRY"})
    run.take(select("developer"))

    assert run.crew["input"]["guidance"] == ["before", "during"]


def test_many_words_during_a_turn_leave_those_that_it_has_heard():
    run = Run(START, says("before"), select("developer"), *(says(f"hint {number}") for number in range(12)))

    assert run.context["guidance"] == ["before", *(f"hint {number}" for number in range(2, 12))]
    assert run.send(done()).context["guidance"] == [f"hint {number}" for number in range(2, 12)]


ALLOWED = {"decision": "allow", "scope": "tool", "tool": "write_file", "value": "write_file"}
REVOKE = {"type": "REVOKE", "permission": ALLOWED}
PERMITTED = {"consent": {"mode": "ask", "overrides": [ALLOWED]}}


def test_a_permission_is_taken_back_before_during_and_after_a_turn():
    for events in ([], AT_WORK, [*AT_WORK, done()]):
        run = Run(*events, REVOKE, **PERMITTED)
        assert run.context["consent"] == {"mode": "ask", "overrides": []}
        assert run.said[-1]["type"] == "permission_revoked"
        assert run.lines[-1] == "[rawko] Permission taken back: write_file"


def test_agents_at_work_hear_that_a_permission_is_taken_back():
    run = Watched(*AT_WORK, REVOKE, **PERMITTED)

    assert run.heard == [REVOKE]


def test_a_turn_that_began_before_does_not_bring_back_a_permission():
    run = Run(*AT_WORK, REVOKE, done(overrides=[ALLOWED]), **PERMITTED)

    assert run.context["consent"]["overrides"] == []


def test_a_permission_that_a_person_gives_again_in_the_same_turn_holds():
    run = Run(*AT_WORK, REVOKE, done(overrides=[ALLOWED], granted=[ALLOWED]), **PERMITTED)

    assert run.context["consent"]["overrides"] == [ALLOWED]


def test_the_results_of_the_next_turn_may_bring_the_permission_again():
    run = Run(*AT_WORK, REVOKE, done(), CONTINUE, select("developer"), done(overrides=[ALLOWED]), **PERMITTED)

    assert run.context["consent"]["overrides"] == [ALLOWED]


def test_a_permission_that_a_run_does_not_have_is_not_taken_back():
    run = Run(START, REVOKE)

    assert "permission_revoked" not in [event["type"] for event in run.said]


@pytest.mark.requirement("S1-107")
def test_a_result_without_a_call_does_not_make_the_next_call_invisible():
    """As many tools run as were called and have not answered, and never fewer than none."""
    result = {"type": "AGENT_TOOL_RESULT", "toolResult": {"id": "1", "name": "shell"}}
    run = Run(*AT_WORK, result, CALL, graceMs=500)

    assert run.context["toolsRunning"] == 1
    assert run.send(CANCEL).state == "executing"


@pytest.mark.requirement("S1-99")
def test_a_process_of_which_nothing_is_known_is_lost_too():
    """A task whose end nobody saw may have done its work."""
    unknown = {"code": "unknown", "message": "nobody saw its end"}

    assert Run(*AT_WORK, {"type": "AGENT_ERROR", "error": unknown}).context["totalFailures"] == 0


@pytest.mark.requirement("S1-35")
def test_a_parent_hears_of_a_reset_only_if_there_was_a_run():
    idle = Watched(RESET, reportsToParent=True)
    begun = Watched({**START, "runId": "n1"}, RESET, reportsToParent=True)

    assert (idle.told, [one["type"] for one in begun.told]) == ([], ["STOP"])


@pytest.mark.requirement("S1.4-1")
def test_a_dry_run_is_complete_for_its_parent_even_if_its_plan_is_unsure():
    run = Watched(*AT_WORK, done(), dryRun=True, reportsToParent=True)

    assert not run.actor.get_snapshot().output["success"]
    assert run.told[0]["type"] == "COMPLETE"
