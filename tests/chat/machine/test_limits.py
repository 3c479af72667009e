"""The limits of a chat: what may be spent for a message and in a thread, and what happens at the limit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.chart.effects import Cancel, Raise
from antiphon.chat.machine.validation import refusal
from tests.fixtures.conversations import Talk, law

MODEL = "scripted:demo"
OPTIONS = {"options": {"tools": [{"name": "look", "risk": "read"}]}}
RESULT = {"type": "toolResult", "callId": "c1", "parts": [{"type": "text", "text": "found"}]}
DONE = {"results": [RESULT], "permission": None, "lost": False}


def asking(**config):
    """A chat in a thread, with a question asked at the time 0."""
    settings = {"model": MODEL, "settings": OPTIONS, "consent": {}, **config}
    talk = Talk({"reportsToParent": True}, start=False, **settings)
    return talk.do("message", text="question", runId="n1", at=0)


def call_tools(talk, rounds=1, **facts):
    """Play rounds: the model calls a tool, and gets the result."""
    for _ in range(rounds):
        talk.reply(calls=[("c1", "look")], **facts)
        talk.do("xstate.done.actor.tools", output=DONE)
    return talk


def answer(talk, decision, **facts):
    """Answer the open request about a limit."""
    return talk.do("ANSWER", id=talk.context["reply"]["request"]["id"], decision=decision, **facts)


def emitted(talk, type):
    return [event for event in talk.emitted if event["type"] == type]


def last_results(talk):
    """Return the texts of the last results of tools."""
    messages = [message for message in talk.context["messages"].values() if message["role"] == "tool"]
    return [part["parts"][0]["text"] for part in messages[-1]["parts"]]


# -- tool rounds -----------------------------------------------------------------------------------------------------


@pytest.mark.requirement("X-14")
def test_a_message_has_25_tool_rounds_and_then_a_person_is_asked():
    talk = call_tools(asking(), 25).reply(calls=[("c1", "look")])

    assert talk.spawned == {}
    limit = {"limit": "maxToolRounds", "value": 25, "spent": 25, "next": 50}
    text = "the limit of 25 tool rounds for this message is reached (maxToolRounds)"
    request = {"id": "limit-1", "address": "", "reason": "limit", "question": text, "limit": limit}
    assert talk.sent == [{"type": "WAIT", "reason": "limit", "runId": "n1", "cost": 0.0, "requests": [request]}]
    assert emitted(talk, "limit_reached") == [{"type": "limit_reached", "id": "limit-1", "address": "", **limit}]


def test_a_model_that_has_used_its_rounds_may_still_answer():
    talk = call_tools(asking(maxToolRounds=1)).reply("Found it.")

    assert talk.sent[0]["type"] == "COMPLETE"


def test_a_higher_limit_makes_the_calls_that_wait():
    talk = asking(maxToolRounds=0).reply(calls=[("c1", "look")])

    answer(talk, "allow")

    assert talk.sent == [{"type": "GO_ON", "runId": "n1"}]
    assert talk.spawned["tools"]["calls"][0]["name"] == "look"
    assert talk.context["budget"]["raised"] == {"maxToolRounds": 1}


def test_a_refusal_answers_the_calls_and_ends_the_turn_and_the_next_message_works():
    talk = asking(maxToolRounds=0).reply(calls=[("c1", "look")])

    answer(talk, "deny")

    text = "the limit of 0 tool rounds for this message is reached (maxToolRounds)"
    assert last_results(talk) == [f"not called: {text}"]
    assert talk.sent[-1]["error"] == {"code": "limit_reached", "message": text, "recoverable": True}
    assert [m["role"] for m in talk.do("message", text="Why?", runId="n2").spawned["reply"]["messages"]] == [
        "user",
        "assistant",
        "tool",
        "user",
    ]


def test_a_raised_limit_of_a_message_holds_for_that_message_only():
    talk = call_tools(asking(maxToolRounds=1)).reply(calls=[("c1", "look")])
    answer(talk, "allow", limit=9).do("xstate.done.actor.tools", output=DONE).reply("Done.")

    talk.do("message", text="again", runId="n2")

    assert (talk.context["budget"]["raised"], talk.context["budget"]["message"]["toolRounds"]) == ({}, 0)
    assert talk.context["budget"]["thread"]["toolRounds"] == 2


def test_a_message_is_an_answer_too_and_has_rounds_of_its_own():
    talk = asking(maxToolRounds=0).reply(calls=[("c1", "look")]).do("message", text="Leave it.", runId="n1")

    assert "reply" in talk.spawned


def test_the_rounds_of_a_thread_are_counted_over_its_messages():
    talk = call_tools(asking(maxThreadToolRounds=1)).reply("One.").do("message", text="more", runId="n2")

    assert emitted(talk.reply(calls=[("c1", "look")]), "limit_reached")[0]["limit"] == "maxThreadToolRounds"


def test_results_from_outside_count_and_are_refused_at_the_limit():
    talk = Talk(model=MODEL, maxToolRounds=0).says("question").reply(calls=[("c1", "look")])

    reason = refusal(talk.context, {"type": "tool_results", "results": [RESULT]})
    assert reason == "the limit of 0 tool rounds for this message is reached (maxToolRounds)"
    assert talk.sent == []


def test_resuming_does_not_give_more_rounds_and_retrying_does():
    talk = call_tools(asking(maxToolRounds=1)).do("REPLY.FAILED", requestId="r2", error={"code": "1001"})

    assert talk.do("resume", runId="n2").context["budget"]["message"]["toolRounds"] == 1
    talk.do("REPLY.FAILED", requestId="r3", error={"code": "1001"})
    assert talk.do("retry", runId="n3").context["budget"]["message"]["toolRounds"] == 0


# -- warnings and answers --------------------------------------------------------------------------------------------


def test_there_is_one_warning_before_a_limit_and_another_before_a_higher_one():
    talk = asking(maxToolRounds=5)
    warnings = [emitted(call_tools(talk), "limit_warning") for _ in range(5)]
    assert warnings == [[]] * 3 + [[{"type": "limit_warning", "limit": "maxToolRounds", "value": 5, "spent": 4}], []]
    answer(talk.reply(calls=[("c1", "look")]), "allow")
    talk.do("xstate.done.actor.tools", output=DONE)

    assert emitted(call_tools(talk, 2), "limit_warning")[0]["value"] == 10


def test_a_limit_that_is_reached_at_once_has_no_warning():
    assert emitted(call_tools(asking(maxToolRounds=1)), "limit_warning") == []


@pytest.mark.parametrize("limit", [0, 2, True, "9"])
def test_a_new_limit_must_be_above_the_spending(limit):
    talk = call_tools(asking(maxToolRounds=2), 2).reply(calls=[("c1", "look")])

    assert refusal(talk.context, {"type": "ANSWER", "id": "limit-1", "decision": "allow", "limit": limit}) == (
        f"limit is {limit!r}; it must be a number above 2"
    )


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ({"id": "limit-1", "decision": "perhaps"}, "decision is 'perhaps'; known: allow, deny"),
        ({"id": "limit-0", "decision": "allow"}, "the request 'limit-0' is not open; open: 'limit-1'"),
        ({"decision": "allow"}, "the request None is not open; open: 'limit-1'"),
    ],
)
def test_an_answer_that_fits_nothing_is_refused_and_the_request_stays_open(facts, reason):
    talk = asking(maxToolRounds=0).reply(calls=[("c1", "look")])
    assert refusal(talk.context, {"type": "ANSWER", **facts}) == reason

    talk.do("ANSWER", **facts)

    assert (talk.sent, talk.context["reply"]["waiting"]) == ([], True)


def test_an_answer_counts_once_and_the_next_request_has_another_id():
    talk = answer(asking(maxToolRounds=0).reply(calls=[("c1", "look")]), "allow")
    talk.do("xstate.done.actor.tools", output=DONE).reply(calls=[("c1", "look")])
    assert talk.context["reply"]["request"]["id"] == "limit-2"

    talk.do("ANSWER", id="limit-1", decision="allow")

    assert (talk.sent, talk.spawned) == ([], {})


def test_a_permission_takes_no_limit():
    talk = asking().reply(calls=[("c1", "look")]).do("wait", reason="permission", id="r1", address="permission")

    event = {"type": "ANSWER", "id": "r1", "decision": "allow", "limit": 3}
    assert refusal(talk.context, event) == "the chat waits at no limit"


def test_raise_limit_changes_the_settings_and_a_reply_that_waits_goes_on():
    talk = asking(maxToolRounds=0).reply(calls=[("c1", "look")]).do("raise_limit", maxToolRounds=3)

    assert talk.context["config"]["maxToolRounds"] == 3
    assert talk.sent == [{"type": "GO_ON", "runId": "n1"}]
    assert "tools" in talk.spawned


def test_raise_limit_that_is_still_reached_changes_nothing_for_the_reply():
    talk = call_tools(asking(maxToolRounds=1)).reply(calls=[("c1", "look")]).do("raise_limit", maxToolRounds=1)

    assert (talk.sent, talk.spawned, talk.context["reply"]["waiting"]) == ([], {}, True)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [({}, "no limit is named"), ({"maxTurns": 3}, "unknown limit 'maxTurns'"), ({"maxCostUsd": 0}, "maxCostUsd is 0")],
)
def test_raise_limit_takes_limits_only(settings, reason):
    assert refusal(asking().context, {"type": "raise_limit", **settings}).startswith(reason)


def test_a_reply_that_waits_at_its_limit_can_be_cancelled():
    talk = asking(maxToolRounds=0).reply(calls=[("c1", "look")]).do("cancel")

    assert (talk.context["reply"], talk.sent[0]["type"]) == (None, "STOP")


# -- cost ------------------------------------------------------------------------------------------------------------


def test_no_model_is_asked_when_the_money_is_spent():
    talk = call_tools(asking(maxCostUsd=0.5), costUsd=0.6)

    assert talk.spawned == {}
    assert emitted(talk, "limit_reached")[0]["next"] == 1.0


def test_a_reply_gets_what_is_left_as_its_budget():
    talk = call_tools(asking(maxCostUsd=2, maxThreadCostUsd=1), costUsd=0.25)

    assert talk.spawned["reply"]["budgetUsd"] == 0.75


def test_the_budget_of_the_settings_holds_if_it_is_lower():
    talk = asking(maxCostUsd=2, settings={**OPTIONS, "budgetUsd": 1})

    assert talk.spawned["reply"]["budgetUsd"] == 1


def test_a_reply_that_is_cut_by_its_budget_waits_and_goes_on_where_it_ends():
    error = {"code": "3002", "message": "The budget is spent", "recoverable": False}
    talk = asking(maxCostUsd=0.5).do("REPLY.FAILED", requestId="r1", error=error, text="So far", costUsd=0.6)
    assert (talk.sent[0]["type"], emitted(talk, "reply_failed")) == ("WAIT", [])

    answer(talk, "allow", limit=2)

    *_, text, note = talk.spawned["reply"]["messages"]
    assert text["parts"][0]["text"] == "So far"
    assert note["parts"][0]["text"] == "[The reply was cut at a limit, which was raised. Continue where it ends.]"


def test_a_provider_without_quota_is_a_failure_if_the_limit_is_not_reached():
    error = {"code": "3002", "message": "no credit", "recoverable": False}

    assert asking(maxCostUsd=5).do("REPLY.FAILED", requestId="r1", error=error).sent[0]["type"] == "FAIL"


def test_summaries_count_as_costs():
    talk = asking(strategy="summarise", contextLimit=30, maxCostUsd=1).reply("x" * 200)
    talk.do("message", text="y" * 100, runId="n2")

    talk.do("xstate.done.actor.summariser", output={"text": "Short.", "costUsd": 1.5})

    assert emitted(talk, "limit_reached")[0]["spent"] == 1.5


# -- wall time -------------------------------------------------------------------------------------------------------


def timers(talk):
    return [effect.delay for effect in talk.effects if isinstance(effect, Raise)]


def test_a_timer_ends_a_reply_and_keeps_its_text():
    talk = asking(maxWallMs=1_000)
    assert timers(talk) == [1_000]
    talk.do("wall_time").do("REPLY.CANCELLED", requestId="r1", text="So far", at=1_001)

    assert emitted(talk, "limit_reached")[0]["limit"] == "maxWallMs"
    assert talk.context["budget"]["thread"]["wallMs"] == 1_000
    assert [m["parts"][0]["text"] for m in talk.context["messages"].values()] == ["question", "So far"]


def test_tools_run_to_their_end_when_the_time_is_over():
    talk = asking(maxWallMs=1_000).reply(calls=[("c1", "look")], at=10).do("wall_time")
    assert talk.stopped == []

    talk.do("xstate.done.actor.tools", output=DONE)

    assert (talk.spawned, talk.sent[0]["reason"]) == ({}, "limit")


def test_the_time_in_which_a_person_is_asked_does_not_count():
    talk = asking(maxWallMs=1_000).reply(calls=[("c1", "look")], at=100)
    talk.do("wait", reason="permission", id="r1", address="permission")
    assert [effect.send_id for effect in talk.effects if isinstance(effect, Cancel)] == ["wallTime"]

    talk.do("go_on", id="r1", decision="allowed")

    assert timers(talk) == [900]
    talk.do("xstate.done.actor.tools", output=DONE).reply(calls=[("c1", "look")], at=90_300)
    assert talk.context["budget"]["message"]["wallMs"] == 100
    talk.do("xstate.done.actor.tools", output=DONE).reply("Done.", at=90_500)
    assert talk.context["budget"]["message"]["wallMs"] == 300


def test_a_request_that_expires_is_not_counted_as_work():
    talk = asking(maxWallMs=1_000).reply(calls=[("c1", "look")], at=100).do("wait", reason="permission", id="r1")

    talk.do("xstate.done.actor.tools", output=DONE).reply("Done.", at=90_000)

    assert talk.context["budget"]["thread"]["wallMs"] == 100


def test_the_time_of_a_thread_is_counted_over_its_messages():
    talk = asking(maxThreadWallMs=1_000).reply("One.", at=700).do("message", text="more", runId="n2", at=5_000)

    assert timers(talk) == [300]


def test_the_time_until_a_limit_is_raised_does_not_count():
    talk = asking(maxToolRounds=0, maxWallMs=1_000).reply(calls=[("c1", "look")], at=100)
    talk.do("raise_limit", maxToolRounds=1, at=90_000).do("xstate.done.actor.tools", output=DONE)

    assert talk.reply("Done.", at=90_050).context["budget"]["message"]["wallMs"] == 150


def test_a_reply_without_a_time_counts_by_its_duration():
    talk = asking(maxThreadWallMs=1_000).reply("One.", durationMs=700)
    talk.do("message", text="more", runId="n2", at=5_000)

    assert timers(talk) == [300]


def test_the_timer_ends_with_the_turn():
    talk = asking(maxWallMs=1_000).reply("Done.", at=700)

    assert [effect.send_id for effect in talk.effects if isinstance(effect, Cancel)][-1] == "wallTime"
    assert talk.context["budget"]["timer"] is None


def test_a_reply_that_was_complete_before_it_could_be_cut_is_kept():
    talk = asking(maxWallMs=1_000).do("wall_time").reply(calls=[("c1", "look")])

    assert "tools" in talk.spawned


def test_a_reply_that_a_person_has_cut_does_not_wait_at_its_limit():
    talk = asking(maxWallMs=1_000).do("cancel").do("wall_time").do("REPLY.CANCELLED", requestId="r1", text="So far")

    assert [report["type"] for report in talk.sent] == ["STOP"]


def test_a_second_cancel_drops_a_reply_that_is_being_cut():
    talk = asking(maxWallMs=1_000).do("wall_time").do("cancel")

    assert (talk.context["reply"], talk.sent[0]["type"]) == (None, "STOP")


# -- threads without permissions -------------------------------------------------------------------------------------


def test_tools_that_are_called_without_permissions_end_the_turn_with_an_error():
    talk = asking(consent=None).reply(calls=[("c1", "look")])

    assert talk.sent[0]["error"]["code"] == "no_consent"
    assert last_results(talk)[0].startswith("not called: the model called tools")
    assert "reply" in talk.do("message", text="And now?", runId="n2").spawned


# -- settings and laws -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [
        {"maxToolRounds": -1},
        {"maxToolRounds": 1.5},
        {"maxCostUsd": 0},
        {"maxCostUsd": True},
        {"maxWallMs": 0},
        {"maxThreadWallMs": "1"},
        {"warnAt": 0},
    ],
)
def test_bad_limits_are_refused(settings):
    (name,) = settings
    with pytest.raises(ValueError, match=name):
        Talk(**settings)


EVENTS = st.sampled_from(
    ["call", "text", "results", "cut", "fail", "message", "allow", "resume", "retry", "time", "wait"]
)


@law
@given(
    st.fixed_dictionaries(
        {
            "maxToolRounds": st.sampled_from([0, 1, 3, None]),
            "maxThreadToolRounds": st.sampled_from([2, None]),
            "maxCostUsd": st.sampled_from([0.3, 1, None]),
            "maxThreadCostUsd": st.sampled_from([0.9, None]),
            "maxWallMs": st.sampled_from([50, None]),
        }
    ),
    st.lists(st.tuples(EVENTS, st.sampled_from([0, 0.1, 0.4]), st.integers(0, 40)), max_size=30),
)
def test_no_walk_spends_more_than_its_limits(config, walk):
    """Tools are called and models asked only below every limit, whatever happens, unless a person raises it."""
    talk = asking(**config)
    at = 0
    for kind, cost_usd, elapsed_ms in walk:
        at += elapsed_ms
        before = talk.context["budget"]
        _play(talk, kind, cost_usd, at)
        budget = talk.context["budget"]
        limits = {**talk.context["config"], **budget["raised"]}
        if "tools" in talk.spawned:
            assert _is_below(limits, before, "toolRounds", "maxToolRounds", "maxThreadToolRounds")
        if "reply" in talk.spawned:
            assert _is_below(limits, budget, "costUsd", "maxCostUsd", "maxThreadCostUsd")
            assert _is_below(limits, budget, "wallMs", "maxWallMs", "maxThreadWallMs")


def _is_below(limits, budget, resource, of_message, of_thread):
    spent = {of_message: budget["message"][resource], of_thread: budget["thread"][resource]}
    return all(limits[name] is None or amount < limits[name] for name, amount in spent.items())


def _play(talk, kind, cost_usd, at):
    reply = talk.context["reply"]
    facts = {"requestId": reply["requestId"] if reply else "r0", "costUsd": cost_usd, "at": at}
    match kind:
        case "call" | "text":
            calls = {"type": "toolCall", "id": "c1", "name": "look", "arguments": "{}"}
            part = calls if kind == "call" else {"type": "text", "text": "x"}
            talk.do("REPLY.COMPLETED", message={"parts": [part]}, **facts)
        case "results":
            talk.do("xstate.done.actor.tools", output=DONE)
        case "cut":
            talk.do("REPLY.CANCELLED", text="so far", **facts)
        case "fail":
            talk.do("REPLY.FAILED", error={"code": "3002", "message": "spent"}, **facts)
        case "allow":
            request = reply.get("request") if reply else None
            talk.do("ANSWER", id=request["id"] if request else "limit-0", decision="allow", at=at)
        case "time":
            talk.do("wall_time")
        case "wait":
            talk.do("wait", reason="permission")
        case "message" | "resume" | "retry":
            talk.do(kind, text="more", at=at)


def test_a_limit_that_was_raised_does_not_cut_the_reply_when_the_former_is_reached():
    talk = asking(maxWallMs=1_000).do("raise_limit", maxWallMs=5_000, at=10).do("wall_time")

    assert (talk.context["reply"]["cut"], talk.context["reply"]["phase"]) == (None, "replying")
    assert talk.context["budget"]["timer"] == {"message": 5_000, "thread": 5_000}
