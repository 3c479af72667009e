"""What is debate of a debate: where it is, what it costs, how it goes, and which keys do something."""

import io
from decimal import Decimal

import pytest

from antiphon.cli.debate import format as formatting
from antiphon.cli.debate.controller import KEYS, hint, keys_now
from antiphon.cli.debate.plain_view import next_step, write_verdict
from antiphon.cli.debate.state import DebateState
from antiphon.threads.activity import Activity
from tests.fixtures.charts import load_chart

EVENTS = {"p": "PAUSE", "j": "JUDGE_NOW", "i": "INTERJECT", "a": "ACKNOWLEDGE_WARNING", "l": "RAISE_LIMIT", "q": "STOP"}
COSTS = {
    "totalCost": "0",
    "warnings": [],
    "warningThreshold": None,
    "limitThreshold": None,
    "overshoot": "0",
    "unpriced": 0,
}
QUALITY = {"novelty": 4.0, "repetition": 9.5, "convergence": 1.0, "health": 4.4, "loops": [], "contradictions": []}


def debate_state(**facts):
    participants = [
        {"id": "for", "name": "Ada", "position": "for", "color": "#2f6fde", "model": {"modelId": "m"}},
        {"id": "against", "name": "Bruno", "position": "against", "color": "#d1495b", "model": {"modelId": "m"}},
    ]
    judge = {"id": "judge", "name": "Judge", "model": {"modelId": "m"}}
    return DebateState("d1", "A topic to talk about", "oxford", 2, participants, judge, costs=COSTS, **facts)


def apply(debate, kind, at=0, **facts):
    debate.apply(Activity(1, at, kind, facts, facts.get("participantId")))


def in_state(state, **error):
    found = debate_state()
    apply(found, "state", state=state, phase="opening", roundNumber=0, maxRounds=2)
    if error:
        apply(found, "error", error={"message": "no", "retryable": False, **error}, costTracker=COSTS)
    return found


def recorded(phase, number, **quality):
    one = {"phase": phase, "roundNumber": number, "responses": [], "costThisRound": "0.01"}
    return {**one, "quality": {**QUALITY, **quality}}


@pytest.mark.requirement("S4-45..S4-47")
@pytest.mark.parametrize(
    ("state", "keys"),
    [
        ("initializing", "pq"),
        ("awaitingArguments", "piq"),
        ("debating", "pjiq"),
        ("judgeEvaluating", "pq"),
        ("paused", "riq"),
    ],
)
def test_only_what_can_be_done_now_is_offered(state, keys):
    """And the chart takes it."""
    chart = load_chart("debate")
    taken = {*chart["on"], *chart["states"][state]["on"]}

    assert keys_now(in_state(state)) == list(keys)
    assert {EVENTS.get(key, "RESUME") for key in keys} <= taken


@pytest.mark.requirement("S4-59", "S4-B8")
def test_what_failed_can_be_tried_again_three_times():
    debate = in_state("error", type="timeout", retryable=True)
    tries = 0
    while "r" in keys_now(debate):
        tries += 1
        apply(debate, "state", state="initializing", phase="opening", roundNumber=0, maxRounds=2)
        apply(debate, "state", state="error", phase="opening", roundNumber=0, maxRounds=2)
        apply(debate, "error", error={"type": "timeout", "message": "no", "retryable": True}, costTracker=COSTS)

    assert tries == 3
    assert keys_now(debate) == ["q"]


def test_want_of_money_is_helped_by_money_only():
    debate = in_state("error", type="cost_limit", estimate="0.25")

    assert keys_now(debate) == ["l", "q"]
    assert formatting.state_line(debate) == ("cost limit reached; the next call may cost $0.25", "wrong")
    assert next_step(debate) == "continue with: antiphon debate --resume d1 --limit USD"


def test_a_paused_debate_in_which_something_was_said_can_be_judged():
    debate = in_state("paused")
    apply(debate, "turn_started", participantId="for", phase="opening", roundNumber=1)
    apply(debate, "turn_ended", participantId="for", end="whole")
    debate.status = "stopped"

    assert "j" in keys_now(debate)
    assert hint(debate) == "r resume · j judge now · i interject · q stop · Ctrl-C leave it as it is"


def test_every_key_does_something_in_some_state():
    broke = in_state("error", type="cost_limit")
    warned = in_state("debating")
    apply(warned, "cost_warning", warning={"threshold": "1", "currentCost": "1"})
    offered = {*keys_now(broke), *keys_now(warned), *keys_now(in_state("paused"))}

    assert offered == set(KEYS)


def test_the_track_has_a_lamp_for_every_phase_and_is_short_where_it_must():
    debate = in_state("debating")
    apply(debate, "round_recorded", round=recorded("opening", 1))
    apply(debate, "state", state="debating", phase="rebuttal", roundNumber=1, maxRounds=2)

    assert formatting.text_of(formatting.track(debate, 80)) == "● openings ── ◉ round 1 ── ○ closing ── ○ verdict"
    assert formatting.text_of(formatting.track(debate, 40)) == "●openings ◉1 ○closing ○verdict"
    assert formatting.text_of(formatting.track(debate, 10)) == "●openings…"


