"""The outcome of a task that is called complete: changes that were denied, and steps that are open."""

import pytest

from tests.agents.machine.test_agent_turn import Turn, answered, call, replied
from tests.fixtures.orchestrator import COMPLETE, PLAN, START, Run, done, select

WORKING = (START, select("developer"))


def judged(decision, *names, failed=()):
    """The end of tools: how permission for their calls was decided, and which calls failed."""
    event = answered(*(f"c-{name}" for name in names))
    for result in event["output"]["results"]:
        if result["callId"].removeprefix("c-") in failed or decision != "allowed":
            result["isError"] = True
    calls = [{**call(name), "risk": "read" if name == "look" else "write"} for name in names]
    event["output"]["permission"] = {"decision": decision, "scope": "once", "calls": calls}
    return event


@pytest.mark.requirement("S1-B13")
def test_a_task_whose_changes_were_denied_is_not_done():
    run = Run(*WORKING, done(denied=["write_file"]), COMPLETE)

    assert run.state == "complete"
    assert (run.output["success"], run.output["reason"]) == (False, "denied")
    assert run.output["error"]["message"] == "changes were denied (write_file)"
    assert "[rawko] Not done: changes were denied (write_file)" in run.lines


@pytest.mark.requirement("S1-B13")
def test_a_tool_that_was_denied_and_then_made_a_change_is_not_denied():
    run = Run(*WORKING, done(denied=["write_file"]), select("developer"), done(changed=["write_file"]), COMPLETE)

    assert (run.output["success"], run.output["reason"]) == (True, "completed")


@pytest.mark.requirement("S1-B13")
def test_a_task_with_open_steps_is_not_done():
    run = Run(*WORKING, done(), COMPLETE, plan=PLAN)

    assert run.state == "complete"
    assert (run.output["success"], run.output["reason"]) == (False, "open_steps")
    assert run.output["error"]["message"] == "2 of 3 steps of the plan are open"


def test_a_task_is_done_when_the_decision_completes_its_steps():
    completed = {"type": "COMPLETE", "summary": "all done", "completed": [0, 1, 2]}
    run = Run(*WORKING, done(), {"type": "ARBITER_DECISION", "decision": completed}, plan=PLAN)

    assert run.output["success"]


@pytest.mark.requirement("S1-B13")
def test_a_limit_keeps_its_reason_whatever_was_denied():
    run = Run(*WORKING, done(denied=["write_file"]), select("developer"), maxIterations=1)

    assert (run.output["success"], run.output["reason"]) == (False, "max_iterations")


@pytest.mark.parametrize(
    ("ends", "denied", "changed"),
    [
        ([("denied", "write")], ["write"], None),
        ([("expired", "write")], ["write"], None),
        ([("denied", "look")], None, None),
        ([("denied", "write"), ("allowed", "write")], None, ["write"]),
        ([("allowed", "write"), ("denied", "write")], ["write"], None),
        ([("denied", "write"), ("allowed", "shell")], ["write"], ["shell"]),
    ],
)
def test_a_turn_tells_which_tools_were_denied_last(ends, denied, changed):
    events = [event for decision, name in ends for event in (replied("", call(name)), judged(decision, name))]
    turn = Turn(*events, replied("Done."))

    assert (turn.output.get("denied"), turn.output.get("changed")) == (denied, changed)


def test_a_change_that_failed_does_not_make_up_for_one_that_was_denied():
    turn = Turn(
        replied("", call("write")),
        judged("denied", "write"),
        replied("", call("write")),
        judged("allowed", "write", failed=["write"]),
        replied("Done."),
    )

    assert turn.output["denied"] == ["write"]
