"""Replies in a chat: how they are asked for, how they end, and what happens meanwhile."""

import asyncio

import pytest

from antiphon import SimulatedClock, create_actor, create_machine, from_task, send_parent
from antiphon.chart.effects import Cancel, Raise
from antiphon.chat.machine.crystal import due_trigger
from antiphon.chat.machine.flow import flow_machine
from antiphon.chat.machine.validation import IN_FLIGHT, refusal
from tests.fixtures.conversations import Talk, texts

MODEL = "scripted:demo"
THREAD = {"reportsToParent": True}
USAGE = {"input": 10, "output": 5}


def asking(**config):
    """A chat with a question asked and a reply in flight."""
    return Talk(model=MODEL, **config).says("question")


@pytest.mark.requirement("S2-B9", "S2-02", "X-4")
def test_a_message_asks_for_a_reply_if_there_is_a_model():
    talk = Talk(model=MODEL, settings={"temperature": 0}).says("question")

    assert talk.spawned["reply"] == {
        "temperature": 0,
        "requestId": "r1",
        "model": MODEL,
        "prompt": None,
        "messages": [{"role": "user", "parts": [{"type": "text", "text": "question"}]}],
        "reportsToParent": True,
    }
    reply = talk.context["reply"]
    assert (reply["requestId"], reply["branch"], reply["parent"], reply["phase"]) == ("r1", "main", "m1", "replying")
    assert talk.emitted[0]["requestId"] == "r1"


def test_without_a_model_nothing_is_asked():
    talk = Talk().says("question")

    assert (talk.spawned, talk.context["reply"]) == ({}, None)


def test_a_message_of_the_assistant_asks_for_nothing():
    assert Talk(model=MODEL).do("message", role="assistant", text="Hi").spawned == {}


def test_the_note_of_a_resumed_thread_goes_along():
    talk = Talk(model=MODEL).do("message", text="Go on", resumeReason="interrupted", resumeNote="You were interrupted.")

    (question,) = talk.spawned["reply"]["messages"]
    assert [part["text"] for part in question["parts"]] == ["You were interrupted.", "Go on"]


@pytest.mark.requirement("S2-B9", "X-3")
def test_a_completed_reply_is_a_message_with_what_it_used():
    talk = asking().reply("answer", usage=USAGE, costUsd=0.25, durationMs=80, at=9)

    message = talk.context["messages"]["m2"]
    assert (message["role"], message["usage"], message["costUsd"], message["at"]) == ("assistant", USAGE, 0.25, 9)
    assert talk.texts == ["question", "answer"]
    assert (talk.context["reply"], talk.stopped) == (None, ["reply"])
    assert talk.emitted == [{"type": "reply_completed", "branch": "main", "head": "m2", "turns": 1}]
    metrics = talk.context["metrics"]
    assert (metrics["inputTokens"], metrics["outputTokens"], metrics["costUsd"]) == (10, 5, 0.25)
    assert (metrics["replies"], metrics["durationMs"], metrics["slowestMs"]) == (1, 80, 80)


@pytest.mark.requirement("X-3")
def test_a_reply_without_a_price_is_counted_as_such():
    """Never silently free."""
    assert asking().reply("answer", usage=USAGE, costUsd=None).context["metrics"]["unpriced"] == 1


@pytest.mark.requirement("S2-B9")
def test_a_reply_goes_to_the_branch_it_was_asked_on():
    talk = asking().do("fork", name="a").do("confirm_fork").reply("answer")

    assert texts(talk.context, "main") == ["question", "answer"]
    assert texts(talk.context, "a") == ["question"]


@pytest.mark.requirement("S2-B9")
@pytest.mark.parametrize("way", [["fork"], ["stop"]])
def test_a_reply_is_taken_in_whatever_state_it_comes(way):
    talk = asking()
    for action in way:
        talk.do(action)

    assert talk.reply("answer").texts == ["question", "answer"]


@pytest.mark.requirement("X-4")
@pytest.mark.parametrize("type", ["REPLY.COMPLETED", "REPLY.FAILED", "REPLY.CANCELLED", "turn_timeout"])
def test_what_a_reply_says_that_is_over_is_not_heard(type):
    talk = asking()
    before = talk.context

    assert talk.do(type, requestId="r0", message={"parts": []}, text="late", error="late").context == before


