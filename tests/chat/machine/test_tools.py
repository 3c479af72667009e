"""A chat that calls tools: what they are given, what a person is asked, and how a lost turn goes on."""

import pytest

from antiphon.chat.machine.validation import refusal
from tests.fixtures.conversations import Talk

MODEL = "scripted:demo"
TOOLS = [{"name": "look", "risk": "read"}, {"name": "edit", "risk": "write"}]
REQUEST = {"id": "r1", "calls": [], "timeoutMs": 60_000, "address": "permission"}
NOTE = "[Interrupted.]\n\n"


def result(id="c1", text="found"):
    return {"type": "toolResult", "callId": id, "parts": [{"type": "text", "text": text}]}


def permission(**facts):
    call = {"id": "c1", "name": "edit", "arguments": "{}", "risk": "write", "text": "edit({})"}
    return {"decision": "allowed", "scope": "once", "reason": None, "calls": [call], **facts}


def end_tools(talk, *results, lost=False, permission=None, overrides=()):
    """The tools give their results."""
    output = {"results": list(results), "permission": permission, "overrides": list(overrides), "lost": lost}
    return talk.do("xstate.done.actor.tools", output=output)


def calling(name="edit", *, consent=None, **config):
    """A chat whose first reply has asked for a tool."""
    options = {"options": {"tools": TOOLS}}
    settings = {"model": MODEL, "settings": options, "consent": consent or {}, **config}
    talk = Talk({"reportsToParent": True}, start=False, **settings)
    return talk.do("message", text="question", runId="n1").reply("Let me see.", calls=[("c1", name)], costUsd=0.5)


def waiting(**config):
    """A chat in which a person is asked."""
    return calling(**config).do("wait", reason="permission", **REQUEST)


# -- calling ---------------------------------------------------------------------------------------------------------


def test_the_tools_are_given_all_calls_with_their_risk():
    input = calling("look", consent={"mode": "auto", "timeoutMs": 5}).spawned["tools"]

    assert input == {
        "requestId": "r1",
        "calls": [{"type": "toolCall", "id": "c1", "name": "look", "arguments": "{}", "risk": "read"}],
        "consent": {"mode": "auto", "timeoutMs": 5, "overrides": []},
        "timeoutMs": 5,
    }


@pytest.mark.requirement("S3.4-7")
def test_a_tool_that_was_not_offered_is_a_problem_of_its_call():
    """The tools machine answers it, and nothing is called."""
    (call,) = calling("format_disk").spawned["tools"]["calls"]

    assert (call["risk"], call["problem"]) == (None, "There is no tool 'format_disk'.")


@pytest.mark.requirement("S3.4-7")
@pytest.mark.parametrize("tool", [{"name": "look"}, {"name": "look", "risk": "command"}])
def test_a_call_has_the_risk_of_its_tool_until_it_is_assessed(tool):
    (call,) = calling("look", settings={"options": {"tools": [tool]}}).spawned["tools"]["calls"]

    assert call["risk"] == tool.get("risk")


def test_without_consent_the_results_come_from_outside():
    talk = Talk(model=MODEL).says("question").reply(calls=[("c1", "look")])

    assert "tools" not in talk.spawned
    assert talk.do("tool_results", results=[result()]).spawned["reply"]["messages"][-1]["parts"] == [result()]


def test_results_are_said_to_the_model_and_the_next_reply_begins():
    talk = end_tools(calling("look"), result())

    assert talk.stopped == ["tools"]
    assert talk.context["reply"]["requestId"] == "r2"
    assert talk.spawned["reply"]["messages"][-1] == {"role": "tool", "parts": [result()]}
    assert [event["type"] for event in talk.emitted] == ["tools_answered"]
    assert talk.sent == []


def test_tools_that_break_fail_the_run_and_the_next_question_may_call_again():
    talk = calling().do("xstate.error.actor.tools", error={"code": "x", "message": "broken"})

    assert talk.sent[-1]["error"]["message"] == "broken"
    assert talk.stopped == ["tools"]
    talk.do("message", text="again", runId="n2")
    assert talk.spawned["reply"]["messages"][-2]["parts"][0]["isError"]


def test_an_end_of_tools_that_nobody_waits_for_changes_nothing():
    talk = calling().do("cancel")
    before = talk.snapshot.context

    assert end_tools(talk, result()).context == before
    assert talk.do("xstate.error.actor.tools", error="x").context == before


# -- permissions that are taken back -----------------------------------------------------------------------------------

GIVEN = {"decision": "allow", "scope": "tool", "tool": "edit", "value": "edit"}
SETTLED = {"decision": "allow", "pattern": "edit"}


