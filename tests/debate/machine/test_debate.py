"""The debate machine: its states, events, guards and actions, driven by hand."""

import pytest

from antiphon import SimulatedClock, create_actor, initial_transition
from antiphon.debate.machine.debate import JUDGE_TIMEOUT_MS, debate_machine
from antiphon.debate.machine.replies import OPENING_TIMEOUT_MS
from tests.fixtures.debate_machine import (
    PRICES,
    START,
    TOPIC,
    VERDICT,
    Table,
    acting,
    begun,
    broken,
    config,
    debating,
    replies,
    reply,
    request,
    round_of,
    seats,
    spoken,
    whole_round,
)

TIMEOUT = {"type": "timeout", "message": "Claude API timeout", "participantId": "for", "retryable": True}
ERROR = {"type": "ERROR", "error": TIMEOUT}
FATAL = {"type": "ERROR", "error": {**TIMEOUT, "retryable": False}}


@pytest.mark.requirement("S4-01", "S4-16..S4-27")
def test_a_debate_waits_for_its_configuration():
    """Idle, with everything the seed's context names, empty."""
    table = Table()

    assert table.state == "idle"
    empty = {"config": {}, "participants": [], "currentRound": 0, "maxRounds": 5, "rounds": [], "activeStreams": {}}
    empty |= {"tokenUsage": {}, "verdict": None, "lastError": None, "retryCount": 0, "judge": None}
    assert {key: table.context[key] for key in empty} == empty
    assert table.context["costTracker"]["totalCost"] == "0"


@pytest.mark.requirement("S4-39", "S4-61", "S4-110", "S4-B4", "S4-B16")
def test_a_valid_configuration_begins_the_debate_and_is_taken_over():
    """MaxRounds, participants and judge come from the configuration."""
    table = Table().send({**START, "config": config(maxRounds=3, costLimit=5.0, warnAtCost=3.0)})

    assert table.state == "initializing"
    assert (table.context["maxRounds"], table.context["retryCount"]) == (3, 0)
    assert [one["id"] for one in table.context["participants"]] == ["for", "against"]
    tracker = table.context["costTracker"]
    assert (tracker["warningThreshold"], tracker["limitThreshold"]) == ("3", "5")


@pytest.mark.requirement("S4-B16")
def test_participants_and_judge_may_stand_beside_the_configuration():
    bare = {key: value for key, value in config().items() if key not in ("participants", "judge")}
    event = {"type": "START_DEBATE", "config": bare, "participants": seats("against", "for"), "judge": {"name": "Zoe"}}
    table = Table().send(event)

    assert [one["id"] for one in table.context["participants"]] == ["against", "for"]
    assert table.context["judge"]["name"] == "Zoe"


@pytest.mark.requirement("S4-01", "S4-02", "S4-B21")
def test_an_invalid_configuration_is_an_error_that_names_its_field():
    table = Table().send({**START, "config": config(maxRounds=11)})

    assert table.state == "error"
    error = table.context["lastError"]
    assert (error["type"], error["field"], error["retryable"]) == ("validation", "maxRounds", False)
    assert table.send("RETRY").state == "error"


@pytest.mark.requirement("S4-54", "S4-B1", "S4-B2")
@pytest.mark.parametrize(
    "participants",
    [[], seats("for"), seats("for", "for"), [*seats("for"), {"id": "b", "model": None}], seats(*"abcde")],
)
def test_nobody_debates_whose_participants_are_not_ready(participants):
    """The guard looks at the event's participants: 2 to 4, unique ids, all with a model."""
    table = Table().send(START).send({"type": "INIT_COMPLETE", "participants": participants})

    assert (table.state, table.context["lastError"]["type"]) == ("error", "validation")


@pytest.mark.requirement("S4-03", "S4-40", "S4-62", "S4-83..S4-86", "S4-B18")
def test_ready_participants_are_asked_for_their_openings():
    """An actor per debater, each with its own prompt."""
    table = acting()

    assert table.state == "awaitingArguments"
    assert [one["id"] for one in table.spawned] == ["reply-for", "reply-against"]
    first = table.spawned[0]["input"]
    assert (first["model"], first["prompt"], first["reportsToParent"]) == ("anthropic:claude-sonnet-4-5", None, True)
    assert first["options"] == {"maxTokens": 1000, "temperature": 0.7}
    told, asked = (message["parts"][0]["text"] for message in first["messages"])
    assert f"You argue for the motion: {TOPIC}" in told
    assert "opening" in asked
    assert set(table.context["activeStreams"]) == {"for", "against"}


