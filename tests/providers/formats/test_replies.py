"""Replies as some servers send them: odd, but to be understood or named for what they are."""

import gzip
import json

import httpcore2
import pytest

from antiphon.messages import Usage, user
from antiphon.providers.base import (
    Done,
    Request,
    SignatureDelta,
    TextDelta,
    ThinkingDelta,
    ToolArgs,
    ToolStart,
    UsageDelta,
)
from antiphon.providers.errors import ProviderError
from antiphon.providers.hosted import COMPATIBLE, WIRES
from tests.fixtures.providers import HELLO, Canned, read, run, stand

REQUEST = Request((user("Hello"),))


def replies(format, *frames):
    """The deltas of a reply, without the counts, and the code of its failure."""
    wire = COMPATIBLE if format == "compatible" else WIRES[format]
    decoder = wire.decoder("m", REQUEST, "req")
    raw = b"".join(
        frame if isinstance(frame, bytes) else b"data: %b\n\n" % json.dumps(frame).encode() for frame in frames
    )
    deltas = []
    try:
        deltas += decoder.feed(raw)
        if not decoder.finished:
            deltas += decoder.end()
    except ProviderError as error:
        deltas.append(error.code.value)
    return [delta for delta in deltas if not isinstance(delta, UsageDelta)]


def chunk(finish=None, **delta):
    return {"model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def parts(*parts, finish=None):
    return {"candidates": [{"content": {"parts": list(parts)}, **({"finishReason": finish} if finish else {})}]}


DONE = b"data: [DONE]\n\n"
STOP = [{"type": "message_delta", "delta": {"stop_reason": "end_turn"}}, {"type": "message_stop"}]


def block(index, **content):
    return {"type": "content_block_start", "index": index, "content_block": content}


def test_a_redacted_thought_is_a_signature():
    deltas = replies("anthropic", block(0, type="redacted_thinking", data="blob"), *STOP)

    assert deltas == [SignatureDelta("blob", redacted=True), Done("end", "req")]


def test_a_block_may_begin_with_content():
    deltas = replies(
        "anthropic",
        block(0, type="thinking", thinking="hm"),
        block(1, type="text", text="Hi"),
        block(2, type="tool_use", id="t", name="look", input={"at": 1}),
        *STOP,
    )

    assert deltas[:4] == [ThinkingDelta("hm"), TextDelta("Hi"), ToolStart("t", "look"), ToolArgs("t", '{"at": 1}')]


def test_arguments_of_a_tool_that_runs_at_the_provider_are_not_ours():
    start = block(0, type="server_tool_use", id="s", name="web_search", input={})
    delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "{}"}}

    assert replies("anthropic", start, delta, *STOP) == [Done("end", "req")]


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("end_turn", "end"),
        ("tool_use", "tool_calls"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("stop_sequence", "stop_sequence"),
        ("pause_turn", "pause"),
        ("from_the_future", "end"),
    ],
)
def test_anthropics_reasons_to_stop(reason, stop):
    assert replies("anthropic", {"type": "message_delta", "delta": {"stop_reason": reason}}, STOP[1]) == [
        Done(stop, "req")
    ]


def test_a_thought_under_two_names_is_one_thought():
    deltas = replies("compatible", chunk(reasoning="hm", reasoning_content="hm", content=""), chunk("stop"), DONE)

    assert deltas == [ThinkingDelta("hm"), Done("end", "req")]


def test_words_and_the_role_may_come_together():
    assert replies("openai", chunk(role="assistant", content="Hi"), chunk("stop"), DONE)[0] == TextDelta("Hi")


@pytest.mark.parametrize(
    ("format", "expected"), [("openai", "1004"), ("mistral", "1004"), ("compatible", Done("end", "req"))]
)
def test_a_finish_reason_without_an_end_is_enough_for_lenient_servers_only(format, expected):
    assert replies(format, chunk(content="Hi"), chunk("stop"))[-1] == expected


@pytest.mark.parametrize("format", ["openai", "mistral", "compatible"])
def test_an_end_without_a_finish_reason_is_truncated(format):
    assert replies(format, chunk(content="Hi"), DONE)[-1] == "1004"


def test_a_refusal_in_words_is_a_refusal():
    assert replies("openai", chunk(refusal="I will"), chunk(refusal=" not"), chunk("stop"), DONE) == ["9002"]


def test_a_server_that_gives_up_is_overloaded():
    assert replies("mistral", chunk(content="Hi"), chunk("error"), DONE)[-1] == "1002"


