"""Signals of a debate's quality, early stops, and how much of the transcript a debater is given."""

import sys

import pytest

from antiphon.debate.machine.quality import quality_of, reason_to_stop
from antiphon.debate.machine.transcript import clip, fit_speeches
from tests.fixtures.debate_machine import debating, reply, round_of

NEW = ["one two three four five", "six seven eight nine ten"]


def said(*texts):
    return [reply(id, text) for id, text in zip(("for", "against", "neutral"), texts, strict=False)]


def before(*texts):
    return [{"responses": said(*texts)}]


@pytest.mark.requirement("S4.4-5", "S4.4-10")
def test_new_words_are_novel_and_old_ones_are_not():
    fresh, stale = quality_of(before(*NEW), said("a b c d", "e f g h")), quality_of(before(*NEW), said(*NEW))

    assert (fresh["novelty"], fresh["repetition"], fresh["health"]) == (10, 0, 10)
    assert (stale["novelty"], stale["repetition"], stale["health"]) == (0, 10, 3)
    assert stale["loops"] == ["against", "for"]


def test_sides_that_say_the_same_converge():
    assert quality_of([], said("we agree on this", "we agree on this"))["convergence"] == 10


@pytest.mark.requirement("S4.4-10")
def test_a_speaker_who_says_the_opposite_contradicts_himself_and_others_do_not():
    earlier = before("Closed streets help the shops.", "Nobody shops on foot.")
    answer = "Closed streets never help the shops."

    assert quality_of(earlier, said("x", answer))["contradictions"] == []
    assert quality_of(earlier, said(answer, "x"))["contradictions"] == [
        {
            "participantId": "for",
            "earlier": "Closed streets help the shops",
            "now": "Closed streets never help the shops",
        }
    ]


@pytest.mark.requirement("S4.4-5")
@pytest.mark.parametrize(
    ("number", "more", "reason"),
    [
        (1, {"repetition": 8.5}, "repetition"),
        (1, {"convergence": 8.5}, "convergence"),
        (3, {"novelty": 2.9}, "low novelty"),
        (2, {"novelty": 2.9}, None),
        (5, {}, None),
    ],
)
def test_there_are_three_reasons_to_stop_early(number, more, reason):
    """Novelty below 3 counts from round 3 on."""
    assert reason_to_stop(number, {"novelty": 5, "repetition": 0, "convergence": 0, **more}) == reason


@pytest.mark.requirement("S4.4-5")
def test_a_debate_that_turns_in_circles_stops_early_only_if_it_is_to():
    same = round_of()
    early, patient = debating(maxRounds=5, earlyStop=True).send(same), debating(maxRounds=5).send(same)

    assert (early.state, early.context["stoppedEarly"]) == ("judgeEvaluating", "repetition")
    assert (patient.state, patient.context["stoppedEarly"]) == ("debating", None)
    assert patient.context["rounds"][-1]["quality"]["loops"] == ["against", "for"]


def turns(count, size=400):
    return [{"speaker": "for", "text": f"{number:03}" + "x" * (size - 3)} for number in range(count)]


@pytest.mark.requirement("S4.4-6")
def test_a_long_debate_is_told_with_its_first_and_its_last_turns():
    kept = fit_speeches(turns(20), 500)  # 2000 characters: the first turn, and four more

    assert [turn["text"][:3] for turn in kept if turn["speaker"]] == ["000", "016", "017", "018", "019"]
    assert (kept[1]["speaker"], kept[1]["text"]) == (None, "[15 turns are left out here]")
    assert fit_speeches(turns(4), 500) == turns(4)
    assert fit_speeches([], 500) == []


def test_the_last_turn_is_kept_however_long_it_is_without_its_middle():
    [first, last] = fit_speeches([*turns(1), {"speaker": "against", "text": "a" * 5000 + "z" * 5000}], 500)

    assert first == turns(1)[0]
    assert len(last["text"]) < 1100
    assert (last["text"][0], last["text"][-1]) == ("a", "z")
    assert clip("short", 10) == "short"


def test_each_speech_of_a_long_debate_is_taken_apart_once():
    """Not once for every other that it is held against: a step that takes long holds up everyone."""
    words = [f"w{number * 7919 % 2003}" for number in range(70)]
    speeches = [reply(id, " ".join(words[place:] + words[:place])) for place, id in enumerate("abcd")]
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        quality_of([{"responses": speeches}] * 10, speeches)
    finally:
        sys.setprofile(None)

    assert calls < 800


@pytest.mark.requirement("S4.4-6")
def test_the_last_turn_is_kept_however_little_may_be_said():
    """The first and the last turn are always there, without their middles."""
    turns = [{"speaker": id, "text": id * 1000} for id in "ab"]
    kept = fit_speeches(turns, 50)

    assert [turn["speaker"] for turn in kept] == ["a", "b"]
    assert all(len(turn["text"]) < 120 for turn in kept)