def allowed():
    """A chat with a permission of its settings and one of a person."""
    return end_tools(calling(consent={"overrides": [SETTLED]}), result(), overrides=[GIVEN])


@pytest.mark.parametrize("permission", [SETTLED, GIVEN])
def test_a_permission_that_is_taken_back_is_not_given_to_the_next_tools(permission):
    talk = allowed().do("revoke", permission=permission)
    emitted = talk.emitted
    talk.reply("Again.", calls=[("c2", "edit")])

    left = [one for one in (SETTLED, GIVEN) if one != permission]
    assert emitted == [{"type": "permission_revoked", "permission": permission}]
    assert talk.spawned["tools"]["consent"]["overrides"] == left


def test_tools_at_work_hear_that_a_permission_is_taken_back():
    talk = calling(consent={"overrides": [SETTLED]}).do("revoke", permission=SETTLED)

    assert talk.sent == [{"type": "REVOKE", "permission": SETTLED}]
    assert talk.context["config"]["consent"] == {"overrides": []}


def test_only_a_permission_that_the_chat_has_can_be_taken_back():
    """While tools are at work, they may have one that the chat will only get to know."""
    denial = {"decision": "deny", "pattern": "edit"}
    talk = Talk(model=MODEL, consent={"overrides": [denial]}).says("question")

    assert refusal(talk.context, {"type": "revoke", "permission": GIVEN}) == "there is no such permission"
    assert refusal(talk.context, {"type": "revoke", "permission": denial}) == "there is no such permission"
    assert refusal(calling().context, {"type": "revoke", "permission": GIVEN}) is None


# -- asking a person -------------------------------------------------------------------------------------------------


def test_the_parent_hears_that_a_person_is_asked_by_whom_and_what_it_cost_so_far():
    talk = waiting()
    request = {"reason": "permission", **REQUEST, "address": "tools/permission"}

    assert talk.sent == [{"type": "WAIT", "reason": "permission", "runId": "n1", "cost": 0.5, "requests": [request]}]
    assert talk.emitted == [{"type": "permission_asked", "reason": "permission", **REQUEST}]
    assert talk.context["reply"]["request"] == request


def test_the_parent_hears_when_the_request_is_closed():
    talk = waiting().do("go_on", id="r1", decision="allowed")

    assert talk.sent == [{"type": "GO_ON", "runId": "n1"}]
    assert talk.emitted == [{"type": "permission_answered", "id": "r1", "decision": "allowed"}]
    assert (talk.context["reply"]["waiting"], talk.context["reply"]["request"]) == (False, None)


@pytest.mark.requirement("E-21", "S3.4-7")
@pytest.mark.parametrize("message", [{"text": "Hi", "branch": "nowhere"}, {"text": 3}])
def test_a_message_that_is_refused_leaves_the_request_open_and_the_parent_hears_so(message):
    """Else nobody could answer any more."""
    talk = waiting()
    report = talk.sent
    talk.do("message", runId="n1", **message)

    assert talk.context["reply"]["waiting"]
    assert talk.sent == report


def test_tools_may_wait_without_a_request():
    talk = calling().do("wait", reason="question")

    assert talk.sent == [{"type": "WAIT", "reason": "question", "runId": "n1", "cost": 0.5}]


@pytest.mark.requirement("S2-B9")
def test_a_message_drops_the_tools_that_wait_and_the_calls_are_cancelled():
    talk = waiting().do("message", text="Leave it.", runId="n1")

    assert talk.stopped == ["tools"]
    *_, call, results, question = talk.spawned["reply"]["messages"]
    assert call["parts"][-1]["id"] == results["parts"][0]["callId"] == "c1"
    assert results["parts"][0]["parts"][0]["text"] == "cancelled"
    assert question["parts"][0]["text"] == "Leave it."
    assert talk.sent == []


@pytest.mark.parametrize("type", ["message", "resume", "retry", "tool_results"])
def test_whatever_goes_on_without_an_answer_is_told_to_the_thread(type):
    payload = {"results": [result()]} if type == "tool_results" else {"text": "Hi"} if type == "message" else {}
    talk = waiting().do(type, **payload)

    assert talk.sent == [{"type": "GO_ON", "runId": "n1"}]
    assert talk.stopped == ["tools"]
    assert talk.context["reply"]["requestId"] == "r2"


@pytest.mark.requirement("X-5")
@pytest.mark.parametrize("ask", [calling, waiting])
def test_a_cancelled_chat_stops_its_tools_and_its_history_stays_valid(ask):
    talk = ask().do("cancel")

    assert talk.stopped == ["tools"]
    assert talk.sent == [{"type": "STOP", "runId": "n1", "cost": 0.5, "duration": 0.0}]
    sent = talk.do("message", text="go on", runId="n2").spawned["reply"]["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant", "tool", "user"]


