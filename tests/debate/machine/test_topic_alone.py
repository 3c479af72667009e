"""A debate that starts with a topic alone: its debaters and its judge come with INIT_COMPLETE."""

import pytest

from antiphon import SimulatedClock, create_actor
from antiphon.debate.machine.debate import debate_machine
from tests.fixtures.debate_machine import PRICES, SONNET, TOPIC, VERDICT, Table, replies, round_of, seats

TOPIC_ALONE = {"type": "START_DEBATE", "config": {"topic": TOPIC, "maxRounds": 1}, "at": 1}
AGAINST = seats("against")[0]
KEY = {**SONNET, "apiKey": "k"}
READY = {"type": "INIT_COMPLETE", "participants": seats("for", "against")}


@pytest.mark.requirement("S4-123", "S4-61")
def test_a_topic_alone_starts_a_debate():
    table = Table().send(TOPIC_ALONE)

    assert (table.state, table.context["participants"], table.context["judge"]) == ("initializing", [], None)
    assert (table.context["config"]["topic"], table.context["config"]["format"]) == (TOPIC, "oxford")


@pytest.mark.requirement("S4-123", "S4-B16")
def test_a_whole_debate_is_held_from_a_topic_alone():
    opened = Table().send(TOPIC_ALONE, READY, {"type": "ARGUMENTS_READY", "responses": replies()})
    table = opened.send(round_of(), VERDICT)

    assert (table.state, table.context["outcome"]) == ("completed", "verdict")
    assert table.context["config"]["participants"] == table.context["participants"]


@pytest.mark.requirement("S4-123")
def test_models_of_debaters_may_be_text_or_parts_of_one():
    models = ["openai:gpt-5", {"provider": "mistral", "modelId": "large"}]
    debaters = [{**seat, "model": model} for seat, model in zip(seats("for", "against"), models, strict=True)]
    start = {**TOPIC_ALONE, "config": {"topic": TOPIC, "maxTokens": 77}}
    table = Table().send(start, {**READY, "participants": debaters, "judge": {"model": "openai:gpt-6"}})

    whole = {"temperature": None, "maxTokens": 77}
    expected = [{"provider": "openai", "modelId": "gpt-5", **whole}, {**models[1], **whole}]
    assert [debater["model"] for debater in table.context["participants"]] == expected
    assert table.context["judge"]["model"] == {"provider": "openai", "modelId": "gpt-6", **whole}
    assert [debater["name"] for debater in table.context["participants"]] == ["Ada", "Bruno"]


@pytest.mark.requirement("S4-123")
def test_debaters_named_by_text_do_not_end_the_actor_later():
    debaters = [{**seat, "model": "openai:gpt-5"} for seat in seats("for", "against")]
    actor = create_actor(debate_machine, input={"driver": "events"}, clock=SimulatedClock()).start()
    ready = {**READY, "participants": debaters}
    chunk = {"type": "STREAM_CHUNK", "participantId": "for", "chunk": "I am for."}
    end = {"type": "STREAM_COMPLETE", "participantId": "for", "tokensUsed": 5}
    for event in (TOPIC_ALONE, ready, chunk, end):
        actor.send(event)

    snapshot = actor.get_snapshot()
    assert (snapshot.status, snapshot.value) == ("active", "awaitingArguments")
    assert list(snapshot.context["tokenUsage"]) == ["openai:gpt-5"]


@pytest.mark.requirement("S4-123", "S4-B2")
@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"participants": []}, "participants"),
        ({"participants": ["for", "against"]}, "participants[0]"),
        ({"participants": seats("for", "neutral")}, "participants"),
        ({"participants": [*seats("for"), {**AGAINST, "model": "sonnet"}]}, "participants[1].model"),
        ({"participants": [*seats("for"), {**AGAINST, "model": KEY}]}, "participants[1].model.apiKey"),
        ({"judge": {"evaluationCriteria": []}}, "judge.evaluationCriteria"),
    ],
)
def test_debaters_and_judge_are_checked_like_a_configuration(change, field):
    table = Table().send(TOPIC_ALONE, {**READY, **change})

    error = table.context["lastError"]
    assert (table.state, error["type"], error["field"], error["retryable"]) == ("error", "validation", field, False)
    assert table.context["participants"] == []


@pytest.mark.requirement("S4-123")
def test_the_judge_of_the_start_keeps_its_name_and_takes_the_first_model():
    start = {**TOPIC_ALONE, "judge": {"name": "Zoe"}}
    table = Table().send(start, READY)

    assert (table.context["judge"]["name"], table.context["judge"]["model"]) == ("Zoe", SONNET)


@pytest.mark.requirement("S4-123", "S4-B18")
def test_models_that_come_from_outside_are_opened_before_anybody_speaks():
    table = Table({"driver": "actors"}).send(TOPIC_ALONE)
    assert table.spawned == []
    table.send(READY)
    assert (table.state, [child["id"] for child in table.spawned]) == ("initializing", ["initialiser"])

    table.send({"type": "xstate.done.actor.initialiser", "actorId": "initialiser", "output": {"prices": PRICES}})
    assert (table.state, table.context["prices"]) == ("awaitingArguments", PRICES)


@pytest.mark.requirement("S4-123")
@pytest.mark.parametrize("config", [{}, {"topic": "short"}, {"topic": TOPIC, "participants": seats("for")}])
def test_what_a_start_brings_is_still_checked(config):
    table = Table().send({"type": "START_DEBATE", "config": config})

    assert (table.state, table.context["lastError"]["type"]) == ("error", "validation")


@pytest.mark.requirement("S4-B21")
def test_a_message_starts_no_debate_without_debaters():
    table = Table().send({"type": "message", "text": TOPIC})

    assert (table.state, table.context["lastError"]["field"]) == ("error", "participants")


@pytest.mark.requirement("S4-B12", "S4-08")
def test_a_debate_that_can_afford_no_opening_is_not_judged():
    start = {**TOPIC_ALONE, "config": {"topic": TOPIC, "costLimit": 0.11, "onCostLimit": "judge"}}
    dear = {"anthropic:claude-sonnet-4-5": {"input": "3000", "output": "15000"}}
    table = Table({"driver": "actors"}).send(start, {**READY, "prices": dear})

    assert (table.state, table.context["lastError"]["type"], table.context["rounds"]) == ("error", "cost_limit", [])
    assert table.send({"type": "RAISE_LIMIT", "costLimit": 1000}).state == "awaitingArguments"


@pytest.mark.requirement("S4-09")
@pytest.mark.parametrize("end", ["STOP", "JUDGE_NOW", "ALL_ROUNDS_COMPLETE"])
def test_a_debate_is_never_judged_with_nothing_said(end):
    silent = [{"participantId": id, "content": " ", "tokensUsed": 1} for id in ("for", "against")]
    table = Table().send(TOPIC_ALONE, READY, {"type": "ARGUMENTS_READY", "responses": silent}, end)

    assert (table.state, table.context["lastError"]["retryable"]) == ("error", False)
    assert "nothing to judge" in table.context["lastError"]["message"]
    assert {"judging"}.isdisjoint(event["type"] for event in table.told)