@pytest.mark.requirement("S4-02", "S4-63", "S4-B18")
def test_initialising_is_an_actors_work_and_may_fail():
    table = Table({"driver": "actors"}).send(START)

    assert [one["id"] for one in table.spawned] == ["initialiser"]
    done = {"type": "xstate.done.actor.initialiser", "actorId": "initialiser"}
    failed = {"type": "model_error", "message": "no such model", "retryable": False, "participantId": "for"}
    ready = Table(snapshot=table.now).send({**done, "output": {"prices": PRICES}})
    assert (ready.state, ready.context["prices"]) == ("awaitingArguments", PRICES)
    broken_off = Table(snapshot=table.now).send({**done, "output": {"error": failed}})
    assert (broken_off.state, broken_off.context["lastError"]["participantId"]) == ("error", "for")
    thrown = {"type": "xstate.error.actor.initialiser", "error": {"message": "gone", "recoverable": True}}
    assert table.send(thrown).state == "error"
    assert table.send("RETRY").state == "initializing"
    assert Table().send(START, ERROR).state == "error"


@pytest.mark.requirement("S4-106", "S4-66", "S4-70", "S4-71", "S4-77", "S4-41..S4-44")
def test_the_whole_debate_of_the_seed():
    """Six steps from configuration to verdict."""
    table = begun()
    assert table.state == "awaitingArguments"

    table.send({"type": "ARGUMENTS_READY", "responses": replies()})
    assert (table.state, table.context["currentRound"]) == ("debating", 1)
    table.send(round_of())
    assert (table.state, table.context["currentRound"]) == ("debating", 2)
    table.send(round_of())
    assert table.state == "judgeEvaluating"
    table.send(VERDICT)

    assert (table.state, table.now.status, table.context["outcome"]) == ("completed", "done", "verdict")
    assert table.context["verdict"]["winner"] == "for"


@pytest.mark.requirement("S4-55", "S4-B3")
def test_openings_are_complete_with_one_of_each_and_no_stream_left():
    """The event's responses are looked at, not rounds that are not there yet."""
    table = begun()
    for wrong in ([reply("for")], [reply("for"), reply("for")], [*replies(), reply("stranger")]):
        assert table.send({"type": "ARGUMENTS_READY", "responses": wrong}).state == "awaitingArguments"
    table.send({"type": "STREAM_CHUNK", "participantId": "for", "chunk": "I"})
    assert table.send({"type": "ARGUMENTS_READY", "responses": replies()}).state == "awaitingArguments"

    table.send({"type": "STREAM_COMPLETE", "participantId": "for"})
    assert table.send({"type": "ARGUMENTS_READY", "responses": replies()}).state == "debating"


@pytest.mark.requirement("S4-52", "S4-53", "S4-64", "S4-65", "S4-87", "S4-88", "S4-115")
def test_streams_from_outside_grow_end_and_are_dropped():
    """The last one makes the openings whole."""
    table = begun()
    for chunk in ("Good ", "evening."):
        table.send({"type": "STREAM_CHUNK", "participantId": "for", "chunk": chunk})
    assert table.context["activeStreams"]["for"]["text"] == "Good evening."
    table.send({"type": "STREAM_COMPLETE", "participantId": "for"})
    assert (table.context["activeStreams"], table.context["responses"][0]["content"]) == ({}, "Good evening.")
    table.send({"type": "STREAM_COMPLETE", "participantId": "against", "content": "No."})

    assert table.state == "debating"
    assert [one["content"] for one in table.context["rounds"][0]["responses"]] == ["Good evening.", "No."]


