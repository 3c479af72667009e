"""What a debate costs: charged exactly, warned of once, and never more than the limit by what was in flight."""

from decimal import Decimal

import pytest

from antiphon.debate.machine import ledger
from antiphon.debate.machine.config import complete
from tests.fixtures.debate_machine import (
    PRICES,
    SONNET,
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
    spoken,
    whole_round,
)

MODEL = "anthropic:claude-sonnet-4-5"
WARNED = {"type": "COST_WARNING", "warning": {"threshold": 3.0, "currentCost": 3.15, "acknowledged": False}}


def dear(table, id, cost):
    return spoken(table, id, cost=cost)


@pytest.mark.requirement("S4-24", "S4-35", "S4-105", "S4-114", "S4-B14")
def test_input_output_and_cached_tokens_are_counted_and_priced_apart():
    """1000 tokens are not billed twice."""
    usage = {"input": 1000, "output": 200, "cachedRead": 400, "cachedWrite": 100}
    said = [reply("for", usage=usage), reply("against", usage={"input": 0, "output": 1000})]
    table = begun().send({"type": "ARGUMENTS_READY", "responses": said})

    # (500 x 3 + 400 x 0.3 + 100 x 3.75 + 200 x 15) / 1e6 and 1000 x 15 / 1e6
    first, second = table.context["rounds"][0]["responses"]
    assert (first["cost"], second["cost"]) == ("0.004995", "0.015")
    used = table.context["tokenUsage"][MODEL]
    assert (used["inputTokens"], used["outputTokens"]) == (1000, 1200)
    assert (used["cachedReadTokens"], used["cachedWriteTokens"]) == (400, 100)
    assert (used["totalCost"], used["requestCount"], used["estimated"]) == ("0.019995", 2, False)
    assert table.context["costTracker"]["costByModel"] == {MODEL: "0.019995"}


@pytest.mark.requirement("S4-B14")
def test_a_bare_total_counts_as_output_and_is_marked():
    bare = [{"participantId": id, "content": "x", "tokensUsed": 1000} for id in ("for", "against")]
    table = begun().send({"type": "ARGUMENTS_READY", "responses": bare})

    assert table.context["rounds"][0]["costThisRound"] == "0.03"
    assert table.context["tokenUsage"][MODEL]["estimated"]


@pytest.mark.requirement("S4-23", "S4-114", "S4-122")
def test_what_the_provider_says_wins_over_the_table_and_adds_up_without_error():
    """Ten times a tenth is one."""
    table = acting(maxRounds=5)
    for _ in range(10):
        table.send(dear(table, next(iter(table.context["activeStreams"])), 0.1))

    assert table.context["costTracker"]["totalCost"] == "1"


def test_a_call_without_a_price_is_counted_as_such():
    table = begun()
    table.now.context["prices"].clear()
    table.send({"type": "ARGUMENTS_READY", "responses": replies()})

    assert (table.context["costTracker"]["totalCost"], table.context["costTracker"]["unpriced"]) == ("0", 2)


@pytest.mark.requirement("S4-34", "S4-38", "S4-50", "S4-51", "S4-58", "S4-72", "S4-93", "S4-108", "S4-B13")
def test_crossing_the_threshold_warns_once_and_the_debate_goes_on():
    table = acting(warnAtCost=0.3)
    table.send(dear(table, "for", 0.25))
    assert table.context["costTracker"]["warnings"] == []
    table.send(dear(table, "against", 0.25))

    [warning] = table.context["costTracker"]["warnings"]
    assert warning == {"threshold": "0.3", "currentCost": "0.5", "timestamp": 5, "acknowledged": False}
    assert table.state == "debating"
    table.send("ACKNOWLEDGE_WARNING")
    assert table.context["costTracker"]["warnings"][0]["acknowledged"]
    table.send(dear(table, "for", 0.25))
    assert len(table.context["costTracker"]["warnings"]) == 1


@pytest.mark.requirement("S4-58")
def test_reaching_the_threshold_is_crossing_it():
    """As much as the threshold, not more."""
    table = acting(warnAtCost=0.5)

    assert table.send(dear(table, "for", 0.49)).context["costTracker"]["warnings"] == []
    assert len(table.send(dear(table, "against", 0.01)).context["costTracker"]["warnings"]) == 1


@pytest.mark.requirement("S4-72", "S4-B13")
@pytest.mark.parametrize("before", [begun, debating, lambda: debating().send("STOP"), lambda: debating().send("PAUSE")])
def test_warnings_are_taken_and_acknowledged_wherever_the_debate_is(before):
    """A warning from outside too, once for its threshold."""
    table = before()
    state = table.state
    table.send(WARNED)
    assert any(one["type"] == "cost_warning" for one in table.told)
    table.send(WARNED, "ACKNOWLEDGE_WARNING")

    assert table.state == state
    assert [one["acknowledged"] for one in table.context["costTracker"]["warnings"]] == [True]


def test_an_acknowledgement_without_a_warning_is_refused():
    table = debating()

    assert not table.now.can({"type": "ACKNOWLEDGE_WARNING"})
    assert not Table().now.can(WARNED)


