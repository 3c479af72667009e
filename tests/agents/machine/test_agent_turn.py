"""One turn of an agent: its replies, tools, questions, limits and losses; and several agents in a crew."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon import create_actor, create_machine, unreachable_states
from antiphon.agents.machine.agent import agent_machine, reply_input
from antiphon.agents.machine.agent_config import refusal, tools_for
from antiphon.agents.machine.crew import crew_machine
from antiphon.agents.machine.orchestrator import orchestrator_machine
from tests.fixtures.orchestrator import AGENTS, FAILED, PLAN, START, agent, done, select
from tests.xstate.machines.walks import Walk, recorder

DEVELOPER = agent("developer")
TOOLS = [
    {"name": name, "description": "", "parameters": {}, "risk": risk}
    for name, risk in (("write", "write"), ("shell", "write"))
]
LOST = {"code": "interrupted", "message": "gone"}


def call(name, **arguments):
    return {"type": "toolCall", "id": f"c-{name}", "name": name, "arguments": json.dumps(arguments)}


def replied(text="", *calls, **facts):
    parts = [*([{"type": "text", "text": text}] if text else []), *calls]
    return {
        "type": "REPLY.COMPLETED",
        "message": {"role": "assistant", "parts": parts, "at": 7},
        "stop": "end",
        **facts,
    }


def answered(*ids, lost=False):
    results = [{"type": "toolResult", "callId": id, "parts": [{"type": "text", "text": "ok"}]} for id in ids]
    output = {"results": results, "permission": None, "lost": lost}
    return {"type": "xstate.done.actor.tools", "actorId": "tools", "output": output}


class Turn:
    def __init__(self, *events, **input):
        self.told = []
        given = {"agent": DEVELOPER, "prompt": "Task: write", "model": "m", "tools": TOOLS, **input}
        parent = create_machine(
            {
                "id": "parent",
                "invoke": {"src": "turn", "id": "turn", "input": given},
                "on": {"*": {"actions": lambda context, event: self.told.append(event)}},
            },
            actors={"turn": agent_machine},
        )
        self.root = create_actor(parent).start()
        self.actor = self.root.get_snapshot().children["turn"]
        self.send(*events)

    def send(self, *events):
        for event in events:
            self.actor.send(event)
        return self

    @property
    def state(self):
        return self.actor.get_snapshot().value

    @property
    def context(self):
        return self.actor.get_snapshot().context

    @property
    def output(self):
        return self.actor.get_snapshot().output

    @property
    def asked(self):
        return self.actor.get_snapshot().children["reply"].get_snapshot()

    def heard(self, type):
        return [event for event in self.told if event["type"] == type]


@pytest.mark.requirement("S1-92", "S1-54", "S1-96")
def test_a_turn_ends_with_the_first_whole_answer():
    """A turn opens its own conversation, with the agent's prompt and tools."""
    turn = Turn(replied("Done: wrote it.", usage={"input": 5, "output": 2}, costUsd=0.25))

    assert (turn.state, turn.output["success"], turn.output["summary"]) == ("done", True, "Done: wrote it.")
    assert (turn.output["usage"]["input"], turn.output["costUsd"], turn.output["at"]) == (5, 0.25, 7)
    assert [message["role"] for message in turn.output["messages"]] == ["user", "assistant"]
    [message] = turn.heard("AGENT_MESSAGE")
    assert message["message"] == {"role": "assistant", "content": "Done: wrote it."}


@pytest.mark.requirement("S1-92")
def test_a_reply_that_was_cut_short_is_prompted_to_go_on():
    """The first prompt is the task, then continuations."""
    turn = Turn(replied("Half", stop="length"))

    assert turn.state == "replying"
    assert turn.context["messages"][-1]["role"] == "user"
    assert turn.context["messages"][-1]["parts"][0]["text"].startswith("Go on")
    assert turn.send(replied("Whole")).output["success"]


@pytest.mark.requirement("S1-57", "S1-39", "S1-40", "S1-92")
def test_tools_are_called_told_of_and_answered():
    turn = Turn(replied("", call("write", path="a")))
    assert turn.state == "calling"
    assert [event["toolCall"]["name"] for event in turn.heard("AGENT_TOOL_CALL")] == ["write"]
    turn.send(answered("c-write"))

    assert turn.state == "replying"
    assert turn.context["messages"][-1]["role"] == "tool"
    assert [event["toolResult"]["isError"] for event in turn.heard("AGENT_TOOL_RESULT")] == [False]