@pytest.mark.requirement("S2-B9", "X-2")
@pytest.mark.parametrize("error", [{"code": "3001", "message": "slow down", "recoverable": True}, "slow down"])
def test_a_failed_reply_keeps_its_words_and_says_why(error):
    talk = asking().do("REPLY.FAILED", requestId="r1", error=error, text="half an ans", at=4)

    message = talk.context["messages"]["m2"]
    assert (message["interrupted"], message["at"], talk.texts[-1]) == (True, 4, "half an ans")
    assert talk.context["lastError"]["message"] == "slow down"
    assert talk.context["reply"] is None
    assert talk.emitted[0]["error"] == talk.context["lastError"]
    assert talk.can("message")
    assert talk.says("again").reply("ok").context["lastError"] is None


def test_a_failed_reply_says_when_it_may_be_repeated():
    error = {"code": "1002", "message": "overloaded", "recoverable": True, "retryAfterMs": 60_000}

    talk = asking().do("REPLY.FAILED", requestId="r1", error={**error, "detail": "x"})

    assert talk.context["lastError"] == error


def test_a_reply_that_fails_without_a_word_leaves_no_message():
    talk = asking().do("REPLY.FAILED", requestId="r1", error="no", text="")

    assert talk.texts == ["question"]


def test_a_child_that_breaks_is_a_failed_reply():
    talk = asking().do("xstate.error.actor.reply", error=RuntimeError("boom"), actorId="reply")

    assert talk.context["lastError"] == {"code": "reply_failed", "recoverable": True, "message": "boom"}
    assert talk.context["reply"] is None


@pytest.mark.requirement("X-5")
def test_cancelling_asks_the_child_and_keeps_its_words():
    talk = asking().do("cancel")
    assert talk.sent == [{"type": "CANCEL", "requestId": "r1"}]
    assert talk.context["reply"]["cut"] == "keep"

    talk.do("REPLY.CANCELLED", requestId="r1", text="half an ans")

    assert talk.texts == ["question", "half an ans"]
    assert talk.context["messages"]["m2"]["interrupted"]
    assert (talk.context["reply"], talk.context["metrics"]["cancelled"]) == (None, 1)
    assert not talk.can("cancel")


def test_cancelling_twice_does_not_wait_for_the_child():
    talk = asking().do("cancel").do("cancel")

    assert (talk.stopped, talk.context["reply"]) == (["reply"], None)


def test_cancelling_a_summary_drops_it_and_the_reply():
    talk = Talk(model=MODEL, strategy="summarise", contextLimit=20).says("x" * 40).reply("y" * 40).says("z")
    assert talk.context["reply"]["phase"] == "compressing"

    talk.do("cancel")

    assert (talk.stopped, talk.context["reply"]) == (["summariser"], None)
    late = talk.context
    assert talk.do("xstate.done.actor.summariser", output={"text": "late"}).context == late


@pytest.mark.requirement("S2.4-1")
def test_a_turn_that_takes_too_long_is_cut_and_fails():
    talk = asking(turnTimeoutMs=60_000)
    timer = next(effect for effect in talk.effects if isinstance(effect, Raise) and effect.delay is not None)
    assert (timer.event, timer.delay) == ({"type": "turn_timeout", "requestId": "r1"}, 60_000)

    talk.do("turn_timeout", requestId="r1").do("REPLY.CANCELLED", requestId="r1", text="half")

    assert talk.context["lastError"]["code"] == "turn_timeout"
    assert talk.texts == ["question", "half"]
    assert any(isinstance(effect, Cancel) for effect in talk.effects)


@pytest.mark.requirement("S2-B9")
def test_by_default_a_message_is_refused_while_a_reply_is_in_flight():
    talk = asking()

    assert not talk.can("message", text="more")
    assert refusal(talk.context, {"type": "message"}) == IN_FLIGHT


@pytest.mark.requirement("S2-B9")
def test_queued_messages_are_said_one_by_one():
    """Complete."""
    talk = asking(onBusy="queue").says("second", "third")
    assert [item["text"] for item in talk.context["queue"]] == ["second", "third"]
    assert talk.emitted == [{"type": "message_queued", "waiting": 2}]

    talk.reply("first answer")
    assert talk.texts == ["question", "first answer", "second"]
    assert talk.spawned["reply"]["requestId"] == "r2"
    talk.reply("second answer").reply("third answer")

    assert talk.texts == ["question", "first answer", "second", "second answer", "third", "third answer"]
    assert talk.context["queue"] == []


