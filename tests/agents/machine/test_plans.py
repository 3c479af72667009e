"""Plans as data: made whole, kept when they change, and review_plan."""

import pytest

from antiphon.agents.machine.decisions import assignments_of
from antiphon.agents.machine.plan import current_step, plan_of, problems_with, ready_steps, review_plan, with_step

PLAN = plan_of({"steps": ["first", {"description": "second", "dependsOn": [0]}, "third"]})


def statuses(plan):
    return [step["status"] for step in plan["steps"]]


@pytest.mark.requirement("S1-28", "S1-29", "S1-B10")
def test_a_plan_is_made_whole():
    assert PLAN["steps"][0] == {"index": 0, "description": "first", "status": "pending", "dependsOn": []}
    assert (PLAN["version"], PLAN["status"], PLAN["currentStepIndex"], PLAN["isComplete"]) == (1, "draft", 0, False)


@pytest.mark.requirement("S1-B10")
@pytest.mark.parametrize(
    "nonsense", [None, "a plan", {}, {"steps": []}, {"steps": "x"}, {"steps": [3]}, {"isComplete": True}]
)
def test_what_is_no_plan_changes_nothing(nonsense):
    """A partial update of no plan gives no plan."""
    assert plan_of(nonsense) is None
    assert plan_of(nonsense, PLAN) is PLAN


@pytest.mark.requirement("S1-29", "S1-B8")
def test_steps_go_on_and_a_finished_one_stays_finished():
    plan = with_step(with_step(PLAN, 0, "complete", "developer"), 0, "failed")

    assert (statuses(plan), plan["currentStepIndex"]) == (["complete", "pending", "pending"], 1)
    assert plan["steps"][0]["agentUsed"] == "developer"
    all_done = with_step(with_step(plan, 1, "skipped"), 2, "complete")
    assert (all_done["isComplete"], all_done["status"], current_step(all_done)) == (True, "complete", None)


@pytest.mark.requirement("S1.4-7")
def test_a_new_plan_keeps_what_is_finished():
    """Versions, and finished steps stay."""
    begun = with_step(PLAN, 0, "complete")
    again = plan_of({"steps": ["another", {"description": "last", "dependsOn": [0]}]}, begun)
    repeated = plan_of({"steps": ["first", "other"]}, begun)

    assert [(step["description"], step["status"]) for step in again["steps"]] == [
        ("first", "complete"), ("another", "pending"), ("last", "pending"),
    ]  # fmt: skip
    assert (again["version"], again["steps"][2]["dependsOn"]) == (2, [1])
    assert statuses(repeated) == ["complete", "pending"]


@pytest.mark.requirement("S1.4-7")
def test_a_partial_update_changes_statuses_only():
    plan = plan_of({"partial": True, "steps": [{"index": 0, "status": "complete"}]}, PLAN)

    assert (statuses(plan), plan["steps"][0]["description"], plan["version"]) == (
        ["complete", "pending", "pending"], "first", 1,
    )  # fmt: skip


def test_only_steps_that_wait_for_nothing_are_ready():
    assert [step["index"] for step in ready_steps(PLAN)] == [0, 2]
    assert [step["index"] for step in ready_steps(with_step(PLAN, 0, "complete"))] == [1, 2]


@pytest.mark.requirement("S1.4-1")
def test_what_is_wrong_with_a_plan_is_said_and_lowers_the_confidence():
    """A dry run gives the validated plan, warnings and a confidence."""
    circle = plan_of({"steps": [{"description": "a", "dependsOn": [1]}, {"description": "b", "dependsOn": [0, 9]}]})
    stranger = plan_of({"steps": [{"description": "a", "agent": "nobody"}], "confidence": 0.9})

    assert problems_with(circle) == [
        "step 1 depends on 9, which is no step", "step 0 depends on itself", "step 1 depends on itself",
    ]  # fmt: skip
    assert review_plan(stranger, ["developer"]) == {
        "plan": stranger,
        "warnings": ["step 0 is for 'nobody', which is no agent"],
        "confidence": 0.45,
        "isSure": False,
    }
    assert review_plan(PLAN)["isSure"]
    assert not review_plan(None)["isSure"]


@pytest.mark.requirement("S1-104")
def test_agents_work_side_by_side_in_the_order_of_the_plan_each_step_once():
    parallel = [{"mode": f"a{step}", "step": step} for step in (4, 2, 0, 2)]

    chosen = assignments_of({"type": "SELECT_MODE", "mode": "a0", "parallel": parallel})
    assert [one["step"] for one in chosen] == [0, 2, 4]
    assert assignments_of({"mode": "x", "parallel": parallel[:1]}) == [{"mode": "x", "step": None}]
    assert len(assignments_of({"mode": "x", "parallel": parallel}, [0, 2])) == 2


@pytest.mark.requirement("S1-28")
def test_a_plan_has_at_most_a_hundred_steps():
    assert len(plan_of({"steps": ["x"] * 150})["steps"]) == 100


@pytest.mark.requirement("S1.4-1")
def test_a_plan_that_is_not_believed_in_at_all_is_not_sure():
    """No confidence is something else than none given."""
    assert plan_of({"steps": ["x"], "confidence": 0})["confidence"] == 0
    assert "confidence" not in plan_of({"steps": ["x"], "confidence": 2})