@pytest.mark.requirement("S4-69", "S4-B15")
def test_streams_from_outside_are_heard_in_rounds_and_by_the_judge():
    table = debating()
    for id in ("for", "against"):
        table.send({"type": "STREAM_CHUNK", "participantId": id, "chunk": "x"})
        table.send({"type": "STREAM_COMPLETE", "participantId": id})
    assert table.now.value == {"debating": "processingRound"}
    table.send(round_of(), "ALL_ROUNDS_COMPLETE", {"type": "STREAM_CHUNK", "participantId": "judge", "chunk": "Hm"})
    assert table.context["activeStreams"]["judge"]["text"] == "Hm"

    table.send({"type": "STREAM_COMPLETE", "participantId": "judge"})
    assert (table.state, table.context["activeStreams"]) == ("judgeEvaluating", {})


@pytest.mark.requirement("S4-32", "S4-33", "S4-66", "S4-90", "S4-91", "S4-B6")
def test_the_openings_are_a_round_of_their_own_phase():
    table = debating()

    [opening] = table.context["rounds"]
    assert (opening["phase"], opening["roundNumber"], opening["tokensUsed"]) == ("opening", 1, 2200)
    assert opening["costThisRound"] == "0.009"
    assert set(opening["responses"][0]) >= {"participantId", "content", "tokensUsed", "latencyMs", "timestamp"}
    assert table.context["currentRound"] == 1


@pytest.mark.requirement("S4-05", "S4-20", "S4-56", "S4-92", "S4-B4", "S4-B6")
def test_every_round_is_stored_once_under_its_own_number():
    """Exactly maxRounds ROUND_COMPLETE; only incrementRound counts."""
    table = debating(maxRounds=5)
    for _ in range(5):
        assert table.state == "debating"
        table.send(round_of())

    assert table.state == "judgeEvaluating"
    keys = [(one["phase"], one["roundNumber"]) for one in table.context["rounds"]]
    rebuttals = [("rebuttal", number) for number in (1, 2, 3, 4)]
    assert keys == [("opening", 1), *rebuttals, ("closing", 5)]


@pytest.mark.requirement("S4.4-11", "S4-B6")
def test_a_round_that_was_recorded_or_is_another_one_is_refused():
    """Duplicate protection per participant and round."""
    table = debating()
    for wrong in (
        round_of(roundNumber=2),
        round_of(phase="opening", roundNumber=1),
        round_of("for"),
        round_of("for", "for"),
    ):
        assert table.send(wrong).context["currentRound"] == 1
    assert len(table.context["rounds"]) == 1


@pytest.mark.requirement("S4-42", "S4-B6")
def test_a_round_is_not_over_while_somebody_speaks():
    table = debating()
    table.send({"type": "STREAM_CHUNK", "participantId": "for", "chunk": "I"}, round_of())
    assert (len(table.context["rounds"]), table.context["currentRound"]) == (1, 1)

    table.send({"type": "STREAM_COMPLETE", "participantId": "for"}, round_of())
    assert (len(table.context["rounds"]), table.context["currentRound"]) == (2, 2)


@pytest.mark.requirement("S4-05..S4-07", "S4-89", "S4-B5")
def test_every_round_begins_anew_with_its_own_actors():
    """The second round starts, which in the seed it never does."""
    table = whole_round(acting(maxRounds=2))
    assert [one["id"] for one in table.spawned] == ["reply-for"]
    whole_round(table)

    assert (table.context["currentRound"], table.context["phase"]) == (2, "closing")
    assert [one["id"] for one in table.spawned] == ["reply-against"]
    assert {"type": "round_started", "phase": "closing", "roundNumber": 2, "maxRounds": 2} in table.told


@pytest.mark.requirement("S4-05")
def test_earlier_rounds_are_the_context_of_later_ones():
    """A debater hears what was said, its own words as its own."""
    table = whole_round(acting())

    messages = table.spawned[0]["input"]["messages"]
    assert [message["role"] for message in messages] == ["system", "assistant", "user", "user"]
    assert [message["parts"][0]["text"] for message in messages[1:3]] == ["I am for.", "Bruno: I am against."]


@pytest.mark.requirement("S4-B26")
def test_who_speaks_at_the_same_time_hears_nothing_of_the_others_also_when_asked_again():
    """An opening that failed and comes later is still an opening."""
    table = acting()
    table.send(spoken(table, "for"), broken(table, "against"))

    [again] = table.spawned
    assert again["id"] == "reply-against"
    assert [message["role"] for message in again["input"]["messages"]] == ["system", "user"]
    assert "I am for." not in str(again["input"]["messages"])