@pytest.mark.requirement("S1-92")
def test_a_turn_of_nobody_in_particular_calls_tools_too():
    """Rules are an agent's own, and without an agent there are none."""
    turn = Turn(replied("", call("write", path="a")), agent=None)

    assert turn.state == "calling"
    assert [event["toolCall"]["name"] for event in turn.heard("AGENT_TOOL_CALL")] == ["write"]


@pytest.mark.requirement("S1-92", "S1-93", "S1-B12")
def test_a_turn_has_only_so_many_replies():
    """Ten by default, and then it was no success."""
    turn = Turn()
    for _ in range(10):
        turn.send(replied("", call("write")), answered("c-write"))

    assert (turn.state, turn.output["success"], turn.output["summary"]) == ("done", False, "Max iterations reached")
    assert turn.output["exhausted"]
    short = Turn(replied("", call("write")), answered("c-write"), maxTurns=1)
    assert short.output["exhausted"]


def test_a_question_waits_for_a_person():
    turn = Turn(replied("", call("ask_user", question="Which name?")))
    assert turn.state == "asking"
    [waits] = turn.heard("AGENT_WAITS")
    assert (waits["reason"], waits["question"], waits["address"]) == ("question", "Which name?", "agent-0")
    turn.send({"type": "ANSWER", "id": waits["id"], "text": "Ada"})

    assert (turn.state, turn.context["waiting"]) == ("replying", None)
    assert [event["id"] for event in turn.heard("AGENT_GOES_ON")] == [waits["id"]]
    assert turn.context["messages"][-1]["parts"][0]["parts"][0]["text"] == "Ada"


@pytest.mark.parametrize("id", ["c-ask_user", "agent-0-question-0-0", "agent-1-question-1-0", "agent-0-question-1-1"])
def test_an_answer_to_another_request_is_not_taken(id):
    turn = Turn(replied("", call("ask_user", question="Which name?")))
    before = turn.actor.get_snapshot()
    turn.send({"type": "ANSWER", "id": id, "text": "Ada"})

    assert turn.actor.get_snapshot() is before


def test_questions_are_asked_one_by_one_after_the_tools():
    turn = Turn(
        replied("", call("write"), call("ask_user", question="A?"), {**call("ask_user", question="B?"), "id": "c2"})
    )
    turn.send(answered("c-write"))
    assert [one["question"] for one in turn.heard("AGENT_WAITS")] == ["A?"]
    turn.send({"type": "ANSWER", "id": "agent-0-question-1-0", "text": "a"})
    assert [one["question"] for one in turn.heard("AGENT_WAITS")] == ["A?", "B?"]
    turn.send({"type": "ANSWER", "id": "agent-0-question-1-1", "text": "b"})

    assert turn.state == "replying"
    assert [part["callId"] for part in turn.context["messages"][-1]["parts"]] == ["c-write", "c-ask_user", "c2"]


@pytest.mark.requirement("S1-B10")
def test_the_plan_is_changed_at_once_and_what_is_no_plan_is_refused():
    """PlanUpdates come from the planner's structured output, or from its tool."""
    turn = Turn(replied("", call("update_plan", steps=["one", "two"])))
    assert turn.heard("AGENT_PLAN")[0]["planUpdates"] == {"steps": ["one", "two"]}
    refused = Turn(replied("", call("update_plan", steps=[])))
    assert refused.context["messages"][-1]["parts"][0]["isError"]

    planner = agent("planner", plans=True)
    said = 'Plan ready.\n```json\n{"steps": ["one"]}\n```'
    assert Turn(replied(said), agent=planner).output["planUpdates"] == {"steps": ["one"]}


@pytest.mark.requirement("S1.4-4", "S1-B12")
def test_a_planner_without_a_plan_has_failed():
    output = Turn(replied("I would rather not."), agent=agent("planner", plans=True)).output

    assert (output["success"], output["failedOutright"], output["error"]["message"]) == (
        False,
        False,
        "it gave no valid plan",
    )


