"""The dashboard of a run: marks, meters and names, in lines that fit whatever the plan and the terminal."""

import pytest

from antiphon.agents.machine.context import first_context
from antiphon.agents.machine.plan import plan_of, with_step
from antiphon.cli.render.text_width import width
from antiphon.cli.run.dashboard import Dashboard
from antiphon.threads.activity import Activity


def planned(count, done=0):
    plan = plan_of({"steps": [f"Step {number}" for number in range(count)]})
    for index in range(done):
        plan = with_step(plan, index, "complete", "developer")
    return plan


def told(kind, at=0, agent=None, **facts):
    return Activity(1, at, kind, facts, agent)


def started(*names, plan=None, **facts):
    crew = [{"mode": name, "step": None} for name in names]
    return told("agent_started", crew=crew, iteration=1, plan=plan, failures=0, costUsd=0, **facts)


def test_of_a_long_plan_the_steps_around_the_current_one_are_shown():
    dashboard = Dashboard(plan=planned(30, done=10))

    lines = [line.split()[:3] for line, _ in dashboard.steps(60)]
    assert lines[0] == ["…", "6", "before"]
    assert lines[1] == ["✓", "Step", "6"]
    assert lines[5] == ["·", "Step", "10"]
    assert lines[-1] == ["…", "16", "more"]


@pytest.mark.parametrize("cells", [12, 20, 40, 100])
def test_no_line_is_wider_than_it_may_be(cells):
    dashboard = Dashboard(
        plan=plan_of({"steps": ["漢字" * 40, {"description": "a\x1b[2Jb" * 30, "agent": "developer"}]})
    )
    dashboard.apply(started("red-with-a-long-name", "blue"))
    dashboard.apply(told("text", agent="agent-0", text="漢字 " * 80))
    dashboard.apply(told("tool_called", agent="agent-1", id="1", name="shell"))

    lines = [line for line, _ in dashboard.lines(cells, 3)]
    assert [line for line in lines if width(line) > cells] == []
    assert "\x1b" not in "".join(lines)


def test_what_was_spent_is_counted_while_an_agent_speaks_and_corrected_by_the_run():
    dashboard = Dashboard()
    dashboard.restore(first_context({"maxCostUsd": 2, "maxIterations": 4}))
    dashboard.apply(started("developer"))
    dashboard.apply(told("agent_message", agent="agent-0", costUsd=0.25, message={"content": ""}))
    counted = dashboard.meters(1)
    dashboard.apply(told("agent_completed", agent="agent-0", failures=1, costUsd=0.5))

    assert counted == "iteration 1 of 4 · failures 0 of 3 · $0.25 of $2.00 · 1 s"
    assert dashboard.meters(1) == "iteration 1 of 4 · failures 1 of 3 · $0.50 of $2.00 · 1 s"


def test_it_says_who_is_at_work_and_what_they_call():
    dashboard = Dashboard()
    deciding = dashboard.lines(60, 0)[-2][0]
    dashboard.apply(started("developer", "tester"))
    dashboard.apply(told("tool_called", agent="agent-1", id="1", name="shell"))
    working = [line for line, _ in dashboard.lines(60, 0)[1:-1]]
    dashboard.apply(told("tool_answered", agent="agent-1", toolResult={"id": "1"}))

    assert deciding == "arbiter is deciding …"
    assert working == ["developer     working …", "tester        calling shell …"]
    assert dashboard.lines(60, 0)[2][0] == "tester        working …"
    assert (dashboard.name("agent-1"), dashboard.name("agent-7"), dashboard.name(None)) == (
        "tester",
        "developer",
        "developer",
    )
