"""The orchestrator, driven by hand: its states, events, guards, limits and what it tells."""

import asyncio

import pytest

from antiphon import create_actor, from_task, wait_for
from antiphon.agents.machine.choices import has_agent
from antiphon.agents.machine.context import OrchestratorContext
from antiphon.agents.machine.orchestrator import orchestrator_machine
from tests.fixtures.charts import load_chart
from tests.fixtures.orchestrator import (
    AGAIN,
    AGENTS,
    BROKEN,
    BUSY,
    COMPLETE,
    CONTINUE,
    FAILED,
    PLAN,
    START,
    Run,
    agent,
    decision,
    done,
    select,
)

DEVELOPER = select("developer")
CANCEL, RESET, RETRY, SKIP = ({"type": name} for name in ("CANCEL", "RESET", "RETRY", "SKIP_STEP"))
FORCE = {"type": "FORCE_AGENT", "agentName": "reviewer"}
BY_STATE = {
    "idle": [],
    "selecting": [START],
    "executing": [START, DEVELOPER],
    "evaluating": [START, DEVELOPER, done()],
    "error_handling": [START, {"type": "ARBITER_ERROR", "error": BUSY}],
}


@pytest.mark.requirement("S1-01", "S1-03", "S1-12..S1-15", "S1-17..S1-27")
def test_it_begins_idle_with_the_context_of_the_seed():
    run = Run()

    assert (orchestrator_machine.id, run.state) == ("rawko", "idle")
    defaults = {
        "task": "", "startedAt": None, "currentAgent": None, "currentMode": "", "plan": None, "history": [],
        "messages": [], "consecutiveFailures": 0, "totalFailures": 0, "lastError": None, "session": None,
        "providerName": "claude", "lastArbiterDecision": None, "maxIterations": 50, "iterationCount": 0,
    }  # fmt: skip
    assert {key: run.context[key] for key in defaults} == defaults


@pytest.mark.requirement("S1-16")
def test_agents_are_kept_by_name_whether_given_as_a_list_or_by_name():
    assert Run(agents=list(AGENTS.values())).context["agents"] == AGENTS == Run().context["agents"]


@pytest.mark.requirement("S1-01", "S1-B16", "S1-B19")
def test_input_goes_over_defaults_but_null_does_not():
    context = Run(maxIterations=None, maxFailures=5, providerName="other").context

    assert (context["maxIterations"], context["maxFailures"], context["providerName"]) == (50, 5, "other")


def test_the_context_is_typed_key_by_key():
    """One flat TypedDict, which editors and mypy read without inferring anything."""
    assert list(OrchestratorContext.__annotations__) == list(load_chart("orchestrator")["context"])


@pytest.mark.requirement("S1-03..S1-11")
def test_all_eight_states_are_there_and_described():
    states = load_chart("orchestrator")["states"]

    assert list(states) == [
        "idle", "selecting", "executing", "evaluating", "error_handling", "complete", "failed", "cancelled",
    ]  # fmt: skip
    assert all(state["description"] for state in states.values())
    assert [name for name, state in states.items() if state.get("type") == "final"] == [
        "complete", "failed", "cancelled",
    ]  # fmt: skip
    invoked = {
        name: (state["invoke"]["id"], state["invoke"]["src"]) for name, state in states.items() if "invoke" in state
    }
    assert invoked == {
        "selecting": ("selectAgent", "arbiterSelectAgent"),
        "executing": ("executeAgent", "agentExecutor"),
        "evaluating": ("evaluateProgress", "arbiterEvaluate"),
    }
    assert (states["executing"]["entry"], states["error_handling"]["always"][0]["guard"]) == (
        ["beginExecution", "beginTurn", "logAgentStart"],
        "maxFailuresReached",
    )


@pytest.mark.requirement("S1-33", "S1-48", "S1-50", "S1-52", "S1-54", "S1-60", "S1-43", "S1-41", "S1-69", "S1-B8")
def test_a_task_is_selected_for_worked_on_evaluated_and_done():
    run = Run(START)
    assert (run.state, run.context["task"], run.context["startedAt"]) == ("selecting", "write a poem", 1_000)
    run.send(DEVELOPER)
    assert (run.state, run.context["currentMode"], run.context["currentAgent"]) == (
        "executing", "developer", AGENTS["developer"],
    )  # fmt: skip
    assert run.context["iterationCount"] == 1
    assert run.context["lastArbiterDecision"]["type"] == "SELECT_MODE"
    run.send(done("a poem"))
    assert run.state == "evaluating"
    run.send(COMPLETE)

    assert run.state == "complete"
    assert (run.output["success"], run.output["reason"], run.output["summary"]) == (True, "completed", "all done")