SCHEMA = {"type": "object", "required": ["verdict"]}
JUDGE = agent("judge", responseSchema=SCHEMA)


@pytest.mark.requirement("S1.4-5")
def test_an_answer_that_does_not_fit_its_schema_is_asked_for_once_more():
    """The reply brings the problems; the machine checks nothing."""
    turn = Turn(replied("Hm.", problems=["there is no JSON in the reply"]), agent=JUDGE)
    assert turn.state == "replying"
    assert turn.context["messages"][-1]["parts"][0]["text"] == "That does not fit: there is no JSON in the reply."

    assert turn.send(replied('{"verdict": "good"}', problems=[])).output["success"]


@pytest.mark.requirement("S1.4-5")
def test_a_second_answer_that_does_not_fit_fails_the_turn():
    bad = replied("Hm.", problems=["$.a must be 1", "$.b is missing"])
    output = Turn(bad, bad, agent=JUDGE).output

    assert output["error"]["message"] == "$.a must be 1; $.b is missing"
    assert (output["success"], output["failedOutright"]) == (False, False)


def test_the_model_is_asked_with_the_schema_of_its_answer():
    turn = Turn(agent=JUDGE)

    assert reply_input(turn.context)["options"]["responseSchema"] == SCHEMA
    assert "responseSchema" not in reply_input(Turn().context)["options"]


@pytest.mark.requirement("S1-55")
def test_a_model_that_cannot_be_asked_is_an_error_of_the_turn():
    error = {"code": "3001", "message": "busy", "recoverable": True}
    output = Turn({"type": "REPLY.FAILED", "error": error, "text": ""}).output

    assert (output["success"], output["failedOutright"], output["error"]["code"]) == (False, True, "3001")


@pytest.mark.requirement("S1-99", "S1-105", "S1-B20")
def test_a_lost_process_waits_to_be_resumed_and_no_tool_is_called_again():
    turn = Turn(replied("", call("write")), answered("c-write"), {"type": "REPLY.FAILED", "error": LOST, "text": ""})
    assert (turn.state, len(turn.heard("AGENT_LOST"))) == ("lost", 1)
    turn.send({"type": "RESUME"})
    assert turn.state == "replying"
    assert [message["role"] for message in turn.context["messages"]] == ["user", "assistant", "tool"]

    in_tool = Turn(replied("", call("write")), answered("c-write", lost=True))
    assert in_tool.state == "lost"
    assert len(in_tool.send({"type": "RESUME"}).heard("AGENT_TOOL_CALL")) == 1


@pytest.mark.requirement("S1-107", "S1-B7")
def test_a_cancelled_turn_lets_its_tool_finish_and_says_so():
    turn = Turn(replied("", call("write")), {"type": "CANCEL"})
    assert turn.state == "calling"
    turn.send(answered("c-write"))

    assert (turn.state, turn.output["cancelled"], turn.output["messages"][-1]["role"]) == ("done", True, "tool")
    assert Turn({"type": "CANCEL"}).output["cancelled"]
    assert Turn(replied("", call("ask_user", question="?")), {"type": "CANCEL"}).output["cancelled"]


def test_a_request_for_permission_is_reported_with_its_address_and_when_it_is_closed():
    asks = {"type": "wait", "reason": "permission", "id": "p", "address": "permission", "calls": [], "timeoutMs": 5}
    turn = Turn(replied("", call("write")), asks)
    [waits] = turn.heard("AGENT_WAITS")
    turn.send({"type": "ANSWER", "id": "p", "text": "yes"})
    still = turn.context["waiting"]
    turn.send({"type": "go_on", "id": "p", "decision": "allowed"})

    assert (waits["reason"], waits["address"]) == ("permission", "agent-0/tools/permission")
    assert (still["id"], turn.context["waiting"]) == ("p", None)
    assert turn.heard("AGENT_GOES_ON") == [{"type": "AGENT_GOES_ON", "agentId": "agent-0", "id": "p"}]


@pytest.mark.requirement("S1.4-9")
def test_calls_are_left_to_the_tools_with_the_risks_of_the_tools_and_the_filter_of_the_agent():
    """Which then assess them."""
    tools = [{"name": "shell", "risk": "command"}, {"name": "silent"}]
    shell = {"allowed": ["git *"]}
    turn = Turn(replied("", call("shell", command="rm"), call("silent")), tools=tools, agent=agent("a", shell=shell))
    input = turn.actor.get_snapshot().children["tools"].input

    assert [(one["name"], one["risk"]) for one in input["calls"]] == [("shell", "command"), ("silent", None)]
    assert input["shell"] == {"allowed": ["git *"], "agent": "a"}