def test_a_queue_has_an_end():
    talk = asking(onBusy="queue", maxQueue=1).says("second")

    assert refusal(talk.context, {"type": "message"}) == "1 messages wait already, and 1 are the most"


def test_a_queued_message_goes_to_the_branch_it_was_said_on():
    talk = asking(onBusy="queue").says("more").do("fork", name="a").do("confirm_fork").reply("answer")

    assert texts(talk.context, "main") == ["question", "answer", "more"]
    output = {"type": "message_processed", "message": "m3", "branch": "main", "turns": 2, "requestId": "r2"}
    assert talk.emitted[-1] == output
    assert not talk.can("close", branch="main")


def test_a_queued_message_is_said_even_if_its_id_was_counted_meanwhile():
    talk = asking(onBusy="queue").do("message", id="m2", text="more")
    assert not talk.can("message", id="m2")

    assert talk.reply("answer").texts == ["question", "answer", "more"]


@pytest.mark.requirement("S2-B9")
def test_an_interruption_keeps_the_words_so_far():
    """Abort."""
    talk = asking(onBusy="interrupt").says("wait")
    assert talk.sent == [{"type": "CANCEL", "requestId": "r1"}]

    talk.do("REPLY.CANCELLED", requestId="r1", text="half an ans")

    assert talk.texts == ["question", "half an ans", "wait"]
    assert talk.spawned["reply"]["requestId"] == "r2"


def test_a_reply_that_ends_before_it_is_interrupted_stays_whole():
    talk = asking(onBusy="interrupt").says("wait").reply("answer")

    assert talk.texts == ["question", "answer", "wait"]


@pytest.mark.requirement("S2-B9")
def test_merged_messages_are_one_turn():
    """Merge."""
    talk = asking(onBusy="merge").says(" and more").do("REPLY.CANCELLED", requestId="r1", text="half an ans")

    assert talk.texts == ["question and more"]
    assert talk.context["metrics"]["turns"] == 1
    assert talk.context["messages"]["m1"]["parent"] == talk.context["messages"]["m2"]["parent"]
    (question,) = talk.spawned["reply"]["messages"]
    assert "".join(part["text"] for part in question["parts"]) == "question and more"


def test_a_merged_message_after_a_whole_reply_is_a_turn_of_its_own():
    talk = asking(onBusy="merge").says("and more").reply("answer")

    assert talk.texts == ["question", "answer", "and more"]


@pytest.mark.requirement("S2-B9")
def test_while_a_reply_is_in_flight_heads_do_not_move_back():
    """Fork and checkpoint are possible, rewind and merge are not."""
    talk = Talk(model=MODEL).do("fork", name="a").do("confirm_fork").says("question")

    assert [refusal(talk.context, {"type": type}) for type in ("rewind", "merge")] == [IN_FLIGHT] * 2
    assert [talk.can(type) for type in ("rewind", "merge", "fork", "checkpoint")] == [False, False, True, True]
    assert not talk.do("switch", branch="main").can("close", branch="a")


@pytest.mark.requirement("S2-05", "S2-18", "S2-B9")
def test_a_stopped_chat_waits_for_the_reply():
    talk = asking().do("stop")
    assert talk.emitted == [{"type": "stopping", "waitsForReply": True}]
    assert [talk.can("flush"), talk.can("crystallize")] == [False, False]
    assert refusal(talk.context, {"type": "crystallize"}) == IN_FLIGHT

    talk.reply("answer")

    assert (talk.value, talk.texts) == ("draining", ["question", "answer"])
    assert [talk.can("flush"), talk.can("crystallize")] == [True, True]


@pytest.mark.requirement("S2-B9")
def test_a_stop_can_cut_the_reply():
    talk = asking(onStop="cut").do("stop")
    assert talk.sent == [{"type": "CANCEL", "requestId": "r1"}]

    talk.do("REPLY.CANCELLED", requestId="r1", text="half")

    assert (talk.value, talk.texts, talk.can("crystallize")) == ("draining", ["question", "half"], True)


@pytest.mark.requirement("S2-28")
def test_what_waits_is_not_said_after_a_stop_and_is_flushed():
    talk = asking(onBusy="queue").says("more").do("stop").reply("answer")
    assert (talk.spawned, len(talk.context["queue"])) == ({}, 1)

    talk.do("flush")

    assert talk.context["queue"] == []