@pytest.mark.requirement("S1-75..S1-77", "S1-84", "S1-90")
def test_what_people_read_is_what_the_seed_writes():
    run = Run(START, DEVELOPER, done(), COMPLETE)

    assert run.lines == [
        "[rawko] Starting task: write a poem",
        "[rawko] Agent 'developer' starting (iteration 1)",
        "[rawko] Agent 'developer' completed",
        "[rawko] Task completed in 1 iterations",
    ]


@pytest.mark.requirement("S1-55", "S1-42", "S1-78", "S1-82", "S1-67", "S1-85", "S1-09", "S1-B17")
def test_an_error_of_an_agent_is_counted_recorded_and_told():
    run = Run(START, DEVELOPER, {"type": "AGENT_ERROR", "error": BROKEN, "at": 1_500})

    assert (run.state, run.context["consecutiveFailures"], run.context["totalFailures"]) == ("failed", 1, 1)
    assert run.context["lastError"] == {
        "name": "Error", "code": "9001", "message": "no such model", "recoverable": False,
    }  # fmt: skip
    assert run.context["history"] == [
        {"agent": "developer", "startedAt": 1_000, "completedAt": 1_500, "result": "failure", "error": "no such model"}
    ]
    assert run.lines[-2:] == [
        "[rawko] Agent 'developer' error: no such model",
        "[rawko] Task failed after 1 failures",
    ]
    assert (run.output["success"], run.output["error"]["code"]) == (False, "9001")


@pytest.mark.requirement("S1-38..S1-40", "S1-56", "S1-57", "S1-79", "S1-80", "S1-B3", "S1-106")
def test_messages_and_tools_of_an_agent_are_shown_as_they_come():
    run = Run(START, DEVELOPER)
    run.send(
        {"type": "AGENT_MESSAGE", "message": {"role": "assistant", "content": "Hello"}, "costUsd": 0.5},
        {"type": "AGENT_MESSAGE", "message": {"role": "user", "content": "not shown"}},
        {"type": "AGENT_TOOL_CALL", "toolCall": {"id": "1", "name": "shell"}},
        {"type": "AGENT_TOOL_RESULT", "toolResult": {"id": "1", "name": "shell"}},
    )

    shown = [one["message"]["content"] for one in run.said if one["type"] == "agent_message"]
    assert shown == ["Hello"]
    assert run.lines[-1] == "[rawko] Tool call: shell"
    assert run.said[-1] == {"type": "tool_answered", "toolResult": {"id": "1", "name": "shell"}}
    assert (run.context["costUsd"], run.context["toolsRunning"]) == (0.5, 0)


@pytest.mark.requirement("S1-34", "S1-58", "S1-10", "S1-86", "S1-B7")
@pytest.mark.parametrize("state", BY_STATE)
def test_it_can_be_cancelled_everywhere(state):
    run = Run(*BY_STATE[state], CANCEL)

    assert (run.state, run.output["reason"], run.lines[-1]) == ("cancelled", "cancelled", "[rawko] Task cancelled")
    cancelled = [entry for entry in run.context["history"] if entry["result"] == "cancelled"]
    assert len(cancelled) == (state == "executing")


@pytest.mark.requirement("S1-107", "S1-B7")
def test_a_tool_that_runs_may_finish_before_a_cancellation_within_its_grace():
    call = {"type": "AGENT_TOOL_CALL", "toolCall": {"id": "1", "name": "shell"}}
    run = Run(START, DEVELOPER, call, CANCEL, graceMs=5_000)
    assert run.state == "executing"
    late = Run(START, DEVELOPER, call, CANCEL, graceMs=5_000)

    run.send(done())
    late.clock.increment(5_000)

    assert (run.state, run.results) == ("cancelled", [("developer", "cancelled")])
    assert (late.state, late.results) == ("cancelled", [("developer", "cancelled")])
    assert Run(START, DEVELOPER, call, CANCEL, CANCEL, graceMs=5_000).state == "cancelled"


@pytest.mark.requirement("S1-62", "S1-71", "S1-87", "S1-B1", "S1-B13", "E-18")
def test_the_order_of_decisions_lets_no_retry_pass_the_limit():
    """At the limit it ends in `complete`, without success."""
    run = Run(START, maxIterations=5)
    for _ in range(5):
        run.send(DEVELOPER, done(), AGAIN)

    assert (run.state, run.context["iterationCount"]) == ("complete", 5)
    assert run.context["lastArbiterDecision"] == {"type": "COMPLETE", "summary": "Max iterations reached"}
    assert (run.output["success"], run.output["reason"]) == (False, "max_iterations")
    assert "[rawko] Max iterations (5) reached" in run.lines
    candidates = load_chart("orchestrator")["states"]["evaluating"]["invoke"]["onDone"]
    order = ["isComplete", "maxIterationsReached", "hasAgent", "shouldRetry", "shouldContinue"]
    assert [one["guard"] for one in candidates if one.get("guard") in order] == order