def test_arguments_may_be_an_object_and_ids_may_be_missing():
    calls = [{"function": {"name": "look", "arguments": {"at": 1}}, "id": "null"}]
    start, arguments, done = replies("mistral", chunk("tool_calls", tool_calls=calls), DONE)

    assert start.id.startswith("call_")
    assert arguments == ToolArgs(start.id, '{"at": 1}')
    assert done.stop == "tool_calls"


def test_two_calls_under_one_index_are_two_calls():
    calls = [
        {"index": 0, "id": "a", "function": {"name": "look", "arguments": "{}"}},
        {"index": 0, "id": "b", "function": {"name": "hear", "arguments": "{}"}},
    ]
    deltas = replies("compatible", chunk(tool_calls=calls), chunk("tool_calls"), DONE)

    assert [delta.id for delta in deltas[:-1]] == ["a", "a", "b", "b"]


@pytest.mark.parametrize(
    "frame",
    [
        b'error: {"code": 503, "message": "Loading model", "type": "unavailable_error"}\n\n',
        b'event: error\ndata: {"message": "busy"}\n\n',
        b'data: {"error": "busy"}\n\n',
        b'{"error": {"message": "busy", "type": "server_error"}}\n',
        b'data: {"object": "error", "message": "busy", "type": "server_error"}\n\n',
    ],
)
def test_errors_come_in_many_forms(frame):
    assert replies("compatible", chunk(content="Hi"), frame) == [TextDelta("Hi"), "1002"]


def test_counts_of_other_servers_are_understood():
    frame = {
        "model": "m",
        "choices": [],
        "usage": {"prompt_tokens": 9, "completion_tokens": 2, "prompt_cache_hit_tokens": 5},
    }
    decoder = COMPATIBLE.decoder("m", REQUEST, None)
    raw = b"".join(b"data: %b\n\n" % json.dumps(value).encode() for value in (chunk("stop", content="Hi"), frame))
    counts = [delta for delta in decoder.feed(raw + DONE) if isinstance(delta, UsageDelta)]

    assert counts[-1].usage == Usage(9, 2, cached_read=5)


def test_a_blocked_prompt_is_a_refusal():
    assert replies("google", {"promptFeedback": {"blockReason": "SAFETY"}}) == ["9002"]


@pytest.mark.parametrize(
    ("reason", "code"),
    [("SAFETY", "9002"), ("RECITATION", "9002"), ("MALFORMED_FUNCTION_CALL", "1005"), ("FROM_THE_FUTURE", "9002")],
)
def test_googles_reasons_to_fail(reason, code):
    assert replies("google", parts({"text": "Hi"}, finish=reason)) == [TextDelta("Hi"), code]


def test_a_signature_of_google_may_come_with_words_or_alone():
    deltas = replies(
        "google",
        parts({"text": "Hi", "thoughtSignature": "s"}),
        parts({"text": "", "thoughtSignature": "t"}, finish="STOP"),
    )

    assert deltas == [TextDelta("Hi"), SignatureDelta("s"), SignatureDelta("t"), Done("end", "req")]


def test_a_call_of_google_may_have_its_own_id():
    deltas = replies("google", parts({"functionCall": {"id": "g1", "name": "look"}}, finish="STOP"))

    assert deltas == [ToolStart("g1", "look"), ToolArgs("g1", "{}"), Done("tool_calls", "req")]


def test_an_endless_error_is_read_to_a_limit():
    async def work():
        transport = Canned(500, {}, *[b"x" * 65536] * 100)
        async with stand(transport=transport) as here:
            return await read(here.open("openai", "ok"), HELLO)

    error = run(work()).error
    assert error.code == "1002"
    assert len(error.message) < 600


def test_a_compressed_stream_is_read_although_nobody_asked_for_one(monkeypatch):
    body = gzip.compress(b'data: {"choices": [{"delta": {"content": "Hi"}, "finish_reason": "stop"}]}\n\n' + DONE)

    class Stream:
        async def __aiter__(self):
            yield body

        async def aclose(self):
            pass

    async def answer(request):
        return httpcore2.Response(200, headers=[(b"content-encoding", b"gzip")], content=Stream())

    async def work():
        async with stand() as here:
            provider = here.open("openai", "ok")
            monkeypatch.setattr(
                httpcore2.AsyncConnectionPool, "handle_async_request", lambda self, request: answer(request)
            )
            return await read(provider)

    assert run(work()).text == "Hi"