# -- what is remembered ----------------------------------------------------------------------------------------------


REMEMBERED = {"decision": "allow", "scope": "tool", "tool": "edit", "value": "edit"}


def test_what_was_allowed_by_a_scope_is_given_along_with_the_next_calls():
    talk = end_tools(calling(), result(), permission=permission(scope="tool"), overrides=[REMEMBERED])
    remembered = [REMEMBERED]

    assert talk.context["overrides"] == remembered
    assert talk.reply(calls=[("c2", "edit")]).spawned["tools"]["consent"]["overrides"] == remembered
    end_tools(talk, result("c2"), permission=permission(scope="tool"), overrides=[REMEMBERED])
    assert talk.context["overrides"] == remembered


@pytest.mark.parametrize("facts", [{}, {"decision": "denied", "scope": "tool"}])
def test_nothing_else_is_remembered(facts):
    assert end_tools(calling(), result(), permission=permission(**facts)).context["overrides"] == []


def test_what_the_settings_decide_for_the_thread_holds_too_and_a_person_has_the_last_word():
    configured = [{"pattern": "edit", "decision": "deny"}]
    talk = calling(consent={"overrides": configured})

    assert talk.spawned["tools"]["consent"]["overrides"] == configured
    end_tools(talk, result(), permission=permission(), overrides=[REMEMBERED]).reply(calls=[("c2", "edit")])
    assert talk.spawned["tools"]["consent"]["overrides"][-1]["decision"] == "allow"


@pytest.mark.requirement("E-21")
@pytest.mark.parametrize(
    "consent",
    [
        "ask",
        {"mode": "yes"},
        {"blocked": "shell"},
        {"autoAllow": [1]},
        {"tripped": None},
        {"timeoutMs": 0},
        {"timeoutMs": "5"},
        {"overrides": [{"pattern": "x"}]},
        {"overrides": ["x"]},
    ],
)
def test_consent_that_makes_no_sense_is_refused(consent):
    assert not Talk(start=False).can("configure", consent=consent)


def test_consent_may_be_anything_that_makes_sense():
    full = {"mode": "auto-edit", "blocked": ["a"], "tripped": [], "autoAllow": ["b"], "timeoutMs": 5, "overrides": []}

    assert Talk(start=False).can("configure", consent=full)
    assert Talk(start=False).can("configure", consent=None)


# -- what was lost ---------------------------------------------------------------------------------------------------


@pytest.mark.requirement("S3.4-7")
def test_calls_that_were_lost_are_in_the_history_and_the_run_is_interrupted():
    talk = end_tools(calling(), result(text="nobody knows"), lost=True)

    assert talk.context["reply"] is None
    assert talk.texts[0] == "question"
    assert (talk.sent[-1]["type"], talk.sent[-1]["error"]["code"]) == ("FAIL", "interrupted")


def test_a_request_that_was_lost_leaves_the_thread_waiting():
    talk = end_tools(waiting(), result(text="not allowed"), lost=True)

    assert [event["type"] for event in talk.sent] == ["FAIL"]


def test_a_lost_turn_goes_on_with_a_note_after_the_results():
    talk = end_tools(calling(), result(), lost=True).do("resume", runId="n2", resumeNote=NOTE)

    assert talk.spawned["reply"]["messages"][-1] == {"role": "user", "parts": [{"type": "text", "text": NOTE.strip()}]}
    assert [event["type"] for event in talk.emitted] == ["resumed"]
    assert talk.reply("done").sent[-1]["runId"] == "n2"


def test_a_question_without_an_answer_is_asked_again_with_the_note_before_it():
    talk = (
        Talk(model=MODEL).says("question").do("REPLY.FAILED", requestId="r1", error="x").do("resume", resumeNote=NOTE)
    )

    (question,) = talk.spawned["reply"]["messages"]
    assert [part["text"] for part in question["parts"]] == [NOTE, "question"]


def test_nothing_goes_on_after_a_whole_answer_unless_there_is_a_note():
    talk = Talk(model=MODEL).says("question").reply("answer")

    assert refusal(talk.context, {"type": "resume", "resumeNote": ""}) == "the last question was answered"
    assert talk.can("resume", resumeNote=NOTE)
    assert talk.can("retry")


@pytest.mark.parametrize("type", ["resume", "retry"])
def test_going_on_is_refused_where_there_is_nothing_to_go_on_with(type):
    busy = Talk(model=MODEL).says("question")

    assert refusal(busy.context, {"type": type}) == "a reply is in flight; wait for it or cancel it"
    assert refusal(Talk().says("x").context, {"type": type}) == "there is no model to ask"
    assert refusal(Talk(model=MODEL).context, {"type": type}) == "nothing was asked yet"


