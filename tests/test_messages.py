"""Messages, usage and cost survive JSON, and say what is wrong with what is none."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.messages import (
    AttachedDocument,
    Image,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    assistant,
    message_from_json,
    message_to_json,
    system,
    tool,
    usage_from_json,
    usage_to_json,
    user,
)

texts = st.text(max_size=20)
optional = st.none() | texts
shown = st.builds(Text, texts) | st.builds(Image, texts, optional, optional)
parts = (
    shown
    | st.builds(AttachedDocument, texts, texts, optional)
    | st.builds(Thinking, texts, optional, st.booleans())
    | st.builds(ToolCall, texts, texts, texts, optional)
    | st.builds(ToolResult, texts, st.lists(shown, max_size=2).map(tuple), st.booleans())
)
roles = st.sampled_from(["system", "user", "assistant", "tool"])
messages = st.builds(Message, roles, st.lists(parts, max_size=4).map(tuple), optional, st.booleans())


@given(messages)
def test_a_message_survives_json(message):
    assert message_from_json(json.loads(json.dumps(message_to_json(message)))) == message


def test_usage_survives_json():
    usage = Usage(10, 20, 3, 4, 5, estimated=True)

    assert usage_from_json(usage_to_json(usage)) == usage


def test_usages_add_up_and_one_guess_makes_the_sum_a_guess():
    assert Usage(1, 2, 3, 4, 5) + Usage(10, 20, estimated=True) == Usage(11, 22, 3, 4, 5, estimated=True)


@pytest.mark.parametrize(
    ("value", "expected_text"),
    [
        ({"role": "robot"}, "unknown role 'robot'"),
        ({"role": "user", "parts": [{"type": "smell"}]}, "unknown part 'smell'"),
        ({"role": "user", "parts": [{"type": "text"}]}, "needs 'text'"),
        ({"role": "tool", "parts": [{"type": "toolResult", "callId": "1", "parts": [
            {"type": "thinking", "text": ""}]}]}, "only contain text and image parts"),
    ],
)  # fmt: skip
def test_what_is_no_message_is_refused_with_a_reason(value, expected_text):
    with pytest.raises(ValueError, match=expected_text):
        message_from_json(value)


def test_arguments_are_an_object_or_an_error():
    assert ToolCall("1", "look", '{"at": 1}').input() == {"at": 1}
    assert ToolCall("1", "look", "").input() == {}
    for broken in ('{"at":', "[1]"):
        with pytest.raises(ValueError):
            ToolCall("1", "look", broken).input()


def test_messages_are_made_in_few_words():
    call = ToolCall("1", "look")

    assert system("be kind", cache=True) == Message("system", (Text("be kind"),), cache=True)
    assert user("see", Image("image/png", "aGk=")).parts == (Text("see"), Image("image/png", "aGk="))
    assert assistant("I look", call).calls == (call,)
    assert assistant("", call).parts == (call,)
    assert tool(ToolResult.of(call, "a tree")).parts == (ToolResult("1", (Text("a tree"),)),)


def test_the_bytes_of_a_file_do_not_fill_a_log():
    assert "aGk" not in repr(user(AttachedDocument("application/pdf", "aGk=", "a.pdf")))
    assert "aGk" not in repr(user(Image("image/png", "aGk=")))
