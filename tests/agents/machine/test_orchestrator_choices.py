"""Whom the orchestrator lets work, what they are given, and what their work does to the plan."""

import pytest

from antiphon.agents.machine.context import recent_messages
from tests.fixtures.orchestrator import AGENTS, BROKEN, PLAN, START, Run, Watched, agent, done, select

PARALLEL = [{"mode": "developer", "step": 0}, {"mode": "reviewer", "step": 1}]
BOTH = select("developer", parallel=PARALLEL)
PAID = {"type": "AGENT_MESSAGE", "message": {"role": "assistant"}, "costUsd": 0.5}
PLANNED = {**START, "plan": PLAN}


def statuses(run):
    return [step["status"] for step in run.context["plan"]["steps"]]


def ruled(**facts):
    rules = {"onOutput": [{"pattern": "read it", "to": "reviewer"}]}
    return {**AGENTS, "developer": agent("developer", transitions=rules, **facts)}


@pytest.mark.requirement("S1-17", "S1-48")
def test_a_plan_given_beforehand_is_the_plan_of_the_task():
    assert [step["description"] for step in Run(START, plan=PLAN).context["plan"]["steps"]] == PLAN["steps"]


@pytest.mark.requirement("S1-45", "S1-B8")
def test_an_agent_forced_once_is_forced_no_more():
    run = Run({"type": "FORCE_AGENT", "agentName": "reviewer"})
    before = run.context["forcedAgent"]
    run.send(START)

    assert before == "reviewer"
    assert (run.context["currentMode"], run.context["forcedAgent"]) == ("reviewer", None)


@pytest.mark.requirement("S1-104", "S1-91")
def test_of_several_agents_of_whom_one_is_known_the_chosen_one_works_alone():
    stranger = [{"mode": "reviewer", "step": 1}, {"mode": "stranger", "step": 0}]
    run = Run(PLANNED, select("developer", parallel=stranger))

    assert run.context["crew"] == [{"mode": "developer", "step": None}]


@pytest.mark.requirement("S1-104")
def test_the_rule_of_one_agent_decides_for_no_crew():
    alone = Run(PLANNED, select("developer"), done("read it"), agents=ruled())
    crew = Run(PLANNED, BOTH, done("read it"), agents=ruled())

    assert (alone.state, alone.context["currentMode"]) == ("executing", "reviewer")
    assert crew.state == "evaluating"


@pytest.mark.requirement("S1-28", "S1-29")
def test_who_completes_steps_has_not_completed_one_when_a_rule_sends_it_back():
    agents = ruled(completesStep=True)

    assert statuses(Run(PLANNED, select("developer"), done(), agents=agents)) == ["complete", "pending", "pending"]
    assert "complete" not in statuses(Run(PLANNED, select("developer"), done("read it"), agents=agents))


@pytest.mark.requirement("S1-29")
def test_a_planner_begins_no_step():
    assert statuses(Run(PLANNED, select("planner")))[0] == "pending"
    assert statuses(Run(PLANNED, select("developer")))[0] == "in_progress"


@pytest.mark.requirement("S1-104", "S1-B15")
def test_an_agent_goes_on_with_its_conversation_only_when_it_works_alone():
    said = [{"role": "user", "parts": []}, {"role": "assistant", "parts": []}]
    begun = [PLANNED, select("developer"), done(messages=said), select("developer")]
    alone = Watched(*begun)
    crew = Watched(*begun[:-1], BOTH)

    assert [one["messages"] for one in alone.crew["input"]["assignments"]] == [said]
    assert [one["messages"] for one in crew.crew["input"]["assignments"]] == [[], []]


def test_money_that_is_spent_to_the_last_cent_is_spent():
    run = Run(START, select("developer"), PAID, done(), select("reviewer"), maxCostUsd=0.5)

    assert (run.state, run.output["reason"]) == ("complete", "cost_limit")


def test_what_messages_cost_is_not_paid_again_with_the_result():
    """What a turn cost is what its result says, and at least what its messages did; every turn counts anew."""
    turn = [select("developer"), PAID, done(costUsd=0.75)]

    assert Run(START, *turn).context["costUsd"] == 0.75
    assert Run(START, *turn, *turn).context["costUsd"] == 1.5


@pytest.mark.requirement("S1-104", "S1-B12")
def test_a_crew_of_which_one_could_work_is_evaluated():
    """One that fails does not stop the others."""
    broken = {"agent": "reviewer", "success": False, "failedOutright": True, "error": BROKEN}
    one = Run(PLANNED, BOTH, {"type": "AGENT_COMPLETE", "result": {"results": [{"success": True}, broken]}})
    none = Run(PLANNED, BOTH, {"type": "AGENT_COMPLETE", "result": {"results": [broken, broken]}})

    assert (one.state, none.state) == ("evaluating", "failed")


def assigned(*events, **input):
    return Watched(*events, **input).crew["input"]["assignments"]


def test_what_a_person_allowed_for_good_is_kept_once():
    """What agents of later turns may do is what a person allowed in earlier ones."""
    allowed = done(overrides=["write(*)"])
    run = Run(START, select("developer"), allowed, select("reviewer"), allowed)

    assert run.context["consent"]["overrides"] == ["write(*)"]


@pytest.mark.requirement("S1-104")
def test_an_agent_may_spend_its_share_and_no_more_than_its_own_limit():
    thrifty = {**AGENTS, "developer": agent("developer", limits={"maxCostUsd": 0.25})}

    assert [one["budgetUsd"] for one in assigned(PLANNED, select("reviewer"), agents=thrifty)] == [None]
    assert [one["budgetUsd"] for one in assigned(PLANNED, select("developer"), agents=thrifty)] == [0.25]
    assert [one["budgetUsd"] for one in assigned(PLANNED, BOTH, agents=thrifty, maxCostUsd=1.0)] == [0.25, 0.5]
    assert [one["budgetUsd"] for one in assigned(PLANNED, BOTH, agents=thrifty, maxCostUsd=0.25)] == [0.125, 0.125]


@pytest.mark.requirement("S1-99")
def test_every_turn_has_an_id_of_its_own():
    """Requests of an earlier turn are not taken for those of this one."""
    begun = [START, select("developer")]

    assert assigned(*begun)[0]["turnId"] != assigned(*begun, done(), *begun[1:])[0]["turnId"]


@pytest.mark.requirement("S1-B15")
def test_a_long_conversation_keeps_its_end_from_a_question_on():
    """At most sixty messages, and every result of a tool has its call."""
    roles = ["user", "assistant", "tool"] * 30
    messages = [{"role": role, "number": number} for number, role in enumerate(roles)]

    assert recent_messages(messages[:60]) == messages[:60]
    assert recent_messages(messages) == messages[30:]
    assert recent_messages(messages[:89]) == messages[30:89]


@pytest.mark.requirement("S1-104")
def test_a_fifth_agent_at_once_is_refused_aloud_and_nobody_works():
    four, five = ([{"mode": "developer", "step": step} for step in range(count)] for count in (4, 5))
    plan = {"steps": [f"step {number}" for number in range(5)]}
    begun = {**START, "plan": plan}

    working = Run(begun, select("developer", parallel=four))
    refused = Run(begun, select("developer", parallel=five))

    assert (working.state, len(working.context["crew"])) == ("executing", 4)
    assert (refused.state, refused.context["crew"]) == ("error_handling", [])
    assert refused.context["lastError"]["message"] == ("Arbiter selected 5 agents at once; at most 4 work in parallel")
    assert refused.context["consecutiveFailures"] == 1