@pytest.mark.parametrize("type", ["resume", "retry"])
def test_a_parent_hears_that_a_chat_cannot_go_on(type):
    talk = Talk({"reportsToParent": True}, start=False, model=MODEL).do(type, runId="n1")

    assert (talk.sent[-1]["type"], talk.sent[-1]["error"]["message"]) == ("FAIL", "nothing was asked yet")


def test_a_question_asked_again_leaves_the_old_answer_in_the_tree():
    talk = Talk(model=MODEL).says("question").reply("old").do("retry")

    assert talk.spawned["reply"]["messages"] == [{"role": "user", "parts": [{"type": "text", "text": "question"}]}]
    assert [event["type"] for event in talk.emitted] == ["retried"]
    talk.reply("new")
    assert talk.texts == ["question", "new"]
    assert [message["parent"] for message in talk.context["messages"].values()] == [None, "m1", "m1"]
    assert talk.context["metrics"]["turns"] == 1


# -- the bill --------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("S3-B15")
def test_the_parent_is_told_the_cost_of_the_whole_conversation():
    """An event carries the total, which replaces what was known."""
    talk = Talk({"reportsToParent": True}, start=False, model=MODEL)
    for run in ("n1", "n2"):
        talk.do("message", text="question", runId=run).reply("answer", costUsd=0.25, durationMs=10)

    assert talk.sent == [{"type": "COMPLETE", "runId": "n2", "cost": 0.5, "duration": 10}]
    talk.do("stop").do("message", text="more", runId="n3")
    assert (talk.sent[-1]["type"], talk.sent[-1]["cost"]) == ("FAIL", 0.5)


# -- another model ---------------------------------------------------------------------------------------------------


def test_another_model_is_asked_from_the_next_reply_on():
    talk = Talk(model=MODEL).says("question").reply("answer").do("use_model", model="scripted:other")

    assert talk.emitted[0]["config"]["model"] == "scripted:other"
    assert talk.says("next").spawned["reply"]["model"] == "scripted:other"


@pytest.mark.requirement("E-21")
@pytest.mark.parametrize("wrong", [{"model": 3}, {"system": "x"}, {"config": 3}, {"config": {"onBusy": "queue"}}])
def test_use_model_changes_the_model_and_nothing_else(wrong):
    assert not Talk(model=MODEL).can("use_model", **wrong)


# -- tools of the client ---------------------------------------------------------------------------------------------

AWAITED = {"id": "r1", "address": "", "calls": [{"type": "toolCall", "id": "c1", "name": "edit", "arguments": "{}"}]}


def test_calls_of_the_client_are_a_request_for_their_results():
    talk = calling(clientTools=True)

    assert "tools" not in talk.spawned
    assert talk.emitted[-1] == {"type": "results_awaited", **AWAITED}
    assert talk.sent[-1]["reason"] == "tools"
    assert talk.sent[-1]["requests"] == [{**AWAITED, "reason": "tools"}]


@pytest.mark.parametrize(
    ("type", "payload"),
    [
        ("tool_results", {"results": [result()]}),
        ("message", {"role": "tool", "parts": [result()], "runId": "n2"}),
    ],
)
def test_results_of_the_client_request_the_next_reply(type, payload):
    talk = calling(clientTools=True).do(type, **payload)

    assert [message["role"] for message in talk.context["messages"].values()] == ["user", "assistant", "tool"]
    assert (talk.context["reply"]["requestId"], talk.context["reply"]["phase"]) == ("r2", "replying")
    assert talk.context["budget"]["message"]["toolRounds"] == 1


def test_a_question_instead_of_results_leaves_the_calls_unanswered():
    talk = calling(clientTools=True).do("message", text="Never mind.", runId="n2")

    asked = talk.spawned["reply"]["messages"]
    assert [message["role"] for message in asked] == ["user", "assistant", "tool", "user"]
    assert asked[2]["parts"][0]["parts"][0]["text"] == "cancelled"


def test_the_client_is_asked_after_a_limit_was_raised():
    talk = calling(clientTools=True, maxToolRounds=0)
    assert talk.context["reply"]["limit"] == "maxToolRounds"

    talk.do("ANSWER", id="limit-1", decision="allow")
    assert talk.context["reply"]["request"]["reason"] == "tools"


def test_time_in_which_the_client_is_waited_for_does_not_count():
    talk = calling(clientTools=True)
    talk.do("tool_results", results=[result()], at=1_000_000)
    talk.reply("Done.", at=1_000_010)

    assert talk.context["budget"]["message"]["wallMs"] <= 10