@pytest.mark.requirement("S1-51", "S1-64..S1-66", "S1-72", "S1-73", "S1-88", "S1-89", "S1-37", "S1-44", "S1-B2")
def test_errors_of_the_arbiter_are_counted_and_waited_for():
    failed = {"type": "AGENT_SELECTION_FAILED", "error": BUSY}
    run = Run(START, failed)
    assert (run.state, run.context["consecutiveFailures"]) == ("error_handling", 1)
    run.clock.increment(999)
    assert run.state == "error_handling"
    run.clock.increment(1)
    assert (run.state, run.lines[-1]) == ("selecting", "[rawko] Recovering from error: too many requests")
    run.send(DEVELOPER, done(), {"type": "ARBITER_ERROR", "error": BUSY})
    assert (run.state, run.context["consecutiveFailures"]) == ("error_handling", 1)
    run.clock.increment(1_000)
    run.send(failed)
    run.clock.increment(1_999)
    assert run.state == "error_handling"
    run.clock.increment(1)
    run.send(failed)

    assert (run.state, run.context["totalFailures"]) == ("failed", 4)
    assert "[rawko] Max consecutive failures (3) reached" in run.lines


@pytest.mark.requirement("S1-B2")
def test_a_provider_that_says_how_long_to_wait_is_heard():
    run = Run(START, {"type": "ARBITER_ERROR", "error": {**BUSY, "retry_after_ms": 30_000}})
    run.clock.increment(29_999)
    assert run.state == "error_handling"
    run.clock.increment(1)

    assert run.state == "selecting"


@pytest.mark.requirement("S1-47", "S1-B8")
def test_a_person_need_not_wait_after_an_error():
    """RETRY leaves the wait at once."""
    assert Run(*BY_STATE["error_handling"], RETRY).state == "selecting"


@pytest.mark.requirement("S1-B4", "S1-74")
def test_an_agent_chosen_by_an_evaluation_works_at_once():
    known = Run(START, DEVELOPER, done(), select("reviewer"))
    unknown = Run(START, DEVELOPER, done(), select("nobody"))

    assert (known.state, known.context["currentMode"]) == ("executing", "reviewer")
    assert unknown.state == "selecting"
    assert has_agent(known.context, {"type": "X"}, {"name": "developer"})
    assert not has_agent(known.context, {"type": "X"}, {"name": "nobody"})


@pytest.mark.requirement("S1-61", "S1-63", "S1-70", "S1-B5")
def test_continue_lets_the_same_agent_go_on_and_retry_selects_anew():
    same = Run(START, DEVELOPER, done(), CONTINUE)

    assert (same.state, same.context["currentMode"], same.context["iterationCount"]) == ("executing", "developer", 2)
    assert Run(START, DEVELOPER, done(), AGAIN).state == "selecting"
    assert Run(START, DEVELOPER, done(), decision({"type": "SHRUG"})).state == "selecting"


@pytest.mark.requirement("S1-B6")
def test_a_selection_that_names_nobody_completes_or_falls_back():
    fallback = Run(START, CONTINUE)

    assert Run(START, COMPLETE).state == "complete"
    assert (fallback.state, fallback.context["currentMode"]) == ("executing", "developer")
    assert Run(START, AGAIN, defaultAgent="reviewer").context["currentMode"] == "reviewer"


@pytest.mark.requirement("S1-91", "S1-B2")
def test_an_unknown_agent_is_an_error_that_is_counted_and_tried_again():
    run = Run(START, select("nobody"))

    assert (run.state, run.context["totalFailures"]) == ("error_handling", 1)
    assert run.context["lastError"]["message"] == "Arbiter selected unknown agent: nobody"


@pytest.mark.requirement("S1-91")
def test_without_agents_a_task_fails_and_says_why():
    run = Run(START, CONTINUE, agents={})

    assert (run.state, run.output["error"]["code"]) == ("failed", "no_agents")


@pytest.mark.requirement("S1-36", "S1-B8")
def test_an_agent_may_be_selected_from_outside():
    assert Run(START, {"type": "AGENT_SELECTED", "agent": AGENTS["reviewer"]}).context["currentMode"] == "reviewer"
    assert Run(START, {"type": "AGENT_SELECTED", "agent": agent("stranger")}).state == "error_handling"


