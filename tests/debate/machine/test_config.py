"""The settings of a debate: every field is checked, and every problem names its field."""

import pytest

from antiphon.debate.machine.config import CRITERIA, DEFAULTS, InvalidConfig, complete, problems_with, reference
from antiphon.debate.machine.formats import groups, phase_of, seats_problem
from antiphon.debate.machine.personas import COLORS, PERSONAS, instructions
from tests.fixtures.debate_machine import SONNET, TOPIC, config, seats

WRONG = [
    ({"topic": "Too short"}, "topic"),
    ({"topic": "x" * 501}, "topic"),
    ({"topic": 7}, "topic"),
    ({"format": "parliament"}, "format"),
    ({"maxRounds": 0}, "maxRounds"),
    ({"maxRounds": 11}, "maxRounds"),
    ({"maxRounds": 2.5}, "maxRounds"),
    ({"maxRounds": True}, "maxRounds"),
    ({"timeoutPerRound": 0}, "timeoutPerRound"),
    ({"costLimit": 0.1}, "costLimit"),
    ({"costLimit": "5"}, "costLimit"),
    ({"costLimit": float("inf")}, "costLimit"),
    ({"warnAtCost": 0}, "warnAtCost"),
    ({"warnAtCost": 5.0, "costLimit": 5.0}, "warnAtCost"),
    ({"onCostLimit": "panic"}, "onCostLimit"),
    ({"earlyStop": "yes"}, "earlyStop"),
    ({"contextLimit": 10}, "contextLimit"),
    ({"maxRuonds": 3}, "maxRuonds"),
    ({"participants": seats("for")}, "participants"),
    ({"participants": seats("for", "for")}, "participants"),
    ({"participants": [{**one, "color": "#112233"} for one in seats("for", "against")]}, "participants"),
    ({"participants": [{**one, "name": "Ada"} for one in seats("for", "against")]}, "participants"),
    ({"participants": [*seats("for"), {"id": "against"}]}, "participants[1].position"),
    ({"participants": [*seats("for"), {**seats("against")[0], "color": ""}]}, "participants[1].color"),
    ({"id": "no name"}, "id"),
    ({"id": "../up"}, "id"),
    ({"id": "last"}, "id"),
    ({"participants": [*seats("for"), {**seats("against")[0], "model": "sonnet"}]}, "participants[1].model"),
    ({"participants": [*seats("for"), "against"]}, "participants[1]"),
    ({"participants": [*seats("for"), {**seats("against")[0], "id": "judge"}]}, "participants"),
    ({"judge": {"evaluationCriteria": []}}, "judge.evaluationCriteria"),
    ({"judge": {"model": {**SONNET, "temperature": 3}}}, "judge.model.temperature"),
    ({"judge": {"model": {"provider": "openai"}}}, "judge.model.modelId"),
]


@pytest.mark.requirement("S4-28..S4-31", "S4-B21", "S4-B23")
@pytest.mark.parametrize(("more", "field"), WRONG)
def test_a_wrong_field_is_named(more, field):
    """1 to 10 rounds, topics of 10 to 500, limits above 0.10, warn below limit."""
    with pytest.raises(InvalidConfig) as raised:
        complete({**config(), **more})

    assert field in [problem.field for problem in raised.value.problems]
    assert f"{field}: " in str(raised.value)


@pytest.mark.parametrize("model", ["local:/my models/a voice.gguf", "openai+http://127.0.0.1:8080/v1:m"])
def test_a_model_may_be_a_file_with_spaces_or_on_a_server_of_ones_own(model):
    provider, _, name = model.partition(":")
    as_object = {"provider": provider, "modelId": name, "maxTokens": 24}

    for judge in (model, as_object):
        assert reference(complete({**config(), "judge": {"model": judge}})["judge"]["model"]) == model


def test_a_missing_topic_and_missing_debaters_are_named_together():
    assert {problem.field for problem in problems_with({})} == {"topic", "participants"}


@pytest.mark.requirement("S4-29")
@pytest.mark.parametrize("color", ["red", "#F00", "rgb(1 2 3)", "light blue"])
def test_a_colour_is_any_text(color):
    seat = {**seats("for")[0], "color": color}

    assert complete(config(participants=[seat, *seats("against")]))["participants"][0]["color"] == color


@pytest.mark.requirement("S4-31", "S4-B19")
def test_a_key_is_no_setting():
    """Keys stay in the environment, and a key that is given is not repeated in the message."""
    with pytest.raises(InvalidConfig) as raised:
        complete(config(judge={"model": {**SONNET, "apiKey": "sk-secret"}}))

    assert raised.value.problems[0].field == "judge.model.apiKey"
    assert "sk-secret" not in str(raised.value)


@pytest.mark.requirement("S4-15", "S4-B23")
@pytest.mark.parametrize("rounds", [1, 2, 10])
@pytest.mark.parametrize("topic", ["x" * 10, "x" * 500])
def test_the_ends_of_the_ranges_are_allowed(rounds, topic):
    assert complete(config(maxRounds=rounds, topic=topic))["maxRounds"] == rounds


