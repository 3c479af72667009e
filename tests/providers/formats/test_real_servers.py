"""What servers really do: read where the meaning is clear, else an error, and never an empty reply."""

import json
from dataclasses import replace

import pytest

from antiphon.messages import Usage, user
from antiphon.providers.base import Model, Request, Tool, ToolStart, UsageDelta
from antiphon.providers.reply import Reply
from tests.fixtures.providers import FORMATS, Canned, read, run, stand

REQUEST = Request((user("Hello"),))
LOOK = Tool("look", "Look.", {"type": "object"})
CHAT = ("openai", "mistral", "compatible")


def answer(format, body, request=REQUEST, pieces=1):
    """What a model makes of a body."""

    async def work():
        size = -(-len(body) // pieces) or 1
        chunks = [body[at : at + size] for at in range(0, len(body), size)]
        async with stand(transport=Canned(200, {}, *chunks)) as here:
            return await read(here.open(format, "text"), request)

    return run(work())


def shown(format, body, request=REQUEST):
    """The text, the calls and the stop of a reply, or the code of its failure."""
    outcome = answer(format, body, request)
    if outcome.error is not None:
        return outcome.error.code.value
    reply = Reply(Model("m", "m", "m"), request)
    for delta in outcome.deltas:
        reply.add(delta)
    message = reply.message()
    return message.text, [(call.name, call.arguments) for call in message.calls], reply.done.stop


def sse(*frames, end=b"data: [DONE]\n\n"):
    return b"".join(b"data: %b\n\n" % json.dumps(frame).encode() for frame in frames) + end


def choice(finish=None, **fields):
    return {"choices": [{"index": 0, "finish_reason": finish, **fields}]}


def delta(finish=None, **delta):
    return choice(finish, delta=delta)


CALL = {"id": "a", "type": "function", "function": {"name": "look", "arguments": '{"at": 1}'}}
USAGE = {"prompt_tokens": 3, "completion_tokens": 2}
WHOLE = {
    "anthropic": {
        "type": "message",
        "model": "m",
        "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "s"},
            {"type": "text", "text": "Hi"},
            {"type": "tool_use", "id": "a", "name": "look", "input": {"at": 1}},
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 3, "output_tokens": 2},
    },
    "google": {
        "candidates": [
            {
                "content": {"parts": [{"text": "Hi"}, {"functionCall": {"name": "look", "args": {"at": 1}}}]},
                "finishReason": "STOP",
            }
        ],
        "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2},
    },
}
for format in CHAT:
    message = {"role": "assistant", "content": "Hi", "tool_calls": [CALL]}
    WHOLE[format] = {**choice("tool_calls", message=message), "object": "chat.completion", "usage": USAGE}


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("format", FORMATS)
def test_a_whole_reply_instead_of_a_stream_is_read(format, indent):
    body = json.dumps(WHOLE[format], indent=indent).encode()

    assert shown(format, body) == ("Hi", [("look", '{"at": 1}')], "tool_calls")
    counts = [delta.usage for delta in answer(format, body, pieces=7).deltas if isinstance(delta, UsageDelta)]
    assert counts[-1] == Usage(3, 2)


def test_a_list_of_responses_of_google_is_read():
    first = {"candidates": [{"content": {"parts": [{"text": "Hi"}]}}]}
    last = {"candidates": [{"content": {"parts": [{"text": " you"}]}, "finishReason": "STOP"}]}

    for indent in (None, 2):
        assert shown("google", json.dumps([first, last], indent=indent).encode()) == ("Hi you", [], "end")


def test_a_whole_reply_may_be_large():
    text = "word\n" * 50_000
    body = json.dumps({"object": "chat.completion", **choice("stop", message={"content": text})}, indent=2)

    assert shown("openai", body.encode()) == (text, [], "end")