@pytest.mark.requirement("S1-45", "S1-B8")
@pytest.mark.parametrize("state", ["selecting", "executing", "evaluating", "error_handling"])
def test_a_person_can_force_an_agent(state):
    run = Run(*BY_STATE[state])
    before = run.context["iterationCount"]
    run.send(FORCE)

    assert (run.state, run.context["currentMode"], run.context["iterationCount"]) == (
        "executing",
        "reviewer",
        before + 1,
    )
    assert (("developer", "cancelled") in run.results) == (state == "executing")
    refused = Run(*BY_STATE[state])
    assert refused.send({**FORCE, "agentName": "nobody"}).state == state


@pytest.mark.requirement("S1-45", "S1-B8")
def test_an_agent_forced_while_idle_works_first():
    remembered = Run(FORCE, START)
    at_once = Run({**FORCE, "task": "read it"})

    assert (remembered.state, remembered.context["currentMode"]) == ("executing", "reviewer")
    assert (at_once.state, at_once.context["task"]) == ("executing", "read it")
    assert Run({**FORCE, "agentName": "nobody"}, START).state == "selecting"


@pytest.mark.requirement("S1-46", "S1-B8")
@pytest.mark.parametrize(
    ("state", "after"),
    [
        ("selecting", "selecting"),
        ("executing", "selecting"),
        ("evaluating", "selecting"),
        ("error_handling", "error_handling"),
    ],
)
def test_a_step_can_be_skipped(state, after):
    events = [{**event, "plan": PLAN} if event is START else event for event in BY_STATE[state]]
    run = Run(*events, SKIP)

    assert run.state == after
    assert run.context["plan"]["steps"][0]["status"] == "skipped"
    assert run.context["plan"]["currentStepIndex"] == 1
    without = Run(*BY_STATE[state])
    assert without.send(SKIP).state == state


@pytest.mark.requirement("S1-47", "S1-B8")
def test_retry_reruns_the_current_agent():
    working = Run(*BY_STATE["executing"], RETRY)
    judged = Run(*BY_STATE["evaluating"], RETRY)

    assert (working.state, working.context["iterationCount"], working.results) == (
        "executing", 2, [("developer", "cancelled")],
    )  # fmt: skip
    assert (judged.state, judged.context["currentMode"]) == ("executing", "developer")
    assert Run(*BY_STATE["selecting"], RETRY).state == "selecting"


@pytest.mark.requirement("S1-35", "S1-B9")
@pytest.mark.parametrize("state", BY_STATE)
def test_a_run_can_be_reset_while_it_is_not_over(state):
    run = Run(*BY_STATE[state], RESET, maxIterations=7)

    assert (run.state, run.context["task"], run.context["history"]) == ("idle", "", [])
    assert (run.context["maxIterations"], run.context["agents"]) == (7, AGENTS)
    assert run.send(START).state == "selecting"


@pytest.mark.requirement("S1-B9", "E-12")
def test_a_run_that_is_over_takes_nothing_and_another_actor_begins_anew():
    run = Run(START, COMPLETE, RESET, START)

    assert run.state == "complete"
    assert Run(START).state == "selecting"


@pytest.mark.requirement("S1-B15", "S1-54")
def test_success_clears_the_last_error_and_a_new_task_everything():
    run = Run(*BY_STATE["error_handling"], RETRY, DEVELOPER)
    assert run.context["lastError"] is not None
    run.send(done())
    assert (run.context["lastError"], run.context["consecutiveFailures"], run.context["totalFailures"]) == (None, 0, 1)
    run.send(RESET, START)

    assert (run.context["totalFailures"], run.context["history"], run.context["plan"]) == (0, [], None)


@pytest.mark.requirement("S1-19", "S1-B15")
def test_every_agent_has_a_bounded_conversation_of_its_own():
    said = [{"role": "user", "parts": []}, {"role": "assistant", "parts": []}]
    run = Run(START, DEVELOPER, done(messages=said * 50), select("reviewer"))
    assert run.context["messages"] == []
    run.send(done(), select("developer"))

    assert run.context["messages"][0]["role"] == "user"
    assert 0 < len(run.context["messages"]) <= 60


@pytest.mark.requirement("S1-B12", "S1-30", "S1-31")
def test_an_agent_without_success_is_recorded_as_failed_and_still_evaluated():
    run = Run(START, DEVELOPER, FAILED)
    assert (run.state, run.results, run.context["consecutiveFailures"]) == ("evaluating", [("developer", "failure")], 1)
    run.send(CONTINUE, FAILED, CONTINUE, FAILED, CONTINUE)

    assert (run.state, run.context["totalFailures"]) == ("failed", 3)


