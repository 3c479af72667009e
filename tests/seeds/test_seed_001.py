"""Document 001, the orchestrator: context, events, states, guards, actions and examples, line by line."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_type_hints

import pytest

from antiphon import create_actor
from antiphon.agents import default_files, load_all_agents, orchestrator_machine
from antiphon.agents.machine.agent_config import MAX_ITERATIONS
from antiphon.agents.machine.context import OrchestratorContext
from antiphon.agents.machine.plan import PlanStep, TaskPlan
from antiphon.agents.machine.results import ExecutionEntry
from tests.agents.machine.test_agent_turn import Turn, answered, call, replied
from tests.fixtures.orchestrator import (
    AGAIN,
    AGENTS,
    BROKEN,
    BUSY,
    BY_HAND,
    COMPLETE,
    CONTINUE,
    START,
    Run,
    Watched,
    agent,
    done,
    select,
)
from tests.seeds.reading import Reading, differences, listed

WORKING = (START, select("developer"))
EVALUATING = (*WORKING, done())
FAILING = {"type": "AGENT_ERROR", "error": BUSY}
FATAL = {"type": "AGENT_ERROR", "error": BROKEN}
MESSAGE = {"type": "AGENT_MESSAGE", "message": {"role": "assistant", "content": "Hi"}}
CALL = {"type": "AGENT_TOOL_CALL", "toolCall": {"name": "read_file", "arguments": {}}}
CANCEL = {"type": "CANCEL"}


def state(*events, **input):
    return Run(*events, **input).state


def context(*events, **input):
    return Run(*events, **input).context


def interfaces():
    lines = {
        67: "task",
        70: "startedAt",
        74: "currentAgent",
        77: "currentMode",
        80: "agents",
        84: "plan",
        88: "history",
    }
    lines |= {91: "messages", 95: "consecutiveFailures", 98: "totalFailures", 101: "lastError", 105: "session"}
    lines |= {108: "providerName", 112: "lastArbiterDecision", 116: "maxIterations", 119: "iterationCount"}
    kinds = {OrchestratorContext: lines}
    kinds[TaskPlan] = {123: "steps", 124: "currentStepIndex", 125: "isComplete"}
    kinds[PlanStep] = {129: "index", 130: "description", 131: "status", 132: "agentUsed"}
    kinds[ExecutionEntry] = {136: "agent", 137: "startedAt", 138: "completedAt", 139: "result", 140: "output"}
    kinds[ExecutionEntry] |= {141: "error", 142: "tokenUsage"}
    for kind, fields in kinds.items():
        for line, name in fields.items():
            yield Reading(line, name, name in get_type_hints(kind), True)


def events():
    declared = orchestrator_machine.event_types
    theirs = {154: {"type": "START_TASK", "task": "x"}, 155: CANCEL, 156: {"type": "RESET"}}
    theirs |= {159: {"type": "AGENT_SELECTED", "agent": AGENTS["developer"]}}
    theirs |= {160: {"type": "AGENT_SELECTION_FAILED", "error": BROKEN}, 163: MESSAGE, 164: CALL}
    theirs |= {165: {"type": "AGENT_TOOL_RESULT", "toolResult": {"name": "read_file", "output": "x"}}}
    theirs |= {166: done(), 167: FATAL, 170: COMPLETE, 171: {"type": "ARBITER_ERROR", "error": BROKEN}}
    theirs |= {
        174: {"type": "FORCE_AGENT", "agentName": "developer"},
        175: {"type": "SKIP_STEP"},
        176: {"type": "RETRY"},
    }
    for line, event in theirs.items():
        problem = declared.check(event)
        yield Reading(line, event["type"], problem and problem.text, None)
    decided = {185: select("developer"), 186: CONTINUE, 187: COMPLETE, 188: AGAIN}
    for line, event in decided.items():
        problem = declared.check(event)
        yield Reading(line, event["decision"]["type"], problem and problem.text, None)


def starting():
    yield Reading(199, "START_TASK", state(START), "selecting")
    begun = context(START)
    for line, key, value in ((203, "task", "write a poem"), (204, "startedAt", 1000), (205, "iterationCount", 0)):
        yield Reading(line, key, begun[key], value)
    yield Reading(206, "consecutiveFailures", begun["consecutiveFailures"], 0)
    chart = orchestrator_machine.config["states"]
    for line, name in ((220, "selecting"), (257, "executing"), (317, "evaluating")):
        ids = {"selecting": "selectAgent", "executing": "executeAgent", "evaluating": "evaluateProgress"}
        yield Reading(line, "invoke", chart[name]["invoke"]["id"], ids[name])
    for line, name, source in ((222, "selecting", "arbiterSelectAgent"), (259, "executing", "agentExecutor")):
        yield Reading(line, source, chart[name]["invoke"]["src"], source)
    yield Reading(319, "arbiterEvaluate", chart["evaluating"]["invoke"]["src"], "arbiterEvaluate")


def selecting():
    chosen = context(*WORKING)
    yield Reading(231, "executing", state(*WORKING), "executing")
    yield Reading(233, "currentAgent", chosen["currentAgent"]["name"], "developer")
    yield Reading(234, "currentMode", chosen["currentMode"], "developer")
    yield Reading(235, "lastArbiterDecision", chosen["lastArbiterDecision"]["type"], "SELECT_MODE")
    busy = {"type": "ARBITER_ERROR", "error": BUSY}
    yield Reading(239, "error_handling", state(START, busy), "error_handling")
    yield Reading(241, "lastError", context(START, busy)["lastError"]["message"], BUSY["message"])
    unknown = Run(START, select("stranger"))
    error = (unknown.context["lastError"] or {}).get("message")
    yield Reading(556, "unknown agent", error, "Arbiter selected unknown agent: stranger")


def executing():
    yield Reading(254, "iterationCount", context(*WORKING)["iterationCount"], 1)
    yield Reading(268, "evaluating", state(*EVALUATING), "evaluating")
    said = {"role": "assistant", "parts": [{"type": "text", "text": "Done."}]}
    kept = context(*WORKING, done(messages=[said]))
    yield Reading(272, "context.messages", kept["messages"][-1]["parts"], said["parts"])
    planned = context(START, select("planner"), done(planUpdates={"steps": ["first", "second"]}))
    yield Reading(276, "planUpdates", [step["description"] for step in planned["plan"]["steps"]], ["first", "second"])
    yield Reading(279, "consecutiveFailures", context(*EVALUATING)["consecutiveFailures"], 0)
    failed = context(*WORKING, FAILING)
    yield Reading(286, "error_handling", state(*WORKING, FAILING), "error_handling")
    yield Reading(289, "lastError", failed["lastError"]["message"], BUSY["message"])
    yield Reading(290, "consecutiveFailures", failed["consecutiveFailures"], 1)
    yield Reading(291, "totalFailures", failed["totalFailures"], 1)
    yield Reading(299, "AGENT_MESSAGE", Run(*WORKING, MESSAGE).said[-1]["message"]["content"], "Hi")
    yield Reading(302, "AGENT_TOOL_CALL", Run(*WORKING, CALL).lines[-1], "[rawko] Tool call: read_file")
    yield Reading(306, "cancelled", state(*WORKING, CANCEL), "cancelled")


def evaluating():
    yield Reading(328, "isComplete", state(*EVALUATING, COMPLETE), "complete")
    yield Reading(331, "lastArbiterDecision", context(*EVALUATING, COMPLETE)["lastArbiterDecision"]["type"], "COMPLETE")
    yield Reading(335, "shouldRetry", state(*EVALUATING, AGAIN), "selecting")
    yield Reading(338, "lastArbiterDecision", context(*EVALUATING, AGAIN)["lastArbiterDecision"]["type"], "RETRY")
    last = Run(*EVALUATING, CONTINUE, maxIterations=1)
    yield Reading(342, "maxIterationsReached", last.state, "complete")
    decision = {"type": "COMPLETE", "summary": "Max iterations reached"}
    yield Reading(345, "Max iterations reached", last.context["lastArbiterDecision"], decision)
    yield Reading(350, "selecting", state(*EVALUATING, CONTINUE), "selecting")
    yield Reading(352, "lastArbiterDecision", context(*EVALUATING, CONTINUE)["lastArbiterDecision"]["type"], "CONTINUE")
    broken = {"type": "ARBITER_ERROR", "error": BUSY}
    yield Reading(357, "error_handling", state(*EVALUATING, broken), "error_handling")


def recovered(run):
    run.clock.increment(60_000)
    return run


def errors():
    thrice = Run(*WORKING)
    for _ in range(2):
        recovered(thrice.send(FAILING)).send(select("developer"))
    yield Reading(373, "maxFailuresReached", thrice.send(FAILING).state, "failed")
    yield Reading(379, "selecting", recovered(Run(*WORKING, FAILING)).state, "selecting")
    yield Reading(383, "failed", state(*WORKING, FATAL), "failed")
    for line, events in ((393, (*EVALUATING, COMPLETE)), (399, (*WORKING, FATAL)), (405, (*WORKING, CANCEL))):
        yield Reading(line, "final", Run(*events).actor.get_snapshot().status, "done")
    yield Reading(425, ">= 3", context()["maxFailures"], 3)
    codes = {code: Run(*WORKING, {"type": "AGENT_ERROR", "error": {"code": code, "message": "x"}}).state
             for code in ("rate_limited", "network_error", "invalid_request")}  # fmt: skip
    theirs = {"rate_limited": "error_handling", "network_error": "error_handling", "invalid_request": "failed"}
    yield Reading(433, "rate_limited", codes, theirs)
    forced = {"type": "FORCE_AGENT", "agentName": "stranger"}
    yield Reading(438, "hasAgent", (state(START, forced), state(START, {**forced, "agentName": "developer"})),
        ("selecting", "executing"))  # fmt: skip


def log_lines():
    whole = Run(*EVALUATING, COMPLETE).lines
    yield Reading(448, "Starting task", whole[0], "[rawko] Starting task: write a poem")
    yield Reading(452, "starting", whole[1], "[rawko] Agent 'developer' starting (iteration 1)")
    yield Reading(456, "completed", whole[2], "[rawko] Agent 'developer' completed")
    yield Reading(471, "Tool call", Run(*WORKING, CALL).lines[-1], "[rawko] Tool call: read_file")
    yield Reading(508, "Task completed", whole[-1], "[rawko] Task completed in 1 iterations")
    yield Reading(516, "Task cancelled", Run(*WORKING, CANCEL).lines[-1], "[rawko] Task cancelled")
    recovery = recovered(Run(*WORKING, FAILING)).lines
    yield Reading(528, "Recovering", "[rawko] Recovering from error: too many requests" in recovery, True)


def severities():
    """The lines that the document writes as errors and warnings."""
    failed = Run(*WORKING, FATAL).said
    limited = Run(*EVALUATING, CONTINUE, maxIterations=1).said
    thrice = Run(*WORKING, FAILING, maxFailures=1).said
    theirs = {460: ("error", failed, "[rawko] Agent 'developer' error: no such model")}
    theirs |= {512: ("error", failed, "[rawko] Task failed after 1 failures")}
    theirs |= {520: ("warning", limited, "[rawko] Max iterations (1) reached")}
    theirs |= {524: ("error", thrice, "[rawko] Max consecutive failures (1) reached")}
    for line, (severity, said, text) in theirs.items():
        [event] = [event for event in said if event.get("text") == text]
        yield Reading(line, "console", event.get("severity", event.get("level")), severity)


def records():
    [entry] = context(*EVALUATING)["history"]
    theirs = {478: ("agent", "developer"), 481: ("result", "success"), 482: ("output", "did it")}
    for line, (key, value) in theirs.items():
        yield Reading(line, key, entry[key], value)
    used = context(*WORKING, done(usage={"input": 5, "output": 7}))["history"][0]
    yield Reading(483, "tokenUsage", used["tokenUsage"], {"input": 5, "output": 7})
    [entry] = context(*WORKING, FATAL)["history"]
    for line, key, value in ((492, "agent", "developer"), (495, "result", "failure"), (496, "error", "no such model")):
        yield Reading(line, key, entry[key], value)

    class Session:
        closed = False

        async def close(self):
            self.closed = True

    session = Session()
    Run(*EVALUATING, COMPLETE, session=session)
    yield Reading(503, "session.close", session.closed, True)


def inputs():
    """What the services are given, and what the arbiter and an agent do with it."""
    children = [Watched(*events).trace[-1]["children"] for events in ((START,), WORKING, EVALUATING)]
    selecting, executing, evaluating = (next(iter(child.values()))["input"] for child in children)
    for line, key in ((224, "task"), (225, "plan"), (226, "history"), (227, "lastError"), (228, "agents")):
        yield Reading(line, key, key in selecting, True)
    lines = ((261, "agent"), (262, "session"), (263, "task"), (264, "plan"), (265, "messages"))
    for line, key in lines:
        yield Reading(line, key, key in executing, True)
    for line, key in ((321, "task"), (322, "plan"), (323, "history")):
        yield Reading(line, key, key in evaluating, True)
    yield Reading(324, "lastExecution", evaluating["lastExecution"], evaluating["history"][-1])
    yield Reading(551, "availableAgents", list(selecting["agents"]), list(AGENTS))


def reply_of(turn):
    """What a turn asks its model."""
    return turn.actor.get_snapshot().children["reply"].input


def executor():
    request = reply_of(Turn())
    yield Reading(569, "setSystemPrompt", request["messages"][0]["parts"][0]["text"], "You are the developer.")
    limited = Turn(replied("", call("shell")), agent=agent("writer", tools={"allowed": ["write"], "blocked": []}))
    yield Reading(570, "filterTools", limited.heard("AGENT_TOOL_CALL"), [])
    yield Reading(575, "?? 10", MAX_ITERATIONS, 10)
    spoken = Turn(replied("Hello."))
    yield Reading(
        586, "AGENT_MESSAGE", spoken.heard("AGENT_MESSAGE")[0]["message"], {"role": "assistant", "content": "Hello."}
    )
    called = Turn(replied("", call("write"))).heard("AGENT_TOOL_CALL")[0]["toolCall"]
    yield Reading(589, "AGENT_TOOL_CALL", called["name"], "write")
    yield Reading(592, "newMessages", spoken.output["messages"][-1]["parts"][0]["text"], "Hello.")
    yield Reading(594, "end_turn", spoken.state, "done")
    yield Reading(597, "summary", spoken.output["summary"], "Hello.")
    yield Reading(598, "usage", set(spoken.output["usage"]), {"input", "output"})
    busy = Turn(replied("", call("write")), answered("c-write"), maxTurns=1)
    yield Reading(609, "Max iterations reached", busy.output["summary"], "Max iterations reached")


def first_context():
    lines = {648: ("task", ""), 649: ("startedAt", None), 650: ("currentAgent", None), 651: ("currentMode", "")}
    lines |= {653: ("plan", None), 654: ("history", []), 655: ("messages", []), 656: ("consecutiveFailures", 0)}
    lines |= {
        657: ("totalFailures", 0),
        658: ("lastError", None),
        659: ("session", None),
        660: ("providerName", "claude"),
    }
    lines |= {661: ("lastArbiterDecision", None), 662: ("maxIterations", 50), 663: ("iterationCount", 0)}
    begun = create_actor(orchestrator_machine).start().get_snapshot()
    yield Reading(645, "rawko", orchestrator_machine.id, "rawko")
    yield Reading(646, "idle", begun.value, "idle")
    yield Reading(652, "agents", begun.context["agents"], {})
    for line, (key, value) in lines.items():
        yield Reading(line, key, begun.context[key], value)
    yield Reading(664, "...input", context(maxIterations=7)["maxIterations"], 7)
    names = list(orchestrator_machine.root.states)
    theirs = ["idle", "selecting", "executing", "evaluating", "error_handling", "complete", "failed", "cancelled"]
    for line, name in enumerate(theirs, start=667):
        yield Reading(line, name, name in names, True)


def examples():
    with TemporaryDirectory() as name:
        yield from example_in(Path(name))


def example_in(folder):
    for file, text in default_files().items():
        (folder / file).write_text(text)
    agents = load_all_agents(folder)
    yield Reading(
        686, "loadAllAgents", sorted(agents.agents), ["developer", "planner", "researcher", "reviewer", "tester"]
    )
    actor = create_actor(
        BY_HAND, input={"agents": AGENTS, "session": None, "providerName": "claude", "maxIterations": 50}
    )
    seen = []
    actor.subscribe(lambda snapshot: seen.append((snapshot.value, snapshot.context["task"])))
    actor.start()
    actor.send({"type": "START_TASK", "task": "Implement user authentication"})
    yield Reading(699, "snapshot.value", [value for value, _ in seen], ["idle", "selecting"])
    yield Reading(700, "snapshot.context", seen[-1][1], "Implement user authentication")
    file = folder / "session.json"
    file.write_text(json.dumps(actor.get_persisted_snapshot()))
    yield Reading(712, "session.json", file.exists(), True)
    restored = create_actor(BY_HAND, snapshot=json.loads(file.read_text()))
    restored.start()
    now = restored.get_snapshot()
    yield Reading(719, "start", (now.value, now.context["task"]), ("selecting", "Implement user authentication"))


PASSAGES = [interfaces, events, starting, selecting, executing, evaluating, errors, log_lines, severities, records,
            inputs, executor, first_context, examples]  # fmt: skip


@pytest.mark.requirement("S1-01")
@pytest.mark.parametrize("passage", PASSAGES)
def test_the_orchestrator_holds_line_by_line(passage):
    readings = list(passage())

    assert differences(readings) == listed("001", readings)
