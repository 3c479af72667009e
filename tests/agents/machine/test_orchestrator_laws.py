"""Laws of the orchestrator: every state and transition can be reached, it can be stored anywhere, and it ends."""

import asyncio
import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon import (
    SimulatedClock,
    create_actor,
    from_task,
    get_transition_paths,
    to_mermaid,
    unreachable_states,
    wait_for,
)
from antiphon.agents.machine.agent import agent_machine
from antiphon.agents.machine.crew import crew_machine
from antiphon.agents.machine.orchestrator import orchestrator_machine
from tests.fixtures.charts import load_chart
from tests.fixtures.orchestrator import (
    AGAIN,
    AGENTS,
    BROKEN,
    BUSY,
    BY_HAND,
    COMPLETE,
    CONTINUE,
    FAILED,
    PLAN,
    START,
    agent,
    decision,
    done,
    select,
)  # fmt: skip
from tests.paths import DOCS

PAGE = (DOCS / "machines" / "orchestrator.md").read_text(encoding="utf-8")
LOST = {"code": "interrupted", "message": "gone"}
RULED = {
    **AGENTS,
    "developer": agent(
        "developer",
        transitions={"onOutput": [{"pattern": "over", "to": "COMPLETE"}, {"pattern": "read it", "to": "reviewer"}]},
    ),
}
CALL = {"type": "AGENT_TOOL_CALL", "toolCall": {"id": "1", "name": "shell"}}
WAITS = {"type": "AGENT_WAITS", "agentId": "agent-0", "reason": "question", "id": "q", "question": "Which?"}
SESSION = {"id": "t-run-1-developer", "model": "a:one"}
FELL_BACK = {"from": "a:one", "to": "b:two", "code": "1002", "message": "overloaded"}
EVENTS = [
    {"type": "AGENT_SESSION", "agentId": "agent-0", "name": "developer", "session": SESSION},
    {"type": "AGENT_FALLBACK", "agentId": "agent-0", "name": "developer", "fallback": FELL_BACK},
    {"type": "ARBITER_SESSION", "name": "@arbiter", "session": {"id": "t-run-1-@arbiter", "model": "a:one"}},
    {"type": "ARBITER_FALLBACK", "name": "@arbiter", "fallback": FELL_BACK},
    {"type": "ARBITER_RULES", "reason": "a:one has no structured output"}, done("no", denied=["shell"]),
    {**START, "plan": PLAN}, COMPLETE, CONTINUE, AGAIN, select("developer"), select("nobody"), done(), done("over"),
    done("read it"), FAILED, done(failedOutright=True, success=False, error=BUSY), CALL, WAITS,
    {"type": "AGENT_ERROR", "error": BROKEN}, {"type": "AGENT_ERROR", "error": LOST, "actorId": "executeAgent"},
    {"type": "ARBITER_ERROR", "error": BUSY}, {"type": "ARBITER_ERROR", "error": BROKEN},
    {"type": "ARBITER_ERROR", "error": LOST, "actorId": "evaluateProgress"}, {"type": "ARBITER_ERROR", "error": LOST},
    {"type": "AGENT_SELECTED", "agent": AGENTS["reviewer"]}, {"type": "AGENT_SELECTED", "agent": agent("stranger")},
    {"type": "AGENT_SELECTION_FAILED", "error": BUSY}, {"type": "AGENT_SELECTION_FAILED", "error": LOST},
    {"type": "AGENT_MESSAGE", "message": {"role": "assistant", "content": "x"}, "costUsd": 1.0},
    {"type": "AGENT_TOOL_RESULT", "toolResult": {"id": "1", "name": "shell"}},
    {"type": "AGENT_PLAN", "planUpdates": PLAN}, {"type": "AGENT_GOES_ON", "agentId": "agent-0"},
    {"type": "AGENT_LOST", "agentId": "agent-0"}, {"type": "AGENT_GOES_ON", "agentId": "agent-0"},
    {"type": "message", "text": "more"},
    {"type": "message"}, {"type": "resume"}, {"type": "retry"}, {"type": "cancel"}, {"type": "CANCEL"},
    {"type": "RESET"},
    {"type": "RETRY"}, {"type": "SKIP_STEP"}, {"type": "FORCE_AGENT", "agentName": "reviewer"},
    {"type": "FORCE_AGENT", "agentName": "reviewer", "task": "t"}, {"type": "GRACE_OVER"}, {"type": "WALL_TIME"},
    decision({"type": "SHRUG"}),
]  # fmt: skip
INPUT = {"agents": RULED, "maxIterations": 2, "maxFailures": 2, "maxCostUsd": 1.0, "graceMs": 10}


