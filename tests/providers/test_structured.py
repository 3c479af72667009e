"""Answers fit their schema: held to it by the provider or by words, checked, and asked for once more."""

import pytest

from antiphon.messages import user
from antiphon.providers.base import OutputSchema, Request
from antiphon.providers.errors import ProviderError
from antiphon.providers.scripted import ScriptedModel
from antiphon.providers.structured import ask
from tests.fixtures.providers import FORMATS, run, stand

VERDICT = OutputSchema(
    {
        "type": "object",
        "properties": {
            "winner": {"enum": ["for", "against"]},
            "score": {"type": "integer", "minimum": 1},
            "why": {"type": "string"},
        },
        "required": ["winner", "score", "why"],
    },
    "verdict",
)
GOOD = '{"winner": "for", "score": 3, "why": "clear"}'
REQUEST = Request((user("Who won?"),))


def scripted(*texts):
    return ScriptedModel({"replies": [{"steps": [{"text": text}]} for text in texts]})


@pytest.mark.parametrize("format", FORMATS)
def test_a_provider_is_asked_for_the_schema_natively(format):
    async def work():
        async with stand() as here:
            return await ask(here.open(format, "json"), REQUEST, VERDICT), len(here.fake.requests)

    answer, requests = run(work())
    assert answer.value == {"winner": "for", "score": 1, "why": "x"}
    assert requests == 1


@pytest.mark.parametrize("format", FORMATS)
def test_an_answer_that_does_not_fit_is_asked_for_once_more(format):
    async def work():
        async with stand() as here:
            return await ask(here.open(format, "rejson"), REQUEST, VERDICT), here.fake.requests

    answer, requests = run(work())
    assert answer.value["winner"] == "for"
    assert len(requests) == 2
    assert "does not match the schema" in str(requests[1].body)
    assert answer.usage.output == 2 * 42


def test_without_native_support_words_ask_for_it():
    provider = scripted(f"Sure! Here it is:\n```json\n{GOOD}\n```\nAnything else?")

    assert run(ask(provider, REQUEST, VERDICT)).value["why"] == "clear"


def test_bounds_that_the_provider_does_not_enforce_are_checked_here():
    provider = scripted('{"winner": "for", "score": 0, "why": ""}', GOOD)
    answer = run(ask(provider, REQUEST, VERDICT))

    assert answer.value["score"] == 3
    assert len(answer.replies) == 2


def test_a_second_answer_that_does_not_fit_is_an_error_and_both_are_counted():
    replies = []
    with pytest.raises(ProviderError) as caught:
        run(ask(scripted("No.", '{"winner": "both"}'), REQUEST, VERDICT, replies=replies))

    assert caught.value.code == "9006"
    assert "$.score is missing" in caught.value.message
    assert not caught.value.recoverable
    assert all(reply.usage.output > 0 for reply in replies)
    assert len(replies) == 2


def test_a_failure_in_the_middle_is_passed_on_and_counted():
    replies = []
    provider = ScriptedModel({"replies": [{"steps": [{"text": '{"winner":'}, {"error": "1002"}]}]})
    with pytest.raises(ProviderError, match="1002"):
        run(ask(provider, REQUEST, VERDICT, replies=replies))

    assert replies[0].usage.estimated


def test_a_value_that_fits_is_preferred_to_one_that_does_not():
    provider = scripted(
        f'I weighed {{"logic": 3, "wit": 4, "manners": 5, "evidence": [1, 2]}} and say {GOOD}, see [1].'
    )
    answer = run(ask(provider, REQUEST, VERDICT))

    assert answer.value["why"] == "clear"
    assert len(answer.replies) == 1


@pytest.mark.parametrize("schema", [{"type": "objekt"}, {"$ref": "http://127.0.0.1:9/schema"}])
def test_a_schema_that_cannot_be_used_is_an_error_before_anything_is_asked(schema):
    replies = []
    with pytest.raises(ProviderError, match="cannot request a value for 'verdict': the schema is not valid") as caught:
        run(ask(scripted(GOOD), REQUEST, OutputSchema(schema, "verdict"), replies=replies))

    assert caught.value.code == "9001"
    assert replies == []