@pytest.mark.requirement("S4.4-11", "X-4")
def test_a_reply_is_heard_once_and_a_stale_one_never():
    table = acting()
    said = spoken(table, "for")
    table.send(said, said)

    assert len(table.context["responses"]) == 1
    assert table.context["tokenUsage"]["anthropic:claude-sonnet-4-5"]["requestCount"] == 1


@pytest.mark.requirement("S4-13", "S4-45", "S4-46", "S4-67", "S4-100..S4-102", "S4-B10")
def test_a_pause_cancels_streams_and_asks_only_for_what_is_missing_afterwards():
    """Back to the openings, without repeating or paying twice."""
    table = acting()
    table.send(spoken(table, "for"))
    asked = request(table, "against")
    table.send("PAUSE")

    assert table.state == "paused"
    assert table.effect("xstate.sendTo")[0]["event"] == {"type": "CANCEL", "requestId": asked}
    used = {"usage": {"input": 500, "output": 10}, "costUsd": 0.00165}
    table.send({"type": "REPLY.CANCELLED", "requestId": asked, "text": "I", **used})
    assert table.context["costTracker"]["totalCost"] == "0.00615"
    table.send("RESUME")
    assert table.state == "awaitingArguments"
    assert [one["id"] for one in table.spawned] == ["reply-against"]
    table.send(spoken(table, "against"))
    assert (table.state, len(table.context["rounds"])) == ("debating", 1)


@pytest.mark.requirement("S4-13")
def test_a_reply_that_was_whole_before_its_cancellation_counts():
    """It is paid for, so it is kept."""
    table = acting()
    late = spoken(table, "for")
    table.send("PAUSE", late, "RESUME")

    assert [one["participantId"] for one in table.context["responses"]] == ["for"]
    assert [one["id"] for one in table.spawned] == ["reply-against"]


def told_to_parent(table):
    return [one["event"]["type"] for one in table.effect("xstate.sendTo") if one["target"] == "#_parent"]


@pytest.mark.requirement("S4-13")
def test_the_parent_is_told_of_pauses_and_returns_that_it_did_not_ask_for():
    """`PAUSE` and `RESUME` come from people, `cancel` and `resume` from the thread, which knows."""
    for pause, told in (("PAUSE", ["STOP"]), ("cancel", [])):
        paused = begun({"reportsToParent": True}).send(pause)
        assert (paused.state, told_to_parent(paused)) == ("paused", told)
        for back, told_then in (("RESUME", ["RESTART"]), ("resume", [])):
            resumed = Table(snapshot=paused.now).send({"type": back, "runId": "run-2"})
            assert (resumed.state, told_to_parent(resumed)) == ("awaitingArguments", told_then)
            assert resumed.context["runId"] == "run-2"


@pytest.mark.requirement("S4-B11")
def test_a_reply_that_comes_when_the_judge_has_been_called_is_paid_for_and_no_more():
    """Its round is over, and what the judge was given does not grow."""
    table = whole_round(acting())
    late = spoken(table, "for", cost=0.5)
    table.send("JUDGE_NOW", late)

    assert (table.context["responses"], len(table.context["rounds"])) == ([], 1)
    assert table.context["costTracker"]["totalCost"] == "0.509"


@pytest.mark.requirement("S4-04", "S4-115")
def test_the_timer_of_an_opening_ends_with_it():
    """A reply that is whole leaves neither an actor nor a timer."""
    table = acting()
    table.send(spoken(table, "for"))

    assert table.effect("xstate.cancel") == [{"send_id": "timeout-for"}]
    assert table.effect("xstate.stopChild") == [{"id": "reply-for"}]
    left = begun().send({"type": "ARGUMENTS_READY", "responses": replies()})
    assert left.effect("xstate.cancel") == [{"send_id": "timeout-for"}, {"send_id": "timeout-against"}]