def is_explored(snapshot):
    context = snapshot.context
    return (
        context["iterationCount"] > 2
        or len(context["guidance"]) > 1
        or len(context["lostAgents"]) > 1
        or context["toolsRunning"] > 1
        or context["costUsd"] > 2
        or (context["plan"] or {}).get("version", 0) > 2
    )


def situation(snapshot):
    context = snapshot.context
    known = {
        "history": [], "now": None, "messages": [], "conversations": {}, "usage": {}, "summary": "", "totalFailures": 0,
        "startedAt": None, "executionStartedAt": None, "lastArbiterDecision": None, "executionCostUsd": 0,
        "guidance": [], "heard": 0, "revoked": [],
        "task": bool(context["task"]), "agents": {}, "currentAgent": None, "tools": [],
        "plan": context["plan"] and context["plan"]["currentStepIndex"], "lastError": bool(context["lastError"]),
        "crew": [], "costUsd": context["costUsd"] >= 1, "log": [], "session": None,
        "sessions": {}, "reason": None, "denied": [],
    }  # fmt: skip
    return json.dumps([snapshot.value, {**context, **known}])


OPTIONS = {"events": EVENTS, "serialize": situation, "stop_when": is_explored, "limit": 20_000}


@pytest.mark.requirement("X-11", "E-19", "S1-02")
def test_every_state_can_be_reached():
    assert unreachable_states(BY_HAND, input=INPUT, **OPTIONS) == []


@pytest.mark.requirement("S1-02")
def test_every_written_transition_of_every_state_is_a_known_name():
    """A chart with a name that nobody has does not build, so all there is is bound."""
    for machine, name in ((orchestrator_machine, "orchestrator"), (crew_machine, "crew"), (agent_machine, "agent")):
        chart = load_chart(name)
        words = set(re.findall(r'"([a-z][A-Za-z]+)"', json.dumps([chart["states"], chart.get("on", {})])))
        bound = {*machine.implementations.actions, *machine.implementations.guards, *machine.implementations.delays}
        assert bound <= words


@pytest.mark.requirement("S1-11", "S1-02")
@pytest.mark.parametrize("name", ["orchestrator", "crew", "agent"])
def test_every_state_is_described_and_the_chart_is_data(name):
    chart = load_chart(name)

    assert chart["description"]
    assert all(state["description"] for state in chart["states"].values())
    assert json.loads(json.dumps(chart)) == chart


@pytest.mark.requirement("X-10", "E-20", "S1-02")
def test_the_pictures_on_the_page_are_the_machines():
    """What happens can be seen."""
    for machine in (orchestrator_machine, crew_machine, agent_machine):
        assert f"```mermaid\n{to_mermaid(machine)}```" in PAGE


def test_the_page_names_every_event_every_key_and_every_decision():
    named = set(re.findall(r"[\w.*]+", " ".join(re.findall(r"`([^`\n]+)`", PAGE))))
    events = {type for type in orchestrator_machine.events if not type.startswith("xstate.")}

    assert [name for name in [*events, *load_chart("orchestrator")["context"]] if name not in named] == []
    assert [row for row in (f"S1-B{number}" for number in range(1, 21)) if row not in PAGE] == []


walks = st.lists(st.sampled_from([*EVENTS, 500, 60_000]), max_size=25)
quick = settings(max_examples=100, deadline=None)


def walked(walk, actor, clock):
    for step in walk:
        if isinstance(step, int):
            clock.increment(step)
        else:
            actor.send(step)


def saved(actor):
    return json.loads(json.dumps(actor.get_persisted_snapshot(timers=True)))


