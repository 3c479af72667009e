"""The tool calls of a reply: asked for together, made side by side, answered together, and never made unasked."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon import (
    SimulatedClock,
    create_actor,
    create_machine,
    from_callback,
    get_transition_paths,
    initial_transition,
    play,
    spawn_child,
    to_mermaid,
    transition,
    unreachable_states,
)
from antiphon.chart.effects import SpawnChild, StopChild
from antiphon.threads.machine.permission import CHART as PERMISSION_CHART
from antiphon.threads.machine.tools import CHART, LOST, MOST_AT_ONCE, PROCESS_LOST, tools_machine
from antiphon.threads.machine.tools_permission import WITHDRAWN
from tests.fixtures.charts import load_chart
from tests.fixtures.conversations import law
from tests.paths import DOCS

PAGE = (DOCS / "machines" / "tools.md").read_text(encoding="utf-8")
READ = {"id": "a", "name": "look", "arguments": "{}", "risk": "read"}
EDIT = {"id": "b", "name": "edit", "arguments": '{"path": "x"}', "risk": "write"}

UNKNOWN = {"id": "u", "name": "seek", "arguments": "{}", "risk": "destructive", "problem": "There is no tool 'seek'."}


def request(*calls, **known):
    return {"requestId": "r1", "calls": list(calls), "timeoutMs": 60_000, **known}


def with_assessment(call):
    """A call as the machine keeps it after its assessment by the risk of its tool."""
    return {**call, "assessment": {"risk": call["risk"], "kind": "other", "sandbox": False}}


def child_event(id, **facts):
    """The event of a child that has ended, with an output or an error."""
    word = "error" if "error" in facts else "done"
    return {"type": f"xstate.{word}.actor.{id}", "actorId": id, **facts}


def assess_done(*calls, history=None, consents=True, mode=None):
    """The event of an assessment by the risks of the tools."""
    assessments = [with_assessment(call)["assessment"] for call in calls]
    output = {"assessments": assessments, "history": history, "consents": consents, "mode": mode}
    return child_event("assess", output=output)


def permission_done(decision, reason="a reason", scope=None, *, count=2, id="r1"):
    calls = [{"access": None, "decision": "allow", "scopes": []}] * count
    output = {"id": id, "decision": decision, "reason": reason, "scope": scope, "calls": calls}
    return child_event("permission", output=output)


def tool_result(call="a", text="found"):
    return {"type": "toolResult", "callId": call, "parts": [{"type": "text", "text": text}]}


def refusal_of(call, text):
    return {**tool_result(call, text), "isError": True}


def working(*calls, **known):
    """The tools as an actor, and the clock of the person they ask."""
    clock = SimulatedClock()
    received = []
    parent = create_machine(
        {"id": "parent", "initial": "on", "states": {"on": {"entry": "begin", "on": {"*": {"actions": "hear"}}}}},
        actions={
            "begin": spawn_child("tools", id="tools", input=request(*calls, **known)),
            "hear": lambda context, event: received.append(event),
        },
        actors={"tools": tools_machine},
    )
    actor = create_actor(parent, clock=clock).start()
    return actor.get_snapshot().children["tools"], clock, received


# -- permission ------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("S0.4-11")
def test_all_calls_are_asked_for_together():
    consent = {"mode": "auto", "blocked": ["shell"], "overrides": [{"pattern": "x", "decision": "deny"}]}
    assessing, _ = initial_transition(tools_machine, request(READ, EDIT, consent=consent))
    _, effects = transition(tools_machine, assessing, assess_done(READ, EDIT))
    (question,) = [effect.ref for effect in effects if isinstance(effect, SpawnChild)]

    assert (question.src, question.id) == ("permission", "permission")
    assert question.input == {
        "id": "r1",
        "calls": [with_assessment(READ), with_assessment(EDIT)],
        "mode": "auto",
        "rules": {"blocked": ["shell"], "tripped": [], "overrides": consent["overrides"], "autoAllow": []},
        "timeoutMs": 60_000,
        "reportsToParent": True,
    }


def test_a_call_is_made_with_the_arguments_that_a_person_has_changed_and_the_model_is_told():
    tools, _, _ = working(EDIT)
    edits = {EDIT["id"]: {"path": "y"}}
    tools.get_snapshot().children["permission"].send({"type": "ALLOW", "id": "r1", "arguments": edits})
    call = tools.get_snapshot().children["call-0"]

    (made,) = tools.get_snapshot().context["calls"]
    assert (made["arguments"], made["edited"]) == ('{"path": "y"}', True)
    output = {**tool_result("b", "Written."), "edited": {"path": "y"}}
    done, _ = transition(tools_machine, tools.get_snapshot(), child_event(call.id, output=output))
    (result,) = done.output["results"]
    assert "edited" not in result
    texts = [part["text"] for part in result["parts"]]
    assert texts == ['A person changed the arguments of this call to {"path": "y"}.', "Written."]


def test_what_the_rules_allow_is_called_at_once_and_nobody_is_asked():
    tools, _, received = working(READ)

    assert tools.get_snapshot().value == "running"
    assert received == []


@pytest.mark.requirement("S3.4-7")
def test_a_person_is_asked_through_the_parent_and_nothing_is_called_before():
    tools, _, received = working(READ, EDIT)

    assert tools.get_snapshot().value == "asking"
    assert set(tools.get_snapshot().children) == {"permission", "process"}
    (question,) = received
    assert (question["type"], question["reason"], question["id"]) == ("wait", "permission", "r1")
    assert [call["text"] for call in question["calls"]] == ["look()", 'edit({"path": "x"})']


def answer_request(tools, **answer):
    """A person answers the permission machine."""
    tools.get_snapshot().children["permission"].send(answer)


def test_a_request_that_is_allowed_begins_the_calls():
    tools, _, _ = working(READ, EDIT)
    answer_request(tools, type="ALLOW", id="r0")
    still = tools.get_snapshot().value
    answer_request(tools, type="ALLOW", id="r1", scope="tool")

    assert (still, tools.get_snapshot().value) == ("asking", "running")
    assert set(tools.get_snapshot().children) >= {"call-0", "call-1"}
    assert "process" not in tools.get_snapshot().children
    assert tools.get_snapshot().context["permission"]["scope"] == "tool"


def test_the_parent_gets_the_address_of_a_request_and_hears_when_it_is_closed():
    tools, _, received = working(EDIT)
    answer_request(tools, type="ALLOW", id="r1")

    assert received[0]["address"] == "permission"
    assert received[1:] == [{"type": "go_on", "id": "r1", "decision": "allowed"}]


def test_an_answer_to_the_tools_themselves_is_not_passed_on():
    tools, _, received = working(EDIT)
    tools.send({"type": "ALLOW", "id": "r1"})

    assert (tools.get_snapshot().value, len(received)) == ("asking", 1)


@pytest.mark.parametrize(
    ("answer", "value"), [(True, "running"), ("too risky", "done"), (None, "asking")], ids=["yes", "no", "ask"]
)
def test_an_approver_decides_or_leaves_the_question_to_a_person(answer, value):
    tools, _, received = working(EDIT, consent={"approver": True})
    started = "approver" in tools.get_snapshot().children
    asked_before = list(received)
    output = {"request": {"id": "r1", "calls": [], "timeoutMs": 60_000}, "answer": answer}
    tools.send(child_event("approver", output=output))

    assert (started, asked_before) == (True, [])
    assert tools.get_snapshot().value == value
    assert [event["type"] for event in received if event["type"] in ("wait", "go_on")] == ["wait"] * (answer is None)


@pytest.mark.requirement("S3-B13", "S3.4-7")
@pytest.mark.parametrize(
    ("answer", "text", "lost"),
    [
        ({"type": "DENY"}, "not allowed: a person said no", False),
        ({"type": "DENY", "reason": "later"}, "not allowed: later", False),
        ({"type": "DENY", "reason": PROCESS_LOST}, f"not allowed: {PROCESS_LOST}", False),
        ({"type": "EXPIRE"}, f"not allowed: {PROCESS_LOST}", True),
        (child_event("process", output=None), f"not allowed: {PROCESS_LOST}", True),
        (
            child_event("process", error={"code": "interrupted", "message": "gone"}),
            f"not allowed: {PROCESS_LOST}",
            True,
        ),
        (60_000, "not allowed: nobody answered in time", False),
    ],
)
def test_calls_that_may_not_be_made_say_why_to_the_model(answer, text, lost):
    """A request that its process left behind expires, and nobody goes on by himself."""
    tools, clock, received = working(READ, EDIT)
    if isinstance(answer, int):
        clock.increment(answer)
    elif answer["type"].startswith("xstate."):
        tools.send(answer)
    else:
        answer_request(tools, **answer)

    output = received[-1]["output"]
    assert [event["type"] for event in received[1:-1]] == ([] if lost else ["go_on"])
    assert received[-1]["type"] == "xstate.done.actor.tools"
    assert output["results"] == [refusal_of("a", text), refusal_of("b", text)]
    assert (output["lost"], output["permission"]["decision"] != "allowed") == (lost, True)


def test_a_request_that_breaks_allows_nothing():
    tools, _, received = working(READ, consent={"blocked": [3]})

    assert received[-1]["output"]["results"] == [refusal_of("a", "not allowed: the request for permission failed")]
    assert (tools.get_snapshot().status, received[-1]["output"]["permission"]) == ("done", None)


def test_calls_that_are_none_end_at_once():
    *_, received = working()

    assert received[-1]["output"]["results"] == []


def test_a_process_that_is_gone_is_what_the_request_says_when_it_expires():
    """Two files say the same words, and one of them decides by them."""
    asking = PERMISSION_CHART["states"]["requested"]["states"]["asking"]

    assert asking["on"]["EXPIRE"]["actions"]["params"]["reason"] == PROCESS_LOST


# -- results ---------------------------------------------------------------------------------------------------------


def call_tools(*events, calls=(READ, EDIT)):
    """The tools after their permission and some more."""
    begin = [assess_done(*calls), permission_done("allowed", count=len(calls))]
    return play(tools_machine, [*begin, *events], input=request(*calls)).snapshot


def started_by(snapshot, event):
    """The children that an event starts."""
    _, effects = transition(tools_machine, snapshot, event)
    return [effect.ref for effect in effects if isinstance(effect, SpawnChild)]


def test_every_call_is_a_task_of_its_own():
    asking = play(tools_machine, [assess_done(READ, EDIT)], input=request(READ, EDIT)).snapshot
    started = started_by(asking, permission_done("allowed"))

    assert [(ref.src, ref.id, ref.input) for ref in started] == [
        ("tool", "call-0", {"call": with_assessment(READ), "access": None, "history": None}),
        ("tool", "call-1", {"call": with_assessment(EDIT), "access": None, "history": None}),
    ]


def test_results_come_in_the_order_of_the_calls_whoever_was_first():
    done = call_tools(child_event("call-1", output=tool_result("b")), child_event("call-0", output=tool_result("a")))

    assert done.output == {
        "results": [tool_result("a"), tool_result("b")],
        "permission": done.context["permission"],
        "overrides": [],
        "lost": False,
    }


def test_a_call_that_fails_does_not_stop_the_others():
    done = call_tools(
        child_event("call-0", error={"code": "9", "message": "no"}), child_event("call-1", output=tool_result("b"))
    )

    assert done.output["results"] == [refusal_of("a", "failed: no"), tool_result("b")]
    assert not done.output["lost"]


def test_an_error_that_is_no_object_is_told_in_its_words():
    assert call_tools(child_event("call-0", error="broken"), calls=[READ]).output["results"] == [
        refusal_of("a", "failed: broken")
    ]


@pytest.mark.requirement("S3.4-7")
@pytest.mark.parametrize("code", LOST)
def test_a_call_that_was_lost_is_known_to_be_unknown(code):
    done = call_tools(
        child_event("call-0", error={"code": code, "message": "gone"}), child_event("call-1", output=tool_result("b"))
    )

    assert done.output["results"] == [refusal_of("a", "nobody knows how this ended: gone"), tool_result("b")]
    assert done.output["lost"]


@pytest.mark.parametrize("output", [None, "found", {"parts": "x"}, {}])
def test_a_tool_that_gives_no_result_has_failed(output):
    """The history would not be valid with anything else."""
    done = call_tools(child_event("call-0", output=output), calls=[READ])

    assert done.output["results"] == [refusal_of("a", "failed: the tool gave no result")]


def test_a_result_belongs_to_the_call_that_it_was_made_for():
    assert call_tools(child_event("call-0", output=tool_result("other")), calls=[READ]).output["results"] == [
        tool_result("a")
    ]


def test_calls_of_the_same_id_have_a_result_each():
    calls = [READ, {**READ, "arguments": "[]"}]
    done = call_tools(
        child_event("call-0", output=tool_result("a", "one")),
        child_event("call-1", output=tool_result("a", "two")),
        calls=calls,
    )

    assert done.output["results"] == [tool_result("a", "one"), tool_result("a", "two")]


def test_a_second_result_of_a_call_changes_nothing():
    once = call_tools(child_event("call-0", output=tool_result("a")))

    assert (
        transition(tools_machine, once, child_event("call-0", output=tool_result("a", "more")))[0].context
        == once.context
    )


@pytest.mark.parametrize("child", ["call-0", "process", "permission"])
def test_a_child_that_nobody_waits_for_any_more_may_fail(child):
    """What a process left behind comes late, and must not end the calls that are being made."""
    tools, _, _ = working(READ, EDIT, consent={"mode": "auto"})
    tools.send(child_event("call-0", output=tool_result("a")))
    tools.send(child_event(child, error={"code": "interrupted", "message": "gone"}))

    assert tools.get_snapshot().status == "active"
    assert not tools.get_snapshot().context["lost"]


def test_a_call_with_a_result_is_let_go():
    _, effects = transition(tools_machine, call_tools(), child_event("call-0", output=tool_result("a")))

    assert [effect.params["id"] for effect in effects if isinstance(effect, StopChild)] == ["call-0"]


@pytest.mark.requirement("X-5", "E-10")
def test_tools_that_are_stopped_stop_what_they_do():
    ends = []

    def tool(input, scope):
        return lambda: ends.append(input["call"]["id"])

    machine = tools_machine.provide(actors={"tool": from_callback(tool)})
    actor = create_actor(machine, input=request(READ, EDIT, consent={"mode": "auto"})).start()
    actor.stop()

    assert ends == ["a", "b"]


# -- assessment ------------------------------------------------------------------------------------------------------


def test_the_calls_are_assessed_before_anything_else():
    shell = {"agent": "reviewer", "allowed": ["ls*"]}
    input = request(READ, UNKNOWN, consent={"mode": "auto"}, shell=shell)
    snapshot, effects = initial_transition(tools_machine, input)
    (assess,) = [effect.ref for effect in effects if isinstance(effect, SpawnChild)]

    assert snapshot.value == "assessing"
    assert (assess.src, assess.input) == ("assess", {"calls": [READ], "shell": shell})


def test_a_problem_that_the_assessment_finds_is_the_answer_and_nobody_is_asked():
    found = child_event(
        "assess",
        output={
            "assessments": [{"risk": "destructive", "kind": "other", "sandbox": False, "problem": "No such file."}],
            "history": None,
            "consents": True,
            "mode": None,
        },
    )
    done = play(tools_machine, [found], input=request(EDIT)).snapshot

    assert done.output["results"] == [refusal_of("b", "No such file.")]
    assert done.output["permission"] is None


def test_calls_are_not_made_if_they_cannot_be_assessed():
    failed = child_event("assess", error={"code": "interrupted", "message": "gone"})
    done = play(tools_machine, [failed], input=request(READ, EDIT)).snapshot

    assert done.output["results"] == [refusal_of("a", "not called: gone"), refusal_of("b", "not called: gone")]


def test_each_call_is_made_with_the_access_that_was_granted_in_the_history_of_the_assessment():
    asking = play(tools_machine, [assess_done(READ, EDIT, history="h")], input=request(READ, EDIT)).snapshot
    done = permission_done("allowed")
    done["output"]["calls"] = [
        {**call, "access": {"writes": bool(n)}} for n, call in enumerate(done["output"]["calls"])
    ]

    assert [(ref.input["access"], ref.input["history"]) for ref in started_by(asking, done)] == [
        ({"writes": False}, "h"),
        ({"writes": True}, "h"),
    ]


# -- consent that came with a file ------------------------------------------------------------------------------------

CONSENT = {
    "mode": "auto",
    "autoAllow": ["*"],
    "blocked": ["rm"],
    "overrides": [
        {"pattern": "*", "decision": "allow"},
        {"pattern": "drop", "decision": "deny"},
        {"scope": "tool", "tool": "edit", "value": "edit", "decision": "allow"},
        {"scope": "tool", "tool": "edit", "value": "edit", "decision": "allow", "history": "h.1"},
    ],
}


def permission_of(**facts):
    """The input of the permission for calls that were assessed."""
    assessing, _ = initial_transition(tools_machine, request(EDIT, consent=CONSENT))
    (question,) = started_by(assessing, assess_done(EDIT, **facts))
    return question.input


def test_consent_of_another_history_does_not_count_and_the_question_says_so():
    input = permission_of(history="h.2", consents=False)

    assert input["mode"] == "ask"
    assert input["rules"] == {
        "blocked": ["rm"],
        "tripped": [],
        "overrides": [{"pattern": "drop", "decision": "deny"}],
        "autoAllow": [],
        "notice": WITHDRAWN,
    }


def test_what_a_person_allows_after_an_import_counts():
    input = permission_of(history="h.1", consents=False)

    assert [override for override in input["rules"]["overrides"] if override["decision"] == "allow"] == [
        CONSENT["overrides"][3]
    ]


def test_consent_that_was_given_again_does_not_revive_what_came_with_the_file():
    assert CONSENT["overrides"][2] not in permission_of(history="h.1")["rules"]["overrides"]


def test_a_mode_that_is_given_in_this_process_holds_and_revives_nothing_else():
    input = permission_of(history="h.2", consents=False, mode="auto")

    assert input["mode"] == "auto"
    assert input["rules"]["autoAllow"] == []
    assert [override["decision"] for override in input["rules"]["overrides"]] == ["deny"]
    assert permission_of(mode="plan")["mode"] == "plan"


def test_plan_mode_stays_plan_mode():
    assessing, _ = initial_transition(tools_machine, request(EDIT, consent={"mode": "plan"}))
    (question,) = started_by(assessing, assess_done(EDIT, history="h.1", consents=False))

    assert question.input["mode"] == "plan"


def test_a_request_of_a_continued_history_has_an_id_that_no_file_knows():
    assert permission_of(history="h.9a1b")["id"] == "r1.9a1b"
    assert permission_of(history="h")["id"] == "r1"


def test_an_override_of_a_continued_history_names_it():
    done = permission_done("allowed", scope="tool", count=1, id="r1.9")
    offer = {"scope": "tool", "value": "edit", "label": "the tool edit"}
    done["output"]["calls"] = [{"name": "edit", "kind": "other", "access": None, "decision": "ask", "scopes": [offer]}]
    running = play(tools_machine, [assess_done(EDIT, history="h.9"), done], input=request(EDIT)).snapshot

    assert running.context["overrides"] == [
        {"decision": "allow", "scope": "tool", "tool": "edit", "value": "edit", "history": "h.9"}
    ]


@pytest.mark.parametrize("id", ["r1", None, "r1.9a1c"])
def test_the_permission_of_another_request_allows_nothing(id):
    """As an event would that came with an imported thread."""
    events = [assess_done(EDIT, history="h.9a1b"), permission_done("allowed", count=1, id=id)]
    snapshot = play(tools_machine, events, input=request(EDIT)).snapshot

    assert snapshot.value == "done"
    assert "isError" in snapshot.output["results"][0]


def test_the_answer_of_an_approver_to_another_request_is_not_taken():
    tools, _, _ = working(EDIT, consent={"approver": True})
    answer = {"request": {"id": "r0", "calls": [], "timeoutMs": 1}, "answer": True}
    tools.send(child_event("approver", output=answer))

    assert tools.get_snapshot().value == "asking"


# -- side by side, up to a limit --------------------------------------------------------------------------------------


def test_no_more_than_a_few_calls_are_made_at_once_and_the_next_starts_when_one_ends():
    calls = [{**READ, "id": str(number)} for number in range(MOST_AT_ONCE + 2)]
    asking = play(tools_machine, [assess_done(*calls)], input=request(*calls)).snapshot
    first = started_by(asking, permission_done("allowed", count=len(calls)))
    running = call_tools(calls=calls)
    following = started_by(running, child_event("call-3", output=tool_result("3")))

    assert [ref.id for ref in first] == [f"call-{number}" for number in range(MOST_AT_ONCE)]
    assert [ref.id for ref in following] == [f"call-{MOST_AT_ONCE}"]


def test_every_call_beyond_the_limit_gets_its_result():
    calls = [{**READ, "id": str(number)} for number in range(MOST_AT_ONCE * 2)]
    ends = [child_event(f"call-{number}", output=tool_result(str(number))) for number in range(len(calls))]

    assert [result["callId"] for result in call_tools(*ends, calls=calls).output["results"]] == [
        call["id"] for call in calls
    ]


# -- commands that need more ------------------------------------------------------------------------------------------

DENIED = {**tool_result("a", "Read-only file system"), "denied": "write"}


def test_a_command_that_failed_because_its_workspace_was_read_only_is_asked_about_again():
    asking = call_tools(child_event("call-0", output=DENIED), child_event("call-1", output=tool_result("b")))

    assert (asking.value, asking.context["requestId"]) == ("asking", "r1-again")
    assert asking.context["asked"] == ["call-0"]
    assert asking.context["calls"][0]["denied"] == "write"


def test_it_is_made_again_if_it_is_allowed_and_its_second_result_counts():
    again = permission_done("allowed", count=1, id="r1-again")
    done = call_tools(
        child_event("call-0", output=DENIED),
        again,
        child_event("call-0", output=tool_result("a", "done")),
        calls=[READ],
    )

    assert done.output["results"] == [tool_result("a", "done")]


@pytest.mark.parametrize("decision", ["denied", "expired"])
def test_otherwise_the_first_result_stands(decision):
    again = permission_done(decision, count=1, id="r1-again")
    done = call_tools(child_event("call-0", output=DENIED), again, calls=[READ])

    assert done.output["results"] == [tool_result("a", "Read-only file system")]


def test_it_is_asked_about_once():
    again = permission_done("allowed", count=1, id="r1-again")
    done = call_tools(child_event("call-0", output=DENIED), again, child_event("call-0", output=DENIED), calls=[READ])

    assert done.value == "done"


def test_plan_mode_offers_nothing_again():
    events = [assess_done(READ), permission_done("allowed", count=1), child_event("call-0", output=DENIED)]
    done = play(tools_machine, events, input=request(READ, consent={"mode": "plan"})).snapshot

    assert done.value == "done"


# -- calls with a problem --------------------------------------------------------------------------------------------


def test_calls_with_a_problem_are_answered_at_once():
    snapshot, effects = initial_transition(tools_machine, request(UNKNOWN))

    assert snapshot.status == "done"
    assert snapshot.output["results"] == [refusal_of("u", "There is no tool 'seek'.")]
    assert [effect for effect in effects if isinstance(effect, SpawnChild)] == []


def test_a_call_with_a_problem_is_neither_judged_nor_made_and_the_others_are():
    actor, _, _ = working(UNKNOWN, READ)

    assert [call["id"] for call in actor.get_snapshot().context["permission"]["calls"]] == ["a"]
    assert actor.get_snapshot().context["pending"] == ["call-1"]
    actor.send(child_event("call-1", output=tool_result()))
    assert actor.get_snapshot().output["results"] == [refusal_of("u", "There is no tool 'seek'."), tool_result()]


def test_a_refusal_leaves_the_answer_of_a_call_with_a_problem():
    actor, _, _ = working(UNKNOWN, EDIT, consent={"mode": "plan"})

    assert actor.get_snapshot().output["results"] == [
        refusal_of("u", "There is no tool 'seek'."),
        refusal_of("b", "not allowed: plan mode"),
    ]


# -- permissions that are taken back -----------------------------------------------------------------------------------

LOOK = {**READ, "risk": "write"}
ALLOWED = {"decision": "allow", "scope": "tool", "tool": "look", "value": "look"}
REVOKE = {"type": "REVOKE", "permission": ALLOWED}


def decisions(actor):
    """The decisions about the calls that are asked about, and the id of their request."""
    asked = actor.get_snapshot().children["permission"].get_snapshot().context
    return asked["id"], [call["decision"] for call in asked["verdict"]["calls"]]


def test_a_permission_that_is_taken_back_while_calls_are_assessed_covers_none_of_them():
    assessing, _ = initial_transition(tools_machine, request(LOOK, consent={"overrides": [ALLOWED]}))
    revoked, _ = transition(tools_machine, assessing, REVOKE)
    _, effects = transition(tools_machine, revoked, assess_done(LOOK))
    (question,) = [effect.ref for effect in effects if isinstance(effect, SpawnChild)]

    assert question.input["rules"]["overrides"] == []


def test_an_open_request_expires_when_a_permission_for_one_of_its_calls_is_taken_back():
    """Another request asks about all of its calls, so that no answer to the first one allows more than it showed."""
    tools, _, received = working(LOOK, EDIT, consent={"overrides": [ALLOWED]})
    before = decisions(tools)
    tools.send(REVOKE)
    tools.get_snapshot().children["permission"].send({"type": "ALLOW", "id": "r1", "scope": "once"})

    assert (before, decisions(tools)) == (("r1", ["allow", "ask"]), ("r1-revoked", ["ask", "ask"]))
    assert [(event["type"], event["id"]) for event in received] == [
        ("wait", "r1"), ("go_on", "r1"), ("wait", "r1-revoked"),
    ]  # fmt: skip
    assert received[1]["decision"] == "expired"
    tools.get_snapshot().children["permission"].send({"type": "ALLOW", "id": "r1-revoked", "scope": "once"})
    assert tools.get_snapshot().value == "running"


def test_an_open_request_stays_when_the_permission_covers_none_of_its_calls():
    tools, _, received = working(EDIT, consent={"overrides": [ALLOWED]})
    tools.send(REVOKE)

    assert decisions(tools) == ("r1", ["ask"])
    assert [event["type"] for event in received] == ["wait"]
    assert tools.get_snapshot().context["consent"]["overrides"] == []


def test_an_approver_is_asked_anew_about_calls_that_a_permission_no_longer_covers():
    tools, _, received = working(LOOK, EDIT, consent={"overrides": [ALLOWED], "approver": True})
    tools.send(REVOKE)
    asked = tools.get_snapshot().children["permission"].get_snapshot().context
    answer = {"request": {"id": "r1-revoked", "calls": asked["verdict"]["calls"], "timeoutMs": 60_000}, "answer": True}
    tools.send(child_event("approver", output=answer))

    assert (tools.get_snapshot().value, received) == ("running", [])


def test_a_permission_that_was_just_given_for_calls_at_work_is_not_kept_once_it_is_taken_back():
    tools, _, _ = working(LOOK)
    tools.get_snapshot().children["permission"].send({"type": "ALLOW", "id": "r1", "scope": "tool"})
    given = tools.get_snapshot().context["overrides"]
    tools.send(REVOKE)
    tools.send(child_event("call-0", output=tool_result()))

    assert (given, tools.get_snapshot().output["overrides"]) == ([ALLOWED], [])


def test_a_denial_cannot_be_taken_back():
    denial = {**ALLOWED, "decision": "deny"}
    tools, _, _ = working(EDIT, consent={"overrides": [denial]})
    tools.send({"type": "REVOKE", "permission": denial})

    assert tools.get_snapshot().context["consent"]["overrides"] == [denial]


# -- the chart -------------------------------------------------------------------------------------------------------

ASKED = {"id": "r1", "calls": [], "timeoutMs": 60_000}
OUTCOMES = {
    "assess": [assess_done(READ)["output"]],
    "permission": [
        permission_done(decision, reason, count=1, id=id)["output"]
        for id in ("r1", "r1-again")
        for decision, reason in (("allowed", ""), ("denied", ""), ("expired", PROCESS_LOST))
    ],
    "process": [None],
    "call-0": [tool_result("a"), {**tool_result("a"), "denied": "write"}],
    "approver": [{"request": ASKED, "answer": answer} for answer in (True, "no", None)],
}
OPTIONS = {
    "events": [
        {"type": "PERMISSION.REQUESTED", **ASKED},
        {"type": "xstate.error.actor.process", "actorId": "process", "error": "x"},
        REVOKE,
    ],
    "outputs": OUTCOMES,
    "errors": {
        "assess": ["x"],
        "permission": ["x"],
        "process": [{"code": "interrupted"}],
        "call-0": [{"code": LOST[0]}],
    },
    "input": request(READ),
}
COVERED = {
    **OPTIONS,
    "input": request(LOOK, consent={"overrides": [ALLOWED]}),
    "outputs": {**OUTCOMES, "assess": [assess_done(LOOK)["output"]]},
}


@pytest.mark.requirement("X-11", "E-19")
def test_every_state_is_reached_and_every_transition_taken():
    """Calls with an approver, with a problem each, and with a permission take transitions of their own."""
    approved = get_transition_paths(tools_machine, **{**OPTIONS, "input": request(EDIT, consent={"approver": True})})
    paths = get_transition_paths(tools_machine, **OPTIONS)
    answered = get_transition_paths(tools_machine, **{**OPTIONS, "input": request(UNKNOWN)})
    covered = get_transition_paths(tools_machine, **COVERED)

    assert unreachable_states(tools_machine, **OPTIONS) == []
    others = [approved.unreached, answered.unreached, covered.unreached]
    assert [label for label in paths.unreached if all(label in unreached for unreached in others)] == [], str(paths)


@pytest.mark.requirement("E-14")
def test_every_state_is_described_and_left_or_final():
    assert CHART["description"]
    assert all(state["description"].endswith(".") for state in CHART["states"].values())
    assert [name for name, state in CHART["states"].items() if state.get("type") == "final"] == ["done"]
    assert all(state.get("on") or state["always"] for name, state in CHART["states"].items() if name != "done")


@pytest.mark.requirement("E-01")
def test_the_chart_is_data_and_every_function_it_names_is_used():
    named = json.dumps(CHART)
    bound = tools_machine.implementations

    assert json.loads(named) == CHART == load_chart("tools")
    assert [name for name in (*bound.actions, *bound.guards) if f'"{name}"' not in named] == []


steps = st.lists(
    st.one_of(
        st.fixed_dictionaries(
            {"to": st.just("permission"), "type": st.sampled_from(["ALLOW", "DENY", "EXPIRE"])},
            optional={"id": st.sampled_from(["r1", "r2"]), "scope": st.sampled_from(["once", "tool", "x"])},
        ),
        st.builds(
            lambda child, fact: child_event(child, **fact),
            st.sampled_from(["call-0", "call-1", "process", "other"]),
            st.sampled_from(
                [{"output": tool_result()}, {"output": None}, {"error": "x"}, {"error": {"code": LOST[0]}}]
            ),
        ),
        st.integers(0, 40_000),
    ),
    max_size=8,
)


@pytest.mark.requirement("E-17", "S3.4-7")
@law
@given(st.sampled_from([[READ], [EDIT], [READ, EDIT], []]), st.sampled_from(["ask", "auto", "plan"]), steps, steps)
def test_restored_tools_go_on_like_the_original_and_only_a_yes_calls(calls, mode, before, onward):
    """And all of it is JSON."""
    clock = SimulatedClock()
    later = SimulatedClock()
    parent = create_machine(
        {"id": "parent", "entry": "begin"},
        actions={"begin": spawn_child("tools", id="tools", input=request(*calls, consent={"mode": mode}))},
        actors={"tools": tools_machine},
    )
    actor = create_actor(parent, clock=clock).start()
    for step in before:
        take_tools(actor, clock, step)
    saved = json.loads(json.dumps(actor.get_persisted_snapshot(timers=True)))
    later.set(clock.now())
    again = create_actor(parent, snapshot=saved, clock=later).start()
    for step in onward:
        take_tools(actor, clock, step)
        take_tools(again, later, step)

    assert again.get_persisted_snapshot() == actor.get_persisted_snapshot()
    tools = actor.get_snapshot().children.get("tools")
    if mode == "ask" and EDIT in calls and tools is not None and tools.get_snapshot().value == "running":
        assert any(isinstance(step, dict) and step["type"] == "ALLOW" for step in [*before, *onward])


def take_tools(actor, clock, step):
    """Let the tools of a parent take a step, unless an error has ended them."""
    tools = actor.get_snapshot().children.get("tools")
    if tools is not None:
        take(tools, clock, step)


def take(actor, clock, step):
    if isinstance(step, int):
        clock.increment(step)
    elif "to" in step:
        child = actor.get_snapshot().children.get(step["to"])
        if child is not None:
            child.send({key: value for key, value in step.items() if key != "to"})
    else:
        actor.send(step)


# -- the page --------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("X-10", "E-20")
def test_the_picture_on_the_page_is_the_machine():
    assert f"```mermaid\n{to_mermaid(tools_machine)}```" in PAGE


def test_the_page_names_every_state_event_child_and_part_of_the_context():
    named = set(re.findall(r"[\w.*-]+", " ".join(re.findall(r"`([^`\n]+)`", PAGE))))
    events = {event for state in CHART["states"].values() for event in state.get("on", {})}

    wanted = [*CHART["states"], *events, *CHART["context"], *tools_machine.implementations.actors, *LOST]
    assert [name for name in wanted if name not in named] == []