@pytest.mark.requirement("S4-B9", "S4-B24")
def test_who_has_failed_is_asked_again_when_a_debate_is_retried():
    table = acting(format="roundtable", participants=seats("for", "against", "neutral"))
    for _ in range(2):
        table.send(broken(table, "for"))
    assert table.context["responses"][0]["failed"]
    table.send(ERROR, "RETRY", {"type": "INIT_COMPLETE", "participants": table.context["participants"]})

    assert [one["id"] for one in table.spawned] == ["reply-for", "reply-against", "reply-neutral"]


@pytest.mark.requirement("S4-15", "S4-49", "S4-73", "S4-79", "S4-81", "S4-107", "S4-B9", "S4-B10", "S4-B27")
@pytest.mark.parametrize(
    ("before", "back"),
    [(begun, "awaitingArguments"), (debating, "debating"), (lambda: debating().send("STOP"), "judgeEvaluating")],
)
def test_resuming_and_retrying_lead_back_to_where_it_was(before, back):
    table = before()
    rounds = table.context["rounds"]
    table.send("PAUSE")
    assert (table.state, table.context["resumeTarget"]) == ("paused", back)
    assert table.send("RESUME").state == back

    table.send(ERROR, "RETRY")
    assert table.state == "initializing"
    table.send({"type": "INIT_COMPLETE", "participants": table.context["participants"]})
    assert (table.state, table.context["rounds"]) == (back, rounds)


@pytest.mark.requirement("S4-107", "S4-B9")
def test_a_round_is_resumed_with_its_number_and_its_responses():
    """The same round, asking only who is missing."""
    table = whole_round(acting(format="roundtable", participants=seats("for", "against", "neutral")))
    table.send(spoken(table, "for"), ERROR, "RETRY")
    table.send({"type": "INIT_COMPLETE", "participants": table.context["participants"]})

    assert (table.state, table.context["currentRound"]) == ("debating", 1)
    assert [one["participantId"] for one in table.context["responses"]] == ["for"]
    assert [one["id"] for one in table.spawned] == ["reply-against"]


@pytest.mark.requirement(
    "S4-14", "S4-37", "S4-48", "S4-59", "S4-63", "S4-68", "S4-75", "S4-78", "S4-103", "S4-104", "S4-B7"
)
@pytest.mark.parametrize("before", [lambda: Table().send(START), begun, debating, lambda: debating().send("STOP")])
@pytest.mark.parametrize("event", [ERROR, FATAL])
def test_every_error_leads_to_error_and_only_retryable_ones_back(before, event):
    table = before().send(event)

    assert table.state == "error"
    assert table.context["lastError"]["message"] == "Claude API timeout"
    [told] = [one for one in table.told if one["type"] == "error"]
    assert (told["error"], told["costTracker"]) == (table.context["lastError"], table.context["costTracker"])
    assert table.send("RETRY").state == ("initializing" if event is ERROR else "error")


@pytest.mark.requirement("S4-104")
def test_an_error_cancels_the_replies_on_their_way():
    """They tell what they used, and it is paid for."""
    table = acting()
    asked = [request(table, id) for id in ("for", "against")]
    table.send(ERROR)

    cancelled = [one["event"] for one in table.effect("xstate.sendTo")]
    assert cancelled == [{"type": "CANCEL", "requestId": one} for one in asked]
    used = {"usage": {"input": 500, "output": 10}, "costUsd": 0.00165}
    table.send({"type": "REPLY.CANCELLED", "requestId": asked[0], **used})
    assert (table.state, table.context["costTracker"]["totalCost"]) == ("error", "0.00165")


@pytest.mark.requirement("S4-13", "S4-B21")
def test_a_paused_debate_can_fail_too():
    assert debating().send("PAUSE", FATAL).state == "error"


@pytest.mark.requirement("S4-27", "S4-59", "S4-75", "S4-B8")
def test_three_retries_are_granted_and_a_round_gives_them_back():
    table = debating()
    back = {"type": "INIT_COMPLETE", "participants": table.context["participants"]}
    for count in (1, 2, 3):
        table.send(ERROR, "RETRY", back)
        assert table.context["retryCount"] == count
    fresh = Table(snapshot=table.now).send(round_of())

    assert table.send(ERROR, "RETRY").state == "error"
    assert fresh.context["retryCount"] == 0