@pytest.mark.requirement("E-17", "S1-02", "S1-B1", "S1-B2", "S1-B17", "S1-98")
@quick
@given(walks)
def test_any_walk_keeps_a_legal_state_within_its_limits(walk):
    clock = SimulatedClock()
    actor = create_actor(BY_HAND, input=INPUT, clock=clock).start()
    walked(walk, actor, clock)
    context = saved(actor)["context"]

    assert actor.get_snapshot().value in load_chart("orchestrator")["states"]
    assert context["agents"] == RULED
    forced = sum(
        isinstance(step, dict) and step["type"] in ("FORCE_AGENT", "RETRY", "retry", "resume") for step in walk
    )
    assert context["iterationCount"] <= INPUT["maxIterations"] + forced
    assert context["totalFailures"] >= context["consecutiveFailures"]


@pytest.mark.requirement("E-17", "S1-98", "S1-99", "S1-B20", "S1-105")
@quick
@given(walks, walks)
def test_a_stored_run_goes_on_as_if_nothing_had_happened(walk, rest):
    clock = SimulatedClock()
    actor = create_actor(BY_HAND, input=INPUT, clock=clock).start()
    walked(walk, actor, clock)
    later = SimulatedClock(clock.now())
    again = create_actor(BY_HAND, snapshot=saved(actor), clock=later).start()
    walked(rest, actor, clock)
    walked(rest, again, later)

    assert saved(again) == saved(actor)


@pytest.mark.requirement("E-18", "S1-B1", "X-14")
def test_a_loop_of_immediate_answers_lets_the_event_loop_live():
    """Other work goes on while agents and arbiter answer at once, and the run ends at its limit."""

    async def main():
        ticks = 0

        async def tick():
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0)

        async def choose(input):
            return {"decision": {"type": "SELECT_MODE", "mode": "developer", "reason": "r"}}

        async def again(input):
            return {"type": "RETRY", "reason": "more"}

        async def work(input):
            return {"summary": "x"}

        logics = {"arbiterSelectAgent": choose, "arbiterEvaluate": again, "agentExecutor": work}
        machine = orchestrator_machine.provide(actors={name: from_task(one) for name, one in logics.items()})
        actor = create_actor(machine, input={"agents": AGENTS, "maxIterations": 40}).start()
        beside = asyncio.create_task(tick())
        actor.send(START)
        ended = await wait_for(actor, lambda snapshot: snapshot.status == "done")
        beside.cancel()
        return ended.output, ticks

    output, ticks = asyncio.run(main())
    assert (output["reason"], output["iterations"]) == ("max_iterations", 40)
    assert ticks > 40


DECISIONS = [one["decision"] for one in EVENTS if one["type"] == "ARBITER_DECISION"]
ENDS = {
    "outputs": {
        "arbiterSelectAgent": [{"decision": one} for one in DECISIONS],
        "arbiterEvaluate": DECISIONS,
        "agentExecutor": [one["result"] for one in EVENTS if one["type"] == "AGENT_COMPLETE"],
    },
    "errors": {
        "arbiterSelectAgent": [BUSY, LOST],
        "arbiterEvaluate": [BUSY, LOST],
        "agentExecutor": [BROKEN, LOST],
    },
}


@pytest.mark.requirement("X-11", "E-19")
@pytest.mark.slow
def test_a_few_paths_take_every_transition():
    missing = None
    few = [START, CONTINUE, select("developer"), done()]
    allowed = {"decision": "allow", "scope": "tool", "tool": "shell", "value": "shell"}
    permitted = {**INPUT, "consent": {"overrides": [allowed]}}
    explorations = (
        ({**INPUT, "plan": PLAN}, EVENTS),
        ({**INPUT, "dryRun": True}, few),
        ({"agents": {}}, few),
        (permitted, [*few, {"type": "REVOKE", "permission": allowed}]),
    )
    for input, events in explorations:
        found = get_transition_paths(BY_HAND, input=input, **{**OPTIONS, "events": events}, **ENDS)
        left = {(str(one), str(one.guard)) for one in found.unreached}
        missing = left if missing is None else missing & left

    assert missing == set()