@pytest.mark.requirement("S2-B9")
def test_a_reply_that_asks_for_tools_goes_on_with_their_results():
    """Is_awaiting_tool."""
    talk = asking().reply("Let me look.", calls=[("t1", "look")])
    assert talk.context["reply"]["phase"] == "tools"
    assert not talk.can("message", text="more")

    results = [{"type": "toolResult", "callId": "t1", "parts": [{"type": "text", "text": "seen"}]}]
    talk.do("tool_results", results=results, at=3)

    assert talk.context["messages"]["m3"]["role"] == "tool"
    assert talk.spawned["reply"]["messages"][-1] == {"role": "tool", "parts": results}
    assert talk.spawned["reply"]["requestId"] == "r2"
    talk.reply("I saw it.")
    assert (talk.context["reply"], talk.context["metrics"]["turns"]) == (None, 1)


@pytest.mark.parametrize(
    ("results", "reason"),
    [
        (None, "parts: "),
        (["x"], "parts: "),
        ([{"type": "text", "text": "x"}], "results must be parts of type toolResult"),
        ([{"type": "toolResult", "callId": "t1"}], "parts: "),
    ],
)
def test_results_that_are_none_are_refused(results, reason):
    talk = asking().reply(calls=[("t1", "look")])

    assert reason in refusal(talk.context, {"type": "tool_results", "results": results})


def test_results_nobody_asked_for_are_refused():
    assert refusal(asking().context, {"type": "tool_results", "results": []}) == "no tool was asked for"


def test_cancelling_tools_ends_the_reply_and_the_next_request_is_mended():
    talk = asking().reply(calls=[("t1", "look")]).do("cancel")
    assert (talk.context["reply"], talk.stopped, talk.sent) == (None, [], [])

    talk.says("never mind")

    assert [m["role"] for m in talk.spawned["reply"]["messages"]] == ["user", "assistant", "tool", "user"]


def test_a_reply_that_was_cancelled_asks_for_no_tools():
    talk = asking().do("cancel").reply(calls=[("t1", "look")])

    assert talk.context["reply"] is None


@pytest.mark.requirement("S2-B9")
def test_a_person_who_is_asked_can_answer_with_a_message():
    """Tools may wait for a person."""
    talk = Talk(THREAD, start=False, model=MODEL, consent={}).do("message", text="go", runId="n1")
    talk.reply(calls=[("t1", "ask")]).do("wait", reason="question")
    assert talk.sent == [{"type": "WAIT", "reason": "question", "runId": "n1", "cost": 0.0}]

    talk.do("message", text="Blue.", runId="n2", resumeReason="waiting-response")

    assert [m["role"] for m in talk.spawned["reply"]["messages"]] == ["user", "assistant", "tool", "user"]
    talk.reply("Blue it is.")
    assert talk.sent == [{"type": "COMPLETE", "runId": "n2", "cost": 0.0, "duration": 0}]


def test_without_a_parent_nobody_is_told_to_wait():
    assert asking().reply(calls=[("t1", "ask")]).do("wait", reason="question").sent == []


def run(**config):
    """A chat in a thread, with a run under way."""
    return Talk(THREAD, start=False, model=MODEL, **config).do("message", text="go", runId="n1")


@pytest.mark.requirement("S2.4-12")
def test_a_chat_in_a_thread_starts_with_its_first_message_and_tells_how_it_ended():
    talk = run()
    assert (talk.value, talk.context["run"]["runId"]) == ("streaming", "n1")

    talk.reply("answer", costUsd=0.5, durationMs=70)

    assert talk.sent == [{"type": "COMPLETE", "runId": "n1", "cost": 0.5, "duration": 70}]
    assert talk.context["run"] is None


def test_a_run_ends_when_nothing_is_left_to_do():
    """The costs of all its replies add up."""
    talk = run(onBusy="queue").do("message", text="more").reply("one", costUsd=0.5, durationMs=1)
    assert talk.sent == []

    talk.reply("two", costUsd=0.25, durationMs=2)

    assert talk.sent == [{"type": "COMPLETE", "runId": "n1", "cost": 0.75, "duration": 3}]


def test_a_failed_run_is_told():
    talk = run().do("REPLY.FAILED", requestId="r1", error={"code": "2001", "message": "no key", "recoverable": False})

    error = {"code": "2001", "message": "no key", "recoverable": False}
    assert talk.sent == [{"type": "FAIL", "error": error, "runId": "n1", "cost": 0.0, "duration": 0.0}]