@pytest.mark.requirement("S4-08", "S4-20", "S4-28..S4-30")
def test_what_is_not_given_has_a_default():
    """There are five rounds by default."""
    whole = complete({"topic": TOPIC, "models": ["openai:gpt-5", "mistral:large"]})

    assert whole["maxRounds"] == DEFAULTS["maxRounds"] == 5
    assert [one["position"] for one in whole["participants"]] == ["for", "against"]
    assert whole["judge"]["evaluationCriteria"] == list(CRITERIA)
    first = whole["participants"][0]
    assert set(first) == {"id", "name", "model", "position", "systemPrompt", "color"}
    assert first["model"] == {"provider": "openai", "modelId": "gpt-5", "temperature": None, "maxTokens": 1024}


def test_one_model_takes_both_sides_and_three_sit_at_a_round_table():
    both = complete({"topic": TOPIC, "models": ["scripted:debate"]})
    table = complete({"topic": TOPIC, "format": "roundtable", "models": ["a:b", "c:d", "e:f", "g:h"]})

    assert [one["id"] for one in both["participants"]] == ["for", "against"]
    assert [one["id"] for one in table["participants"]] == ["for", "against", "neutral", "for-3"]


@pytest.mark.requirement("S4.4-9")
def test_personas_are_given_to_those_who_have_none():
    """Names, manners and colours, none of them twice, and none over what was given."""
    first = {**seats("for")[0], "name": "Bruno", "color": COLORS[0], "systemPrompt": "You joke."}
    one, two = complete(config(participants=[first, *seats("against")]))["participants"]

    assert (one["name"], one["systemPrompt"], one["color"]) == ("Bruno", "You joke.", COLORS[0])
    assert (two["name"], two["systemPrompt"], two["color"]) == ("Ada", PERSONAS[0][1], COLORS[1])


def test_whoever_is_called_like_a_persona_argues_like_it():
    named = [{**one, "name": name} for one, (name, _) in zip(seats("for", "against"), PERSONAS[1:], strict=False)]
    dressed = complete(config(participants=named))["participants"]

    assert [(one["name"], one["systemPrompt"]) for one in dressed] == list(PERSONAS[1:3])


def test_four_debaters_may_have_any_names():
    places = enumerate(("Ada", "Bruno", "Clara", "Somebody"))
    named = [{**seats("neutral")[0], "id": f"n{place}", "name": name} for place, name in places]
    dressed = complete(config(format="roundtable", participants=named))["participants"]

    assert [one["name"] for one in dressed] == ["Ada", "Bruno", "Clara", "Somebody"]
    assert dressed[3]["systemPrompt"] == PERSONAS[3][1]


def test_a_model_on_a_server_of_ones_own_can_debate():
    name = "openai+http://127.0.0.1:8000/v1:llama"
    whole = complete({"topic": TOPIC, "models": [name]})

    assert {reference(one["model"]) for one in whole["participants"]} == {name}


@pytest.mark.parametrize("position", ["for", "against", "neutral"])
def test_a_debater_is_told_its_side_and_no_other(position):
    for name, manner in PERSONAS:
        told = instructions({"name": name, "position": position, "systemPrompt": manner}, TOPIC).split()
        others = {"judge", "against", "neutral"} - {position}
        assert position in told
        assert others.isdisjoint(told)


@pytest.mark.requirement("S4-B26")
@pytest.mark.parametrize(
    ("format", "ids", "fits"),
    [
        ("oxford", ["for", "against"], True),
        ("oxford", ["for", "for", "against", "against"], True),
        ("oxford", ["for", "neutral"], False),
        ("oxford", ["for", "for"], False),
        ("lincoln-douglas", ["for", "against"], True),
        ("lincoln-douglas", ["for", "against", "against"], False),
        ("lincoln-douglas", ["for", "for"], False),
        ("roundtable", ["neutral", "neutral"], True),
        ("roundtable", ["for", "against", "neutral", "for"], True),
        ("roundtable", ["for"] * 5, False),
        ("roundtable", ["for"], False),
    ],
)
def test_a_format_says_who_may_take_part(format, ids, fits):
    assert (seats_problem(format, ids) is None) == fits


@pytest.mark.requirement("S4-B26")
def test_oxford_opens_in_parallel_rebuts_in_turn_and_closes_in_reverse():
    four = seats("for-1", "for-2", "against-1", "against-2")

    assert groups("oxford", "opening", 1, four) == [["for-1", "for-2", "against-1", "against-2"]]
    turn = [["for-1"], ["against-1"], ["for-2"], ["against-2"]]
    assert groups("oxford", "rebuttal", 1, four) == turn
    assert groups("oxford", "closing", 3, four) == turn[::-1]
    assert [phase_of("oxford", number, 3) for number in (1, 2, 3)] == ["rebuttal", "rebuttal", "closing"]
    assert phase_of("oxford", 1, 1) == "rebuttal"


@pytest.mark.requirement("S4-B26")
def test_lincoln_douglas_takes_strict_turns():
    two = seats("against", "for")

    assert groups("lincoln-douglas", "opening", 1, two) == [["for"], ["against"]]
    assert groups("lincoln-douglas", "rebuttal", 4, two) == [["for"], ["against"]]
    assert phase_of("lincoln-douglas", 3, 3) == "rebuttal"


@pytest.mark.requirement("S4-B26")
def test_a_round_table_rotates_who_begins():
    three = seats("for", "against", "neutral")
    first = [groups("roundtable", "rebuttal", number, three)[0] for number in (1, 2, 3, 4)]

    assert first == [["for"], ["against"], ["neutral"], ["for"]]
    assert groups("roundtable", "opening", 1, three) == [["for", "against", "neutral"]]