@pytest.mark.requirement("S4-08", "S4-57", "S4-76", "S4-111", "S4-B12", "S4-B20")
def test_reaching_the_limit_is_an_error_that_cannot_be_retried():
    """Charged in debating, the machine goes to error by itself."""
    table = whole_round(acting(costLimit=5.0))
    table.send(dear(table, "for", 5.5))

    assert table.state == "error"
    error = table.context["lastError"]
    assert (error["type"], error["message"], error["retryable"]) == ("cost_limit", "Cost limit exceeded", False)
    assert table.context["costTracker"]["overshoot"] == "0.509"
    assert not table.now.can({"type": "RETRY"})
    assert table.spawned == []


@pytest.mark.requirement("S4-B12")
def test_the_limit_holds_in_the_openings_too():
    """After every charge in all active states."""
    table = acting(costLimit=5.0)
    table.send(dear(table, "for", 5.0))

    assert (table.state, table.context["lastError"]["type"]) == ("error", "cost_limit")


@pytest.mark.requirement("S4-08", "S4-60", "S4-B12")
def test_the_limit_can_lead_to_the_judge_instead():
    """OnCostLimit."""
    table = whole_round(acting(costLimit=5.0, onCostLimit="judge"))
    table.send(dear(table, "for", 5.5))

    assert table.state == "judgeEvaluating"
    assert [one["id"] for one in table.spawned] == ["judge"]
    assert table.context["rounds"][-1]["partial"]
    table.send(VERDICT)
    assert table.context["outcome"] == "verdict"


@pytest.mark.requirement("S4-B12", "X-14")
def test_no_call_is_made_that_might_break_the_limit():
    """An estimate before every call, with what the calls on their way may cost."""
    table = acting(costLimit=0.11)
    assert set(table.context["activeStreams"]) == {"for", "against"}
    table.send(dear(table, "for", 0.05), dear(table, "against", 0.05))

    error = table.context["lastError"]
    assert (table.state, error["type"]) == ("error", "cost_limit")
    assert Decimal(error["estimate"]) + Decimal("0.1") > Decimal("0.11")
    assert table.spawned == []
    assert table.context["costTracker"]["overshoot"] == "0"


@pytest.mark.requirement("S4-B12")
def test_the_calls_on_their_way_are_reserved():
    """Two openings of up to 0.0602 each do not both fit into 0.11."""
    model = {"provider": "anthropic", "modelId": "claude-sonnet-4-5", "maxTokens": 4000}
    sides = [{"id": id, "position": id, "model": model} for id in ("for", "against")]
    table = acting(costLimit=0.11, participants=sides)

    assert (table.state, [one["id"] for one in table.spawned]) == ("error", ["reply-for"])


@pytest.mark.requirement("S4-B12")
def test_a_reply_is_not_asked_for_again_when_with_the_others_on_their_way_it_might_be_too_dear():
    """0.08 are spent and 0.0154 on their way, so that another 0.0154 do not fit into 0.11."""
    table = acting(costLimit=0.11)
    table.send(broken(table, "for", usage={"input": 1, "output": 1}, costUsd=0.08))

    assert (table.state, table.context["lastError"]["type"], table.spawned) == ("error", "cost_limit", [])
    roomy = acting(costLimit=0.12)
    roomy.send(broken(roomy, "for", usage={"input": 1, "output": 1}, costUsd=0.08))
    assert [one["id"] for one in roomy.spawned] == ["reply-for"]


@pytest.mark.requirement("S4-B12")
def test_when_the_limit_leads_to_a_verdict_the_verdict_is_reserved():
    table = acting(costLimit=0.11, onCostLimit="judge")
    table.send(dear(table, "for", 0.04), dear(table, "against", 0.04))

    assert table.state == "judgeEvaluating"
    assert table.context["costTracker"]["overshoot"] == "0"


def test_the_judge_too_is_estimated_when_the_limit_is_an_error():
    table = whole_round(acting(costLimit=0.11, judge={"model": {**SONNET, "maxTokens": 6000}}))
    table.send(dear(table, "for", 0.05), "JUDGE_NOW")

    assert (table.state, table.context["resumeTarget"]) == ("error", "judgeEvaluating")


@pytest.mark.requirement("S4-B25")
def test_a_higher_limit_leads_back_to_where_it_was():
    """Same round, nothing repeated."""
    table = whole_round(acting(costLimit=5.0))
    table.send(dear(table, "for", 5.5))
    for wrong in (5.0, "6", None, True):
        assert table.send({"type": "RAISE_LIMIT", "costLimit": wrong}).state == "error"
    table.send({"type": "RAISE_LIMIT", "costLimit": 8.0})

    assert (table.state, table.context["currentRound"], table.context["config"]["costLimit"]) == ("debating", 1, 8.0)
    assert [one["id"] for one in table.spawned] == ["reply-against"]
    assert table.context["costTracker"]["overshoot"] == "0"


