"""A server that repeats the key in every place and form does not spread it."""

import asyncio
import json
import logging
import random
import re
import traceback
from base64 import b64decode
from urllib.parse import unquote

import pytest

from antiphon.messages import system
from antiphon.providers.base import Request, Tool
from antiphon.providers.errors import ProviderError
from antiphon.providers.keys import Keys
from antiphon.providers.registry import Models
from antiphon.providers.reply import Reply
from tests.fixtures.providers import CANARY, ENVIRONMENT, HELLO, NOWHERE, run
from tests.providers.http.raw_server import read_request
from tests.providers.test_redaction import FORMS

ASKED = Request((system("Be brief."), *HELLO.messages), tools=(Tool("t", "A tool.", {"type": "object"}),))
SERVED = {"content-type": "text/event-stream", "transfer-encoding": "chunked"}


def chat_frames(word):
    yield {"model": word, "choices": [{"delta": {"role": "assistant", "content": ""}}], "service_tier": word}
    yield {"choices": [{"delta": {"reasoning_content": word}}]}
    for half in (word[: len(word) // 2], word[len(word) // 2 :]):
        yield {"choices": [{"delta": {"content": half}}]}
        yield {"choices": [{"delta": {"tool_calls": [{"index": 0, "id": word, "function": call(word, half)}]}}]}
    yield {"choices": [{"delta": {}, "finish_reason": "stop"}]}


def call(word, half):
    return {"name": word, "arguments": half}


def anthropic_frames(word):
    half = len(word) // 2
    yield {"type": "message_start", "message": {"model": word, "usage": {"input_tokens": 1, "service_tier": word}}}
    yield {"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": word, "name": word}}
    for piece in (word[:half], word[half:]):
        for kind, field in (
            ("text_delta", "text"),
            ("thinking_delta", "thinking"),
            ("input_json_delta", "partial_json"),
        ):
            yield {"type": "content_block_delta", "index": 0, "delta": {"type": kind, field: piece}}
    yield {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": word}}
    yield {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}}
    yield {"type": "message_stop"}


def google_frames(word):
    head = {"modelVersion": word, "responseId": word}
    half = len(word) // 2
    parts = [{"text": word[:half]}, {"text": word[half:]}, {"text": word, "thought": True, "thoughtSignature": word}]
    parts.append({"functionCall": {"id": word, "name": word, "args": {word: word}}})
    yield {**head, "candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]}


FRAMES = {"anthropic": anthropic_frames, "openai": chat_frames, "mistral": chat_frames, "google": google_frames}


def errors(word):
    """Bodies of errors, as responses and as frames."""
    padding = "x" * random.Random(word).randrange(440, 520)
    yield json.dumps({"error": {"message": word, "type": word, "code": word, "status": word}})
    yield json.dumps({"error": {"message": padding + word}})
    yield json.dumps({"type": "error", "error": {"type": word, "message": f"{padding} {word} {word}"}})
    yield json.dumps({"detail": [{"msg": word}]})
    yield json.dumps({"error": word})
    yield json.dumps([{"error": {"message": word, "details": [{"reason": word}]}}], indent=1)
    yield f"{'y' * 74}{word}"
    yield word
    yield json.dumps({"choices": word, "candidates": word, "type": "message_start", "message": word})
    yield "{" + word


def responses(format, word):
    """Raw responses of a hostile server."""
    frames = [f"data: {json.dumps(frame)}\n\n" for frame in FRAMES[format](word)]
    frames.append("data: [DONE]\n\n")
    for headers in ({"request-id": word}, {"x-request-id": word, "retry-after": word, "x": word}):
        yield response("200 OK", headers, "".join(frames))
        yield response("200 OK", headers, "".join(frames[:-2]))
    for body in errors(word):
        yield response("200 OK", {}, f"{frames[0]}data: {body}\n\n")
        yield response("200 OK", {}, body)
        yield response(f"500 {word}", {"request-id": word}, body)
        yield response("401 No", {re.sub("[^a-zA-Z0-9-]", "", word): "y"}, body)
    yield f"HTTP/1.1 {word}\r\n\r\n".encode()
    yield f"{word}\r\n\r\n".encode()
    yield f"HTTP/1.1 302 Found\r\nlocation: {word}\r\ncontent-length: 0\r\n\r\n".encode()
    yield f"HTTP/1.1 200 OK\r\ntransfer-encoding: {word}\r\n\r\n".encode()
    yield f"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{word}\r\n".encode()


def response(status, headers, body):
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in {**SERVED, **headers}.items())]
    data = body.encode()
    return "\r\n".join([*lines, "", ""]).encode() + b"%x\r\n%b\r\n0\r\n\r\n" % (len(data), data)


def everything_about(error):
    """All that a log or a tracker of errors could show, local variables of every frame included."""
    report = traceback.TracebackException.from_exception(error, capture_locals=True)
    visible = "".join(report.format()) + str(vars(error))
    while error is not None:
        visible += repr(error) + str(error) + str(error.args)
        error = error.__cause__ or error.__context__
    return visible


async def talk(provider):
    reply = Reply(provider.model, ASKED)
    visible = ""
    try:
        async for delta in provider.stream(ASKED):
            visible += repr(delta) + "\n"
            reply.add(delta)
    except ProviderError as error:
        visible += everything_about(error) + str(error.to_json())
    message = reply.message()
    return f"{visible}\n{message!r}\n{message.text}\n{[call.arguments for call in message.calls]}\n{reply.answered_by}"


async def listen(format, word):
    """Everything that an adapter lets out about all responses of a hostile server."""
    raws = list(responses(format, word))
    rest = iter(raws)

    async def answer(reader, writer):
        await read_request(reader)
        writer.write(next(rest))
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with Models(keys=Keys(ENVIRONMENT, NOWHERE), base_urls={format: url}) as models:
            return [await talk(models.open(f"{format}:m")) for _ in raws]


def decoded(text):
    """Return a text with all that can be decoded in it, as someone would who looks for the key."""
    texts = [text, unquote(text), unquote(unquote(text))]
    for _ in range(2):
        texts.append(re.sub(r"\\+u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), texts[-1]))
    for run_of_letters in re.findall(r"[A-Za-z0-9+/_-]{20,}", text):
        standard = run_of_letters.replace("-", "+").replace("_", "/")
        for offset in range(4):
            core = standard[offset : offset + (len(standard) - offset) // 4 * 4]
            texts.append(b64decode(core, validate=False).decode("latin-1"))
        if re.fullmatch("[0-9a-fA-F]+", run_of_letters):
            texts.append(bytes.fromhex(run_of_letters[: len(run_of_letters) // 2 * 2]).decode("latin-1"))
    return "\n".join(texts)


COMMON_FORMS = ("plain", "JSON escapes", "URL escapes", "Base64")
CASES = [("openai", form) for form in FORMS] + [
    (format, form) for format in ("anthropic", "google", "mistral") for form in COMMON_FORMS
]


@pytest.mark.parametrize(("format", "form"), CASES)
def test_the_key_is_in_nothing_that_leaves_an_adapter(format, form, caplog):
    caplog.set_level(logging.DEBUG)

    visible = run(listen(format, FORMS[form](CANARY)))

    assert len(visible) > 40
    # More than the first characters would be a part of the secret.
    leaks = [text for text in (*visible, caplog.text) if CANARY[:14] in decoded(text)]
    assert leaks == []
    assert sum("[key]" in text for text in visible) > 20