def test_a_cancelled_run_is_told():
    talk = run().do("cancel").do("REPLY.CANCELLED", requestId="r1", text="")

    assert talk.sent == [{"type": "STOP", "runId": "n1", "cost": 0.0, "duration": 0.0}]


def test_a_run_ends_in_draining_though_something_waits():
    talk = run(onBusy="queue").do("message", text="more").do("stop").reply("one")

    assert [event["type"] for event in talk.sent] == ["COMPLETE"]


def test_a_run_without_a_model_is_complete_at_once():
    talk = Talk(THREAD, start=False).do("message", text="go", runId="n1")

    assert [event["type"] for event in talk.sent] == ["COMPLETE"]


def test_a_message_that_is_not_taken_fails_its_run():
    """A thread never waits for a reply that nobody will give."""
    talk = Talk(THREAD, start=False).do("start").do("stop").do("crystallize").do("message", text="go", runId="n1")

    assert talk.sent[0]["type"] == "FAIL"
    assert talk.sent[0]["error"]["message"] == "the conversation is not open for messages"
    assert run().do("message", text="more", runId="n2").sent[0]["error"]["message"] == IN_FLIGHT


@pytest.mark.requirement("S2-19", "S2.4-6")
def test_a_crystal_is_made_by_the_model():
    talk = asking().reply("answer").do("stop").do("crystallize", trigger="goal")
    assert (talk.value, talk.context["crystallizing"]) == ("draining", "goal")
    assert talk.spawned["crystallizer"]["model"] == MODEL
    assert len(talk.spawned["crystallizer"]["messages"]) == 2
    assert refusal(talk.context, {"type": "flush"}) == "the crystal is being made"

    talk.do("xstate.done.actor.crystallizer", output={"title": "A talk", "decisions": ["x"], "costUsd": 0.125})

    assert talk.value == "collapsed"
    crystal = talk.context["crystal"]
    assert (crystal["title"], crystal["decisions"]) == ("A talk", ["x"])
    assert (crystal["by"], crystal["trigger"]) == ("model", "goal")
    assert crystal["summary"] == "user: question\nassistant: answer"
    assert talk.context["metrics"]["costUsd"] == 0.125


@pytest.mark.requirement("S2-B11")
def test_a_crystal_that_fails_leaves_the_chat_draining_and_can_be_tried_again():
    talk = asking().reply("answer").do("stop").do("crystallize")
    talk.do("xstate.error.actor.crystallizer", error={"code": "3001", "message": "slow down", "recoverable": True})

    assert (talk.value, talk.context["crystallizing"]) == ("draining", None)
    assert talk.emitted[0]["error"]["code"] == "crystallize_failed"
    assert talk.do("crystallize").spawned["crystallizer"]["model"] == MODEL
    talk.do("cancel")
    assert (talk.stopped, talk.context["crystallizing"]) == (["crystallizer"], None)
    assert talk.do("crystallize", plain=True).value == "collapsed"


@pytest.mark.requirement("S2-19", "S2.4-6")
def test_a_plain_crystal_quotes_what_was_said():
    code = "We decided: tabs.\n```python\nx = 1\n# we will not count this\n```\nDone."
    talk = Talk().says("Tabs or spaces, what do you think is better here?").do("message", role="assistant", text=code)
    talk.do("stop").do("crystallize")

    crystal = talk.context["crystal"]
    assert crystal["title"] == "Tabs or spaces, what do you think is"
    assert crystal["decisions"] == ["We decided: tabs."]
    assert crystal["artifacts"] == [
        {"language": "python", "content": "x = 1\n# we will not count this\n", "message": "m2"}
    ]
    assert crystal["summary"].startswith("user: Tabs or spaces")
    assert crystal["significance"] == 0.225
    assert crystal["by"] == "rules"


@pytest.mark.requirement("S2.4-6")
def test_a_chat_that_is_idle_or_full_should_end():
    talk = Talk(contextLimit=100).says("x" * 360)
    assert (due_trigger(talk.context), due_trigger(talk.context, 299_999)) == (None, None)
    assert due_trigger(talk.context, 300_000) == "inactivity"

    assert due_trigger(talk.says("y").context) == "overflow"
    talk.do("stop")
    assert "unknown trigger 'boredom'" in refusal(talk.context, {"type": "crystallize", "trigger": "boredom"})
    assert talk.do("crystallize", trigger="overflow").context["crystal"]["trigger"] == "overflow"