@pytest.mark.requirement("S1-30", "S1-81", "S1-B11")
def test_the_history_has_the_real_start_of_a_turn():
    run = Run(START, {**DEVELOPER, "at": 2_000}, {**done("x", usage={"input": 3}), "at": 9_000})

    assert run.context["history"] == [
        {
            "agent": "developer", "startedAt": 2_000, "completedAt": 9_000, "result": "success", "output": "x",
            "tokenUsage": {"input": 3},
        }
    ]  # fmt: skip


@pytest.mark.requirement("S1-68", "S1-83", "S1-23", "S1-B18", "S1-B14")
def test_the_end_lets_the_session_go():
    """Nothing needs a session, and one that is given is let go."""
    run = Run(START, COMPLETE, session={"id": "s1"})

    assert run.context["session"] is None
    for state in ("complete", "failed", "cancelled"):
        assert "cleanupSession" in load_chart("orchestrator")["states"][state]["entry"]


@pytest.mark.requirement("S1-B2", "S1-B13")
def test_money_is_a_limit():
    """What agents and the arbiter cost is added up."""
    run = Run(START, DEVELOPER, done(costUsd=0.6), CONTINUE, maxCostUsd=1.0)
    assert run.state == "executing"
    run.send(done(costUsd=0.6), CONTINUE)

    assert (run.state, run.output["reason"], run.output["costUsd"]) == ("complete", "cost_limit", 1.2)


@pytest.mark.requirement("S1-B13")
def test_time_is_a_limit():
    run = Run(START, DEVELOPER, maxWallMs=60_000)
    run.clock.increment(60_000)

    assert (run.state, run.output["reason"], run.results) == ("complete", "wall_time", [("developer", "cancelled")])


@pytest.mark.requirement("S1.4-3")
def test_an_agent_says_who_comes_next_before_the_arbiter_is_asked():
    """OnSuccess, onFailure, onMaxIterations, onOutput."""
    rules = {"onSuccess": "reviewer", "onFailure": "CONTINUE", "onMaxIterations": "COMPLETE"}
    rules["onOutput"] = [{"pattern": "hopeless", "to": "planner"}]
    agents = {**AGENTS, "developer": agent("developer", transitions=rules)}

    def after(event, **input):
        run = Run(START, DEVELOPER, event, agents=agents, **input)
        return run.state, run.context["currentMode"]

    assert after(done()) == ("executing", "reviewer")
    assert after(FAILED) == ("executing", "developer")
    assert after(done("hopeless")) == ("executing", "planner")
    assert after(done("x", success=False, exhausted=True)) == ("complete", "developer")
    assert after(done(), maxIterations=1) == ("evaluating", "developer")
    assert after(FAILED, maxFailures=1) == ("evaluating", "developer")


@pytest.mark.requirement("S1-49", "S1-53", "S1-59", "S1-94")
def test_services_are_given_what_they_need_and_are_replaced_by_plain_functions():
    """Nothing has to be mocked."""
    given = {}

    async def select_agent(input):
        given["select"] = input
        return {"agent": AGENTS["developer"], "decision": {"type": "SELECT_MODE", "mode": "developer", "reason": "r"}}

    async def execute(input):
        given["execute"] = input
        return {"messages": [{"role": "assistant", "parts": []}], "summary": "wrote it", "usage": {"input": 1}}

    async def evaluate(input):
        given["evaluate"] = input
        return {"type": "COMPLETE", "summary": "all done"}

    async def main():
        functions = {"arbiterSelectAgent": select_agent, "agentExecutor": execute, "arbiterEvaluate": evaluate}
        machine = orchestrator_machine.provide(actors={name: from_task(one) for name, one in functions.items()})
        actor = create_actor(machine, input={"agents": AGENTS}).start()
        actor.send(START)
        return await wait_for(actor, lambda snapshot: snapshot.status == "done")

    snapshot = asyncio.run(main())
    assert {"task", "plan", "history", "lastError", "agents"} <= given["select"].keys()
    assert {"agent", "session", "task", "plan", "messages"} <= given["execute"].keys()
    assert {"task", "plan", "history", "lastExecution"} <= given["evaluate"].keys()
    assert given["evaluate"]["lastExecution"] == snapshot.context["history"][-1]
    assert (snapshot.output["success"], snapshot.context["messages"]) == (True, [{"role": "assistant", "parts": []}])