@pytest.mark.parametrize("format", FORMATS)
def test_half_of_a_whole_reply_is_an_error(format):
    for indent in (None, 2):
        body = json.dumps(WHOLE[format], indent=indent).encode()
        assert shown(format, body[: len(body) // 2]) in ("1004", "1005")


@pytest.mark.parametrize(
    "body",
    [
        sse(choice(message={"content": "Hi"}), choice(message={"content": " you"}), choice("stop", message={})),
        sse(choice(text="Hi"), choice(text=" you"), choice("stop", text="")),
        sse(delta(content="Hi"), delta(content=" you"), choice("stop", message={"content": "Hi you"})),
        sse(
            choice(delta={"content": "Hi"}, message={"content": "Hi"}),
            choice("stop", delta={"content": " you"}, message={"content": "Hi you"}),
        ),
    ],
    ids=["message", "text", "message at the end", "delta and message"],
)
def test_frames_may_have_another_name_for_the_delta(body):
    assert shown("compatible", body) == ("Hi you", [], "end")


@pytest.mark.parametrize("format", CHAT)
@pytest.mark.parametrize(
    "end", [b"data: [DONE] \n\n", b"data:  [DONE]\n\n", b"data:[DONE]\n\n", b"data: [DONE]\t\r\n\r\n"]
)
def test_the_end_may_have_spaces(format, end):
    assert shown(format, sse(delta("stop", content="Hi"), end=end)) == ("Hi", [], "end")


@pytest.mark.parametrize("format", CHAT)
def test_frames_without_data_are_ignored(format):
    keep_alive = b"data:\n\ndata: \n\nevent: ping\ndata:\n\n: ping\n\n"

    assert shown(format, keep_alive + sse(delta(content="Hi"), end=keep_alive) + sse(delta("stop"))) == (
        "Hi",
        [],
        "end",
    )


def calls(*pieces, finish="tool_calls"):
    return sse(*(delta(tool_calls=piece) for piece in pieces), delta(finish))


def piece(name=None, arguments=None, **fields):
    function = {"name": name, "arguments": arguments}
    return {**fields, "function": {key: value for key, value in function.items() if value is not None}}


TWO = [("look", "{}"), ("hear", "{}")]
CALLS = {
    "no index, no id, one frame": (calls([piece("look", "{}"), piece("hear", "{}")]), TWO),
    "no index, no id, two frames": (calls([piece("look", "{}")], [piece("hear", "{}")]), TWO),
    "no index, no id, pieces": (calls([piece("look", "")], [piece(arguments="{")], [piece(arguments="}")]), TWO[:1]),
    "the name in every piece": (calls([piece("look", "{")], [piece("look", "}")]), TWO[:1]),
    "no arguments": (calls([piece("look"), piece("hear")]), TWO),
    "only ids": (calls([piece("look", "{", id="a"), piece("hear", "{}", id="b")], [piece(None, "}", id="a")]), TWO),
    "only indexes": (calls([piece("look", "{}", index=0)], [piece("hear", "{}", index=1)]), TWO),
    "one id twice": (calls([piece("look", "{}", index=0, id="x"), piece("hear", "{}", index=1, id="x")]), TWO),
    "arguments as an object": (calls([piece("look", {"a": 1}, index=0, id=None)]), [("look", '{"a": 1}')]),
    "the reason stop": (calls([piece("look", "{}", index=0, id="a")], finish="stop"), TWO[:1]),
    "function_call": (
        sse(
            delta(function_call={"name": "look", "arguments": "{"}),
            delta("function_call", function_call={"arguments": "}"}),
        ),
        TWO[:1],
    ),
}


@pytest.mark.parametrize(("body", "expected"), CALLS.values(), ids=CALLS)
def test_tool_calls_are_put_together(body, expected):
    assert shown("compatible", body) == ("", expected, "tool_calls")


def test_each_call_has_an_id_of_its_own():
    body = calls(
        [piece("look", "{}", index=0, id="x"), piece("hear", "{}", index=1, id="x"), piece("go", "{}", index=2)]
    )
    starts = [delta.id for delta in answer("compatible", body).deltas if isinstance(delta, ToolStart)]

    assert starts[0] == "x"
    assert len(set(starts)) == 3


def test_a_tool_call_of_anthropic_may_have_no_id_and_no_index():
    frames = [
        {"type": "content_block_start", "content_block": {"type": "tool_use", "name": "look", "input": {}}},
        {"type": "content_block_delta", "delta": {"type": "input_json_delta", "partial_json": '{"at": 1}'}},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
        {"type": "message_stop"},
    ]

    assert shown("anthropic", sse(*frames, end=b"")) == ("", [("look", '{"at": 1}')], "tool_calls")


@pytest.mark.parametrize("format", FORMATS)
def test_split_surrogate_pairs_are_joined(format):
    texts = ["a \\ud83d", "\\ude00 b \\ud83d", "c \\ude00", " \\ud83d"]
    frames = {
        "anthropic": '{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "%s"}}',
        "google": '{"candidates": [{"content": {"parts": [{"text": "%s"}]}}]}',
    }
    frame = frames.get(format, '{"choices": [{"delta": {"content": "%s"}}]}')
    ends = {
        "anthropic": sse({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}, {"type": "message_stop"}),
        "google": sse({"candidates": [{"finishReason": "STOP"}]}, end=b""),
    }
    body = b"".join(b"data: %b\n\n" % (frame % text).encode() for text in texts) + ends.get(format, sse(delta("stop")))

    assert answer(format, body).text == "a 😀 b �c � �"


EMPTY = {
    "anthropic": sse(
        {"type": "message_start", "message": {}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
        {"type": "message_stop"},
        end=b"",
    ),
    "google": sse({"candidates": [{"finishReason": "STOP"}]}, end=b""),
    **dict.fromkeys(CHAT, sse(delta(role="assistant", content=""), delta("stop"))),
}


@pytest.mark.parametrize("format", FORMATS)
def test_an_empty_reply_is_an_error(format):
    error = answer(format, EMPTY[format]).error

    assert (error.code, error.message, error.recoverable) == ("1005", "the reply is empty", False)


@pytest.mark.parametrize(
    "body", [b"", b"\n\n", b"data:\n\n", b"{}", b"[]", b"null", b'{"id": 1}', b'data: {"ok": true}\n\n']
)
@pytest.mark.parametrize("format", FORMATS)
def test_a_body_that_is_no_reply_is_an_error(format, body):
    assert shown(format, body) in ("1004", "1005")


def test_reasoning_alone_is_no_reply():
    error = answer("compatible", sse(delta(reasoning="Hm."), delta("stop"))).error

    assert (error.code, error.message) == ("1005", "the reply has reasoning, but no text")


def test_a_token_limit_before_the_first_word_is_named():
    error = answer("openai", sse(delta("length", content=""))).error

    assert error.code == "9001"
    assert "token limit" in error.message


@pytest.mark.parametrize("reason", ["tool_calls", "function_call"])
def test_a_tool_call_that_is_announced_but_not_sent_is_an_error(reason):
    assert shown("compatible", sse(delta(reason, content="I look."))) == "1005"


@pytest.mark.parametrize(
    ("choice", "body", "expected"),
    [
        ("any", sse(delta("stop", content="No.")), "9005"),
        ("look", sse(delta("stop", content="No.")), "9005"),
        ("look", calls([piece("hear", "{}", index=0)]), "9005"),
        ("look", calls([piece("look", "{}", index=0)]), ("", [("look", "{}")], "tool_calls")),
        ("any", calls([piece("hear", "{}", index=0)]), ("", [("hear", "{}")], "tool_calls")),
        ("auto", sse(delta("stop", content="No.")), ("No.", [], "end")),
        ("any", sse(delta("length", content="No.")), ("No.", [], "length")),
    ],
)
def test_a_forced_tool_that_is_ignored_is_an_error(choice, body, expected):
    request = replace(REQUEST, tools=(LOOK, replace(LOOK, name="hear")), tool_choice=choice)

    assert shown("openai", body, request) == expected


@pytest.mark.parametrize(
    "usage",
    [
        b'{"prompt_tokens": 0, "completion_tokens": 0}',
        b'{"prompt_tokens": 9, "completion_tokens": 0}',
        b'{"prompt_tokens": NaN, "completion_tokens": NaN}',
        b'{"prompt_tokens": Infinity, "completion_tokens": 2}',
        b'{"prompt_tokens": "9", "completion_tokens": "2"}',
        b'{"prompt_tokens": 9, "completion_tokens": -2}',
        b'{"prompt_tokens": 9, "completion_tokens": 2.5}',
        b'{"prompt_tokens": true, "completion_tokens": 2}',
        b'{"prompt_tokens": 9, "completion_tokens": 1e300}',
        b'{"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": "none"}',
        b'{"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": "many"}}',
        b"{}",
        b'"lots"',
        b"[1, 2]",
    ],
)
def test_counts_that_cannot_be_true_are_estimated(usage):
    body = b'data: {"choices": [{"delta": {"content": "Hello you"}, "finish_reason": "stop"}], "usage": %b}\n\n' % usage
    counts = [delta.usage for delta in answer("compatible", body).deltas if isinstance(delta, UsageDelta)]

    assert counts[-1].estimated
    assert counts[-1].input > 0
    assert counts[-1].output > 0


@pytest.mark.parametrize(
    ("format", "body"),
    [
        (
            "anthropic",
            sse(
                {"type": "message_start", "message": {"usage": {"input_tokens": 0, "output_tokens": 0}}},
                {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hello"}},
                {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 0}},
                {"type": "message_stop"},
            ),
        ),
        (
            "google",
            sse(
                {
                    "candidates": [{"content": {"parts": [{"text": "Hello"}]}, "finishReason": "STOP"}],
                    "usageMetadata": {"promptTokenCount": "4", "candidatesTokenCount": 0},
                },
                end=b"",
            ),
        ),
    ],
)
def test_zero_counts_beside_text_are_estimated_in_every_format(format, body):
    counts = [delta.usage for delta in answer(format, body).deltas if isinstance(delta, UsageDelta)]

    assert counts[-1] == replace(counts[-1], estimated=True, output=2)
    assert counts[-1].input > 0


def test_whole_numbers_with_a_point_are_counts():
    body = b'data: {"choices": [{"delta": {"content": "Hi"}, "finish_reason": "stop"}],'
    body += b' "usage": {"prompt_tokens": 9.0, "completion_tokens": 2.0}}\n\n'
    counts = [delta.usage for delta in answer("compatible", body).deltas if isinstance(delta, UsageDelta)]

    assert counts[-1] == Usage(9, 2)


DEEP = 100_000


@pytest.mark.parametrize(
    "body",
    [
        b'data: {"choices": %b%b}\n\n' % (b"[" * DEEP, b"]" * DEEP),
        b'data: {"error": %b1%b}\n\n' % (b'{"a":' * DEEP, b"}" * DEEP),
        b'{"choices": %b%b}' % (b"[" * DEEP, b"]" * DEEP),
        b"[" * DEEP + b"]" * DEEP,
        b"[" * DEEP,
    ],
)
@pytest.mark.parametrize("format", FORMATS)
def test_deep_json_is_an_error_that_is_not_worth_another_try(format, body):
    error = answer(format, body).error

    assert (error.code, error.recoverable) == ("1005", False)
    assert len(error.message) < 200


def test_deep_json_in_an_error_is_not_read():
    async def work():
        body = b'{"error": %b1%b}' % (b'{"a":' * DEEP, b"}" * DEEP)
        async with stand(transport=Canned(400, {}, body[:60_000])) as here:
            return await read(here.open("openai", "text"))

    assert run(work()).error.code == "9001"


@pytest.mark.parametrize(
    "arguments",
    [
        ["[" * 5_000],
        ["{", '"a":['] * 60,
        ['{"a": ' * 101 + "1" + "}" * 101],
        ['{"b": "\\\\', '"', ', "a":'] + ["{"] * 101,
    ],
    ids=["brackets", "in pieces", "valid", "after a backslash"],
)
def test_arguments_that_are_nested_too_deeply_are_an_error(arguments):
    outcome = answer("compatible", calls(*([piece("look", text, index=0)] for text in arguments)))

    assert (outcome.error.code, outcome.error.recoverable) == ("1005", False)
    assert outcome.error.message == "the arguments of the tool call 'look' are nested too deeply"


@pytest.mark.parametrize("arguments", ['{"a": "' + "[" * 5_000 + '"}', "[" + "[]," * 5_000 + "1]", '{"a": "\\"[[["}'])
def test_arguments_with_many_brackets_are_no_error(arguments):
    assert shown("compatible", calls([piece("look", arguments, index=0)])) == ("", [("look", arguments)], "tool_calls")


@pytest.mark.parametrize("size", [1, 3, 100])
def test_half_a_character_in_arguments_is_replaced(size):
    arguments = r'{"a": "\\ud83d \ud83d\ude00 \ud83d \ude00 \n \\\ud83d", "b": "\ud83d"}'
    pieces = [arguments[at : at + size] for at in range(0, len(arguments), size)]
    [(_, text)] = shown("compatible", calls(*([piece("look", part, index=0)] for part in pieces)))[1]

    assert json.loads(text) == {"a": "\\ud83d 😀 � � \n \\�", "b": "�"}
