"""A reply grows from deltas into a message, and an aborted one is counted by what arrived."""

from antiphon.messages import Message, Text, Thinking, ToolCall, Usage, user
from antiphon.providers.base import (
    Done,
    Model,
    Request,
    SignatureDelta,
    TextDelta,
    ThinkingDelta,
    ToolArgs,
    ToolStart,
    UsageDelta,
)
from antiphon.providers.reply import Reply

MODEL = Model("anthropic:claude", "anthropic", "claude")
REQUEST = Request((user("x" * 400),))


def reply(*deltas):
    grown = Reply(MODEL, REQUEST)
    for delta in deltas:
        grown.add(delta)
    return grown


def test_pieces_become_parts_in_the_order_they_came():
    whole = reply(
        ThinkingDelta("Let "),
        ThinkingDelta("me"),
        SignatureDelta("s1"),
        ThinkingDelta("again"),
        SignatureDelta("s2"),
        TextDelta("I "),
        TextDelta("look"),
        ToolStart("a", "look"),
        ToolStart("b", "hear"),
        ToolArgs("b", "{}"),
        ToolArgs("a", '{"at"'),
        ToolArgs("a", ": 1}"),
        SignatureDelta("s3", "a"),
        SignatureDelta("blob", redacted=True),
        Done("tool_calls"),
    )

    assert whole.message() == Message(
        "assistant",
        (
            Thinking("Let me", "s1"),
            Thinking("again", "s2"),
            Text("I look"),
            ToolCall("a", "look", '{"at": 1}', "s3"),
            ToolCall("b", "hear", "{}"),
            Thinking("", "blob", redacted=True),
        ),
        "anthropic",
    )


def test_a_complete_reply_used_what_the_provider_says():
    usage = Usage(100, 7)

    assert reply(TextDelta("x" * 400), UsageDelta(usage, "claude-2"), Done("end")).usage == usage


def test_an_aborted_reply_is_estimated_from_what_arrived():
    aborted = reply(UsageDelta(Usage(120, 1, estimated=True), "claude-2"), TextDelta("x" * 40), ThinkingDelta("y" * 40))

    assert aborted.usage == Usage(120, 20, estimated=True)
    assert aborted.answered_by == "claude-2"


def test_a_reply_that_never_began_is_estimated_from_the_request():
    assert reply().usage == Usage(104, 0, estimated=True)
    assert reply().answered_by == "claude"
    assert reply().tier is None


def test_a_call_that_was_cut_in_half_is_no_call():
    cut = reply(ToolStart("a", "look"), ToolArgs("a", "{}"), ToolStart("b", "look"), ToolArgs("b", '{"at"'))

    assert cut.message().calls == (ToolCall("a", "look", "{}"),)


def test_a_long_reply_costs_no_more_per_piece_than_a_short_one():
    long = reply(*[TextDelta("word ")] * 100_000)

    assert len(long.text) == 500_000