@pytest.mark.requirement("S1-92", "S1.4-2", "S1.4-9")
def test_an_agent_gets_only_its_tools_and_may_call_no_other():
    """Its filter of commands is applied when the calls are assessed."""
    strict = agent("tester", tools={"allowed": ["shell"], "blocked": ["ask_user"]})

    def why(name, **arguments):
        return refusal(strict, {"id": "1", "name": name, "arguments": arguments, "risk": "write"})

    assert [tool["name"] for tool in tools_for(strict, TOOLS)] == ["shell", "update_plan"]
    assert why("write") == "the agent 'tester' may not use write"
    assert why("shell", command="pytest -q") is None
    free = agent("developer")
    assert refusal(free, {"id": "1", "name": "shell", "arguments": "{", "risk": "destructive"}) is None
    turn = Turn(replied("", call("write")), agent=strict)
    assert (turn.state, turn.context["messages"][-1]["parts"][0]["isError"]) == ("replying", True)


# -- permissions that are taken back -----------------------------------------------------------------------------------

ALLOWED = {"decision": "allow", "scope": "tool", "tool": "write", "value": "write"}
REVOKE = {"type": "REVOKE", "permission": ALLOWED}


def granted():
    """The tools have ended, and a person has allowed one of them from now on."""
    event = answered("c-write")
    return {**event, "output": {**event["output"], "overrides": [ALLOWED]}}


def test_a_result_says_which_permissions_a_person_gave_in_the_turn():
    settled = {**ALLOWED, "tool": "shell", "value": "shell"}
    turn = Turn(replied("", call("write")), granted(), replied("Done."), consent={"overrides": [settled]})

    assert turn.output["overrides"] == [settled, ALLOWED]
    assert turn.output["granted"] == [ALLOWED]


def test_a_permission_that_is_taken_back_between_calls_is_not_given_to_the_next_tools():
    turn = Turn(replied("", call("write")), granted(), REVOKE, replied("", call("write")))

    assert turn.context["consent"]["overrides"] == []
    assert "granted" not in turn.send(answered("c-write"), replied("Done.")).output


def test_tools_of_an_agent_at_work_hear_that_a_permission_is_taken_back():
    machine = agent_machine.provide(actors={"reply": recorder, "tools": recorder})
    turn = Walk(machine, {"prompt": "Task: write", "tools": TOOLS, "consent": {"overrides": [ALLOWED]}})
    turn.take(replied("", call("write")))
    turn.take(REVOKE)
    tools = turn.trace[-1]["children"]["tools"]

    assert tools["input"]["consent"] == {"overrides": [ALLOWED]}
    assert tools["heard"] == [REVOKE]


# -- crews -----------------------------------------------------------------------------------------------------------


def crew(*names):
    assignments = [{"agent": agent(name), "step": step, "prompt": "p", "model": "m"} for step, name in enumerate(names)]
    invoke = {"src": "crew", "id": "crew", "input": {"assignments": assignments}}
    parent = create_machine({"id": "parent", "invoke": invoke, "on": {"*": {}}}, actors={"crew": crew_machine})
    return create_actor(parent).start().get_snapshot().children["crew"]


@pytest.mark.requirement("S1-92", "S1-96")
def test_a_crew_tells_its_agent_of_the_task_the_last_turns_and_what_a_person_said():
    """A run of twelve turns, with a plan, after a turn that failed."""
    run = create_actor(orchestrator_machine, input={"agents": AGENTS, "plan": PLAN, "maxIterations": 20}).start()
    turns = [event for turn in range(11) for event in (select("developer"), done(f"turn {turn}"))]
    for event in (START, *turns, select("developer"), FAILED, {"type": "message", "text": "Mind the rhyme."}):
        run.send(event)
    run.send(select("reviewer"))
    crew = run.get_snapshot().children["executeAgent"].get_snapshot()
    [asked] = crew.children["agent-0"].get_snapshot().context["messages"]
    told = asked["parts"][0]["text"].splitlines()

    assert told[0] == "Task: write a poem"
    assert told[2].startswith("Plan, version 1")
    assert "7 earlier turns are not shown." in told
    assert [line for line in told if line.startswith("- ")] == [
        *(f"- developer (success): turn {turn}" for turn in range(7, 11)),
        "- developer (failure): could not",
    ]
    assert told[-2:] == ["The last error: could not", "The person adds: Mind the rhyme."]


