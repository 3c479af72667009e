"""Turns and crews at their limits: a last reply, what an agent may not use, questions when it is cancelled or lost."""

import pytest

from antiphon.agents.machine.crew import crew_machine
from tests.agents.machine.test_agent_turn import Turn, answered, call, replied
from tests.fixtures.orchestrator import agent
from tests.xstate.machines.walks import Walk, recorder

ANSWER = {"type": "ANSWER", "id": "agent-0-question-1-0", "text": "this", "at": 99}
ASKS = replied("", call("write"), call("ask_user", question="Which?"))


@pytest.mark.requirement("S1-92", "S1-93")
def test_a_last_reply_that_was_cut_short_is_not_prompted_again():
    turn = Turn(replied("Half", stop="length"), replied("More", stop="length"), maxTurns=2)

    assert (turn.state, turn.output["turns"], turn.output["exhausted"]) == ("done", 2, True)


@pytest.mark.requirement("S1-92")
def test_what_is_blocked_is_not_used_whatever_is_allowed():
    """What is blocked is not allowed by anything."""
    turn = Turn(replied("", call("write")), agent=agent("reader", tools={"allowed": ["*"], "blocked": ["write"]}))

    assert turn.heard("AGENT_TOOL_CALL") == []
    assert "may not use write" in str(turn.context["messages"][-1])


def test_what_a_person_allowed_by_a_scope_is_kept_once():
    """What is known already is not kept again."""
    allowed = answered("c-write")
    allowed["output"]["overrides"] = [{"decision": "allow", "scope": "tool", "tool": "write", "value": "write"}]
    once = Turn(replied("", call("write")), allowed)
    twice = Turn(replied("", call("write")), allowed, replied("", call("write")), allowed)

    assert len(once.context["consent"]["overrides"]) == 1
    assert twice.context["consent"] == once.context["consent"]


@pytest.mark.requirement("S1-107")
def test_a_turn_that_is_cancelled_or_lost_asks_nobody_anything():
    """The tool that runs may finish, and that is all."""
    cancelled = Turn(ASKS, {"type": "CANCEL"}, answered("c-write"))
    lost = Turn(ASKS, answered("c-write", lost=True))

    assert (cancelled.state, lost.state) == ("done", "lost")
    assert cancelled.heard("AGENT_WAITS") == lost.heard("AGENT_WAITS") == []


@pytest.mark.requirement("S1-99")
def test_a_turn_that_came_back_is_not_lost_any_more():
    turn = Turn(ASKS, answered("c-write", lost=True), {"type": "RESUME"}, replied("", call("ask_user", question="x")))

    assert (turn.state, len(turn.heard("AGENT_LOST"))) == ("asking", 1)


@pytest.mark.requirement("S1-99")
def test_a_parent_hears_that_a_turn_goes_on_only_if_it_does():
    """Who waited for a person and lost the process does not go on."""
    wait = {"type": "wait", "id": "p", "address": "permission", "calls": []}
    went_on = Turn(replied("", call("write")), wait, {"type": "go_on", "id": "p", "decision": "allowed"})
    went_on.send(answered("c-write"))
    lost = Turn(replied("", call("write")), wait, answered("c-write", lost=True))

    assert (len(went_on.heard("AGENT_GOES_ON")), len(lost.heard("AGENT_GOES_ON"))) == (1, 0)


@pytest.mark.requirement("S1-92")
def test_an_unknown_tool_and_broken_arguments_are_answered_without_asking():
    """The other calls of the reply are made."""
    broken = {**call("write"), "id": "c-broken", "arguments": '{"path": '}
    turn = Turn(replied("", call("write"), call("mystery"), broken))

    results = {id: result["parts"][0]["text"] for id, result in turn.context["results"].items()}
    assert [one["name"] for one in turn.context["calls"]] == ["write"]
    assert results == {
        "c-mystery": "There is no tool 'mystery'.",
        "c-broken": "The arguments of write are not a JSON object.",
    }


@pytest.mark.requirement("S1-92")
def test_calls_of_an_unknown_tool_count_as_turns():
    turn = Turn(*[replied("", call("mystery"))] * 3, maxTurns=3)

    assert (turn.state, turn.output["exhausted"], turn.output["turns"]) == ("done", True, 3)


@pytest.mark.requirement("S1-B11")
def test_an_answer_says_what_time_it_is():
    """Machines have no clock, events bring the time."""
    turn = Turn(replied("", call("ask_user", question="Which?")), ANSWER)

    assert turn.context["at"] == 99


def test_nobody_is_asked_any_more_when_the_tools_break():
    """An answer that comes too late is not taken for one to something else, and the parent hears that it goes on."""
    broken = {"type": "xstate.error.actor.tools", "error": {"code": "9001", "message": "no"}}
    turn = Turn(replied("", call("write")), {"type": "wait", "id": "p", "calls": []}, broken)

    assert (turn.state, turn.context["waiting"]) == ("replying", None)
    assert [event["id"] for event in turn.heard("AGENT_GOES_ON")] == ["p"]


def crew(count):
    """A crew whose agents keep what they hear."""
    machine = crew_machine.provide(actors={"agent": recorder})
    return Walk(machine, {"assignments": [{"agent": agent(f"a{number}")} for number in range(count)]})


@pytest.mark.requirement("S1-104")
def test_what_is_said_to_one_agent_is_heard_by_no_other():
    walk = crew(2)
    walk.take({"type": "CANCEL", "agentId": "agent-1"})
    walk.take({"type": "RESUME"})

    heard = {id: [one["type"] for one in child["heard"]] for id, child in walk.trace[-1]["children"].items()}
    assert heard == {"agent-0": ["RESUME"], "agent-1": ["CANCEL", "RESUME"]}


@pytest.mark.requirement("S1-104")
def test_an_agent_ends_once_and_is_let_go():
    """What comes from one who has ended, or was never there, changes nothing."""
    walk = crew(2)
    for id, words in (("agent-0", "first"), ("agent-0", "again"), ("agent-7", "who?")):
        output = {"success": True, "summary": words}
        walk.take({"type": f"xstate.done.actor.{id}", "actorId": id, "output": output})

    now = walk.trace[-1]
    assert (now["context"]["pending"], [*now["children"]]) == (["agent-1"], ["agent-1"])
    assert {id: one["summary"] for id, one in now["context"]["results"].items()} == {"agent-0": "first"}