@pytest.mark.requirement("S4-B8")
@pytest.mark.parametrize("before", [lambda: Table().send(START), lambda: debating().send("STOP")])
def test_retries_are_counted_wherever_the_error_was(before):
    """While models are opened, and while the judge decides."""
    table = before()
    state = table.state
    for _ in range(3):
        table.send(ERROR, "RETRY")
        if state == "judgeEvaluating":
            table.send({"type": "INIT_COMPLETE", "participants": table.context["participants"]})
        assert table.state == state

    assert table.send(ERROR, "RETRY").state == "error"


@pytest.mark.requirement("S4-08", "S4-14", "S4-47", "S4-74", "S4-80", "S4-82", "S4-108", "S4-B11")
@pytest.mark.parametrize(
    ("before", "state", "outcome"),
    [
        (Table, "completed", "stopped"),
        (lambda: Table().send(START), "completed", "stopped"),
        (begun, "completed", "stopped"),
        (debating, "judgeEvaluating", None),
        (lambda: debating().send("STOP"), "completed", "stopped"),
        (lambda: debating().send("PAUSE"), "completed", "stopped"),
        (lambda: debating().send(FATAL), "completed", "abandoned"),
    ],
)
def test_stopping_ends_the_debate_or_calls_the_judge(before, state, outcome):
    table = before().send("STOP")

    assert (table.state, table.context["outcome"]) == (state, outcome)


@pytest.mark.requirement("S4-B11", "S4.4-14")
def test_the_judge_can_be_called_at_once_and_hears_what_was_said():
    """JUDGE_NOW in debating and paused; a round cut short is kept and marked."""
    table = whole_round(acting())
    table.send(spoken(table, "for", "Half a round."), "JUDGE_NOW")

    assert table.state == "judgeEvaluating"
    last = table.context["rounds"][-1]
    assert (last["phase"], last["partial"], len(last["responses"])) == ("rebuttal", True, 1)
    [judge] = table.spawned
    assert "[rebuttal 1, for] Ada: Half a round." in judge["input"]["messages"][1]["parts"][0]["text"]
    assert debating().send("PAUSE", "JUDGE_NOW").state == "judgeEvaluating"
    assert begun().send("PAUSE", "JUDGE_NOW").state == "paused"


@pytest.mark.requirement("S4-B11")
def test_a_debate_paused_in_its_openings_can_be_judged_by_what_was_said():
    """By one opening too, which is kept as a round cut short."""
    table = acting()
    table.send(spoken(table, "for"), "PAUSE")
    table.send({"type": "REPLY.CANCELLED", "requestId": request(table, "against")}, "JUDGE_NOW")

    assert table.state == "judgeEvaluating"
    [opening] = table.context["rounds"]
    assert (opening["phase"], opening["partial"], len(opening["responses"])) == ("opening", True, 1)


@pytest.mark.requirement("S4-43", "S4-B15")
def test_all_rounds_complete_leads_to_the_judge():
    assert debating().send("ALL_ROUNDS_COMPLETE").state == "judgeEvaluating"


@pytest.mark.requirement("S4-09", "S4-30", "S4-94..S4-96")
def test_the_judge_is_given_the_transcript_and_its_tokens_are_counted():
    table = debating(judge={"name": "Zoe", "model": "openai:gpt-5", "evaluationCriteria": ["wit"]}).send("JUDGE_NOW")
    table.send(VERDICT)

    assert table.context["tokenUsage"]["openai:gpt-5"]["inputTokens"] == 2000
    acted = whole_round(acting(judge={"name": "Zoe", "evaluationCriteria": ["wit"]})).send("JUDGE_NOW")
    [judge] = acted.spawned
    assert (judge["id"], judge["input"]["criteria"], judge["input"]["participants"]) == (
        "judge",
        ["wit"],
        ["for", "against"],
    )
    rules, transcript = (message["parts"][0]["text"] for message in judge["input"]["messages"])
    assert "You are Zoe, the judge of a debate." in rules
    assert transcript.startswith(TOPIC)


@pytest.mark.requirement("S4-36", "S4-B28")
def test_equal_scores_are_a_tie_without_a_winner():
    tied = {
        "type": "VERDICT_READY",
        "verdict": {"scores": {"for": 70, "against": 70}, "winner": "for", "reasoning": "x"},
    }
    table = debating().send("STOP", tied)

    assert (table.context["verdict"]["winner"], table.context["verdict"]["tie"]) == (None, True)