@pytest.mark.requirement("S4-B11")
def test_a_debate_given_up_for_want_of_money_says_so():
    table = whole_round(acting(costLimit=5.0))
    table.send(dear(table, "for", 5.5), "STOP")

    assert (table.state, table.context["outcome"]) == ("completed", "cost_limit")


def test_a_limit_can_be_raised_before_it_is_reached():
    assert (
        debating(costLimit=1.0).send({"type": "RAISE_LIMIT", "costLimit": 2.0}).context["costTracker"]["limitThreshold"]
        == "2"
    )


@pytest.mark.requirement("S4-111", "S4-B20")
def test_the_seeds_own_test_of_the_limit_holds_from_a_snapshot():
    """Costs of 5.5 with a limit of 5, in debating."""
    table = debating(costLimit=5.0)
    table.now.context["costTracker"]["totalCost"] = 5.5
    table.send({"type": "STREAM_CHUNK", "participantId": "for", "chunk": "x"})

    assert (table.state, table.context["lastError"]["type"]) == ("error", "cost_limit")


def test_what_is_cut_off_without_a_report_is_stated_apart():
    table = acting().send("STOP")

    unseen = table.context["costTracker"]["unseen"]
    assert (table.context["outcome"], unseen["calls"]) == ("stopped", 2)
    assert Decimal(unseen["cost"]) > 0


def unseen_calls(table):
    unseen = table.context["costTracker"]["unseen"]
    assert (Decimal(unseen["cost"]) > 0) == (unseen["calls"] > 0)
    return unseen["calls"]


def judged():
    table = whole_round(whole_round(whole_round(acting())))
    assert table.state == "judgeEvaluating"
    return table


@pytest.mark.parametrize(
    "end",
    [
        {"type": "PAUSE"},
        {"type": "STOP"},
        {"type": "ERROR", "error": {"type": "network", "message": "gone", "retryable": True}},
        {"type": "xstate.after.judgeTimeout.debate.judgeEvaluating"},
        {"type": "xstate.error.actor.judge", "error": {"code": "interrupted", "message": "gone"}},
    ],
)
def test_a_judge_whose_answer_nobody_saw_is_stated_apart(end):
    judging = judged()
    assert unseen_calls(judging) == 0

    assert unseen_calls(judging.send(end)) == 1


@pytest.mark.requirement("S4-B11")
def test_stopping_while_the_judge_decides_states_late_replies_apart_too():
    """A debater's reply was cancelled and has not told what it used."""
    table = whole_round(acting()).send("JUDGE_NOW", "STOP")

    assert (table.state, unseen_calls(table)) == ("completed", 2)


def test_a_judge_who_has_answered_or_was_not_asked_is_not_unseen():
    answered = judged().send(
        {"type": "xstate.done.actor.judge", "output": {"verdict": None, "usage": {"input": 1}, "costUsd": 1}}
    )
    too_dear = whole_round(acting(costLimit=0.11, judge={"model": {**SONNET, "maxTokens": 6000}}))
    too_dear.send(dear(too_dear, "for", 0.05), "PAUSE")
    too_dear.send({"type": "REPLY.CANCELLED", "requestId": request(too_dear, "against")}, "JUDGE_NOW")

    assert (answered.state, unseen_calls(answered)) == ("error", 0)
    assert (too_dear.state, unseen_calls(too_dear)) == ("error", 0)


@pytest.mark.requirement("S4-B17", "S4-B24")
def test_replies_given_up_because_time_is_up_are_stated_apart():
    late = acting().send({"type": "DEBATER_TIMEOUT", "participantId": "for"})
    sides = [{"id": id, "position": id, "model": SONNET} for id in ("for", "against", "neutral")]
    round = whole_round(acting(format="roundtable", participants=sides))
    round.send(spoken(round, "for"))
    round.send(spoken(round, "against"))
    round.send({"type": "xstate.after.roundTimeout.debate.debating.collectingResponses"})

    assert unseen_calls(late) == 1
    assert set(late.context["activeStreams"]) == {"for", "against"}
    assert (round.context["currentRound"], unseen_calls(round)) == (2, 1)


@pytest.mark.requirement("S4-B9", "S4-B10")
def test_replies_that_have_not_said_what_they_used_before_a_debate_goes_on_are_stated_apart():
    """Cancelled, and resumed before the reply could tell."""
    table = acting().send("PAUSE")
    assert unseen_calls(table) == 0
    table.send("RESUME")

    assert (table.state, unseen_calls(table)) == ("awaitingArguments", 2)


@pytest.mark.parametrize(("value", "text"), [("0.10", "0.1"), ("100", "100"), ("1E-7", "0.0000001"), ("0.0", "0")])
def test_amounts_are_plain_texts(value, text):
    assert ledger.format_amount(Decimal(value)) == text


@pytest.mark.requirement("S4-114")
def test_prices_are_looked_up_once_and_kept():
    assert begun().context["prices"] == PRICES
    assert complete(config())["costLimit"] is None
    assert round_of()["type"] == "ROUND_COMPLETE"
