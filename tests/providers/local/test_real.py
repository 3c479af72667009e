"""The embedded model itself, with its real weights: shapes are asserted, not words."""

import asyncio
import json
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from urllib.parse import urlsplit

import pytest

from antiphon.json_schema import Checker
from antiphon.messages import user
from antiphon.providers.base import OutputSchema, Request, TextDelta, Tool, ToolArgs
from antiphon.providers.http.client import HttpTransport
from antiphon.providers.local.engine import Engine
from antiphon.providers.local.model import LocalModel
from antiphon.providers.local.sources import EmbeddedSource
from antiphon.providers.local.weights import SMOLLM2, models_folder, verify
from antiphon.providers.reply import collect
from antiphon.providers.structured import ask
from antiphon.testing.contracts.providers import ProviderContract
from tests.fixtures.providers import read

pytestmark = pytest.mark.local
ADD = Tool(
    "add",
    "add two integers",
    {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a", "b"]},
)
STORY = Request((user("Tell me a very long story."),), max_tokens=4000)
VERDICT = {
    "type": "object",
    "properties": {
        "winner": {"enum": ["A", "B"]},
        "score": {"type": "integer", "minimum": 0, "maximum": 10},
        "reason": {"type": "string", "maxLength": 60},
        "tags": {"type": "array", "items": {"type": "string", "maxLength": 12}, "minItems": 1, "maxItems": 3},
    },
    "required": ["winner", "score", "reason", "tags"],
}


@asynccontextmanager
async def real():
    """The model and its engine."""
    engine = Engine(EmbeddedSource(SMOLLM2, models_folder()))
    async with HttpTransport() as transport:
        try:
            yield LocalModel(engine, transport), engine
        finally:
            await engine.close()


class Encoder:
    """The model for several tests, on a loop of its own."""

    def __init__(self):
        self._runner = asyncio.Runner()
        self._context = real()
        self.model, self.engine = self._runner.run(self._context.__aenter__())

    def run(self, work):
        async def bounded():
            async with asyncio.timeout(60):
                return await work

        return self._runner.run(bounded())

    def ask(self, *requests):
        async def work():
            return [await collect(self.model, request) for request in requests]

        return self.run(work())

    def close(self):
        self._runner.run(self._context.__aexit__(None, None, None))
        self._runner.close()


@pytest.fixture(scope="module")
def encoder():
    opened = Encoder()
    yield opened
    opened.close()


class Asked:
    """The real model, asked what a scene of the contract needs."""

    def __init__(self, model, engine, scene):
        self._inner = model
        self._engine = engine
        self._scene = scene
        self.model = model.model

    def stream(self, request):
        match self._scene:
            case "ok":
                return self._inner.stream(replace(request, tools=(ADD,), tool_choice="any"))
            case "text":
                return self._inner.stream(replace(request, temperature=0, max_tokens=12))
            case "slow":
                return self._inner.stream(STORY)
            case _:
                return self._killed()

    async def _killed(self):
        async with aclosing(self._inner.stream(STORY)) as stream:
            async for delta in stream:
                yield delta
                if isinstance(delta, TextDelta):
                    self._engine._child.process.kill()


class TestReal(ProviderContract):
    @asynccontextmanager
    async def open(self, scene):
        async with real() as (model, engine):
            async with engine.slot():
                pass
            yield Asked(model, engine, scene)


def test_the_installed_weights_are_the_pinned_ones():
    assert verify(SMOLLM2, models_folder()).stat().st_size == SMOLLM2.bytes


def test_a_reply_is_words_with_counts(encoder):
    # At the default temperature, one reply in thirty is a row of emoji.
    reply = encoder.ask(Request((user("Say hello."),), temperature=0, max_tokens=40))[0]

    assert len(reply.text.split()) > 1
    assert (reply.usage.estimated, reply.answered_by) == (False, "smollm2")
    assert 20 < reply.usage.input < 60
    assert 0 < reply.usage.output <= 40


def test_data_fits_its_schema(encoder):
    question = "Judge this debate. A: Trains emit far less CO2 than planes. B: I like planes. Who argued better?"
    verdict = encoder.run(ask(encoder.model, Request((user(question),), temperature=0), OutputSchema(VERDICT)))

    assert Checker(VERDICT).problems(verdict.value) == []


def test_a_sum_becomes_a_tool_call_with_its_numbers(encoder):
    reply = encoder.ask(Request((user("What is 17 plus 25?"),), tools=(ADD,), tool_choice="any"))[0]

    assert reply.message().calls[0].input() == {"a": 17, "b": 25}
    assert reply.done.stop == "tool_calls"


def test_a_conversation_that_is_too_long_is_refused_as_such(encoder):
    assert encoder.run(read(encoder.model, Request((user("word " * 9000),)))).error.code == "9004"


def test_a_stop_text_ends_the_reply(encoder):
    stopped = encoder.ask(Request((user("Count from one to ten."),), temperature=0, max_tokens=30, stop=(" ",)))[0]

    assert stopped.text
    assert " " not in stopped.text


def test_what_was_read_before_need_not_be_read_again(encoder):
    first = Request((user("Once there was a king who had three daughters. " * 5),), temperature=0, max_tokens=4)
    reply = encoder.ask(first)[0]
    later = encoder.ask(replace(first, messages=(*first.messages, reply.message(), user("And then?"))))[0]

    assert later.usage.cached_read >= reply.usage.input


def test_four_conversations_go_on_at_once_and_a_fifth_waits_its_turn(encoder):
    async def work():
        model = encoder.model
        streams = [model.stream(replace(STORY, extra={"ignore_eos": True})) for _ in range(4)]
        for stream in streams:
            async for delta in stream:
                if isinstance(delta, TextDelta):
                    break
        fifth = asyncio.create_task(collect(model, Request((user("Hi"),), max_tokens=3)))
        async for _ in streams[0]:
            if encoder.engine._child.slots._waiters:
                break
        waited = not fifth.done()
        for stream in streams:
            await stream.aclose()
        return waited, (await fifth).usage.output

    assert encoder.run(work()) == (True, 3)


def test_without_the_key_of_the_child_nobody_is_answered(encoder):
    async def work():
        async with encoder.engine.slot() as child:
            reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(child.base_url).port)
            writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer guess\r\n")
            writer.write(b"content-length: 2\r\nconnection: close\r\n\r\n{}")
            status = await reader.readline()
            writer.close()
            return status

    assert b" 401 " in encoder.run(work())


def test_json_arguments_are_streamed(encoder):
    outcome = encoder.run(read(encoder.model, Request((user("What is 17 plus 25?"),), tools=(ADD,), tool_choice="add")))

    pieces = [delta.text for delta in outcome.deltas if isinstance(delta, ToolArgs)]
    assert len(pieces) > 3
    json.loads("".join(pieces))