def test_an_empty_chat_has_a_crystal_too():
    assert Talk().do("stop").do("crystallize").context["crystal"]["title"] == "Untitled conversation"


@pytest.mark.requirement("S2-29", "S2.4-9")
def test_a_harvest_has_the_metrics():
    talk = asking().reply("answer", usage=USAGE, costUsd=0.25, durationMs=80).do("fork").do("confirm_fork")
    talk.do("checkpoint").do("stop").do("crystallize", plain=True).do("harvest")

    metrics = talk.emitted[0]["metrics"]
    expected = {
        "turns": 1,
        "messages": 2,
        "replies": 1,
        "totalTokens": 15,
        "costUsd": 0.25,
        "averageMs": 80,
        "branches": 2,
        "checkpoints": 1,
        "forks": 1,
    }
    assert {key: metrics[key] for key in expected} == expected
    assert 0 < metrics["utilisation"] < 0.001
    assert talk.emitted[0]["crystal"] == talk.context["crystal"]


@pytest.mark.requirement("X-4")
def test_ids_are_never_used_twice_not_even_after_a_reset():
    talk = asking().reply("answer").do("stop").do("crystallize", plain=True).do("reset").do("start").says("again")

    assert (talk.head, talk.context["reply"]["requestId"]) == ("m3", "r2")


def request_of(input):
    return {"id": input["requestId"]}


def test_a_chat_talks_with_a_real_child():
    """The composition: the child is told what to say by its input and tells how it ended."""
    answer = {"role": "assistant", "parts": [{"type": "text", "text": "Hi"}]}
    child = create_machine(
        {"context": request_of, "entry": "tell"},
        actions={
            "tell": send_parent(lambda c: {"type": "REPLY.COMPLETED", "requestId": c["id"], "message": answer}),
        },
    )
    actor = create_actor(flow_machine.provide(actors={"reply": child}), input={"model": MODEL}, clock=SimulatedClock())
    actor.start().send({"type": "start"})
    for _ in range(3):
        actor.send({"type": "message", "text": "Hello"})

    context = actor.get_snapshot().context
    assert texts(context, "main") == ["Hello", "Hi"] * 3
    assert dict(actor.get_snapshot().children) == {}


def speaking():
    """A child that has said half of an answer, and ends when it is asked to."""
    answer = {"role": "assistant", "parts": [{"type": "text", "text": "answer"}]}
    return create_machine(
        {
            "context": request_of,
            "on": {"CANCEL": {"actions": "cut"}, "END": {"actions": "end"}},
        },
        actions={
            "cut": send_parent(lambda c: {"type": "REPLY.CANCELLED", "requestId": c["id"], "text": "half"}),
            "end": send_parent(lambda c: {"type": "REPLY.COMPLETED", "requestId": c["id"], "message": answer}),
        },
    )


@pytest.mark.requirement("S2-B9", "X-5")
@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ("queue", ["one", "answer", " two", "answer"]),
        ("interrupt", ["one", "half", " two", "answer"]),
        ("merge", ["one two", "answer"]),
    ],
)
def test_each_policy_works_with_a_real_child(policy, expected):
    machine = flow_machine.provide(actors={"reply": speaking()})
    actor = create_actor(machine, input={"model": MODEL, "onBusy": policy}).start()
    for event in ({"type": "start"}, {"type": "message", "text": "one"}, {"type": "message", "text": " two"}):
        actor.send(event)
    while (child := actor.get_snapshot().children.get("reply")) is not None:
        child.send({"type": "END"})

    assert texts(actor.get_snapshot().context, "main") == expected


async def crystal(input):
    return {"title": f"{len(input['messages'])} messages"}


def test_a_task_can_make_the_crystal():
    async def main():
        actor = create_actor(flow_machine.provide(actors={"crystallizer": from_task(crystal)}), input={"model": MODEL})
        actor.start()
        for type in ("start", "stop", "crystallize"):
            actor.send({"type": type})
        while actor.get_snapshot().value != "collapsed":
            await asyncio.sleep(0)
        return actor.get_snapshot().context["crystal"]

    assert asyncio.run(main())["title"] == "0 messages"