def test_a_permission_that_is_taken_back_is_in_no_result_of_a_crew():
    """Neither in that of an agent that has ended, nor in those of agents at work."""
    actor = crew("a", "b")
    for number in range(2):
        actor.get_snapshot().children[f"agent-{number}"].send(replied("", call("write")))
        actor.get_snapshot().children[f"agent-{number}"].send(granted())
    actor.get_snapshot().children["agent-0"].send(replied("Done."))
    actor.send(REVOKE)
    actor.get_snapshot().children["agent-1"].send(replied("Done."))

    results = actor.get_snapshot().output["results"]
    assert [(result["overrides"], result.get("granted", [])) for result in results] == [([], []), ([], [])]


@pytest.mark.requirement("S1-104")
def test_agents_work_side_by_side_and_are_joined_in_the_order_of_the_plan():
    """One that fails does not stop the others."""
    actor = crew("a", "b", "c")
    children = actor.get_snapshot().children
    children["agent-2"].send(replied("third"))
    children["agent-1"].send({"type": "REPLY.FAILED", "error": {"code": "9001", "message": "no"}, "text": ""})
    assert actor.get_snapshot().value == "working"
    children["agent-0"].send(replied("first"))
    output = actor.get_snapshot().output

    assert [(one["agent"], one["step"], one["success"]) for one in output["results"]] == [
        ("a", 0, True), ("b", 1, False), ("c", 2, True),
    ]  # fmt: skip
    assert (output["success"], output["summary"]) == (True, "first\n\n\n\nthird")
    assert "error" not in output


@pytest.mark.requirement("S1-104", "S1-55")
def test_a_crew_of_which_all_failed_has_failed():
    actor = crew("a")
    actor.get_snapshot().children["agent-0"].send(
        {"type": "REPLY.FAILED", "error": {"code": "9001", "message": "no"}, "text": ""}
    )

    assert (actor.get_snapshot().output["success"], actor.get_snapshot().output["error"]["code"]) == (False, "9001")


EVENTS = [
    replied("x"), replied("", call("write")), replied("", call("ask_user", question="?")), replied("y", stop="length"),
    {"type": "REPLY.FAILED", "error": LOST, "text": ""}, {"type": "REPLY.FAILED", "error": {"code": "1"}, "text": ""},
    {"type": "REPLY.CANCELLED", "text": ""}, {"type": "REPLY.STARTED"},
    {"type": "ANSWER", "id": "agent-0-question-1-0", "text": "a"}, {"type": "go_on", "id": "p", "decision": "allowed"},
    {"type": "CANCEL"}, {"type": "RESUME"}, {"type": "wait", "reason": "permission", "calls": []}, answered("c-write"),
    answered("c-write", lost=True),
]  # fmt: skip
INPUT = {"agent": DEVELOPER, "prompt": "p", "model": "m", "tools": TOOLS, "maxTurns": 3}


@pytest.mark.requirement("X-11", "E-19")
def test_every_state_of_a_turn_can_be_reached():
    assert unreachable_states(agent_machine, events=EVENTS, input=INPUT, limit=5_000) == []


@pytest.mark.requirement("E-17", "S1-99")
@settings(max_examples=80, deadline=None)
@given(st.lists(st.sampled_from(EVENTS), max_size=12), st.lists(st.sampled_from(EVENTS), max_size=6))
def test_a_stored_turn_goes_on_as_if_nothing_had_happened(walk, rest):
    actor = create_actor(agent_machine, input=INPUT).start()
    for event in walk:
        actor.send(event)
    saved = json.loads(json.dumps(actor.get_persisted_snapshot()))
    again = create_actor(agent_machine, snapshot=saved).start()
    for event in rest:
        actor.send(event)
        again.send(event)

    assert again.get_persisted_snapshot() == actor.get_persisted_snapshot()