@pytest.mark.requirement("S4-78", "S4-B28")
def test_a_judge_without_a_verdict_is_a_retryable_error_that_was_paid_for():
    table = whole_round(acting()).send("JUDGE_NOW")
    output = {"verdict": None, "error": {"code": "9006", "message": "no verdict that fits", "recoverable": False}}
    done = {"type": "xstate.done.actor.judge", "actorId": "judge"}
    table.send({**done, "output": {**output, "usage": {"input": 100, "output": 10}, "costUsd": 0.5}})

    assert (table.state, table.context["lastError"]["retryable"]) == ("error", True)
    assert table.context["costTracker"]["totalCost"] == "0.509"
    table.send("RETRY", {"type": "INIT_COMPLETE", "participants": table.context["participants"]})
    assert table.state == "judgeEvaluating"
    verdict = {"scores": {"for": 1, "against": 2}, "reasoning": "x"}
    table.send({**done, "output": {"verdict": verdict, "usage": {"input": 1, "output": 1}, "costUsd": 0.1, "at": 50}})
    assert (table.state, table.context["verdict"]["winner"], table.context["lastAt"]) == ("completed", "against", 50)


@pytest.mark.requirement("S4-11", "S4-12", "S4-97..S4-99", "S4-B22")
def test_a_completed_debate_tells_everything_and_is_final():
    """Transcript, verdict and costs, for good."""
    table = debating().send("STOP", VERDICT)

    told = {one["type"]: one for one in table.told}
    assert {"cost", "verdict", "result", "completed"} <= set(told)
    kept = told["result"]["result"]
    assert (kept["topic"], kept["outcome"], kept["verdict"]["winner"]) == (TOPIC, "verdict", "for")
    assert kept["statistics"]["for"] == {
        "turns": 1,
        "words": 3,
        "tokens": 1100,
        "cost": "0.0045",
        "averageLatencyMs": 0,
    }
    assert table.now.output == kept
    assert debate_machine.root.states["completed"].type == "final"


@pytest.mark.requirement("S4-B24", "S4.4-7")
def test_a_failing_debater_is_asked_again_alone_and_the_others_go_on():
    table = acting(format="roundtable", participants=seats("for", "against", "neutral"))
    table.send(broken(table, "for"))
    assert [one["id"] for one in table.spawned] == ["reply-for"]
    table.send(spoken(table, "against"), spoken(table, "neutral"))
    table.send(broken(table, "for"))

    assert table.state == "debating"
    [opening] = table.context["rounds"]
    failed = opening["responses"][0]
    assert (failed["participantId"], failed["failed"], failed["error"]["code"]) == ("for", True, "1002")
    assert [one["id"] for one in table.spawned] == ["reply-for"]  # in the next round it is asked again


@pytest.mark.requirement("S4-B24", "S4-B17")
def test_with_fewer_than_two_left_the_round_fails():
    """Retryable, with the name of who failed."""
    table = acting()
    table.send(broken(table, "for"))
    table.send(broken(table, "for"))

    error = table.context["lastError"]
    assert (table.state, error["type"], error["participantId"]) == ("error", "network", "for")
    assert error["retryable"]
    fatal = acting()
    fatal.send(broken(fatal, "for", code="9002", recoverable=False))
    assert (fatal.state, fatal.context["lastError"]["type"]) == ("error", "model_error")


@pytest.mark.requirement("S4-13")
def test_a_lost_process_pauses_the_debate_and_is_told_as_an_interruption():
    """An interrupted reply is asked for again when somebody resumes; what it cost is stated apart."""
    table = acting()
    table.send(spoken(table, "for"))
    lost = broken(table, "against", code="interrupted", usage={"input": 9}, costUsd=0.25)
    table.send(lost)

    assert (table.state, table.context["lost"]) == ("paused", True)
    tracker = table.context["costTracker"]
    assert (tracker["totalCost"], tracker["unseen"]) == ("0.0045", {"calls": 1, "cost": "0.25"})
    table.send("RESUME")
    assert [one["id"] for one in table.spawned] == ["reply-against"]
    assert not table.context["lost"]


