"""The fake server refuses what the real ones refuse, so that a wrong request does not pass its tests."""

import pytest

from antiphon.testing.fake_llm.rules import request_problems
from antiphon.testing.fake_llm.scenarios import SIGNATURE
from antiphon.testing.fake_llm.values import schema_in, value_for

TEXT = {"type": "text", "text": "a"}
USE = {"type": "tool_use", "id": "t1", "name": "look", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": []}
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}


def anthropic(*turns, **settings):
    sides = ("user", "assistant")
    messages = [{"role": sides[i % 2], "content": list(turn)} for i, turn in enumerate(turns)]
    return {"max_tokens": 9, "messages": messages, **settings}


@pytest.mark.parametrize(
    ("body", "expected_text"),
    [
        (anthropic([TEXT], max_tokens=None), "max_tokens"),
        (anthropic(), "first message"),
        ({"max_tokens": 9, "messages": [{"role": "user", "content": [TEXT]}] * 2}, "alternate"),
        (anthropic([TEXT], [USE]), "need tool_result"),
        (anthropic([TEXT], [USE], [TEXT]), "need tool_result"),
        (anthropic([TEXT], [USE], [TEXT, RESULT]), "come first"),
        (anthropic([TEXT], [{"type": "thinking", "thinking": "", "signature": "x"}], [TEXT]), "invalid signature"),
        (anthropic([{"type": "text", "text": ""}]), "non-empty"),
    ],
)
def test_what_anthropic_refuses(body, expected_text):
    assert any(expected_text in complaint for complaint in request_problems("anthropic", "m", body))


@pytest.mark.parametrize(
    ("format", "messages", "expected_text"),
    [
        ("openai", [{"role": "tool", "tool_call_id": "c1"}], "preceding message"),
        ("openai", [{"role": "assistant", "tool_calls": [CALL]}], "did not have response"),
        ("openai", [{"role": "assistant", "tool_calls": [CALL]}, {"role": "user"}], "did not have response"),
        ("mistral", [{"role": "assistant", "tool_calls": [CALL]}], "length of 9"),
    ],
)
def test_what_chat_servers_refuse(format, messages, expected_text):
    assert any(expected_text in complaint for complaint in request_problems(format, "m", {"messages": messages}))


def test_openai_refuses_the_old_name_of_the_limit():
    assert request_problems("openai", "m", {"messages": [], "max_tokens": 1})
    assert not request_problems("compatible", "m", {"messages": [], "max_tokens": 1})


@pytest.mark.parametrize(
    ("model", "contents", "expected_text"),
    [
        ("m", [{"role": "assistant", "parts": []}], "valid role"),
        ("m", [{"role": "model", "parts": [{"functionCall": {}}]}], "number of function response"),
        ("m", [{"role": "user", "parts": [{"functionResponse": {}}]}], "number of function response"),
        ("gemini-3-x", [{"role": "model", "parts": [{"functionCall": {}}]}], "thought_signature"),
    ],
)
def test_what_google_refuses(model, contents, expected_text):
    assert any(expected_text in complaint for complaint in request_problems("google", model, {"contents": contents}))


def test_what_they_accept():
    signed = {"type": "thinking", "thinking": "", "signature": SIGNATURE}
    assert request_problems("anthropic", "m", anthropic([TEXT], [signed, USE], [RESULT, TEXT])) == []
    tools = [{"role": "assistant", "tool_calls": [CALL]}, {"role": "tool", "tool_call_id": "c1"}]
    assert request_problems("openai", "m", {"messages": tools}) == []


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"$ref": "#/$defs/a", "$defs": {"a": {"const": 7}}}, 7),
        ({"anyOf": [{"type": "null"}, {"type": "string"}]}, None),
        ({"type": ["boolean", "null"]}, True),
        ({"type": "array", "items": {"type": "number"}, "minItems": 2}, [1, 1]),
        ({"properties": {"a": {"type": "string", "minLength": 3}}}, {"a": "xxx"}),
    ],
)
def test_a_value_is_made_up_for_a_schema(schema, value):
    assert value_for(schema) == value


def test_no_schema_is_found_where_none_is():
    assert schema_in({}) is None


def test_content_may_be_a_plain_text():
    body = {"max_tokens": 1, "messages": [{"role": "user", "content": "Hello"}]}
    assert request_problems("anthropic", "m", body) == []
    assert request_problems("anthropic", "m", {"max_tokens": 1, "messages": [{"role": "user", "content": ""}]})


@pytest.mark.parametrize("format", ["anthropic", "openai", "google"])
@pytest.mark.parametrize("turns", ["words", [None], [{"role": "user", "parts": 1, "content": 1, "tool_calls": 1}]])
def test_a_request_of_another_shape_is_refused_like_any_bad_one(format, turns):
    assert request_problems(format, "m", {"max_tokens": 1, "messages": turns, "contents": turns})