@pytest.mark.requirement("S4-B26")
@pytest.mark.parametrize(("format", "last"), [("oxford", "closing"), ("lincoln-douglas", "round 2")])
def test_only_an_oxford_debate_has_a_closing(format, last):
    debate = debate_state()
    debate.format = format

    assert formatting.text_of(formatting.track(debate, 80)).split(" ── ")[-2] == f"○ {last}"


@pytest.mark.requirement("S4-34")
def test_the_meter_has_ticks_where_it_warns_and_stops():
    debate = debate_state()
    apply(debate, "cost", **{**COSTS, "totalCost": "0.5", "warningThreshold": "0.75", "limitThreshold": "1"})
    meter = formatting.text_of(formatting.meter(debate, 110))

    assert meter == f"$0.50 {'█' * 15}{'░' * 7}┊{'░' * 7}┃ warns at $0.75 · stops at $1.00"


def test_without_limits_the_meter_is_the_amount_and_what_a_round_costs():
    debate = debate_state()
    apply(debate, "round_recorded", round=recorded("opening", 1))
    apply(debate, "cost", **{**COSTS, "totalCost": "0.01234"})

    assert formatting.text_of(formatting.meter(debate, 80)) == "$0.0123 +$0.01 per round"


def test_what_a_turn_cost_is_what_was_spent_with_its_end():
    debate = debate_state()
    apply(debate, "cost", **{**COSTS, "totalCost": "1"})
    apply(debate, "turn_started", 1000, participantId="for", phase="opening", roundNumber=1)
    apply(debate, "turn_ended", 2500, participantId="for", end="whole")
    apply(debate, "cost", **{**COSTS, "totalCost": "1.25"})

    assert debate.turns["for"].cost_usd == Decimal("0.25")
    assert formatting.turn_status(debate, debate.turns["for"], 9000) == ("spoke for 1.5 s · $0.25", "quiet")


def test_circles_and_contradictions_are_named():
    debate = debate_state()
    claims = [{"participantId": "for", "earlier": "Cars are loud", "now": "Cars are not loud"}]
    apply(debate, "round_recorded", round=recorded("opening", 1, loops=["against"], contradictions=claims))
    line = formatting.text_of(formatting.quality(debate))

    assert line.startswith("health 4.4 of 10 (novelty 4.0 · repetition 9.5 · convergence 1.0)")
    assert "Bruno repeats arguments" in line
    assert "Ada contradicts an earlier claim" in line


@pytest.mark.requirement("S4-B6")
def test_a_round_is_taken_once():
    debate = debate_state()
    for _ in range(2):
        apply(debate, "round_recorded", round=recorded("opening", 1))

    assert len(debate.rounds) == 1


@pytest.mark.requirement("S4-B28")
def test_a_tie_and_the_turns_it_refers_to_are_told():
    debate = debate_state()
    turns = [
        {"participantId": "for", "phase": "rebuttal", "round": 1},
        {"participantId": "x", "phase": "?", "round": 1},
    ]
    scores = {"for": 70, "against": 70}
    verdict = {"winner": None, "tie": True, "scores": scores, "criteria": {"argument": scores}, "references": turns}
    apply(debate, "verdict", verdict=verdict)

    assert formatting.decision(debate) == "A tie"
    assert formatting.format_references(debate) == "refers to Ada in round 1"


@pytest.mark.parametrize("cells", [30, 60, 110])
def test_the_rows_of_a_verdict_fit_and_stand_below_each_other(cells):
    debate = debate_state()
    criteria = {"argument": {"for": 100, "against": 0}, "evidence": {"for": 33.5, "against": 50}}
    apply(debate, "verdict", verdict={"winner": "for", "scores": {"for": 80, "against": 40}, "criteria": criteria})
    rows = [formatting.text_of(row) for row in formatting.score_table(debate, cells)]

    assert {len(row) for row in rows} == {len(rows[0])}
    assert len(rows[0]) <= cells
    assert len(rows) == 4


@pytest.mark.parametrize(
    ("id", "name"),
    [
        ("claude-sonnet-5-5", "claude-sonnet-5-5"),
        ("llama3:8b", "llama3:8b"),
        ("//127.0.0.1:8000/v1:llama", "llama"),
        ("/home/me/debate.toml", "debate.toml"),
    ],
)
def test_a_model_is_called_by_a_word(id, name):
    assert formatting.model_name({"modelId": id}) == name


@pytest.mark.requirement("S4-124")
def test_criteria_in_words_are_lines_of_their_own():
    debate = debate_state()
    criteria = {"clarity": "Both were\x1b clear.", "evidence": {"for": "much", "against": 3}}
    verdict = {"winner": "for", "scores": {"for": 80, "against": 40}, "criteria": criteria, "reasoning": "So."}
    apply(debate, "verdict", verdict={**verdict, "tie": False, "references": []})
    out = io.StringIO()
    write_verdict(out, debate)

    lines = out.getvalue().splitlines()
    assert [line for line in lines if line.startswith("clarity")] == ["clarity: Both were clear."]
    assert "much" in next(line for line in lines if line.startswith("evidence"))