def timed(**more):
    clock = SimulatedClock()
    actor = create_actor(debate_machine, input={"driver": "events"}, clock=clock).start()
    actor.send({**START, "config": config(**more)})
    context = actor.get_snapshot().context
    actor.send({"type": "INIT_COMPLETE", "participants": context["participants"], "prices": PRICES})
    return actor, clock


@pytest.mark.requirement("S4-04", "S4-B17", "S4-B24")
def test_an_opening_has_120_seconds_and_one_more_try():
    actor, clock = timed()
    assert OPENING_TIMEOUT_MS == 120_000
    clock.increment(119_999)
    assert actor.get_snapshot().context["attempts"] == {}
    clock.increment(1)
    assert (actor.get_snapshot().value, actor.get_snapshot().context["attempts"]["for"]) == ("awaitingArguments", 2)
    clock.increment(119_999)
    assert actor.get_snapshot().value == "awaitingArguments"
    clock.increment(1)

    error = actor.get_snapshot().context["lastError"]
    assert (actor.get_snapshot().value, error["type"], error["participantId"]) == ("error", "timeout", "for")
    assert error["retryable"]


@pytest.mark.requirement("S4-B17", "S4-28", "S4-107")
def test_a_round_has_the_time_it_was_configured_with():
    """60 s, then an error that names who is missing and can be retried."""
    actor, clock = timed()
    actor.send({"type": "ARGUMENTS_READY", "responses": replies()})
    actor.send({"type": "STREAM_COMPLETE", "participantId": "for", "content": "x"})
    clock.increment(59_999)
    assert actor.get_snapshot().matches("debating")
    clock.increment(1)

    error = actor.get_snapshot().context["lastError"]
    assert (error["type"], error["participantId"], error["retryable"]) == ("timeout", "against", True)


@pytest.mark.requirement("S4-B24")
def test_a_round_goes_on_without_who_is_late_if_enough_have_spoken():
    three = seats("for", "against", "neutral")
    actor, clock = timed(format="roundtable", participants=three)
    actor.send({"type": "ARGUMENTS_READY", "responses": replies("for", "against", "neutral")})
    for id in ("for", "neutral"):
        actor.send({"type": "STREAM_COMPLETE", "participantId": id, "content": "x"})
    clock.increment(60_000)

    snapshot = actor.get_snapshot()
    assert snapshot.value == {"debating": "processingRound"}
    assert [one["participantId"] for one in snapshot.context["responses"] if one.get("failed")] == ["against"]


@pytest.mark.requirement("S4-10", "S4-B17")
def test_the_judge_has_180_seconds():
    actor, clock = timed()
    actor.send({"type": "ARGUMENTS_READY", "responses": replies()})
    actor.send({"type": "STOP"})
    assert JUDGE_TIMEOUT_MS == 180_000
    clock.increment(179_999)
    assert actor.get_snapshot().value == "judgeEvaluating"
    clock.increment(1)

    snapshot = actor.get_snapshot()
    assert (snapshot.value, snapshot.context["lastError"]["type"]) == ("error", "timeout")
    assert snapshot.context["lastError"]["retryable"]


@pytest.mark.requirement("S4.4-15")
def test_a_person_can_say_something_and_the_debaters_hear_it():
    table = whole_round(acting())
    table.send({"type": "INTERJECT", "text": "And the cost?", "at": 7})
    table.send(spoken(table, "for"))

    said = [message["parts"][0]["text"] for message in table.spawned[0]["input"]["messages"]]
    assert "A listener says: And the cost?" in said
    assert table.context["interjections"] == [{"text": "And the cost?", "phase": "rebuttal", "roundNumber": 1, "at": 7}]
    assert Table().send({"type": "INTERJECT", "text": "Too soon"}).context["interjections"] == []


@pytest.mark.requirement("S4-B22", "S4-117")
def test_there_are_the_eight_states_of_the_seed():
    known = {"idle", "initializing", "awaitingArguments", "debating", "judgeEvaluating", "completed", "paused", "error"}

    assert set(debate_machine.root.states) == known
    assert set(debate_machine.root.states["debating"].states) == {"collectingResponses", "processingRound"}
    assert initial_transition(debate_machine)[0].value == "idle"
