"""Conversations of several turns are accepted by servers that are as strict as the real ones."""

import pytest

from antiphon.messages import Image, Message, ToolResult, system, tool, user
from antiphon.providers.base import OutputSchema, Request, Timeouts, Tool
from antiphon.providers.keys import Keys
from antiphon.providers.registry import Models
from antiphon.providers.reply import collect
from antiphon.testing.fake_llm.scenarios import SIGNATURE
from tests.fixtures.providers import FORMATS, HELLO, NOWHERE, read, run, stand

TOOL = Tool("get_weather", "The weather.", {"type": "object", "properties": {"city": {"type": "string"}}})
PICTURE = Image("image/png", "aGk=")


async def talk(here, formats, model):
    """A conversation in which each reply may come from another provider."""
    messages = (system("Be kind.", cache=True), user("How is the weather here?", PICTURE))
    for format, scenario in zip(formats, ("ok", "parallel", "ok"), strict=True):
        provider = here.open(format, scenario, model=model)
        reply = (await collect(provider, Request(messages, (TOOL,), thinking="low"))).message()
        results = tuple(ToolResult.of(call, "rain") for call in reply.calls)
        messages = (*messages, reply, tool(*results), user("And tomorrow?"))
    return messages


@pytest.mark.parametrize("format", FORMATS)
def test_thoughts_tools_and_results_are_replayed(format):
    async def work():
        async with stand() as here:
            await talk(here, (format, format, format), "gemini-3")
            return here.fake.requests

    requests = run(work())
    assert [request.ended for request in requests] == ["complete"] * 3
    replayed = str(requests[-1].body)
    assert (SIGNATURE in replayed) == (format in ("anthropic", "google", "mistral"))


@pytest.mark.parametrize("first", FORMATS)
@pytest.mark.parametrize("then", FORMATS)
def test_a_conversation_can_change_its_provider(first, then):
    async def work():
        async with stand() as here:
            await talk(here, (first, then, first), "gemini-3")
            return here.fake.requests

    assert [request.ended for request in run(work())] == ["complete"] * 3


@pytest.mark.parametrize("format", FORMATS)
def test_a_conversation_that_was_stopped_goes_on(format):
    async def work():
        async with stand() as here:
            reply = (await collect(here.open(format, "parallel"), HELLO)).message()
            messages = (*HELLO.messages, reply, user("Never mind."))
            outcome = await read(here.open(format, "text"), Request(messages, (TOOL,)))
            return outcome.error

    assert run(work()) is None


@pytest.mark.parametrize("format", FORMATS)
def test_every_setting_is_accepted(format):
    schema = OutputSchema({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})
    request = Request(
        (system("Count."), user("How many?")),
        temperature=0.5,
        max_tokens=50,
        stop=("END",),
        output=schema,
        cache_key="thread-1",
        timeouts=Timeouts(5_000, 5_000, 5_000),
        extra={"seed": 7},
    )

    async def work():
        async with stand() as here:
            reply = await collect(here.open(format, "json"), request)
            return reply, here.fake.requests[0]

    reply, requests = run(work())
    assert reply.text == '{"n": 1}'
    assert requests.body["seed"] == 7


@pytest.mark.parametrize("format", FORMATS)
def test_who_answered_and_the_request_id_are_known(format):
    async def work():
        async with stand() as here:
            return await collect(here.open(format, "text"), HELLO)

    reply = run(work())
    assert reply.answered_by == "fake-text"
    assert reply.done.request_id == "req_1"
    assert reply.message().source == reply.model.provider == format


@pytest.mark.parametrize("format", FORMATS)
def test_a_connection_is_used_again(format):
    async def work():
        async with stand() as here:
            for _ in range(3):
                await collect(here.open(format, "text"), HELLO)
            return here.fake.connections

    assert run(work()) == 1


@pytest.mark.parametrize("format", ["anthropic", "openai", "mistral", "compatible"])
def test_a_complete_reply_does_not_wait_for_a_connection_that_stays_open(format):
    async def work():
        async with stand() as here:
            outcome = await read(here.open(format, "linger"))
            await here.fake.requests[0].over.wait()
            return outcome, here.fake.requests[0].ended

    outcome, ended = run(work())
    assert outcome.done.stop == "end"
    assert ended == "client closed"


def test_without_a_key_nothing_is_sent():
    async def work():
        async with stand() as here, Models(keys=Keys({}, NOWHERE)) as keyless:
            return await read(keyless.open("anthropic:claude")), here.fake.requests

    outcome, requests = run(work())
    assert outcome.error.code == "2001"
    assert "ANTHROPIC_API_KEY" in outcome.error.message
    assert requests == []


def test_the_key_of_a_provider_is_not_sent_to_a_server_that_a_reference_names():
    async def work():
        async with stand() as here:
            url = here.fake.base_url("compatible")
            outcome = await read(here.models.open(f"openai+{url}:m-text"))
            second_outcome = await read(here.models.open(f"anthropic+{here.fake.base_url('anthropic')}:m-text"))
            return outcome, second_outcome, here.fake.requests

    outcome, second_outcome, requests = run(work())
    assert outcome.error is None
    assert [request.key_header for request in requests] == [None]
    assert second_outcome.error.code == "2001"


def test_nobody_at_the_address_is_a_network_error():
    async def work():
        async with Models(keys=Keys({}, NOWHERE)) as models:
            return await read(models.open("openai+http://127.0.0.1:9/v1:m"))

    assert run(work()).error.code == "1001"


def test_a_provider_of_ones_own_takes_the_place_of_ours():
    script = Models().open("scripted:demo")
    opened = Models(openers={"local": lambda reference: script}).open("local:smollm2")
    assert opened.model is script.model


def test_a_message_of_an_unknown_source_is_taken_as_the_providers_own():
    async def work():
        async with stand() as here:
            reply = (await collect(here.open("anthropic", "ok"), HELLO)).message()
            bare = Message("assistant", reply.parts)
            messages = (*HELLO.messages, bare, tool(ToolResult.of(bare.calls[0], "rain")))
            await read(here.open("anthropic", "text"), Request(messages))
            return here.fake.requests[-1]

    assert run(work()).ended == "complete"
